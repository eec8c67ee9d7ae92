"""What a user is told of a lesson: a line, its counts without anybody's words, and each fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from adaptive.core.messages import clipped_line
from adaptive.core.model import Proposal, ProposalStatus
from adaptive.privacy.injection import escaped_entry
from adaptive.privacy.secrets import excerpt_without_secrets
from adaptive.settings.hook import NOTHING_NEW, Report

# What became of proposals, in the order in which it is told; nobody is told of the others.
_STATUS_WORDS: dict[ProposalStatus, str] = {
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
_EXPLAINED = ("kept", "rejected", "failed")  # whose words leave open why
_LONGEST_TOLD = 160
_LONGEST_LINE = 600


def report_of(
    outcomes: Sequence[Proposal],
    line: str,
    kind: Literal["news", "reply"] = "news",
) -> Report:
    """What a user is told of these outcomes in a line."""
    texts_by_words = _texts_by_words(outcomes)
    stati = {one.status for one in outcomes}
    counts = [
        f"{words}: {len(texts)} {'fact' if len(texts) == 1 else 'facts'}"
        for words, texts in texts_by_words.items()
    ]
    facts = [
        f"{words}: {text}"
        for words, texts in texts_by_words.items()
        for text in texts
    ]
    # The line names them all where each thing happened to one, and it is not cut.
    is_told = " · ".join(facts) == report_line(outcomes)
    return Report(
        line=line,
        kind=kind,
        details=() if is_told else tuple(map(escaped_entry, facts)),
        counts=" · ".join(counts),
        changes_memory=not stati.isdisjoint(
            ("saved", "updated", "deleted", "ended")
        ),
    )


def report_line(outcomes: Sequence[Proposal]) -> str:
    """The status line: what was written, then what was not and why."""
    parts: list[str] = []
    for words, texts in _texts_by_words(outcomes).items():
        if len(texts) > 1:
            parts.append(f"{words} ({len(texts)}): {texts[0]} …")
        else:
            parts.append(f"{words}: {texts[0]}")
    return clipped_line(" · ".join(parts), _LONGEST_LINE) or NOTHING_NEW


def failure_line(reason: str) -> str:
    """The status line of a turn that could not be learned."""
    return clipped_line(f"Nothing saved: {reason}", _LONGEST_LINE)


def joined_lines(*lines: str) -> str:
    """Lines as one; that there is nothing new is told only where there is nothing else."""
    told = [line for line in lines if line]
    return " · ".join(
        [line for line in told if line != NOTHING_NEW] or told[:1]
    )


def _texts_by_words(outcomes: Sequence[Proposal]) -> dict[str, list[str]]:
    """What became of proposals, by the words for it, in the order in which it is told."""
    told = {
        words: [_told(one) for one in outcomes if one.status == status]
        for status, words in _STATUS_WORDS.items()
    }
    return {words: texts for words, texts in told.items() if texts}


def _told(outcome: Proposal) -> str:
    content = outcome.draft.content
    # A row that another tool has written may hold a secret when it is deleted or archived.
    told = (outcome.before or content) if outcome.is_removal else content
    text = clipped_line(
        excerpt_without_secrets(told, 2 * _LONGEST_TOLD), _LONGEST_TOLD
    )
    if not outcome.reason or outcome.status not in _EXPLAINED:
        return text
    reason = clipped_line(outcome.reason, _LONGEST_TOLD)
    return f"{text} ({reason})" if text else reason
