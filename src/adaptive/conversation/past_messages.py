"""A chat's messages as they are recalled: what was typed and answered, on the standing branch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from adaptive.conversation_ports import PastMessage, PastRole
from adaptive.messages import Message, has_words, message_text, said_at, spoken_text
from adaptive.spans import without_spans

# A parent chain longer than this is a loop, or nothing that anybody wrote.
_LONGEST_CHAIN = 100_000


def past_messages(
    chat_id: str, stored: Iterable[Message], now: float, newest_id: str = ""
) -> tuple[PastMessage, ...]:
    """The messages of a chat that can be recalled, oldest first.

    Of a chat with branches (regenerated answers, edited questions) that one counts which ends in
    ``newest_id``, or in the newest message where that is unknown. Messages without words,
    unfinished and failed answers, and roles other than user and assistant are left out. ``now``, in
    epoch seconds, dates a message that has no usable time.
    """
    by_id = {str(one["id"]): one for one in stored if one.get("id")}
    found = (past_message(chat_id, message, now) for message in _branch(by_id, newest_id))
    return tuple(one for one in found if one is not None)


def past_message(chat_id: str, stored: Message, now: float) -> PastMessage | None:
    """One message as it is recalled, ``None`` if it is not to be."""
    role = _past_role(stored)
    text = recalled_text(stored)
    if role is None or not has_words(text) or stored.get("done") is False:
        return None
    if role == "assistant" and stored.get("error"):
        return None
    parent = str(stored.get("parentId") or "")
    return PastMessage(str(stored["id"]), chat_id, role, text, said_at(stored, now), parent)


def recalled_text(message: Message) -> str:
    """What was typed or answered, without thinking, tool results and what a filter put in."""
    text = spoken_text(message_text(message))
    for name in ("think", "thinking", "reasoning") if "<" in text else ():
        text = without_spans(text, *_thinking(name))
    return text.strip()


def _past_role(message: Message) -> PastRole | None:
    role = message.get("role")
    return role if role == "user" or role == "assistant" else None


def _branch(by_id: Mapping[str, Message], newest_id: str) -> Sequence[Message]:
    """The chain of parents that ends in the newest message, oldest first."""
    current = newest_id if newest_id in by_id else _newest_leaf(by_id)
    chain: list[Message] = []
    seen: set[str] = set()
    while current in by_id and current not in seen and len(chain) < _LONGEST_CHAIN:
        seen.add(current)
        chain.append(by_id[current])
        current = str(by_id[current].get("parentId") or "")
    return chain[::-1]


def _newest_leaf(by_id: Mapping[str, Message]) -> str:
    """The id of the newest message that is nobody's parent; empty where there is none."""
    parents = {str(one.get("parentId") or "") for one in by_id.values()}
    leaves = [id_ for id_ in by_id if id_ not in parents]
    return max(leaves, key=lambda id_: said_at(by_id[id_], 0), default="")


@cache
def _thinking(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(rf"<{name}>", re.IGNORECASE),
        re.compile(rf"</{name}>\s*", re.IGNORECASE),
    )
