"""Recalled messages as a section of the memory block: packed into a budget, and written out.

The section is the same to the byte whenever the same messages are in it. Messages stand in the
order in which they were said, under the day of their chat, each on a line of its own that begins
with its role; no text can open a block, a heading or another one's turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from adaptive.clock import local_time
from adaptive.conversation_ports import PastMessage
from adaptive.messages import head_and_tail
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.redacting_completer import without_secret_values
from adaptive.privacy.secrets import find_secrets
from adaptive.search.tokens import tokens

HISTORY_HEADING = "### Relevant past conversation"
# Of a longer message the passage is shown that has most to do with the question.
LONGEST_SHOWN = 800
_ROLE_MARKS = {"user": "User", "assistant": "Assistant"}
# After so many messages that are too long for what is left, nobody looks for a shorter one.
_MOST_PASSED_OVER = 20
_LONGEST_SEARCHED_MESSAGE = 20_000
_MOST_SECRET_LOOKS = 3

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class TopicNote:
    """The summary of a topic, which began at that epoch second."""

    chat_id: str
    began_at: int
    summary: str


@dataclass(frozen=True, slots=True)
class HistorySection:
    """What is injected; ``left_out`` counts messages that were found and did not fit."""

    text: str = ""
    messages: tuple[PastMessage, ...] = ()
    notes: tuple[TopicNote, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class SectionRules:
    """How a section is written: at most so many tokens, as ``count_tokens`` counts them.

    ``zone`` is the name of the user's time zone, UTC where it is empty or unknown. ``note_share``
    is the most of the budget that summaries of topics take.
    """

    tokens: int
    count_tokens: CountTokens
    zone: str = ""
    note_share: float = 0.2


def packed_section(
    question: str,
    found: Sequence[PastMessage],
    notes: Sequence[TopicNote],
    rules: SectionRules,
) -> HistorySection:
    """The section of the best messages that fit the budget; empty where none does.

    ``found`` and ``notes`` come best first. Summaries are taken first, up to their share, then
    messages, each whole or as its best passage; one that is too long for what is left is passed
    over. A day's heading is paid for with the first line under it. Secrets have a placeholder.
    """
    section = _packed(question, found, notes, rules)
    for _ in range(_MOST_SECRET_LOOKS):
        # One look at the whole is as dear as one at a message: hardly ever there is a second one.
        if not section.text or not _holds_secrets(section):
            return section
        shown = {id(one) for one in section.messages}
        found = [_without_its_secrets(one) if id(one) in shown else one for one in found]
        section = _packed(question, found, notes, rules)
    return replace(section, text=without_secret_values(section.text))


def _holds_secrets(section: HistorySection) -> bool:
    """Whether a secret stands in the section, be it cut, as far as it can be told.

    Of a message of which a passage is shown the whole is searched: it may be cut within a secret.
    """
    long = [one.text for one in section.messages if len(one.text) > LONGEST_SHOWN]
    cut = [head_and_tail(text, _LONGEST_SEARCHED_MESSAGE) for text in long]
    return bool(find_secrets("\n\n".join([section.text, *cut])))


def _without_its_secrets(message: PastMessage) -> PastMessage:
    text = head_and_tail(message.text, _LONGEST_SEARCHED_MESSAGE)
    bare = without_secret_values(text)
    return message if bare == message.text else replace(message, text=bare)


def _packed(
    question: str,
    found: Sequence[PastMessage],
    notes: Sequence[TopicNote],
    rules: SectionRules,
) -> HistorySection:
    words = frozenset(tokens(question))
    page = _Page(rules, rules.tokens - rules.count_tokens(f"{HISTORY_HEADING}\n"))
    share = page.left - int(rules.tokens * rules.note_share)
    told: list[TopicNote] = []
    for note in notes:
        line = f"- Topic: {escaped_entry(shown_passage(note.summary, words))}"
        if note.summary.strip() and page.takes(line, note.chat_id, note.began_at, 0, floor=share):
            told.append(note)
    taken: list[PastMessage] = []
    passed_over = 0
    for message in found:
        line = _message_line(message, words)
        order = 1 if message.role == "user" else 2
        if page.takes(line, message.chat_id, message.said_at, order):
            taken.append(message)
        else:
            passed_over += 1
            if passed_over == _MOST_PASSED_OVER:
                break
    if not taken and not told:
        return HistorySection(left_out=len(found))
    return HistorySection(page.written(), tuple(taken), tuple(told), len(found) - len(taken))


def summarised_section(
    summary: str, section: HistorySection, rules: SectionRules
) -> HistorySection:
    """The section with a summary in place of its messages; as it is where that does not fit."""
    line = f"- Summary: {escaped_entry(without_secret_values(summary))}"
    text = f"{HISTORY_HEADING}\n{line}"
    if not summary.strip() or rules.count_tokens(f"{text}\n") > rules.tokens:
        return section
    return replace(section, text=text, notes=(), left_out=0)


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
    """Lines under their days, and what is left of the budget."""

    rules: SectionRules
    left: int
    days: dict[tuple[str, str], list[tuple[int, int, str]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[int, int, str]]]
    )

    def takes(self, line: str, chat_id: str, moment: int, order: int, floor: int = 0) -> bool:
        """Put the line down if that leaves ``floor`` tokens; ``order`` is that of one second."""
        day = local_time(moment, self.rules.zone).date().isoformat()
        cost = self.rules.count_tokens(f"{line}\n")
        if (day, chat_id) not in self.days:
            cost += self.rules.count_tokens(f"{day}\n")
        if self.left - cost < floor:
            return False
        self.left -= cost
        self.days.setdefault((day, chat_id), []).append((moment, order, line))
        return True

    def written(self) -> str:
        """Everything in the order in which it was said."""
        parts = [HISTORY_HEADING]
        for (day, _), lines in sorted(self.days.items(), key=lambda one: (one[0][0], min(one[1]))):
            notes = sorted(line for line in lines if not line[1])
            parts += [day, *(line for _, _, line in notes)]
            parts += [line for _, order, line in sorted(lines) if order]
        return "\n".join(parts)


def _message_line(message: PastMessage, words: frozenset[str]) -> str:
    text = escaped_entry(shown_passage(message.text, words))
    return f"- {_ROLE_MARKS[message.role]}: {text}"


@cache
def _passage_sentences() -> re.Pattern[str]:
    """Sentences with the marks and blanks behind them; every character is in one."""
    return re.compile(
        r"[^.!?\u3002\uff01\uff1f\n]*+(?:[.!?\u3002\uff01\uff1f\n]++\s*+|\Z)", re.DOTALL
    )
