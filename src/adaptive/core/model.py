"""The nouns of the product, as frozen values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

CATEGORIES = (
    "identity",
    "behavior",
    "preference",
    "goal",
    "relationship",
    "possession",
)
# END is the end of a memory that a change of another one has made untrue; no model proposes it.
ProposalKind = Literal["NEW", "UPDATE", "DELETE", "END"]
# What is superseded stands elsewhere in the lesson or the store; what is suggested waits for a yes.
ProposalStatus = Literal[
    "open",
    "saved",
    "updated",
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


@dataclass(frozen=True, slots=True)
class Memory:
    """One row of the host's memory table, its content free of any notation."""

    id: str
    content: str
    created_at: int  # epoch seconds
    updated_at: int
    tags: tuple[str, ...] = ()
    bank: str = ""
    confidence: float = 1.0
    importance: int = 5
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    until: str = ""  # the last day on which it holds, as "YYYY-MM-DD"
    # Content, type and path as they stand in the row, where that is known.
    stored: tuple[str, str | None, str | None] = ("", None, None)


CORE_IMPORTANCE = 9


def is_core(memory: Memory) -> bool:
    """Whether a memory says who the user is, or is as important as core facts are."""
    return "identity" in memory.tags or memory.importance >= CORE_IMPORTANCE


def has_ended(memory: Memory, today: str) -> bool:
    """Whether what a memory says is past; ``today`` is a day as "YYYY-MM-DD", if it is known."""
    return bool(memory.until) and memory.until < today


@dataclass(frozen=True, slots=True)
class StoreStamp:
    """How a user's table stands: number of rows, and epoch seconds of the newest change."""

    count: int
    newest: int


@dataclass(frozen=True, slots=True)
class Draft:
    """What a memory is to say; ``passed`` marks the content that the gate let pass."""

    content: str
    tags: tuple[str, ...] = ()
    bank: str = ""
    confidence: float = 1.0  # 0 to 1
    importance: int = 5  # 1 to 10
    until: str = ""
    passed: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a fact was said: ``message_id`` is the user's message, ``said_at`` epoch seconds."""

    chat_id: str
    message_id: str
    said_at: int


@dataclass(frozen=True, slots=True)
class Utterance:
    """One earlier message of a conversation, as plain text."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange to learn something from, from the end of its answer to its lesson.

    The words go to the model that they were typed to, ``chat_model``, and to no other chat's; where
    the turn ``is_direct``, the browser asked that model itself. The name of the model is empty in
    what early builds have queued.
    """

    user_id: str
    kind: ConversationKind
    words: str  # what this user typed, the only source of facts
    earlier: tuple[Utterance, ...]  # what stands before it, oldest first
    source: Provenance
    answer_id: str = ""
    time_zones: tuple[
        str, ...
    ] = ()  # those that the user may be in, the likeliest first
    language: str = ""
    chat_model: str = ""
    is_direct: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposed change of the store, from a model's reply to the written row.

    Its status is "open" until a step decides it; ``reason`` says why it was decided so.
    """

    kind: ProposalKind
    memory_id: str = ""  # empty for NEW until the row is written
    draft: Draft = Draft(
        ""
    )  # what the row is to say; once decided, what may be told of it
    evidence: tuple[
        str, ...
    ] = ()  # the user's words, as the model quotes them
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


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One question to a model: system and user message, and the JSON schema of the answer."""

    system: str
    user: str
    schema_name: str
    schema: Mapping[str, Any]
    max_tokens: int = 4000


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer."""

    text: str
    cut: bool = False  # it ended at the token limit
    tokens: tuple[int, int] = (
        0,
        0,
    )  # sent and received, zeros where nobody counts them
