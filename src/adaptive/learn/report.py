"""What learning did, in one line for the user."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive.model import Outcome, OutcomeStatus
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
_SELF_EXPLAINING = ("saved", "updated", "deleted", "ended", "archived", "asked", "unchanged")
_LONGEST_TOLD = 160
_LONGEST_LINE = 600
NOTHING_NEW = "Nothing new to remember"


def report_line(outcomes: Sequence[Outcome]) -> str:
    """The status line: what was written, then what was not and why."""
    if not outcomes:
        return NOTHING_NEW
    parts: list[str] = []
    for status, words in _STATUS_WORDS.items():
        texts = [_outcome_told(outcome) for outcome in outcomes if outcome.status == status]
        if texts:
            parts.append(f"{words}: {_listed(texts)}")
    return _clipped(" · ".join(parts), _LONGEST_LINE)


def failure_line(reason: str) -> str:
    """The status line of a turn that could not be learned."""
    return _clipped(f"Nothing saved: {' '.join(reason.split())}", _LONGEST_LINE)


def _listed(texts: Sequence[str]) -> str:
    """Texts one after the other; a semicolon only where none ends its own sentence."""
    listed = texts[0]
    for text in texts[1:]:
        listed += f" {text}" if listed.endswith((".", "!", "?", "。", "…")) else f"; {text}"
    return listed


def _outcome_told(outcome: Outcome) -> str:
    # A row that another tool has written may hold a secret when it is deleted or archived.
    told = outcome.before if outcome.status == "ended" else outcome.content
    text = _clipped(without_secrets(told), _LONGEST_TOLD)
    if not outcome.reason or outcome.status in _SELF_EXPLAINING:
        return text
    reason = _clipped(outcome.reason, _LONGEST_TOLD)
    return f"{text} ({reason})" if text else reason


def _clipped(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
