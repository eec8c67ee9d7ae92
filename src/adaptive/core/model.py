"""The nouns of the product as frozen values, its errors, and the ports that others implement."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from adaptive.core.marks import CORE_CATEGORIES, Place, Tagged
from adaptive.core.texts import Phrase, phrase

log = logging.getLogger("adaptive_memory")
# What JSON holds, as others deliver it and as it is made or changed.
JsonMapping = Mapping[str, Any]
JsonObject = dict[str, Any]
FrozenClass = TypeVar("FrozenClass")

# In characters. More is kept than told: a secret is known by what stands around it.
_DETAIL_KEPT = 2000
_DETAIL_TOLD = 500


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(values: type[FrozenClass]) -> type[FrozenClass]:
    """Make a class a dataclass with slots, whose objects never change."""
    return dataclass(frozen=True, slots=True)(values)


class AdaptiveMemoryError(Exception):
    """Root of them: ``str`` is a sentence for everybody, ``detail`` is for the log and admins.

    The sentence is ours: it quotes no message, no reply and nothing that a host, a provider or a
    driver says, which may name addresses and accounts. That is the detail, without secrets.
    What is ``lasting`` fails in every turn until an administrator does something about it.
    """

    lasting = False
    sentence = ""  # of its kind, where none of its own is told

    def __init__(self, sentence: str = "", *, detail: str = "") -> None:
        super().__init__(sentence or self.sentence)
        self.detail = " ".join(detail.split())[:_DETAIL_KEPT]


class HostError(AdaptiveMemoryError):
    """The host raised, or answered something that can't be used."""

    sentence = Phrase("unexpected")


class MemoryUnavailable(HostError):
    """This user may have, or wants, no memories; the detail names the switch or permission."""

    sentence = Phrase("memory_forbidden")


class StoreError(HostError):
    """A write could not be proven by reading it back."""


class TablesUnavailable(HostError):
    """The host's database, or a table of our own in it, can't be made, read or written."""

    sentence = Phrase("database_failed")


class WriteRefused(AdaptiveMemoryError):
    """The gate lets a text not be stored; the text of the error is the reason, without the text."""


class LeaseLost(AdaptiveMemoryError):
    """The work in hand is another worker's by now; nothing more may be written."""


class EmbeddingError(AdaptiveMemoryError):
    """The embedding provider brought no vectors, too few, or some that are not numbers."""

    sentence = Phrase("embedding_failed")


class HindranceLine(str):
    """What a user is told, once, of what keeps memory from its work in every turn."""

    def __new__(cls, reason: str) -> HindranceLine:
        """Make the line of a reason."""
        return super().__new__(cls, phrase("hindrance", reason=reason))


def failure_told(failed: str, error: BaseException) -> str:
    """The line of what has ``failed``, for people."""
    if isinstance(error, AdaptiveMemoryError) and error.lasting:
        return HindranceLine(str(error))
    reason = phrase("unexpected")
    if isinstance(error, AdaptiveMemoryError | TimeoutError):
        reason = str(error) or phrase("too_long")
    return f"{failed}: {reason}"


def log_failure(doing: str, error: BaseException) -> None:
    """Log what has failed: an error of ours in full, any other with its place in the code."""
    if isinstance(error, AdaptiveMemoryError | TimeoutError):
        log.warning("%s: %s", doing, with_detail(error))
    else:
        log.error("%s: an unexpected error", doing, exc_info=error)


def with_detail(error: BaseException) -> str:
    """What the log and an administrator are told of an error: its sentence, then its detail."""
    said = error.args[0] if error.args else ""
    # In English: a phrase that is joined is the text that it equals.
    sentence = "".join([said]) if isinstance(said, Phrase) else str(error)
    sentence = sentence or type(error).__name__
    sentence = sentence.replace("TimeoutError", "it took too long")
    if isinstance(error, AdaptiveMemoryError) and error.detail:
        return f"{sentence} ({error.detail[:_DETAIL_TOLD]})"
    return sentence


