"""What of a chat that is longer than its window is sent, and what the rest may take beside it.

The oldest turns give way first, down to half of the window: whole turns, from one message of the
user up to the next. They go in steps, so that the beginning of what is sent, and with it the prefix
that providers cache, stays the same for many turns. Then past conversation gives way, then
memories; core memories, the newest turn and the system prompt never do.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from adaptive.core.errors import AdaptiveMemoryError, with_detail
from adaptive.core.messages import Message, estimated_tokens, message_text
from adaptive.core.shapes import listing, mapping
from adaptive.memory.tables import ChatNotesTable
from adaptive.privacy.escaping import escaped_entry
from adaptive.settings.hook import Hook
from adaptive.settings.merged import Settings

log_window = logging.getLogger("adaptive_memory.recall")

_SUMMARY_HEADING = "### Earlier in this conversation"
# Most tokens of past conversation in a prompt.
_HISTORY_TOKENS = 2000
# What other people or a model wrote for one answer is not ours to cut.
_UNCUT_KINDS = ("channel", "subagent")
# A summary of a chat has 1,000 characters at most; core memories are never given up.
_SUMMARY_TOKENS = 300
_CORE_TOKENS = 200
# Of the window: what goes at a time, and down to what turns give way to what is reserved.
_STEP_SHARE = 0.25
_LARGEST_RESERVE = 0.5
# Role and separators (host: utils/context_compaction.py, _estimate_messages_tokens).
_TOKENS_AROUND_MESSAGE = 4
# What providers charge for a picture of common size; the host counts the same.
_TOKENS_OF_PICTURE = 1000
_PICTURES = frozenset({"image", "image_url", "input_image"})


@dataclass(frozen=True, slots=True)
class RequestWindow:
    """The messages that are sent, and what stands for those that gave way, empty if none did.

    ``settings`` are narrowed to the tokens that are left for memories, ``history_tokens`` are those
    that are left for past conversation.
    """

    settings: Settings
    messages: list[dict[str, Any]]
    summary: str = ""
    history_tokens: int = _HISTORY_TOKENS


async def request_window(
    hook: Hook, messages: list[dict[str, Any]], notes: ChatNotesTable
) -> RequestWindow:
    """The window of a request; the request itself without a limit, or where the host shortens it.

    Raises:
        HostError: the host does not tell whether it does.
    """
    settings, kept = hook.settings, plain_window(hook, messages).messages
    if kept is messages or await hook.native.compacts():
        return RequestWindow(settings, messages)
    summary = ""
    if len(kept) < len(messages) and hook.told_kind == "saved":
        try:
            noted = escaped_entry((await notes.read(hook.user_id, hook.chat_id)).summary)
            summary = noted and f"{_SUMMARY_HEADING}\n{noted}"
        except AdaptiveMemoryError as error:
            log_window.warning("turns gave way without a summary: %s", with_detail(error))
    taken = sum(map(message_tokens, kept)) + estimated_tokens(summary)
    memories, history = _budgets(settings)
    left = settings.max_context_tokens - taken - memories
    narrowed = {"max_injected_tokens": max(memories + min(left, 0), min(_CORE_TOKENS, memories))}
    settings = settings.model_copy(update=narrowed)
    return RequestWindow(settings, kept, summary, min(history, max(left, 0)))


def plain_window(hook: Hook, messages: list[dict[str, Any]]) -> RequestWindow:
    """The window without asking anybody: the same cut, and no summary of what gave way.

    What fits with all that may be recalled for it comes back as it is.
    """
    most = hook.settings.max_context_tokens
    reserved = sum(_budgets(hook.settings)) + (hook.told_kind == "saved") * _SUMMARY_TOKENS
    fits = sum(map(message_tokens, messages)) + reserved <= most if most > 0 else True
    if fits or hook.told_kind in _UNCUT_KINDS:
        return RequestWindow(hook.settings, messages)
    reserved = min(reserved, int(most * _LARGEST_RESERVE))
    kept = [dict(one) for one in fitted_messages(messages, most, reserved)]
    return RequestWindow(hook.settings, kept)


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
        if role == "user" and costs[-1]:
            costs.append(0)
        if role == "system":
            fixed += tokens
        else:
            costs[-1] += tokens
        turn_of.append(len(messages) if role == "system" else len(costs) - 1)
    excess = sum(costs) + fixed + reserved - most_tokens
    step = max(1, int(most_tokens * _STEP_SHARE))
    # A whole number of steps goes; where there are not as many, as few turns as it takes.
    gone = list(enumerate(accumulate(costs[:-1]), 1))
    wanted = (-(-excess // step) * step, excess)
    enough = (number for least in wanted for number, tokens in gone if tokens >= least)
    count = next(enough, len(costs) - 1) if excess > 0 else 0
    return [one for one, turn in zip(messages, turn_of, strict=True) if turn >= count]


def message_tokens(message: Message) -> int:
    """Tokens of one message of a request: text, pictures, tool calls, and what goes around."""
    parts = listing(message.get("content"))
    pictures = sum(mapping(part).get("type") in _PICTURES for part in parts)
    calls = message.get("tool_calls")
    called = estimated_tokens(json.dumps(calls, default=str)) if calls else 0
    text = estimated_tokens(message_text(message))
    return _TOKENS_AROUND_MESSAGE + text + called + pictures * _TOKENS_OF_PICTURE


def _budgets(settings: Settings) -> tuple[int, int]:
    """Tokens of memories and of past conversation."""
    return (
        settings.max_injected_tokens if settings.show_memories else 0,
        _HISTORY_TOKENS if settings.history_recall != "off" else 0,
    )
