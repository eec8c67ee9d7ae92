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
from adaptive.history.index import UserPast
from adaptive.history.messages import PastMessage
from adaptive.llm.ask import Line, ask_fields, fields_schema, render_prompt
from adaptive.privacy.injection import escaped_entry
from adaptive.privacy.secrets import without_secrets
from adaptive.search.tokens import tokens

HISTORY_HEADING = "### Relevant past conversation"
# Of a longer message the passage is shown that has most to do with the question.
LONGEST_SHOWN = 800
# Of the budget, for summaries of topics and for chats like a new one.
_SHARE_FOR_NOTES = 0.2
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
    messages: tuple[PastMessage, ...] = ()
    note: str = ""


class PastSummary(BaseModel):
    """What a model says of past messages."""

    summary: Line = ""


def packed_section(
    question: str,
    messages: Sequence[PastMessage],
    notes: Sequence[PastMessage],
    most_tokens: int,
    time_zones: Sequence[str] = (),
) -> HistorySection:
    """The section of the best messages that fit the budget; empty where none does.

    ``messages`` and ``notes`` come best first. Notes are taken first, up to their share, then
    messages, each whole or as its best passage; one that is too long for what is left is passed
    over. A day's heading is paid for with the first line under it. Secrets have a placeholder.
    """
    words = frozenset(tokens(question))
    left = most_tokens - estimated_tokens(f"{HISTORY_HEADING}\n")
    left_beside_notes = left - int(most_tokens * _SHARE_FOR_NOTES)
    days: defaultdict[tuple[str, str], list[_Line]] = defaultdict(list)
    taken: list[PastMessage] = []
    passed_over = 0
    for place, said in enumerate((*notes, *messages)):
        is_message = place >= len(notes)
        passage = shown_passage(said.secretless, words)
        text = f"- {said.role.capitalize()}: {escaped_entry(passage)}"
        day = _day(said, time_zones)
        heading = "" if (day, said.chat_id) in days else f"{day}\n"
        cost = estimated_tokens(f"{text}\n") + estimated_tokens(heading)
        if left - cost < (0 if is_message else left_beside_notes):
            passed_over += 1
            if passed_over == _MOST_PASSED_OVER:
                break
            continue
        left -= cost
        days[day, said.chat_id].append(_Line(is_message, said.order, text))
        if is_message:
            taken.append(said)
    parts = [HISTORY_HEADING] if days else []
    # A day's chats by their first line.
    beginnings = {
        chat: min(line.order for line in lines) for chat, lines in days.items()
    }
    for day, chat_id in sorted(
        days, key=lambda chat: (chat[0], beginnings[chat], chat[1])
    ):
        parts += [day, *(line.text for line in sorted(days[day, chat_id]))]
    return HistorySection("\n".join(parts), tuple(taken))


@dataclass(frozen=True, order=True, slots=True)
class _Line:
    """A line under a day, which has notes before messages, and these as they were said."""

    is_message: bool
    order: tuple[int, bool]
    text: str


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


async def history_summary(
    past: UserPast,
    messages: Sequence[PastMessage],
    tokens: int,
    seconds: float,
    question: str = "",
) -> str:
    """What the messages say that the question needs, without one what they are about.

    It has about so many tokens and one line, no secrets, and is empty where there is nothing, or
    where the model may not see the past because banks are kept from it. The model is asked once: a
    second try would mostly cost the user the rest of the time. May raise ``AdaptiveMemoryError``.
    """
    hook = past.hook
    completer = await hook.completer()
    if (await hook.hidden_from(completer)).names:
        return ""
    request = history_summary_request(
        messages, tokens, question, hook.time_zones
    )
    reply = await ask_fields(
        completer, past.formats, PastSummary, request, seconds
    )
    return without_secrets(reply.summary)


def history_summary_request(
    messages: Sequence[PastMessage],
    tokens: int,
    question: str = "",
    time_zones: Sequence[str] = (),
) -> CompletionRequest:
    """The question to the model; the messages come in the order in which they were said."""
    lines: list[str] = []
    for message in sorted(messages, key=lambda message: message.order):
        words = head_and_tail(message.text, _LONGEST_SUMMARISED).split()
        lines.append(
            f"- {_day(message, time_zones)} {message.role}: {' '.join(words)}"
        )
    user = "## Past messages\n" + head_and_tail(
        "\n".join(lines), _LONGEST_PAST
    )
    if question:
        newest = head_and_tail(question, _LONGEST_QUESTION)
        user += f"\n\n## Newest message of the user\n{newest}"
    most_words = max(int(tokens * _WORDS_PER_TOKEN), 20)
    prompt = render_prompt("summarise_history", "", {"words": str(most_words)})
    return CompletionRequest(
        prompt, user, "history_summary", fields_schema(PastSummary)
    )
