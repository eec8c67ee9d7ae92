"""The one gate of every write, chat, edit, import and summary alike, and the store behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from adaptive.core.errors import TablesUnavailable, WriteRefused, with_detail
from adaptive.core.model import CATEGORIES, Draft, Memory, Provenance
from adaptive.core.ports import MemoryStore, NewMemory
from adaptive.core.shapes import listing, mapping
from adaptive.privacy.injection import injection_reason, passed_mark
from adaptive.privacy.kept import AuditEntry, AuditTable, ChangeKey
from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.scanning import with_marks
from adaptive.privacy.secrets import SECRET_MARK, find_secrets, secret_reason, without_secrets
from adaptive.settings.merged import Settings

log_gate = logging.getLogger("adaptive_memory.privacy")

SECRET_LEFT_OUT = "it holds a secret; secrets are never remembered"  # noqa: S105 - a reason
# Ours, and what models make of it.
_SECRET_MARKS = (SECRET_MARK, "[secret]")
_LONGEST_LABEL = 100
_LONGEST_TOLD_REFUSAL = 200
# How many letters and digits stay at the end: so many that their owner knows which one it is.
_KEPT_LETTERS: Mapping[str, int] = {
    **dict.fromkeys(("phone", "national_id", "passport", "mac"), 2),
    **dict.fromkeys(("card", "iban", "ssn", "crypto_wallet"), 4),
}


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a text may not be written: completes "Not saved: ...", and repeats nothing of it."""

    reason: str
    rule: Literal["length", "secret", "injection", "personal data"]


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What the gate asks for; the length in characters, personal data by its kinds.

    ``typed`` and ``quoted`` say what of a text is the user's own (see ``injection_reason``).
    """

    longest: int = 4000
    typed: bool = False
    quoted: bool = False
    masked: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()


def gate_policy(settings: Settings) -> GatePolicy:
    """What every write has to pass under an admin's valves."""
    if settings.pii_redaction == "off":
        return GatePolicy()
    return GatePolicy(
        masked=settings.masked_kinds,
        refused=settings.refused_kinds,
    )


def gate(text: str, policy: GatePolicy) -> str | Refused:
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
    if reason := injection_reason(bare, typed=policy.typed, quoted=policy.quoted):
        return Refused(reason, "injection")
    return without_personal_data(bare, policy)


def without_personal_data(text: str, policy: GatePolicy) -> str | Refused:
    """The text with personal data masked as far as it is to be, or why it may not be stored."""
    found = find_personal_data(text)
    if unwanted := dict.fromkeys(one.kind for one in found if one.kind in policy.refused):
        named = ", ".join(unwanted).replace("_", " ")
        return Refused(f"it holds personal data that is not to be stored: {named}", "personal data")
    masked = [one for one in found if one.kind in policy.masked]
    return with_marks(text, masked, lambda one: mask(one.kind, text[one.start : one.end]))


def tellable(text: str, policy: GatePolicy) -> str:
    """What may be told of a text that is not stored, on one line: masked, or nothing."""
    if find_secrets(text) or holds_secret_mark(text):
        return ""
    shown = "".join(sign if sign.isprintable() else " " for sign in text[:_LONGEST_TOLD_REFUSAL])
    verdict = without_personal_data(" ".join(shown.split()), policy)
    return "" if isinstance(verdict, Refused) else verdict


def mask(kind: str, value: str) -> str:
    """What is harmless of a value, behind an ellipsis; it is no personal data any more."""
    if kind == "email":
        return "\u2026@" + value.rpartition("@")[2]
    letters = "".join(filter(str.isalnum, value))
    count = _KEPT_LETTERS.get(kind, 0)
    return "\u2026" + (letters[-count:] if count and len(letters) >= 3 * count else "")


def holds_secret_mark(text: str) -> bool:
    """Whether a text holds a mark of ours where a secret stood: it says nothing without it."""
    said = text.lower().replace("\\", "")
    return any(mark in said for mark in _SECRET_MARKS)


def gated_draft(draft: Draft, policy: GatePolicy) -> Draft | Refused:
    """A draft as it may be written, or why it may not; tags and a bank that may not are dropped.

    It is marked with what has passed, and a content with its own mark is not judged again.
    """
    known = draft.passed == passed_mark(draft.content)
    verdict = draft.content if known else gate(draft.content, policy)
    if isinstance(verdict, Refused):
        return verdict
    tags = tuple(tag for tag in draft.tags if is_safe_label(tag, policy))
    bank = draft.bank if is_safe_label(draft.bank, policy) else ""
    return replace(draft, content=verdict, tags=tags, bank=bank, passed=passed_mark(verdict))


