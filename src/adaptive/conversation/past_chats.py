"""Former chats that are like a new one, by their tags and summaries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from adaptive.search.bm25 import keyword_index
from adaptive.search.tokens import tokens

# Share of the new chat's tags and words that a former one must have to be worth showing.
_LEAST_LIKENESS = 0.2
_TAG_WEIGHT = 0.5


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


def _common_share(ours: Collection[str], theirs: Collection[str]) -> float:
    """Common tags over all tags of both (Jaccard), whatever their case."""
    one, other = ({tag.casefold().strip() for tag in tags} for tags in (ours, theirs))
    return len(one & other) / len(one | other) if one or other else 0.0
