"""Where blocks stand in the messages of a request, and the turns for which they wait."""

import re
import uuid
from collections.abc import Callable, Mapping, Sequence

from adaptive.core import (
    JsonObject,
    Message,
    UserCache,
    frozen,
    is_of_user,
    listing,
    mapping,
    message_text,
    messages_of,
    text_field,
    turn_state,
)
from adaptive.recall.block import (
    BLOCK_SEPARATOR,
    CLOSE_MARKER,
    OPEN_MARKER,
)
from adaptive.recall.request import RequestWindow
from adaptive.search import content_hash
from adaptive.settings import Hook

# No entry holds a marker, so a block begins at the last opening before its closing.
_FORMER_BLOCK = re.compile(
    rf"(?:{BLOCK_SEPARATOR})?{OPEN_MARKER}\n(?:(?!{OPEN_MARKER}\n).)*?\n{CLOSE_MARKER}",
    re.DOTALL,
)
_MOST_TURNS = 2000
# A turn that was stopped or failed has no outlet, so nothing else would forget it.
_LONGEST_TURN_SECONDS = 3600.0


@frozen
class MessageBlock:
    """The block at the end of a message of the user, whose text has this digest."""

    said: str
    block: str


@frozen
class PromptBlocks:
    """All that is added to a request: to its system prompt, and to its messages in their order."""

    system: str = ""
    messages: Sequence[MessageBlock] = ()

    @classmethod
    def of(
        cls, window: RequestWindow, blocks: Mapping[str, str]
    ) -> "PromptBlocks":
        """The blocks of what is sent, by the keys of messages; that of the system prompt by ""."""
        said = map(message_text, filter(is_of_user, window.messages))
        messages = [
            MessageBlock(said=content_hash(text), block=blocks.get(key, ""))
            for text, key in zip(said, window.sent_keys, strict=True)
        ]
        return cls(system=blocks.get("", ""), messages=messages)


def with_blocks(
    messages: Sequence[Message], blocks: PromptBlocks
) -> list[Message]:
    """A copy of the messages with all that is added to them.

    Where there is no system message, none is made, for a model may have its own or take none: what
    would stand there stands with the first message of the user.
    """
    added = [*blocks.messages]
    if any(message.get("role") == "system" for message in messages):
        messages = with_block(messages, blocks.system)
    elif added and blocks.system:
        first = _joined(blocks.system, added[0].block)
        added[0] = MessageBlock(said=added[0].said, block=first)
    return with_message_blocks(messages, added)


def with_block(messages: Sequence[Message], block: str) -> list[Message]:
    """A copy of the messages with the block at the end of the first system message.

    A former block is replaced; an empty ``block`` only takes it out. The rest of the system
    message stays byte for byte.
    """
    copied = list(messages)
    for place, message in enumerate(copied):
        if message.get("role") == "system":
            # Of a list of parts the host keeps the first text when it merges system messages
            # (host: utils/misc.py, get_content_from_message).
            copied[place] = _with_text(
                message,
                0,
                lambda text: _joined(_FORMER_BLOCK.sub("", text), block),
            )
            break
    return copied


def with_message_blocks(
    messages: Sequence[Message], blocks: Sequence[MessageBlock]
) -> list[Message]:
    """A copy of the messages with the blocks at the end of those that they came for.

    The newest block goes to the newest message of the user where no message has its text: the host
    may have put documents around it.
    """
    known = [each.block for each in blocks if each.block]

    def without_block(text: str) -> str:
        """A text without one of the blocks that it may hold already, or be."""
        if text in known:
            return ""
        for block in known:
            text = text.removesuffix(f"{BLOCK_SEPARATOR}{block}")
        return text

    copied = [*messages]
    places = [
        place for place, message in enumerate(copied) if is_of_user(message)
    ]
    for place in places:
        copied[place] = _with_text(copied[place], -1, without_block)
    digests = [content_hash(message_text(copied[place])) for place in places]
    waiting = [*blocks]
    if waiting and digests and _is_changed(waiting, digests):
        digests[-1] = waiting[-1].said
    for place, digest in zip(reversed(places), reversed(digests), strict=True):
        matching = [
            number
            for number, each in enumerate(waiting)
            if each.said == digest
        ]
        if matching:
            block = waiting[matching[-1]].block
            del waiting[matching[-1] :]
            copied[place] = _with_text(
                copied[place],
                -1,
                lambda text, block=block: _joined(text, block),
            )
    return copied


def _is_changed(
    waiting: Sequence[MessageBlock], digests: Sequence[str]
) -> bool:
    """Whether the host has changed the newest message, and not put another one behind it."""
    newest = waiting[-1].said
    if newest == digests[-1]:
        return False
    return len(digests) <= len(waiting) or newest not in digests


def _joined(*texts: str) -> str:
    return BLOCK_SEPARATOR.join(filter(None, texts))


def _with_text(
    message: Message, which: int, change: Callable[[str], str]
) -> JsonObject:
    """A message of which the text is changed; of several parts the first or last one, 0 or -1."""
    content = message.get("content")
    parts = [*listing(content)]
    if not parts:
        text = str(content or "")
        changed = change(text)
        kept = content if changed == text else changed
        return {**message, "content": kept}
    places = [
        place
        for place, part in enumerate(parts)
        if isinstance(mapping(part).get("text"), str)
    ]
    if places:
        place = places[which]
        part = mapping(parts[place])
        parts[place] = {**part, "text": change(text_field(part, "text"))}
    elif text := change(""):
        parts.append({"type": "text", "text": text})
    return {**message, "content": parts}


class TurnBlocks:
    """What is added to the turns under way, which go into each request of their turn behind those tasks.

    A turn is known by an unguessable mark in its state, so no turn is ever given another one's
    block. All is kept in this process, which serves the whole turn; where nothing is kept for a
    turn, its chat goes on without memories.
    """

    def __init__(self) -> None:
        self._blocks = UserCache[PromptBlocks](
            _MOST_TURNS, seconds=_LONGEST_TURN_SECONDS
        )
        self.forget = self._blocks.forget

    def keep(self, hook: Hook, blocks: PromptBlocks) -> None:
        """Keep the blocks of a turn."""
        mark = uuid.uuid4().hex
        hook.state["block_mark"] = mark
        self._blocks.put((hook.user_id, mark), blocks)

    def added(self, body: JsonObject, metadata: JsonObject) -> JsonObject:
        """A request with the blocks of its turn, in place of those that it may hold already."""
        blocks = self._blocks.get(_turn_key(metadata))
        if blocks is None:
            return body
        messages = with_blocks(messages_of(body), blocks)
        return {**body, "messages": messages}

    def let_go(self, metadata: JsonObject) -> None:
        """Let go of the block of a turn that is over."""
        self._blocks.pop(_turn_key(metadata))


def _turn_key(metadata: JsonObject) -> tuple[str, str]:
    mark = turn_state(metadata).get("block_mark", "")
    return str(metadata.get("user_id") or ""), mark
