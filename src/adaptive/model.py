"""The nouns of the product, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Category = Literal["identity", "behavior", "preference", "goal", "relationship", "possession"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

# END is the end of a memory that a change of another one has made untrue; no model proposes it.
OperationKind = Literal["NEW", "UPDATE", "DELETE", "END"]
# Whom a fact is about, and what it is, as the extraction prompt asks for it.
ABOUT = ("user", "other", "assistant", "world")
FACT_KINDS = ("FACT", "STYLE", "META", "STATE", "IMAGINED", "QUOTED")
OutcomeStatus = Literal[
    "saved",
    "updated",
    "deleted",
    "ended",
    "archived",
    "asked",
    "kept",
    "unchanged",
    "rejected",
    "failed",
]
ConversationKind = Literal[
    "saved", "temporary", "channel", "api", "automation", "subagent", "timer", "shared"
]


@dataclass(frozen=True, slots=True)
class Memory:
    """One row of the host's memory table, its content free of any notation.

    ``created_at`` and ``updated_at`` are epoch seconds; the host's clock has no finer resolution
    (host: models/memories.py). ``until`` is the last day on which it holds, as "YYYY-MM-DD".
    """

    id: str
    content: str
    created_at: int
    updated_at: int
    tags: tuple[str, ...] = ()
    bank: str = ""
    confidence: float = 1.0
    importance: int = 5
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    until: str = ""


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
    """What a memory is to say; ``confidence`` is 0 to 1, ``importance`` 1 to 10.

    ``until`` is the date (YYYY-MM-DD) on which it ends by itself, empty if it does not; ``passed``
    is the mark of the content that the gate let pass (see ``gated_draft``).
    """

    content: str
    tags: tuple[str, ...] = ()
    bank: str = ""
    confidence: float = 1.0
    importance: int = 5
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
    """One exchange to learn something from.

    ``words`` is what this user typed in the newest message and the only source of facts;
    ``earlier`` holds the turns before it, oldest first, for reference; ``injected`` are the ids of
    the memories that the assistant was shown.
    """

    user_id: str
    kind: ConversationKind
    words: str
    earlier: tuple[Utterance, ...]
    source: Provenance
    injected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may fit a message; ``score`` is its relevance from 0 to 1."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class Proof:
    """What a model says for an operation; whatever it left out is empty.

    Attributes:
        evidence: the user's own words.
        about: of ``ABOUT``.
        kind: of ``FACT_KINDS``.
    """

    evidence: tuple[str, ...] = ()
    about: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One change of the store that a model proposed; ``id`` is empty for NEW."""

    kind: OperationKind
    id: str = ""
    draft: Draft = Draft("")
    proof: Proof = Proof()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one operation; ``reason`` says why where nothing was written.

    Of what was written, ``memory_id`` names the row and ``before`` is its former content.
    """

    status: OutcomeStatus
    content: str
    reason: str = ""
    memory_id: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One question to a model: system and user message, and the JSON schema of the answer."""

    system: str
    user: str
    schema_name: str
    schema: Mapping[str, Any]
    max_tokens: int = 4000


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one call as the provider counts them."""

    sent: int
    received: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer; ``cut`` is true when it ended at the token limit.

    ``usage`` is ``None`` where the provider does not tell it.
    """

    text: str
    cut: bool = False
    usage: TokenUsage | None = None
