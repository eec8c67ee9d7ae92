"""Where memories stand in the prompts of a chat: each with the message that it came for.

A model on one's own machine reads on from where a prompt begins to differ from the former one, and
providers charge less for what they have read before. So what a chat was given with a message stands
there again in every later request, letter for letter: with the chat's first message at the end of
the system prompt, later at the end of its message. A message is known by a digest of all that the
user had said up to it, so every branch of a chat has its own, and a branch that begins with an
edited message keeps what stands before it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field

from adaptive.core.messages import Message, listing, mapping, message_text
from adaptive.core.model import JsonObject, frozen
from adaptive.memory.tables import Addition
from adaptive.recall.block import (
    BLOCK_SEPARATOR,
    BlockEntry,
    core_room,
    entries_within,
    rendered_block,
    retrieved_room,
)
from adaptive.search.vectors import content_hash
from adaptive.settings.valves import MemoryFormat

# Where one of the best three of a message has no room, the prompt begins anew; the part of the room
# that a further one leaves free for later messages grows with its rank by this (chosen by chats of
# 20 questions, benchmarks/README.md).
_WORTH_A_NEW_BEGINNING = 3
_LEFT_FREE = 0.04
_MOST_MESSAGES = 400


def is_of_user(message: Message) -> bool:
    """Whether the user has said a message."""
    return message.get("role") == "user"


def message_keys(messages: Iterable[Message]) -> list[str]:
    """A key for each message of the user, in their order."""
    keys: list[str] = []
    former = ""
    for message in messages:
        if is_of_user(message):
            former = content_hash(f"{former}\n{message_text(message)}")
            keys.append(former)
    return keys


@frozen
class ChatSoFar:
    """What a chat was given, seen from the newest message of a branch.

    ``additions`` are those of all branches by the keys of their messages, ``earlier`` those that
    stand in front of the newest message, in their order, and ``again`` is what that message was
    given when it was asked before. ``is_first`` tells that no message of the user stands before it.
    """

    key: str = ""
    additions: Mapping[str, Addition] = field(
        default_factory=dict[str, Addition]
    )
    earlier: Mapping[str, Addition] = field(
        default_factory=dict[str, Addition]
    )
    is_first: bool = True

    @classmethod
    def of(
        cls,
        additions: Mapping[str, Addition],
        keys: Sequence[str],
        sent: Collection[str],
    ) -> "ChatSoFar":
        """The view of a branch with these keys, of which those ``sent`` are in the request."""
        if not keys:
            return cls()
        earlier: dict[str, Addition] = {}
        for key in keys:
            addition = additions.get(key)
            if addition is None:
                continue
            if addition.begins:
                earlier.clear()
            if key != keys[-1] and (addition.begins or key in sent):
                earlier[key] = addition
        return cls(
            key=keys[-1],
            additions=additions,
            earlier=earlier,
            is_first=len(keys) == 1,
        )

    @property
    def again(self) -> Addition | None:
        """What the newest message was given when it was asked before."""
        return self.additions.get(self.key)

    def given(self) -> dict[str, Addition]:
        """All that stands on the branch, by the keys of messages in their order."""
        if self.again is None:
            return {**self.earlier}
        return {**self.earlier, self.key: self.again}

    def ids(self) -> Iterable[str]:
        """The ids of all memories that stand on the branch."""
        for addition in self.given().values():
            yield from addition.core
            yield from addition.retrieved

    def with_addition(self, addition: Addition) -> dict[str, Addition]:
        """The additions of the chat with one for the newest message; of very many the newest."""
        changed = {**self.additions, self.key: addition}
        return dict([*changed.items()][-_MOST_MESSAGES:])


@frozen
class Placed:
    """The entries that stand with one message; ``begins`` if they stand in the system prompt."""

    core: Sequence[BlockEntry] = ()
    retrieved: Sequence[BlockEntry] = ()
    begins: bool = False

    @property
    def entries(self) -> Sequence[BlockEntry]:
        """All of them, in their order."""
        return (*self.core, *self.retrieved)

    def addition(self) -> Addition:
        """What is kept of them."""
        return Addition(
            core=[entry.memory.id for entry in self.core],
            retrieved=[entry.memory.id for entry in self.retrieved],
            begins=self.begins,
        )


def placed_again(
    addition: Addition, existing: Mapping[str, BlockEntry]
) -> Placed:
    """An addition of before: what is gone drops out, what was edited changes in its place."""

    def entries(ids: Iterable[str]) -> list[BlockEntry]:
        return [existing[each] for each in ids if each in existing]

    return Placed(
        core=entries(addition.core),
        retrieved=entries(addition.retrieved),
        begins=addition.begins,
    )


def placed_entries(
    so_far: ChatSoFar,
    facts: Sequence[str],
    fitting: Sequence[str],
    existing: Mapping[str, BlockEntry],
    most_tokens: int,
) -> dict[str, Placed]:
    """What stands with each message of a branch, by their keys in order; the newest is the last.

    ``facts`` are the ids of core facts, ``fitting`` those of what fits the newest message, best
    first. ``existing`` holds every entry that may stand in the prompt. What stands already does not
    come again. The fewer tokens are left, the better must an entry fit; where one of the best has
    no room, or what was given takes more than there is, that goes, and the chat begins anew with what
    fits now.
    """
    placed = {
        key: placed_again(addition, existing)
        for key, addition in so_far.given().items()
    }
    standing = [entry for each in placed.values() for entry in each.entries]
    room = most_tokens - sum(entry.tokens for entry in standing)
    anew = ChatSoFar(key=so_far.key)
    if standing and retrieved_room([], room) < 0:
        return placed_entries(anew, facts, fitting, existing, most_tokens)
    if so_far.key in placed:
        return placed
    shown = {entry.memory.id for entry in standing}
    core = entries_within(
        core_room(room), [one for one in facts if one not in shown], existing
    )
    shown.update(entry.memory.id for entry in core)
    free = whole = retrieved_room(core, room)
    retrieved: list[BlockEntry] = []
    for rank, memory_id in enumerate(dict.fromkeys(fitting)):
        entry = existing.get(memory_id)
        if entry is None or memory_id in shown:
            continue
        is_best = rank < _WORTH_A_NEW_BEGINNING
        reserved = 0 if is_best or not standing else rank * whole * _LEFT_FREE
        if entry.tokens + reserved <= free:
            retrieved.append(entry)
            free -= entry.tokens
        elif is_best and standing:
            return placed_entries(anew, facts, fitting, existing, most_tokens)
    newest = Placed(core, by_age(retrieved), begins=so_far.is_first)
    return {**placed, so_far.key: newest}


def by_age(entries: Iterable[BlockEntry]) -> list[BlockEntry]:
    """Entries in the order in which their memories were learned."""
    return sorted(
        entries, key=lambda entry: (entry.memory.created_at, entry.memory.id)
    )


def rendered_blocks(
    placed: Mapping[str, Placed], form: MemoryFormat
) -> dict[str, str]:
    """The blocks by the keys of messages; the one for the system prompt has no key."""
    return {
        "" if each.begins else key: rendered_block(
            each.core, each.retrieved, form, begins=each.begins
        )
        for key, each in placed.items()
    }


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

    def __bool__(self) -> bool:
        return bool(self.system or any(one.block for one in self.messages))

    def __len__(self) -> int:
        return len(self.system) + sum(len(one.block) for one in self.messages)


def blocks_by_message(
    messages: Sequence[Message], blocks: Mapping[str, str], keys: Sequence[str]
) -> list[MessageBlock]:
    """The block of each message of the user; ``keys`` are those of these messages."""
    said = [
        content_hash(message_text(message))
        for message in filter(is_of_user, messages)
    ]
    return [
        MessageBlock(said=digest, block=blocks.get(key, ""))
        for digest, key in zip(said, keys, strict=True)
    ]


def with_message_blocks(
    messages: Sequence[Message], blocks: Sequence[MessageBlock]
) -> list[Message]:
    """A copy of the messages with the blocks at the end of those that they came for.

    The newest block goes to the newest message of the user where no message has its text: the host
    may have put documents around it.
    """
    known = [f"{BLOCK_SEPARATOR}{each.block}" for each in blocks if each.block]
    copied = [_without_block(message, known) for message in messages]
    waiting = [*blocks]
    places = [
        place for place, message in enumerate(copied) if is_of_user(message)
    ]
    digests = [content_hash(message_text(copied[place])) for place in places]
    if waiting and digests and _is_changed(waiting, digests):
        digests[-1] = waiting[-1].said
    for place, digest in zip(reversed(places), reversed(digests), strict=True):
        found = [
            number
            for number, each in enumerate(waiting)
            if each.said == digest
        ]
        if found:
            block = waiting[found[-1]].block
            del waiting[found[-1] :]
            if block:
                copied[place] = _with_block_behind(copied[place], block)
    return copied


def _is_changed(
    waiting: Sequence[MessageBlock], digests: Sequence[str]
) -> bool:
    """Whether the host has changed the newest message, and not put another one behind it."""
    newest = waiting[-1].said
    if newest == digests[-1]:
        return False
    return len(digests) <= len(waiting) or newest not in digests


def _without_block(message: Message, known: Sequence[str]) -> Message:
    """A message of the user without one of the blocks that it may hold already."""
    if not is_of_user(message):
        return message
    content = message.get("content")
    parts = [*listing(content)]
    texts = [str(mapping(part).get("text") or "") for part in parts]
    for block in known:
        if isinstance(content, str) and content.endswith(block):
            return {**message, "content": content.removesuffix(block)}
        for place, text in enumerate(texts):
            if text.endswith(block):
                parts[place] = {
                    **parts[place],
                    "text": text.removesuffix(block),
                }
                return {**message, "content": parts}
    return message


def _with_block_behind(message: Message, block: str) -> JsonObject:
    """A message with a block at the end of its last text."""
    content = message.get("content")
    parts = listing(content)
    if not parts:
        text = f"{content or ''}{BLOCK_SEPARATOR}{block}"
        return {**message, "content": text.removeprefix(BLOCK_SEPARATOR)}
    changed = [*parts]
    for place in reversed(range(len(changed))):
        text = mapping(changed[place]).get("text")
        if isinstance(text, str):
            text = f"{text}{BLOCK_SEPARATOR}{block}"
            changed[place] = {**changed[place], "text": text}
            return {**message, "content": changed}
    changed.append({"type": "text", "text": block})
    return {**message, "content": changed}
