"""What of a chat that is longer than its window is sent, and what the rest may take beside it.

The oldest turns give way first, down to half of the window: whole turns, from one message of the
user up to the next. They go in steps, so that the beginning of what is sent, and with it the prefix
that providers cache, stays the same for many turns. Then past conversation gives way, then
memories; core memories, the newest turn and the system prompt never do. Budgets are reserved, not
what recall brings in the end. Whatever else fails, a request fits (see ``plain_window``).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from adaptive.conversation_ports import ChatNotesTable, HistoryTurn
from adaptive.errors import AdaptiveMemoryError, HostError
from adaptive.messages import Message, estimated_tokens, message_text
from adaptive.model import ConversationKind
from adaptive.privacy.escaping import escaped_entry
from adaptive.settings import Settings
from adaptive.shapes import listing, mapping

log_window = logging.getLogger("adaptive_memory.history")

SUMMARY_HEADING = "### Earlier in this conversation"
# What other people or a model wrote for one answer is not ours to cut.
_UNCUT_KINDS: frozenset[ConversationKind] = frozenset({"channel", "subagent"})
# A summary of a chat has 1,000 characters at most.
_SUMMARY_TOKENS = 300
# How many turns go at a time, and down to what they give way to what is reserved, of the window.
_STEP_SHARE = 0.25
_LARGEST_RESERVE = 0.5
# With less room than that nothing of past conversation is worth its heading.
_LEAST_HISTORY_TOKENS = 60
# Role and separators (host: utils/context_compaction.py, _estimate_messages_tokens).
_TOKENS_AROUND_MESSAGE = 4
# What providers charge for a picture of common size; the host counts the same.
_TOKENS_OF_PICTURE = 1000
_PICTURES = frozenset({"image", "image_url", "input_image"})


@dataclass(frozen=True, slots=True)
class RequestWindow:
    """The messages that are sent, and what stands for those that gave way, empty if none did.

    ``settings`` are narrowed to the budgets that are left for memories and past conversation.
    """

    settings: Settings
    messages: list[dict[str, Any]]
    summary: str = ""


async def request_window(
    turn: HistoryTurn, messages: list[dict[str, Any]], notes: ChatNotesTable
) -> RequestWindow:
    """The window of a request; without a limit it is the request itself, and nobody is asked.

    Nothing is done where the host shortens chats itself.
    """
    settings = turn.settings
    if not _exceeds(turn, messages):
        return RequestWindow(settings, messages)
    try:
        if await turn.compacts():
            return RequestWindow(settings, messages)
    except HostError as error:
        # What does not fit is refused by the model; a turn less does no harm.
        log_window.warning("the chat is fitted, whoever else may shorten it: %s", error)
    kept = plain_window(turn, messages).messages
    summary = ""
    if len(kept) < len(messages) and turn.told_kind == "saved":
        try:
            summary = summary_section((await notes.read(turn.user_id, turn.chat_id)).summary)
        except AdaptiveMemoryError as error:
            log_window.warning("turns gave way without a summary: %s", error)
    taken = sum(map(message_tokens, kept)) + estimated_tokens(summary)
    return RequestWindow(_narrowed_settings(settings, taken), kept, summary)


def plain_window(turn: HistoryTurn, messages: list[dict[str, Any]]) -> RequestWindow:
    """The window as it is told without asking anybody, where asking has failed or takes too long.

    The cut is where it is in other turns; no summary stands for what gave way.
    """
    most = turn.settings.max_context_tokens
    kept = messages
    if _exceeds(turn, messages):
        reserved = min(_reserve(turn), int(most * _LARGEST_RESERVE))
        kept = [dict(one) for one in fitted_messages(messages, most, reserved)]
    return RequestWindow(turn.settings, kept)


def fitted_messages(
    messages: Sequence[Message], most_tokens: int, reserved: int = 0
) -> list[Message]:
    """The messages without as many of the oldest turns as it takes to fit.

    System messages and the newest turn stay, whatever they take. ``reserved`` tokens are kept free
    for what takes the place of the turns: summary, recalled messages, memories.
    """
    fixed, costs, turn_of = 0, [0], list[int]()
    for message in messages:
        role, tokens = message.get("role"), message_tokens(message)
        if role == "system":
            fixed += tokens
        elif role == "user" and costs[-1]:
            costs.append(tokens)
        else:
            costs[-1] += tokens
        turn_of.append(-1 if role == "system" else len(costs) - 1)
    step = max(1, int(most_tokens * _STEP_SHARE))
    count = _turns_to_drop(costs, most_tokens - reserved - fixed, step)
    return [
        message
        for message, turn in zip(messages, turn_of, strict=True)
        if turn < 0 or turn >= count
    ]


def summary_section(summary: str) -> str:
    """What stands in the system prompt for turns that gave way; empty without a summary."""
    line = escaped_entry(summary)
    return f"{SUMMARY_HEADING}\n{line}" if line else ""


def message_tokens(message: Mapping[str, Any]) -> int:
    """Tokens of one message of a request: text, pictures, tool calls, and what goes around."""
    parts = listing(message.get("content"))
    pictures = sum(mapping(part).get("type") in _PICTURES for part in parts)
    calls = message.get("tool_calls")
    called = estimated_tokens(json.dumps(calls, default=str)) if calls else 0
    text = estimated_tokens(message_text(message))
    return _TOKENS_AROUND_MESSAGE + text + called + pictures * _TOKENS_OF_PICTURE


def _turns_to_drop(costs: Sequence[int], room: int, step: int) -> int:
    """How many of the oldest turns go, so that the rest fits and the cut stays for some turns.

    The cut is where a whole number of steps is behind it, counted from the chat's beginning; where
    there are not as many, as few turns go as it takes. The newest turn stays.
    """
    excess = sum(costs) - room
    if excess <= 0:
        return 0
    whole_steps = -(-excess // step) * step
    for wanted in (whole_steps, excess):
        for count, gone in enumerate(accumulate(costs[:-1]), 1):
            if gone >= wanted:
                return count
    return len(costs) - 1


def _exceeds(turn: HistoryTurn, messages: Sequence[Message]) -> bool:
    """Whether a request with all that may be recalled for it is longer than its window."""
    most = turn.settings.max_context_tokens
    if most <= 0 or turn.told_kind in _UNCUT_KINDS:
        return False
    return sum(map(message_tokens, messages)) + _reserve(turn) > most


def _reserve(turn: HistoryTurn) -> int:
    """Tokens of all that may be recalled for a request."""
    return sum(_budgets(turn.settings)) + (turn.told_kind == "saved") * _SUMMARY_TOKENS


def _budgets(settings: Settings) -> tuple[int, int]:
    """Tokens of memories and of past conversation."""
    return (
        settings.max_injected_tokens if settings.show_memories else 0,
        settings.history_tokens if settings.history_recall != "off" else 0,
    )


def _narrowed_settings(settings: Settings, taken: int) -> Settings:
    """The settings with what is left for memories and past conversation beside so many tokens."""
    memories, history = _budgets(settings)
    left = settings.max_context_tokens - taken - memories
    history = min(history, max(left, 0))
    core = min(settings.max_core_tokens, memories)
    changed: Mapping[str, object] = {
        "max_injected_tokens": max(memories + min(left, 0), core),
        "history_tokens": history,
        "history_recall": settings.history_recall if history >= _LEAST_HISTORY_TOKENS else "off",
    }
    return settings.model_copy(update=changed)
