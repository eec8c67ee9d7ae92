"""Former chats that are like a new one, by their tags and summaries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from adaptive.clock import local_time
from adaptive.conversation_ports import ChatNotes, ChatNotesTable, PastChats
from adaptive.errors import TablesUnavailable
from adaptive.messages import has_words, head_and_tail
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.redacting_completer import without_secret_values
from adaptive.search.bm25 import keyword_index
from adaptive.search.tokens import tokens

log_past_chats = logging.getLogger("adaptive_memory.conversation")

# Share of the new chat's tags and words that a former one must have to be worth showing.
_LEAST_LIKENESS = 0.2
_TAG_WEIGHT = 0.5
_CHATS_COMPARED = 200
SIMILAR_HEADING = "### Similar past chats"
_LONGEST_SHOWN_TITLE = 120
_LONGEST_SHOWN_SUMMARY = 500


@dataclass(frozen=True, slots=True)
class ChatProfile:
    """What is known of a chat; ``updated_at`` is in epoch seconds."""

    chat_id: str
    title: str
    summary: str
    tags: tuple[str, ...] = ()
    updated_at: int = 0


def similar_past_chats(
    new: ChatProfile, former: Sequence[ChatProfile], limit: int = 3
) -> tuple[ChatProfile, ...]:
    """The former chats that are most like a new one, best first; of equals the newer ones.

    Likeness is the share of the new chat's words in title and summary of the former one, rare words
    counting more, plus half the share of common tags. Those of little likeness are left out.
    """
    others = [one for one in former if one.chat_id != new.chat_id]
    if not others:
        return ()
    words = tokens(f"{new.title}\n{new.summary}")
    index = keyword_index([f"{one.title}\n{one.summary}\n{' '.join(one.tags)}" for one in others])
    covered = index.coverage(words)
    likeness = [
        float(covered[at]) + _TAG_WEIGHT * _common_share(new.tags, one.tags)
        for at, one in enumerate(others)
    ]
    order = sorted(
        range(len(others)), key=lambda at: (-round(likeness[at], 4), -others[at].updated_at)
    )
    return tuple(others[at] for at in order[:limit] if likeness[at] >= _LEAST_LIKENESS)


async def chats_like(
    new: ChatProfile, user_id: str, chats: PastChats, notes: ChatNotesTable, limit: int
) -> tuple[ChatProfile, ...]:
    """The most similar of a user's newest chats, by what is noted of them and by their titles.

    Raises:
        HostError: the list of chats can't be read.
    """
    try:
        noted = {chat_id: told for chat_id, told, _ in await notes.all(user_id, _CHATS_COMPARED)}
    except TablesUnavailable as error:
        log_past_chats.info("former chats are compared by their titles only: %s", error)
        noted = dict[str, ChatNotes]()
    former: list[ChatProfile] = []
    for head in await chats.chats(user_id, 0, _CHATS_COMPARED):
        told = noted.get(head.id, ChatNotes())
        former.append(ChatProfile(head.id, head.title, told.summary, told.tags, head.updated_at))
    return await asyncio.to_thread(similar_past_chats, new, former, limit)


def similar_section(
    chats: Sequence[ChatProfile], most_tokens: int, count_tokens: Callable[[str], int], zone: str
) -> str:
    """Former chats as a section of the prompt, best first, as many as fit; empty for none.

    Each stands on one line with its day in the time zone; secrets in it have a placeholder.
    """
    lines: list[str] = []
    left = most_tokens - count_tokens(f"{SIMILAR_HEADING}\n")
    for chat in chats:
        told = head_and_tail(chat.title, _LONGEST_SHOWN_TITLE)
        if has_words(chat.summary):
            told = f"{told}: {head_and_tail(chat.summary, _LONGEST_SHOWN_SUMMARY)}"
        if not has_words(told):
            continue
        day = local_time(chat.updated_at, zone).date().isoformat()
        line = f"- {day} {escaped_entry(without_secret_values(told))}"
        left -= count_tokens(f"{line}\n")
        if left < 0:
            break
        lines.append(line)
    return "\n".join([SIMILAR_HEADING, *lines]) if lines else ""


def _common_share(ours: Collection[str], theirs: Collection[str]) -> float:
    """Common tags over all tags of both (Jaccard), whatever their case."""
    one, other = ({tag.casefold().strip() for tag in tags} for tags in (ours, theirs))
    return len(one & other) / len(one | other) if one or other else 0.0
