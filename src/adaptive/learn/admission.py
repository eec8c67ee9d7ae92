"""The gate before a lesson keeps anything: what may be stored, and what is told of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive.learn.commands import MemoryCommand, RememberCommand
from adaptive.learn.operations import Extraction
from adaptive.model import Draft, Operation, Outcome
from adaptive.privacy.gate import (
    SECRET_LEFT_OUT,
    GatePolicy,
    Passed,
    Refused,
    holds_secret_mark,
)
from adaptive.privacy.policy import gated_draft
from adaptive.privacy.secrets import find_secrets, secret_reason

_LONGEST_TOLD_REFUSAL = 200


def admitted(
    found: Extraction, commands: Sequence[MemoryCommand], words: str, policy: GatePolicy
) -> Extraction:
    """What was found, each content as it may be written, and the rest refused with its reason.

    ``words`` is what the user sent. What holds a secret, or personal data that is not to be kept,
    is told by its reason alone. A user who asked to remember a secret is told, too, where the model
    has left it out; a model is shown a mark in its place.
    """
    secret = secret_reason(find_secrets(words)) or SECRET_LEFT_OUT
    operations: list[Operation] = []
    refused: list[Outcome] = []
    for operation in found.operations:
        if operation.kind == "DELETE":
            operations.append(replace(operation, draft=Draft("")))
            continue
        draft = gated_draft(operation.draft, policy)
        if isinstance(draft, Draft):
            operations.append(replace(operation, draft=draft))
            continue
        reason = secret if draft.reason == SECRET_LEFT_OUT else draft.reason
        told = "" if _is_of_values(draft) else tellable(operation.draft.content, policy)
        refused.append(Outcome("rejected", told, reason))
    asked = [one.content for one in commands if isinstance(one, RememberCommand)]
    if any(map(find_secrets, asked)) and not any(map(_is_of_secret, refused)):
        refused.append(Outcome("rejected", "", secret))
    refused += (replace(one, content=tellable(one.content, policy)) for one in found.refused)
    return replace(found, operations=tuple(operations), refused=tuple(dict.fromkeys(refused)))


def tellable(text: str, policy: GatePolicy) -> str:
    """What may be told of a text that is not stored, on one line: masked, or nothing."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text[:_LONGEST_TOLD_REFUSAL])
    shown = " ".join(shown.split())
    if find_secrets(text) or holds_secret_mark(text):
        return ""
    verdict = policy.personal_data(shown) if policy.personal_data else Passed(shown)
    return "" if isinstance(verdict, Refused) else verdict.text


def _is_of_values(refusal: Refused) -> bool:
    """Whether a text was refused for values in it, which nothing may repeat."""
    return refusal.rule in ("secret", "personal data")


def _is_of_secret(outcome: Outcome) -> bool:
    """Whether it was for a secret; all of these reasons end alike."""
    return outcome.reason.endswith(SECRET_LEFT_OUT.partition("; ")[2])
