"""The one gate of every write, chat, edit, import and summary alike, and the store behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from adaptive.errors import WriteRefused
from adaptive.model import CATEGORIES, Draft, Memory, Provenance, StoreStamp
from adaptive.ports import MemoryStore
from adaptive.privacy.injection import injection_verdict, passed_mark
from adaptive.privacy.masking import StoringRefusal, storable
from adaptive.privacy.secrets import SECRET_MARK, find_secrets, secret_reason
from adaptive.privacy_valves import listed_kinds
from adaptive.settings import Settings

GateRule = Literal["length", "secret", "injection", "personal data"]

# What models are shown in the place of a secret.
SECRET_PLACEHOLDER = "[SECRET]"  # noqa: S105 - the mark in its place
SECRET_LEFT_OUT = "it holds a secret; secrets are never remembered"  # noqa: S105 - a reason
_SECRET_MARKS = (SECRET_PLACEHOLDER.lower(), SECRET_MARK)
_LONGEST_LABEL = 100


@dataclass(frozen=True, slots=True)
class Passed:
    """A text that may be written; personal data may be masked in it."""

    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a text may not be written: completes "Not saved: ...", and repeats nothing of it."""

    reason: str
    rule: GateRule


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What the gate asks for; the length in characters, personal data by its kinds.

    ``longest`` is as long as a sentence of a model's reply may be (``learn.operations``). ``typed``
    says that the user typed the text as it stands, so that its structure alone is judged (see
    ``injection_verdict``). A kind that is masked and refused is refused.
    """

    longest: int = 4000
    typed: bool = False
    masked: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()


def gate_policy(settings: Settings) -> GatePolicy:
    """What every write has to pass under an admin's valves.

    Personal data goes by ``mask_in_memories`` and ``refuse_in_memories`` unless ``pii_redaction``
    is off; the least length is the business of ``learn.screening``.
    """
    if settings.pii_redaction == "off":
        return GatePolicy()
    return GatePolicy(
        masked=listed_kinds(settings.mask_in_memories),
        refused=listed_kinds(settings.refuse_in_memories),
    )


def gate(text: str, policy: GatePolicy) -> Passed | Refused:
    """The text as it may be written, or why it may not: length, secrets, instructions, the rest."""
    bare = text.strip()
    if not bare:
        return Refused("it is empty", "length")
    if len(bare) > policy.longest:
        return Refused(f"it is longer than {policy.longest} characters", "length")
    if reason := secret_reason(find_secrets(bare)):
        return Refused(reason, "secret")
    if holds_secret_mark(bare):
        return Refused(SECRET_LEFT_OUT, "secret")
    verdict = injection_verdict(bare, typed=policy.typed)
    if not verdict.allowed:
        return Refused(verdict.reason, "injection")
    return without_personal_data(bare, policy)


def without_personal_data(text: str, policy: GatePolicy) -> Passed | Refused:
    """The text with personal data masked as far as it is to be, or why it may not be stored."""
    stored = storable(text, policy.masked, policy.refused)
    if isinstance(stored, StoringRefusal):
        return Refused(stored.reason, "personal data")
    return Passed(stored)


def holds_secret_mark(text: str) -> bool:
    """Whether a text holds a mark of ours where a secret stood: it says nothing without it."""
    said = text.lower().replace("\\", "")
    return any(mark in said for mark in _SECRET_MARKS)


def gated_draft(draft: Draft, policy: GatePolicy) -> Draft | Refused:
    """A draft as it may be written, or why it may not; tags and a bank that may not are dropped.

    It is marked with what has passed, and a content with its own mark is not judged again.
    """
    known = draft.passed == passed_mark(draft.content)
    verdict = Passed(draft.content) if known else gate(draft.content, policy)
    if isinstance(verdict, Refused):
        return verdict
    tags = tuple(tag for tag in draft.tags if is_safe_label(tag, policy))
    bank = draft.bank if is_safe_label(draft.bank, policy) else ""
    mark = passed_mark(verdict.text)
    return replace(draft, content=verdict.text, tags=tags, bank=bank, passed=mark)


def is_safe_label(label: str, policy: GatePolicy) -> bool:
    """Whether a tag or the name of a bank may be written as it is: one short line, nothing else."""
    if label in CATEGORIES or not label:
        return True
    if len(label) > _LONGEST_LABEL or not label.isprintable():
        return False
    return gate(label, policy) == Passed(label)


@dataclass(frozen=True, slots=True)
class GuardedStore:
    """A ``MemoryStore`` around another: what is added, changed or finished passes the gate.

    Reading and deleting are the other's. What has passed is written as it came out of the gate, so
    a row may say less than its draft; what comes back is the row. Writes raise ``WriteRefused``
    where the gate does not let the content pass.
    """

    store: MemoryStore
    policy: GatePolicy

    @property
    def keeps_history(self) -> bool:
        """Whether a row has a place for former contents (see ``MemoryStore``)."""
        return self.store.keeps_history

    async def stamp(self) -> StoreStamp:
        """How the table stands (see ``MemoryStore``)."""
        return await self.store.stamp()

    async def changes(self, since: int) -> tuple[tuple[Memory, ...], frozenset[str]]:
        """Changed rows, and the ids of all (see ``MemoryStore``)."""
        return await self.store.changes(since)

    async def read(self) -> tuple[Memory, ...]:
        """All memories of the user (see ``MemoryStore``)."""
        return await self.store.read()

    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        """Write a new row (see ``MemoryStore``)."""
        return await self.store.add(await self._passed(draft), source, extra)

    async def update(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Give a row a new content (see ``MemoryStore``); the former one is kept if it passes."""
        passed = await self._passed(draft)
        former = gated_draft(Draft(memory.content), self.policy)
        content = "" if isinstance(former, Refused) else former.content
        return await self.store.update(replace(memory, content=content), passed, source)

    async def complete(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Finish what a broken-off ``add`` has left (see ``MemoryStore``)."""
        return await self.store.complete(memory, await self._passed(draft), source)

    async def delete(self, memory: Memory) -> None:
        """Remove a row (see ``MemoryStore``)."""
        await self.store.delete(memory)

    async def _passed(self, draft: Draft) -> Draft:
        # In a thread: the first text has the patterns compiled, which takes a while.
        verdict = await asyncio.to_thread(gated_draft, draft, self.policy)
        if isinstance(verdict, Refused):
            raise WriteRefused(verdict.reason)
        return verdict
