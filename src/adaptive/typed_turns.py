"""What the user typed in a turn, and what of it is learned: a person's own new words alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from adaptive.host.hook import Hook
from adaptive.host.kind import other_authors, owns_chat
from adaptive.learn.waiting_turn import WaitingTurn
from adaptive.messages import (
    Message,
    earlier_utterances,
    has_words,
    message_text,
    newest_user_message,
    said_at,
    spoken_text,
)
from adaptive.model import Provenance, Turn
from adaptive.turn_state import turn_state


def typed_message(hook: Hook, messages: Sequence[Message]) -> tuple[Message, str] | None:
    """The user's newest message and the words that were typed in it, if there are any."""
    message_id = str(hook.metadata.get("user_message_id") or "")
    named = (message for message in messages if message_id and message.get("id") == message_id)
    newest = next(named, None) or newest_user_message(messages)
    words = spoken_text(message_text(newest)) if newest else ""
    return (newest, words) if newest is not None and has_words(words) else None


def typed_turn(hook: Hook, messages: Sequence[Message]) -> WaitingTurn | None:
    """The turn to learn, ``None`` where nothing in it is the user's own new words."""
    settings, metadata, state = hook.settings, hook.metadata, turn_state(hook.metadata)
    if state.get("unlearned") or not hook.is_learned_from:
        return None
    found = typed_message(hook, messages)
    if found is None:
        return None
    newest, words = found
    message_id = str(metadata.get("user_message_id") or "")
    now = time.time()
    when = said_at(newest, now)
    source = Provenance(hook.chat_id, message_id or str(metadata.get("message_id") or when), when)
    earlier = earlier_utterances(messages, newest, settings.recent_messages_n)
    injected = tuple(state.get("injected", ()))
    turn = Turn(hook.user_id, hook.told_kind, words, earlier, source, injected)
    answer_id = str(metadata.get("message_id") or "")
    return WaitingTurn(turn, hook.time_zones, answer_id, state.get("language", ""))


async def of_this_user_alone(turn: Turn) -> Turn:
    """A turn without what other people said in its chat, which is no past of this user's.

    Raises:
        HostError: the chat can't be read.
    """
    if turn.kind != "saved":
        return turn
    chat_id, user_id = turn.source.chat_id, turn.user_id
    if not await owns_chat(chat_id, user_id):
        return replace(turn, kind="shared", earlier=())
    if turn.earlier and await other_authors(chat_id, user_id):
        return replace(turn, earlier=())
    return turn
