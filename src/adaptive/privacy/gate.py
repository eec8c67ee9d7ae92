"""The one gate of every write: chat, edit, import and summary alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from adaptive.privacy.injection import injection_verdict
from adaptive.privacy.injection_style import as_statement
from adaptive.privacy.secrets import SECRET_MARK, find_secrets, secret_reason

GateRule = Literal["length", "secret", "injection", "personal data"]

# What models are shown in the place of a secret.
SECRET_PLACEHOLDER = "[SECRET]"  # noqa: S105 - the mark in its place
SECRET_LEFT_OUT = "it holds a secret; secrets are never remembered"  # noqa: S105 - a reason
_SECRET_MARKS = (SECRET_PLACEHOLDER.lower(), SECRET_MARK)


@dataclass(frozen=True, slots=True)
class Passed:
    """A text that may be written; personal data may be masked in it."""

    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a text may not be written: completes "Not saved: ...", and repeats nothing of it."""

    reason: str
    rule: GateRule


class PersonalDataRule(Protocol):
    """What an admin wants done with personal data in a text that is to be written."""

    def __call__(self, text: str, /) -> Passed | Refused:
        """The text, kept or masked, or why it is refused."""
        ...


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What the gate asks for; lengths in characters.

    ``statements`` tells wishes about style of the user, as they are to be stored; an edit by hand
    may leave them as they are.
    """

    shortest: int = 1
    longest: int = 2000
    statements: bool = True
    personal_data: PersonalDataRule | None = None


def gate(text: str, policy: GatePolicy) -> Passed | Refused:
    """The text as it may be written, or why it may not.

    The order is: length, secrets, instructions, personal data; so no later rule, and none that an
    admin injects, is ever shown a secret.
    """
    bare = text.strip()
    if len(bare) < max(1, policy.shortest):
        return Refused(f"it is shorter than {max(1, policy.shortest)} characters", "length")
    if len(bare) > policy.longest:
        return Refused(f"it is longer than {policy.longest} characters", "length")
    if reason := secret_reason(find_secrets(bare)):
        return Refused(reason, "secret")
    if holds_secret_mark(bare):
        return Refused(SECRET_LEFT_OUT, "secret")
    verdict = injection_verdict(bare)
    if not verdict.allowed:
        return Refused(verdict.reason, "injection")
    told = as_statement(bare) if policy.statements else bare
    return policy.personal_data(told) if policy.personal_data else Passed(told)


def holds_secret_mark(text: str) -> bool:
    """Whether a text holds a mark of ours where a secret stood: it says nothing without it."""
    said = text.lower().replace("\\", "")
    return any(mark in said for mark in _SECRET_MARKS)
