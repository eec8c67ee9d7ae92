"""Where memories stand in the prompts of a chat: each with the message that it came for.

A model on one's own machine reads on from where a prompt begins to differ from the former one, and
providers charge less for what they have read before. So what a chat was given with a message stands
there again in every later request, letter for letter: with the chat's first message at the end of
the system prompt, later at the end of its message. A message is known by a digest of all that the
user had said up to it, so every branch of a chat has its own, and a branch that begins with an
edited message keeps what stands before it.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

from adaptive.core import frozen
from adaptive.memory import AddedText, Addition
from adaptive.recall.block import (
    BlockEntry,
    core_room,
    entries_within,
    entry_as_shown,
    extended_block,
    rendered_block,
    retrieved_room,
)
from adaptive.recall.chat_so_far import ChatSoFar
from adaptive.search import content_hash
from adaptive.settings import Settings

# Where one of the best three of a message has no room, the prompt begins anew; the part of the room
# that a further one leaves free for later messages grows with its rank by this (chosen by chats of
# 20 questions, benchmarks/README.md).
_WORTH_A_NEW_BEGINNING = 3
_LEFT_FREE = 0.04


@frozen
class Placed:
    """What stands with one message; its entries in the system prompt if it ``begins`` a chat."""

    core: Sequence[BlockEntry] = ()
    retrieved: Sequence[BlockEntry] = ()
    begins: bool = False
    texts: Sequence[AddedText] = ()

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
            digests={
                entry.memory.id: content_hash(entry.line)
                for entry in self.entries
            },
            texts=self.texts,
        )


def placed_again(
    addition: Addition, existing: Mapping[str, BlockEntry]
) -> Placed:
    """An addition of before: what is gone drops out, what was edited changes in its place.

    What a lesson has changed since stays as it was shown.
    """

    def entries(ids: Iterable[str]) -> list[BlockEntry]:
        return [
            entry_as_shown(existing[each], addition.digests.get(each, ""))
            for each in ids
            if each in existing
        ]

    return Placed(
        core=entries(addition.core),
        retrieved=entries(addition.retrieved),
        begins=addition.begins,
        texts=addition.texts,
    )


def placed_entries(
    so_far: ChatSoFar,
    facts: Sequence[str],
    fitting: Sequence[str],
    existing: Mapping[str, BlockEntry],
    most_tokens: int,
    pinned: Sequence[str] = (),
) -> dict[str, Placed]:
    """What stands with each message of a branch, by their keys in order; the newest is the last.

    ``pinned`` are the ids of what always comes, ``facts`` those of core facts, and ``fitting`` those
    of what fits the newest message, best first. ``existing`` holds every entry that may stand in the
    prompt. What stands already does not come again, but for what has changed since, which comes
    first: the newest message corrects what stands above. The fewer tokens are left, the better must
    an entry fit; where one of the best, or what is pinned, has no room, or what was given takes more
    than there is, that goes, and the chat begins anew with what fits now. It doesn't for what would
    have no room then either.
    """
    placed = {
        key: placed_again(addition, existing)
        for key, addition in so_far.standing.items()
    }
    standing = [entry for each in placed.values() for entry in each.entries]
    room = most_tokens - sum(entry.tokens for entry in standing)
    anew = ChatSoFar(key=so_far.key)
    begin_anew = partial(
        placed_entries, anew, facts, fitting, existing, most_tokens, pinned
    )
    if standing and retrieved_room([], room) < 0:
        return begin_anew()
    lines = {entry.memory.id: entry.line for entry in standing}
    corrected = [
        memory_id
        for memory_id, line in lines.items()
        if existing[memory_id].line != line
    ]
    shown = lines.keys() - corrected
    new_pins = _entries_of(pinned, existing, shown)
    pins = entries_within(retrieved_room([], room), new_pins)
    if so_far.key in placed:
        # The answer is made anew: what was pinned since comes with it.
        again = placed[so_far.key]
        core = [
            *again.core,
            *(pin for pin in pins if pin.memory.id not in lines),
        ]
        return {**placed, so_far.key: replace(again, core=core)}
    left_out = [pin for pin in new_pins if pin not in pins]
    if standing and left_out:
        begun = begin_anew()
        if any(map(begun[so_far.key].core.__contains__, left_out)):
            return begun
    shown.update(pin.memory.id for pin in pins)
    room -= sum(pin.tokens for pin in pins)
    core = entries_within(core_room(room), _entries_of(facts, existing, shown))
    shown.update(entry.memory.id for entry in core)
    free = whole = retrieved_room(core, room)
    retrieved: list[BlockEntry] = []
    for rank, memory_id in enumerate(dict.fromkeys([*corrected, *fitting])):
        entry = existing.get(memory_id)
        if entry is None or memory_id in shown:
            continue
        is_best = rank < _WORTH_A_NEW_BEGINNING
        reserved = 0 if is_best or not standing else rank * whole * _LEFT_FREE
        if entry.tokens + reserved <= free:
            retrieved.append(entry)
            free -= entry.tokens
        elif is_best and standing:
            begun = begin_anew()
            if entry in begun[so_far.key].entries:
                return begun
    newest = Placed(
        core=[*pins, *core],
        retrieved=by_age(retrieved),
        begins=so_far.is_first,
    )
    return {**placed, so_far.key: newest}


def _entries_of(
    memory_ids: Iterable[str],
    existing: Mapping[str, BlockEntry],
    shown: Set[str],
) -> list[BlockEntry]:
    """The entries of those memories that are not shown already."""
    return [
        existing[memory_id]
        for memory_id in memory_ids
        if memory_id in existing and memory_id not in shown
    ]


def by_age(entries: Iterable[BlockEntry]) -> list[BlockEntry]:
    """Entries in the order in which their memories were learned."""
    return sorted(
        entries, key=lambda entry: (entry.memory.created_at, entry.memory.id)
    )


def with_texts(
    placed: Mapping[str, Placed], texts: Sequence[AddedText]
) -> dict[str, Placed]:
    """The same with texts that stand with the newest message, but those that stand there already."""
    standing = {text.text for each in placed.values() for text in each.texts}
    *_, newest = placed
    new = [text for text in texts if text.text not in standing]
    return {**placed, newest: replace(placed[newest], texts=new)}


def rendered_blocks(
    placed: Mapping[str, Placed],
    settings: Settings,
) -> dict[str, str]:
    """The blocks by the keys of messages; the one for the system prompt has no key."""
    blocks: dict[str, str] = {}
    is_introduced = False
    for key, each in placed.items():
        block = rendered_block(
            each.core,
            each.retrieved,
            settings.memory_format,
            introduced=not is_introduced,
        )
        is_introduced = is_introduced or bool(block)
        if each.begins and settings.memory_placement == "system":
            blocks[""] = block
            block = ""
        if each.texts:
            block = extended_block(block, *(text.text for text in each.texts))
        blocks[key] = block
    return blocks
