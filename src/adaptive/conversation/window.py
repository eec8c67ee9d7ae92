"""A chat that is longer than its window: which of its oldest turns give way.

Whole turns go, from one message of the user up to the next, so a call of a tool is never parted
from its result. They go in steps: the beginning of what is sent stays the same for many turns, and
with it the prefix that providers cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from adaptive.conversation.message_tokens import message_tokens
from adaptive.messages import Message, message_text
from adaptive.privacy.escaping import escaped_entry
from adaptive.shapes import listing, mapping

SUMMARY_HEADING = "### Earlier in this conversation"

# How many turns go at a time, as a part of the window.
_STEP_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class FittedWindow:
    """The messages that are sent, and those that give way, both in their order."""

    messages: tuple[Message, ...]
    dropped: tuple[Message, ...] = ()


def fitted_window(
    messages: Sequence[Message],
    max_context_tokens: int,
    *,
    reserved: int = 0,
    host_compacts: bool = False,
) -> FittedWindow:
    """The messages without as many of the oldest turns as it takes to fit.

    System messages and the newest turn stay, whatever they take. ``reserved`` tokens are kept free
    for what takes the place of the turns: summary, recalled messages, memories. Nothing is dropped
    without a limit, or where the host compacts chats: that its switch
    ``chat.context_compaction.enable`` is on, ``host_compacts`` tells; what it has done is seen.
    """
    everything = FittedWindow(tuple(messages))
    if max_context_tokens <= 0 or host_compacts or is_compacted(messages):
        return everything
    turns = list(_whole_turns(messages))
    costs = turn_costs(messages)
    fixed = sum(message_tokens(one) for one in messages if one.get("role") == "system")
    room = max_context_tokens - reserved - fixed
    count = _turns_to_drop(costs, room, max(1, int(max_context_tokens * _STEP_SHARE)))
    if not count:
        return everything
    gone = {at for turn in turns[:count] for at in turn}
    return FittedWindow(
        tuple(one for at, one in enumerate(messages) if at not in gone),
        tuple(messages[at] for at in sorted(gone)),
    )


def turn_costs(messages: Sequence[Message]) -> list[int]:
    """Tokens of each whole turn, oldest first; system messages are in none."""
    return [sum(message_tokens(messages[at]) for at in turn) for turn in _whole_turns(messages)]


def summary_section(summary: str) -> str:
    """What stands in the system prompt for turns that gave way; empty without a summary."""
    line = escaped_entry(summary)
    return f"{SUMMARY_HEADING}\n{line}" if line else ""


def is_compacted(messages: Sequence[Message]) -> bool:
    """Whether the host has put a summary in the place of older messages.

    What it notes with a message tells only that it once did: with its switch off it sends all
    (host: utils/context_compaction.py, compact_messages_for_request).
    """
    systems = (one for one in messages if one.get("role") == "system")
    return any(_host_summary().search(message_text(one)) for one in systems)


def _turns_to_drop(costs: Sequence[int], room: int, step: int) -> int:
    """How many of the oldest turns go, so that the rest fits and the cut stays for some turns.

    The cut is where a whole number of steps is behind it, counted from the chat's beginning. The
    newest turn stays.
    """
    excess = sum(costs) - room
    if excess <= 0:
        return 0
    wanted = -(-excess // step) * step
    gone = 0
    for count, cost in enumerate(costs[:-1], 1):
        gone += cost
        if gone >= wanted:
            return count
    # There are not as many whole steps: everything but the newest turn, or what is enough.
    return _fewest_turns(costs, excess)


def _fewest_turns(costs: Sequence[int], excess: int) -> int:
    gone = 0
    for count, cost in enumerate(costs[:-1], 1):
        gone += cost
        if gone >= excess:
            return count
    return max(len(costs) - 1, 0)


def _whole_turns(messages: Sequence[Message]) -> Iterator[list[int]]:
    """Positions of each turn's messages, system messages left out.

    Turns that share a call of a tool with its result are one, as are those between them.
    """
    turns: list[list[int]] = []
    for at, message in enumerate(messages):
        role = message.get("role")
        if role == "system":
            continue
        if role == "user" or not turns:
            turns.append([])
        turns[-1].append(at)
    last_of = _last_turns(messages, turns)
    joined: list[int] = []
    until = -1
    for number, turn in enumerate(turns):
        joined += turn
        until = max(until, last_of.get(number, number))
        if number >= until:
            yield joined
            joined = []


def _last_turns(messages: Sequence[Message], turns: Sequence[Sequence[int]]) -> Mapping[int, int]:
    """The last turn with a result, by the number of the turn that has made the call."""
    called: dict[str, int] = {}
    last: dict[int, int] = {}
    for number, turn in enumerate(turns):
        for at in turn:
            message = messages[at]
            for call in listing(message.get("tool_calls")):
                called[str(mapping(call).get("id"))] = number
            answered = called.get(str(message.get("tool_call_id")))
            if message.get("role") == "tool" and answered is not None:
                last[answered] = max(last.get(answered, number), number)
    return last


@cache
def _host_summary() -> re.Pattern[str]:
    """What Open WebUI 0.12.4 writes into the system message (host: utils/middleware.py)."""
    return re.compile(r"^\[CONVERSATION SUMMARY\]$", re.MULTILINE)
