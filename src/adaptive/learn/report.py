"""What a user is told of learning: one line, which the page cuts, and the full list behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adaptive.core.markdown import clipped_line
from adaptive.core.model import Outcome, OutcomeStatus
from adaptive.privacy.secrets import without_secrets

# In the order in which they are told.
_STATUS_WORDS: dict[OutcomeStatus, str] = {
    "saved": "Saved",
    "updated": "Updated",
    "deleted": "Deleted",
    "ended": "Also no longer true",
    "failed": "Could not be saved",
    "rejected": "Not saved",
    "asked": "You are asked before deleting",
    "kept": "Not deleted",
    "archived": "Over the limit, so moved to the archive",
    "unchanged": "Already known",
}
# Whose words leave open why.
_EXPLAINED = ("kept", "rejected", "failed")
_LONGEST_TOLD = 160
_LONGEST_LINE = 600
NOTHING_NEW = "Nothing new to remember"


def report_line(outcomes: Sequence[Outcome]) -> str:
    """The status line: what was written, then what was not and why."""
    parts: list[str] = []
    for words, texts in _by_status(outcomes):
        several = len(texts) > 1
        parts.append(f"{words} ({len(texts)}): {texts[0]} …" if several else f"{words}: {texts[0]}")
    return clipped_line(" · ".join(parts), _LONGEST_LINE) or NOTHING_NEW


def report_details(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """What became of each fact, one by one; empty where the line names them all."""
    told = [f"{words}: {text}" for words, texts in _by_status(outcomes) for text in texts]
    return () if " · ".join(told) == report_line(outcomes) else tuple(told)


def failure_line(reason: str) -> str:
    """The status line of a turn that could not be learned."""
    return clipped_line(f"Nothing saved: {reason}", _LONGEST_LINE)


def joined_lines(*lines: str) -> str:
    """Lines as one; that there is nothing new is told only where there is nothing else."""
    told = [line for line in lines if line]
    return " · ".join([line for line in told if line != NOTHING_NEW] or told[:1])


def _by_status(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[str]]]:
    for status, words in _STATUS_WORDS.items():
        if texts := [_told(one) for one in outcomes if one.status == status]:
            yield words, texts


def _told(outcome: Outcome) -> str:
    # A row that another tool has written may hold a secret when it is deleted or archived.
    told = outcome.before if outcome.status == "ended" else outcome.content
    text = clipped_line(without_secrets(told), _LONGEST_TOLD)
    if not outcome.reason or outcome.status not in _EXPLAINED:
        return text
    reason = clipped_line(outcome.reason, _LONGEST_TOLD)
    return f"{text} ({reason})" if text else reason
