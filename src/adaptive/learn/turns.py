"""Turns as the outlet makes them of a chat, and as a lesson takes them together."""

import itertools
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from adaptive.core import (
    Message,
    Provenance,
    Turn,
    Utterance,
    earlier_utterances,
    has_words,
    message_text,
    phrase,
    said_at,
    scope_of,
    spoken_text,
    text_field,
    typed_message,
)
from adaptive.learn.extraction import opening_of
from adaptive.learn.pastes import without_pastes
from adaptive.privacy import excerpt_without_secrets, wide_excerpt
from adaptive.settings import Hook, may_be_learned_from

_EARLIER_MESSAGES = 4  # for reference when facts are extracted
_LONGEST_WORDS = 16_000  # signs, of which the model is shown fewer
_LONGEST_EARLIER = 2000


def typed_turn(
    hook: Hook, messages: Sequence[Message], rememberable: Sequence[Message]
) -> Turn | None:
    """The turn to learn, ``None`` where nothing in it is the user's own new words.

    Of a chat's ``messages`` those that are ``rememberable`` may be shown beside it.
    """
    typed = typed_message(messages, hook.question_id)
    is_learned = may_be_learned_from(hook) and not hook.state.get("unlearned")
    if typed is None or not is_learned:
        return None
    if not hook.place.known:
        # It may belong to a folder that is kept apart.
        hook.state["unlearned"] = (
            f"{phrase('nothing_saved')}: {phrase('folder_unread')}"
        )
        return None
    message, words = typed
    now = time.time()
    source = Provenance(
        chat_id=hook.chat_id,
        # A program that calls the API names neither, and may call many times in a second.
        message_id=hook.question_id or hook.answer_id or uuid.uuid4().hex,
        said_at=min(said_at(message, now), int(now)),
    )
    earlier = earlier_utterances(rememberable, message, _EARLIER_MESSAGES)
    return Turn(
        user_id=hook.user_id,
        kind=hook.told_kind,
        words=wide_excerpt(words, _LONGEST_WORDS),
        earlier=_shortened(earlier, wide_excerpt),
        source=source,
        answer_id=hook.answer_id,
        time_zones=hook.time_zones,
        language=hook.state.get("language", ""),
        chat_model=hook.chat_model_id,
        is_direct=hook.is_direct,
        place=hook.place,
    )


def joined_turn(turns: Sequence[Turn]) -> Turn:
    """Turns of one chat, oldest first, as one: the words of all, and else what the newest is."""
    words = "\n\n".join(turn.words for turn in turns)
    if len(words) > _LONGEST_WORDS:
        words = excerpt_without_secrets(words, _LONGEST_WORDS)
    earlier = _shortened(turns[0].earlier, excerpt_without_secrets)
    return replace(turns[-1], words=words, earlier=earlier)


def marked_turn(turns: Sequence[Turn]) -> Turn:
    """Turns as one, with other people's texts as block quotes.

    Each turn is read by itself: what one asks for is not about the text of another.
    """
    marked = joined_turn(
        [replace(turn, words=without_pastes(turn.words)) for turn in turns]
    )
    return replace(marked, opening=opening_of(turns[0].words))


def _shortened(
    earlier: Sequence[Utterance], shorten: Callable[[str, int], str]
) -> tuple[Utterance, ...]:
    """Utterances that are no longer than a model may be shown."""
    return tuple(
        replace(one, text=shorten(one.text, _LONGEST_EARLIER))
        for one in earlier
    )


def past_turns(
    branch: Sequence[Message],
    message_ids: Collection[str],
    blank: Turn,
    served: Mapping[str, bool],
) -> list[Turn]:
    """The turns of those messages of a past chat that were answered by a model with memory.

    ``blank`` is a turn without words whose source tells when the chat was last changed.
    """
    source = blank.source
    turns: list[Turn] = []
    for message, answer in itertools.pairwise([*branch, {}]):
        message_id = text_field(message, "id")
        words = spoken_text(message_text(message))
        model_id = text_field(answer, "model_id")
        is_answered = text_field(answer, "role") == "assistant"
        is_served = is_answered and served.get(model_id, True)
        if message_id not in message_ids or not (
            is_served and has_words(words)
        ):
            continue
        # A message without a time of its own has that of its import.
        said = min(said_at(message, source.said_at), source.said_at)
        earlier = earlier_utterances(branch, message, _EARLIER_MESSAGES)
        turn = replace(
            blank,
            words=wide_excerpt(words, _LONGEST_WORDS),
            earlier=_shortened(earlier, wide_excerpt),
            source=replace(source, message_id=message_id, said_at=said),
            place=replace(blank.place, model=scope_of("model", model_id)),
        )
        turns.append(turn)
    return turns


def by_model(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Turns of a chat in their order, those one after the other of one model and place together."""
    grouped = itertools.groupby(
        turns, lambda turn: (turn.chat_model, turn.is_direct, turn.place)
    )
    return [list(together) for _, together in grouped]