# END is the end of a memory that a change of another one has made untrue; no model proposes it.
# QUIET is the wish that a memory is never brought up, which is asked about.
ProposalKind = Literal["NEW", "UPDATE", "DELETE", "QUIET", "END"]
# What is superseded stands elsewhere in the lesson or the store; what is suggested waits for a yes.
ProposalStatus = Literal[
    "open",
    "saved",
    "updated",
    "quieted",
    "deleted",
    "ended",
    "archived",
    "asked",
    "kept",
    "unchanged",
    "superseded",
    "suggested",
    "rejected",
    "failed",
]
ConversationKind = Literal[
    "saved",
    "temporary",
    "channel",
    "api",
    "automation",
    "subagent",
    "timer",
    "shared",
]


@frozen
class Memory(Tagged):
    """One row of the host's memory table, its content free of any notation."""

    id: str
    content: str
    created_at: int  # epoch seconds
    updated_at: int
    tags: tuple[str, ...] = ()
    bank: str = ""
    confidence: float = 1.0
    importance: int = 5
    meta: JsonMapping = field(default_factory=JsonObject)
    until: str = ""  # the last day on which it holds, as "YYYY-MM-DD"
    # Content, type and path as they stand in the row, where that is known.
    stored: tuple[str, str | None, str | None] = ("", None, None)

    @property
    def said_at(self) -> int:
        """When what it says was said, in epoch seconds; where that is not noted, when it was made."""
        at = self.meta.get("said_at")
        return at if isinstance(at, int) and at > 0 else self.created_at


CORE_IMPORTANCE = 9


def is_core(memory: Memory) -> bool:
    """Whether a memory says who the user is, or is as important as core facts are."""
    is_tagged = any(tag in CORE_CATEGORIES for tag in memory.tags)
    return is_tagged or memory.importance >= CORE_IMPORTANCE


def has_ended(memory: Memory, today: str) -> bool:
    """Whether what a memory says is past; ``today`` is a day as "YYYY-MM-DD", if it is known."""
    return bool(memory.until) and memory.until < today


@frozen
class StoreStamp:
    """How a user's table stands: number of rows, the newest date of a change, and all of them added."""

    count: int
    newest: int
    total: int


@frozen
class Draft(Tagged):
    """What a memory is to say; ``passed`` marks the content that the gate let pass."""

    content: str
    tags: tuple[str, ...] = ()
    bank: str = ""
    confidence: float = 1.0  # 0 to 1
    importance: int = 5  # 1 to 10
    until: str = ""
    passed: str = field(default="", compare=False)


@frozen
class Provenance:
    """Where a fact was said: ``message_id`` is the user's message, ``said_at`` epoch seconds.

    What is learned of it belongs to a ``step`` of the log where past chats are learned from.
    """

    chat_id: str
    message_id: str
    said_at: int
    step: str = ""

    @property
    def is_past(self) -> bool:
        """Whether it was said long before it is learned."""
        return bool(self.step)


@frozen
class Utterance:
    """One earlier message of a conversation, as plain text."""

    role: Literal["user", "assistant"]
    text: str


@frozen
class Turn:
    """One exchange to learn something from, from the end of its answer to its lesson.

    The words go to the model that they were typed to, ``chat_model``, and to no other chat's; where
    it ``is_direct``, the browser asked that model itself. The ``place`` is where the chat was then.
    """

    user_id: str
    kind: ConversationKind
    words: str  # what this user typed, the only source of facts
    earlier: tuple[Utterance, ...]  # what stands before it, oldest first
    source: Provenance
    answer_id: str = ""
    time_zones: tuple[str, ...] = ()  # of the user, the likeliest first
    language: str = ""
    chat_model: str = ""
    is_direct: bool = False
    opening: str = ""  # of the words as they were typed, without secrets
    place: Place = Place()


