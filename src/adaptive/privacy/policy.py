"""What the gate asks for under an admin's valves, and whole drafts held against it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from adaptive.model import CATEGORIES, Draft
from adaptive.privacy.gate import GatePolicy, Passed, Refused, gate
from adaptive.privacy.masking import (
    DEFAULT_STORING,
    Storing,
    StoringPolicy,
    StoringRefusal,
    storable,
)
from adaptive.privacy.recogniser import PersonalKind
from adaptive.settings import Settings

# As long as a sentence of a model's reply may be (``learn.operations``).
_LONGEST_STORED = 4000
_LONGEST_LABEL = 100


@dataclass(frozen=True, slots=True)
class StoredPersonalData:
    """The gate's rule on personal data: each kind is kept, masked or refused."""

    policy: StoringPolicy

    def __call__(self, text: str, /) -> Passed | Refused:
        """The text as it may be stored, or why it may not."""
        stored = storable(text, self.policy)
        if isinstance(stored, StoringRefusal):
            return Refused(stored.reason, "personal data")
        return Passed(stored.text)


def gate_policy(settings: Settings) -> GatePolicy:
    """What every write has to pass; the least length is the business of ``learn.screen``.

    Personal data goes by the ``store_*`` valves unless ``pii_redaction`` is off.
    """
    if settings.pii_redaction == "off":
        return GatePolicy(longest=_LONGEST_STORED)
    by_kind: dict[PersonalKind, Storing] = {
        kind: getattr(settings, f"store_{kind}") for kind in DEFAULT_STORING
    }
    rule = StoredPersonalData(StoringPolicy(by_kind))
    return GatePolicy(longest=_LONGEST_STORED, personal_data=rule)


def gated_draft(draft: Draft, policy: GatePolicy) -> Draft | Refused:
    """A draft as it may be written, or why it may not; tags and a bank that may not are dropped."""
    verdict = gate(draft.content, policy)
    if isinstance(verdict, Refused):
        return verdict
    tags = tuple(tag for tag in draft.tags if is_safe_label(tag, policy))
    bank = draft.bank if is_safe_label(draft.bank, policy) else ""
    return replace(draft, content=verdict.text, tags=tags, bank=bank)


def is_safe_label(label: str, policy: GatePolicy) -> bool:
    """Whether a tag or the name of a bank may be written as it is: one short line, nothing else."""
    if label in CATEGORIES or not label:
        return True
    if len(label) > _LONGEST_LABEL or not label.isprintable():
        return False
    return gate(label, replace(policy, statements=False)) == Passed(label)
