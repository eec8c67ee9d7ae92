"""What learning did, in one line for the user."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive.model import Outcome, OutcomeStatus
from adaptive.plain_markdown import clipped_line
from adaptive.privacy.secrets import without_secrets

_STATUS_WORDS: dict[OutcomeStatus, str] = {
    "saved": "Memory saved",
    "updated": "Memory updated",
    "deleted": "Memory deleted",
    "ended": "Also no longer true",
    "archived": "Over the limit, so moved to the archive",
    "asked": "You are asked before deleting",
    "kept": "Not deleted",
    "unchanged": "Already known",
    "rejected": "Not saved",
    "failed": "Could not be saved",
}
# Whose words leave open why.
_EXPLAINED = ("kept", "rejected", "failed")
_ENDS_OF_SENTENCE = (".", "!", "?", "。", "…")
_LONGEST_TOLD = 160
_LONGEST_LINE = 600
NOTHING_NEW = "Nothing new to remember"


def report_line(outcomes: Sequence[Outcome]) -> str:
    """The status line: what was written, then what was not and why."""
    parts: list[str] = []
    for status, words in _STATUS_WORDS.items():
        texts = [_told(outcome) for outcome in outcomes if outcome.status == status]
        if texts:
            listed = [one if one.endswith(_ENDS_OF_SENTENCE) else f"{one};" for one in texts[:-1]]
            parts.append(" ".join([f"{words}:", *listed, texts[-1]]))
    return clipped_line(" · ".join(parts), _LONGEST_LINE) or NOTHING_NEW


def failure_line(reason: str) -> str:
    """The status line of a turn that could not be learned."""
    return clipped_line(f"Nothing saved: {reason}", _LONGEST_LINE)


def _told(outcome: Outcome) -> str:
    # A row that another tool has written may hold a secret when it is deleted or archived.
    told = outcome.before if outcome.status == "ended" else outcome.content
    text = clipped_line(without_secrets(told), _LONGEST_TOLD)
    if not outcome.reason or outcome.status not in _EXPLAINED:
        return text
    reason = clipped_line(outcome.reason, _LONGEST_TOLD)
    return f"{text} ({reason})" if text else reason