@frozen
class Proposal:
    """One proposed change of the store, from a model's reply to the written row.

    Its status is "open" until a step decides it; ``reason`` says why it was decided so.
    """

    kind: ProposalKind
    memory_id: str = ""  # empty for NEW until the row is written
    # What the row is to say; once decided, what may be told of it.
    draft: Draft = Draft("")
    # The user's words, as the model quotes them.
    evidence: tuple[str, ...] = ()
    about: str = ""  # whom the fact is about, by the model's account
    fact_kind: str = ""
    status: ProposalStatus = "open"
    reason: str = ""
    before: str = ""  # what the memory said

    @property
    def is_open(self) -> bool:
        """Whether no step has decided it yet."""
        return self.status == "open"

    @property
    def is_removal(self) -> bool:
        """Whether it takes away what a memory says."""
        return self.kind in ("DELETE", "END")

    @property
    def states_nothing(self) -> bool:
        """Whether it is about a memory as it stands, and no fact is to be saved."""
        return self.is_removal or self.kind == "QUIET"

    def decided(self, status: ProposalStatus, reason: str) -> Proposal:
        """The same proposal with its status and the reason for it."""
        return replace(self, status=status, reason=reason)


def each_open(
    proposals: Iterable[Proposal], step: Callable[[Proposal], Proposal]
) -> list[Proposal]:
    """One step of a lesson: it judges each open proposal, and what is decided passes by."""
    return [
        step(proposal) if proposal.is_open else proposal
        for proposal in proposals
    ]


Vectors = NDArray[np.float32]


@frozen
class NewMemory:
    """What a row is to say and where it comes from; ``extra`` goes into its meta, too.

    It takes the place of the ``former`` row, which is kept in its meta, or has the ``id``, if any.
    """

    draft: Draft
    source: Provenance
    extra: JsonMapping = field(default_factory=JsonObject)
    former: Memory | None = None
    id: str = ""


class MemoryStore(Protocol):
    """The memories of one user, in the host's own table.

    Any call may raise ``MemoryUnavailable``, where the host allows this user none, ``HostError``,
    and a write that can't be proven by reading it back ``StoreError``. Where it ``keeps_history``
    a row has a place for the contents that it had before.
    """

    @property
    def keeps_history(self) -> bool: ...

    async def stamp(self) -> StoreStamp:
        """How the table stands, by one cheap query."""
        ...

    async def dates(self) -> Mapping[str, int]:
        """The epoch second of the last change of each row, by its id."""
        ...

    async def read(
        self, ids: Collection[str] | None = None
    ) -> tuple[Memory, ...]:
        """The user's memories of these ids, or all, in no particular order."""
        ...

    async def write(
        self,
        *new: NewMemory,
        back: Sequence[Memory] = (),
        gone: Sequence[Memory] = (),
    ) -> Sequence[Memory]:
        """Write up to 100 rows, put rows back as they once stood, remove others: all or nothing.

        Those that were written come back as they stand.
        """
        ...


@frozen
class StoredVector:
    """A vector of length 1 and the hash of the text that it stands for."""

    content_hash: str
    vector: Vectors


class VectorTable(Protocol):
    """Vectors of memories that outlive the process."""

    async def read(
        self,
        user_id: str,
        embedder: str,
        memory_ids: Sequence[str] | None = None,
    ) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id; of a few memories, or of all."""
        ...

    async def write(
        self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]
    ) -> None:
        """Store vectors by memory id, replacing former ones of the same memories."""

    async def tidy(self, user_id: str, embedder: str) -> None:
        """Drop a user's vectors of memories that are gone, and those of other embedders."""

    async def held(
        self, user_id: str, memories: Sequence[Memory]
    ) -> dict[str, Vectors]:
        """The host's own vectors of just these texts, if any: of whatever model, scale, filling."""
        ...
