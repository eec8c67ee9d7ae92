"""Chats in the index: each message once, edits and deletions followed, no secrets."""

from __future__ import annotations

import uuid

import pytest

from adaptive.errors import EmbeddingError
from adaptive.history.indexing import (
    LONGEST_EMBEDDED,
    drop_deleted_chats,
    index_chat,
    message_units,
    unit_id,
)
from tests.history.world import START, World, chat_of, said

TALK = ("Which team?", "The Wolves!", "Great")


def world() -> World:
    """A chat of three messages."""
    return World(c=chat_of("c", *TALK))


def test_messages_and_pairs() -> None:
    """Each message is a unit, and so is each with the one before it; ids are the user's UUIDs."""
    chat = [said("a", TALK[0]), said("b", TALK[1], "assistant"), said("c", TALK[2])]
    found = message_units("ada", chat)
    assert [(one.kind, one.message_id, one.text, one.first) for one in found] == [
        ("message", "a", "Which team?", True),
        ("message", "b", "The Wolves!", False),
        ("exchange", "b", "Which team?\nThe Wolves!", False),
        ("message", "c", "Great", False),
        ("exchange", "c", "The Wolves!\nGreat", False),
    ]
    assert (found[1].role, found[1].said_at) == ("assistant", START)
    ids = [one.id for one in found]
    assert ids == [one.id for one in message_units("ada", chat)]
    assert not set(ids) & {one.id for one in message_units("bob", chat)}
    assert all(str(uuid.UUID(id_)) == id_ for id_ in ids)
    assert unit_id("ada", "topic", "c", "a") not in ids
    long = message_units("ada", [said("a", "x " * 4000), said("b", "y " * 4000)])
    assert max(len(one.text) for one in long) < LONGEST_EMBEDDED + 40


async def test_no_message_twice() -> None:
    """A chat is embedded once; a new message brings two units, an edit its own and a pair."""
    here = world()
    assert (await index_chat(here.past, "c", START)).embedded == 5
    assert (await index_chat(here.past, "c", START)).embedded == 0
    here.chats.add("c", *TALK, "Yes")
    assert (await index_chat(here.past, "c", START)).embedded == 2
    here.chats.add("c", "Which club?", *TALK[1:], "Yes")
    assert (await index_chat(here.past, "c", START)).embedded == 2
    assert len(here.embedder.embedded) == 9


async def test_what_is_gone_goes() -> None:
    """Messages that were deleted or left on another branch go, and so does a deleted chat."""
    here = world()
    await index_chat(here.past, "c", START)
    here.chats.add("c", *TALK[:2])
    await index_chat(here.past, "c", START)
    assert here.vectors.kinds() == [("exchange", "c1"), ("message", "c0"), ("message", "c1")]
    here.chats.rows["c"].append({**here.chats.rows["c"][1], "id": "other", "timestamp": START + 90})
    await index_chat(here.past, "c", START)
    assert ("message", "other") in here.vectors.kinds()
    assert ("message", "c1") not in here.vectors.kinds()
    await index_chat(here.past, "c", START, newest_id="c1")
    assert ("message", "other") not in here.vectors.kinds()
    here.chats.add("d", "A dog")
    await index_chat(here.past, "d", START)
    here.chats.remove("c")
    await drop_deleted_chats(here.past)
    assert here.vectors.kinds() == [("message", "d0")]
    here.chats.remove("d")
    await index_chat(here.past, "d", START)
    assert here.vectors.kinds() == []


async def test_topics() -> None:
    """A summary stands as long as its topic's words; closed topics without one are told."""
    here = world()
    later = START + 86_400
    assert (await index_chat(here.past, "c", START)).unsummarised == ()
    done = await index_chat(here.past, "c", later)
    assert [one.id for one in done.unsummarised] == ["c0"]
    done = await index_chat(here.past, "c", later, summaries={"c0": "They talk about a team."})
    assert (done.unsummarised, done.topics) == ((), 1)
    done = await index_chat(here.past, "c", later)
    assert (done.embedded, done.unsummarised) == (0, ())
    assert ("topic", "c0") in here.vectors.kinds()
    here.chats.add("c", "Which club?", *TALK[1:])
    assert len((await index_chat(here.past, "c", later)).unsummarised) == 1
    assert ("topic", "c0") not in here.vectors.kinds()


async def test_broken_off() -> None:
    """What fails halfway goes on where it was, batch by batch."""
    here = World(c=chat_of("c", *(f"word{at}" for at in range(40))))
    embed, calls = here.embedder.embed, 0

    async def fails_later(*arguments: object, **keywords: object) -> object:
        nonlocal calls
        calls += 1
        here.embedder.failing = calls == 2
        return await embed(*arguments, **keywords)  # type: ignore[arg-type]

    here.embedder.embed = fails_later  # type: ignore[assignment,method-assign]
    with pytest.raises(EmbeddingError):
        await index_chat(here.past, "c", START)
    assert len(here.vectors.kinds()) == 32
    assert (await index_chat(here.past, "c", START)).embedded == 79 - 32


async def test_no_secrets() -> None:
    """Secrets are neither embedded nor stored, those at a cut too."""
    key = "AKIA" + "QWERTYUIOPASDFGH"
    padding = "word " * (LONGEST_EMBEDDED * 2 // 15)
    here = World(c=chat_of("c", f"{padding} my key is {key} {padding * 3}", "Thanks"))
    await index_chat(here.past, "c", START)
    units = [unit.text for unit, _ in here.vectors.rows["ada"].values()]
    assert not any(
        "AKIA" in text or "PASDFGH" in text for text in [*units, *here.embedder.embedded]
    )
