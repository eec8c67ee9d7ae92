"""Recalled messages as a section of the memory block: packed into a budget, and written out.

The section is the same to the byte whenever the same messages are in it. Messages stand in the
order in which they were said, under the day of their chat, each on a line of its own that begins
with its role; no text can open a block, a heading or another one's turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from adaptive.clock import local_time
from adaptive.history.messages import PastMessage, secretless
from adaptive.messages import estimated_tokens
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.secrets import without_secrets
from adaptive.search.tokens import tokens

HISTORY_HEADING = "### Relevant past conversation"
# Of a longer message the passage is shown that has most to do with the question.
LONGEST_SHOWN = 800
# Of the budget, for summaries of topics and for chats like a new one.
_SHARE_FOR_NOTES = 0.2
_ROLE_MARKS = {"user": "User", "assistant": "Assistant"}
# After so many messages that are too long for what is left, nobody looks for a shorter one.
_MOST_PASSED_OVER = 20


@dataclass(frozen=True, slots=True)
class PastNote:
    """A line above the messages of a chat's day, such as the summary of a topic."""

    mark: str
    chat_id: str
    moment: int
    text: str


@dataclass(frozen=True, slots=True)
class HistorySection:
    """What is injected, the messages that are quoted in it, and what to tell the user about it."""

    text: str = ""
    messages: tuple[PastMessage, ...] = ()
    note: str = ""


def packed_section(
    question: str,
    found: Sequence[PastMessage],
    notes: Sequence[PastNote],
    most_tokens: int,
    zone: str = "",
) -> HistorySection:
    """The section of the best messages that fit the budget; empty where none does.

    ``found`` and ``notes`` come best first. Notes are taken first, up to their share, then
    messages, each whole or as its best passage; one that is too long for what is left is passed
    over. A day's heading is paid for with the first line under it. Secrets have a placeholder.
    ``zone`` is the name of the user's time zone, UTC where it is empty.
    """
    section = _packed(question, found, notes, most_tokens, zone)
    if secretless(section.messages) == list(section.messages):
        return section
    return _packed(question, secretless(found), notes, most_tokens, zone)


def _packed(
    question: str,
    found: Sequence[PastMessage],
    notes: Sequence[PastNote],
    most_tokens: int,
    zone: str,
) -> HistorySection:
    words = frozenset(tokens(question))
    page = _Page(most_tokens - estimated_tokens(f"{HISTORY_HEADING}\n"), zone)
    least = page.left - int(most_tokens * _SHARE_FOR_NOTES)
    for note in notes:
        if line := escaped_entry(shown_passage(without_secrets(note.text), words)):
            page.takes(f"- {note.mark}: {line}", note.chat_id, note.moment, 0, least)
    taken: list[PastMessage] = []
    passed_over = 0
    for message in found:
        line = escaped_entry(shown_passage(message.text, words))
        line = f"- {_ROLE_MARKS[message.role]}: {line}"
        if page.takes(line, message.chat_id, message.said_at, 1 if message.role == "user" else 2):
            taken.append(message)
        else:
            passed_over += 1
            if passed_over == _MOST_PASSED_OVER:
                break
    return HistorySection(page.written(), tuple(taken))


def summarised_section(summary: str, section: HistorySection, most_tokens: int) -> HistorySection:
    """The section with a summary in place of its messages; as it is where that does not fit."""
    text = f"{HISTORY_HEADING}\n- Summary: {escaped_entry(summary)}"
    if not summary.strip() or estimated_tokens(f"{text}\n") > most_tokens:
        return section
    return replace(section, text=text)


def shown_passage(text: str, words: frozenset[str]) -> str:
    """The text, or of a long one the passage in which most of the words stand, cut at sentences."""
    if len(text) <= LONGEST_SHOWN:
        return text
    passages: list[str] = [""]
    for sentence in _passage_sentences().findall(text):
        for start in range(0, len(sentence), LONGEST_SHOWN):
            part = sentence[start : start + LONGEST_SHOWN]
            if len(passages[-1]) + len(part) > LONGEST_SHOWN:
                passages.append("")
            passages[-1] += part
    best = max(passages, key=lambda passage: len(words & frozenset(tokens(passage))))
    before = "[…] " if best is not passages[0] else ""
    after = " […]" if best is not passages[-1] else ""
    return f"{before}{best.strip()}{after}"


@dataclass(slots=True)
class _Page:
    """Lines under their days, and the tokens that are left."""

    left: int
    zone: str
    days: dict[tuple[str, str], list[tuple[int, int, str]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[int, int, str]]]
    )

    def takes(self, line: str, chat_id: str, moment: int, order: int, least: int = 0) -> bool:
        """Put the line down if that leaves ``least`` tokens; ``order`` is that of one second."""
        day = local_time(moment, self.zone).date().isoformat()
        cost = estimated_tokens(f"{line}\n")
        if (day, chat_id) not in self.days:
            cost += estimated_tokens(f"{day}\n")
        if self.left - cost < least:
            return False
        self.left -= cost
        self.days.setdefault((day, chat_id), []).append((moment, order, line))
        return True

    def written(self) -> str:
        """Everything in the order in which it was said, notes first under their day."""
        parts = [HISTORY_HEADING] if self.days else []
        for (day, _), lines in sorted(self.days.items(), key=lambda one: (one[0][0], min(one[1]))):
            parts += [day, *(one[2] for one in sorted(lines, key=lambda one: (one[1] > 0, *one)))]
        return "\n".join(parts)


@cache
def _passage_sentences() -> re.Pattern[str]:
    """Sentences with the marks and blanks behind them; every character is in one."""
    return re.compile(
        r"[^.!?\u3002\uff01\uff1f\n]*+(?:[.!?\u3002\uff01\uff1f\n]++\s*+|\Z)", re.DOTALL
    )