def is_safe_label(label: str, policy: GatePolicy) -> bool:
    """Whether a tag or the name of a bank may be written as it is: one short line, nothing else."""
    if label in CATEGORIES or not label:
        return True
    fits = len(label) <= _LONGEST_LABEL and label.isprintable()
    return fits and gate(label, policy) == label


class GuardedStore:
    """A ``MemoryStore`` around another: what is added, changed or finished passes the gate.

    What has passed is written as it came out of the gate, so a row may say less than its draft.
    Writes raise ``WriteRefused`` where the gate does not let the content pass.
    """

    def __init__(self, store: MemoryStore, policy: GatePolicy) -> None:
        self._store, self._policy = store, policy
        self.stamp, self.changes, self.read = store.stamp, store.changes, store.read
        self.delete, self.keeps_history = store.delete, store.keeps_history

    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        """Write a new row (see ``MemoryStore``)."""
        return await self._store.add(await self._passed(draft), source, extra)

    async def add_all(self, memories: Sequence[NewMemory]) -> list[Memory | WriteRefused]:
        """Write many new rows (see ``MemoryStore``)."""
        verdicts = [await asyncio.to_thread(gated_draft, one[0], self._policy) for one in memories]
        passed = [
            (verdict, source, await asyncio.to_thread(self._passed_extra, extra or {}))
            for verdict, (_, source, extra) in zip(verdicts, memories, strict=True)
            if isinstance(verdict, Draft)
        ]
        rows = iter(await self._store.add_all(passed) if passed else ())
        return [
            WriteRefused(one.reason) if isinstance(one, Refused) else next(rows) for one in verdicts
        ]

    async def update(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Give a row a new content (see ``MemoryStore``); the former one is kept if it passes."""
        passed = await self._passed(draft)
        former = gate(memory.content, self._policy)
        content = "" if isinstance(former, Refused) else former
        return await self._store.update(replace(memory, content=content), passed, source)

    async def put_back(self, *memories: Memory) -> Sequence[Memory]:
        """Write rows as they once stood (see ``MemoryStore``), if all of it may stand there."""
        typed = replace(self._policy, typed=True)
        for memory in memories:
            verdict = await asyncio.to_thread(gate, memory.content, typed)
            if verdict != memory.content:
                why = verdict.reason if isinstance(verdict, Refused) else "it holds personal data"
                raise WriteRefused(why)
        return await self._store.put_back(*memories)

    def _passed_extra(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        """Meta whose former contents are those that pass, as they come out of the gate."""
        former = [mapping(one) for one in listing(extra.get("history"))]
        said = [(one, gate(str(one.get("content") or ""), self._policy)) for one in former]
        passed = [{**one, "content": text} for one, text in said if isinstance(text, str)]
        return {**extra, "history": passed} if former else dict(extra)

    async def _passed(self, draft: Draft) -> Draft:
        # In a thread: the first text has the patterns compiled, which takes a while.
        verdict = await asyncio.to_thread(gated_draft, draft, self._policy)
        if isinstance(verdict, Refused):
            raise WriteRefused(verdict.reason)
        return verdict


class AuditTrail:
    """An audit table that may fail: a failure is logged, none is raised."""

    def __init__(self, table: AuditTable) -> None:
        self._table = table

    async def record(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """Add changes that were made, in their order; ``now`` is in epoch seconds."""
        try:
            await self._table.append(user_id, list(map(_secretless, entries)), now)
        except TablesUnavailable as error:
            log_gate.warning("changes are not written down: %s", with_detail(error))

    async def keys(self, user_id: str, since: float = 0.0) -> list[ChangeKey]:
        """The keys of a user's changes (see ``AuditTable``); may raise ``TablesUnavailable``."""
        return await self._table.keys(user_id, since)

    async def read(self, user_id: str, keys: Sequence[str]) -> tuple[AuditEntry, ...]:
        """The changes of these keys, the newest first; may raise ``TablesUnavailable``."""
        return await self._table.read(user_id, keys)


def _secretless(entry: AuditEntry) -> AuditEntry:
    """A change without secrets; a row that held one, from another tool, can't be put back."""
    bare, before = replace(entry, after=without_secrets(entry.after)), entry.before
    if before is None or not find_secrets(f"{before.stored[0]}\n{before.meta}"):
        return bare
    content = without_secrets(before.content)
    masked = replace(before, content=content, meta={}, stored=(content, None, None))
    return replace(bare, before=masked, archived=None)
