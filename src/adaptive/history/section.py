"""Recalled messages as a section of the memory block: packed into a budget, or summed up.

The section is the same to the byte whenever the same messages are in it. Messages stand in the
order in which they were said, under the day of their chat, each on a line of its own that begins
with its role; no text can open a block, a heading or another one's turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from adaptive.core.messages import (
    estimated_tokens,
    head_and_tail,
    local_time,
    passages,
)
from adaptive.core.providers import CompletionRequest
from adaptive.history.messages import PastMessage, secretless
from adaptive.llm.ask import Line, fields_schema, render_prompt
from adaptive.privacy.injection import escaped_entry
from adaptive.privacy.secrets import without_secrets
from adaptive.search.tokens import tokens

HISTORY_HEADING = "### Relevant past conversation"
# Of a longer message the passage is shown that has most to do with the question.
LONGEST_SHOWN = 800
# Of the budget, for the names of similar chats.
_SHARE_FOR_CHATS = 0.2
# After so many messages that are too long for what is left, nobody looks for a shorter one.
_MOST_PASSED_OVER = 20
_LONGEST_QUESTION = 4000
_LONGEST_SUMMARISED = 1000
_LONGEST_PAST = 48_000
_WORDS_PER_TOKEN = 0.6


@dataclass(frozen=True, slots=True)
class HistorySection:
    """What is injected, the messages that are quoted in it, and what to tell the user about it."""

    text: str = ""
    messages: Sequence[PastMessage] = ()
    note: str = ""


class PastSummary(BaseModel):
    """What a model says of past messages."""

    summary: Line = ""


def packed_section(
    question: str,
    messages: Sequence[PastMessage],
    similar_chats: Sequence[str],
    most_tokens: int,
    time_zones: Sequence[str] = (),
) -> HistorySection:
    """The section of the best messages that fit the budget; empty where none does.

    ``messages`` come best first, each whole or as its best passage; one that is too long for what
    is left is passed over. ``similar_chats`` are named first, within their share. A day's heading
    is paid for with the first line under it. Secrets have a placeholder.
    """
    words = frozenset(tokens(question))
    left = most_tokens - estimated_tokens(f"{HISTORY_HEADING}\n")
    parts = [HISTORY_HEADING]
    left_beside_chats = left - int(most_tokens * _SHARE_FOR_CHATS)
    for chat in similar_chats:
        line = f"- Similar chat: {escaped_entry(without_secrets(chat))}"
        cost = estimated_tokens(f"{line}\n")
        if left - cost >= left_beside_chats:
            left -= cost
            parts.append(line)
    lines: dict[PastMessage, str] = {}
    headings = set[tuple[str, str]]()
    passed_over = 0
    for message in messages:
        passage = escaped_entry(shown_passage(secretless(message.text), words))
        line = f"- {message.role.capitalize()}: {passage}"
        day = _day(message, time_zones)
        cost = estimated_tokens(f"{line}\n")
        if (day, message.chat_id) not in headings:
            cost += estimated_tokens(f"{day}\n")
        if cost > left:
            passed_over += 1
            if passed_over == _MOST_PASSED_OVER:
                break
            continue
        left -= cost
        headings.add((day, message.chat_id))
        lines[message] = line
    # A day's chats by their first line.
    days: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for message in sorted(lines, key=lambda each: (each.order, each.key)):
        day = _day(message, time_zones)
        days[day, message.chat_id].append(lines[message])
    for (day, _), day_lines in days.items():
        parts += [day, *day_lines]
    return HistorySection("\n".join(parts) if lines else "", tuple(lines))


def _day(message: PastMessage, time_zones: Sequence[str]) -> str:
    """The day on which a message was said, as the user's calendar has it."""
    return local_time(message.said_at, *time_zones).date().isoformat()


def shown_passage(text: str, words: frozenset[str]) -> str:
    """The text, or of a long one the passage in which most of the words stand."""
    if len(text) <= LONGEST_SHOWN:
        return text
    pieces = passages(text, LONGEST_SHOWN) or [""]
    best = max(
        pieces, key=lambda piece: len(words.intersection(tokens(piece)))
    )
    before = "[…] " if best is not pieces[0] else ""
    after = " […]" if best is not pieces[-1] else ""
    return f"{before}{best}{after}"


def history_summary_request(
    question: str,
    messages: Sequence[PastMessage],
    most_tokens: int,
    time_zones: Sequence[str] = (),
) -> CompletionRequest:
    """What a model is asked to sum up for a question: messages in the order of their saying."""
    lines: list[str] = []
    for message in sorted(messages, key=lambda message: message.order):
        words = head_and_tail(message.text, _LONGEST_SUMMARISED).split()
        day = _day(message, time_zones)
        lines.append(f"- {day} {message.role}: {' '.join(words)}")
    past = head_and_tail("\n".join(lines), _LONGEST_PAST)
    newest = head_and_tail(question, _LONGEST_QUESTION)
    most_words = max(int(most_tokens * _WORDS_PER_TOKEN), 20)
    return CompletionRequest(
        render_prompt("summarise_history", "", {"words": str(most_words)}),
        f"## Past messages\n{past}\n\n## Newest message of the user\n{newest}",
        "history_summary",
        fields_schema(PastSummary),
    )
