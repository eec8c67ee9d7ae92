"""A user's chats, read from tables as the host makes them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adaptive.core.marks import Place, PlaceChoices
from adaptive.host import database
from adaptive.host.audience import (
    LocatedChat,
    is_read_by_others,
    located_chat,
)
from adaptive.host.history_chats import HostPastChats
from adaptive.host.hook import HostHook
from adaptive.host.tables import HostTables
from adaptive.memory.tables import AddedText, Addition, Entry
from adaptive.privacy.sealing import Sealer
from tests.fakes import hook_settings
from tests.host.databases import Worker, two_workers
from tests.host.test_application import hook_on_host

CHATS = (
    "CREATE TABLE chat (id VARCHAR PRIMARY KEY, user_id VARCHAR, title TEXT, chat JSON, "
    "created_at BIGINT, updated_at BIGINT, meta JSON, folder_id TEXT)"
)
MESSAGES = (
    "CREATE TABLE chat_message (id TEXT PRIMARY KEY, chat_id TEXT, user_id TEXT, role TEXT, "
    "parent_id TEXT, content JSON, output JSON, done BOOLEAN, error JSON, created_at BIGINT, "
    "model_id TEXT, meta JSON)"
)
SHARING = (
    "CREATE TABLE shared_chat (chat_id TEXT, chat JSON)",
    "CREATE TABLE access_grant (resource_type TEXT, resource_id TEXT)",
    "CREATE TABLE folder (id TEXT, parent_id TEXT, user_id TEXT)",
)
AUTOMATIONS = "CREATE TABLE automation_run (id TEXT PRIMARY KEY, chat_id TEXT)"


async def add_chat(
    worker: Worker, id: str, user_id: str, updated_at: int, meta: Any = None
) -> None:
    """A row of the host's table of chats."""
    row = {
        "id": id,
        "user_id": user_id,
        "at": updated_at,
        "meta": json.dumps(meta or {}),
    }
    await worker.change(
        "INSERT INTO chat VALUES (:id, :user_id, :id, '{}', 5, :at, :meta, NULL)",
        **row,
    )


async def add_message(
    worker: Worker,
    chat_id: str,
    id: str,
    user_id: str,
    content: Any,
    at: int,
    **fields: Any,
) -> None:
    """A row of the host's table of messages."""
    row = {
        "id": f"{chat_id}-{id}",
        "chat_id": chat_id,
        "user_id": user_id,
        "content": json.dumps(content),
        "at": at,
        "role": fields.get("role", "user"),
        "parent_id": fields.get("parent_id"),
        "output": json.dumps(fields.get("output")),
        "meta": json.dumps(fields.get("meta")),
    }
    columns = (
        ":id, :chat_id, :user_id, :role, :parent_id, :content, :output, 1, 'null', :at, "
        "NULL, :meta"
    )
    await worker.change(f"INSERT INTO chat_message VALUES ({columns})", **row)


@pytest.fixture
async def worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Worker, None]:
    """A database with chats of two users, and one that the host keeps for itself."""
    async with two_workers("sqlite", tmp_path) as (first, _):
        monkeypatch.setattr(database, "host_session", first.sessions)
        await first.change(CHATS)
        await first.change(MESSAGES)
        await first.change(AUTOMATIONS)
        for table in SHARING:
            await first.change(table)
        await add_chat(first, "c", "ada", 50)
        await add_chat(first, "inner", "ada", 90, {"internal": True})
        await add_chat(first, "b", "bob", 70)
        await add_message(first, "c", "m1", "ada", "Which team?", 10)
        answer = {"parent_id": "m1", "role": "assistant"}
        await add_message(first, "c", "m2", "ada", "The Wolves!", 11, **answer)
        await add_message(first, "inner", "m3", "ada", "A note", 12)
        await add_message(first, "b", "m4", "bob", "Mine", 13)
        await add_message(
            first, "c", "m5", "bob", "Bob's words", 14, parent_id="m2"
        )
        yield first


async def test_chats_to_index(worker: Worker) -> None:
    """Chats come that have changed since their entry, the last first, and those that are gone."""
    past = HostPastChats()
    entries = HostTables(Sealer("secret"), database.OUR_DATABASE).entries
    for chat_id, changed_at in (("new", 99), ("old", 40)):
        await add_chat(worker, chat_id, "ada", changed_at)
    changed = {"new": 99, "inner": 90, "c": 50, "old": 40}
    assert [*(await past.to_index("ada")).items()] == [*changed.items()]
    assert await past.to_index("ada", "c") == {"c": 50}
    noted = [
        Entry(chat_id, None, at, chat_id)
        for chat_id, at in (("new", 98), ("c", 50), ("gone", 70))
    ]
    await entries.put("history", "ada", noted)
    assert await past.to_index("ada", "c") == {"new": 99, "gone": 0}
    del changed["c"]
    assert await past.to_index("ada") == {**changed, "gone": 0}
    await entries.put("erased_history", "ada", [Entry("", None, 90)])
    await entries.drop("history", "ada", ["gone"])
    assert await past.to_index("ada") == {"new": 99}
    await entries.put("erased_history", "ada", [Entry("new", None, 99, "new")])
    assert await past.to_index("ada") == {}
    assert await past.to_index("bob") == {"b": 70}


async def test_messages_of_a_chat(worker: Worker) -> None:
    """Messages of own chats come with their own ids and times, others' without their words."""
    past = HostPastChats()
    found = await past.messages("ada", "c")
    assert [
        (one["id"], one["parentId"], one["role"], one["timestamp"])
        for one in found
    ] == [
        ("m1", None, "user", 10),
        ("m2", "m1", "assistant", 11),
        ("m5", "m2", "user", 14),
    ]
    assert [one["content"] for one in found] == [
        "Which team?",
        "The Wolves!",
        "",
    ]
    outline = await past.messages("ada", "c", words=False)
    told = ("id", "parentId", "role")
    assert [[one[name] for name in told] for one in outline] == [
        [one[name] for name in told] for one in found
    ]
    assert not any(one.get("content") for one in outline)
    for chat_id in ("b", "inner", "gone"):
        assert await past.messages("ada", chat_id) == []


async def test_current(worker: Worker) -> None:
    """Messages are read as they stand, lists and outputs too, however many, and nobody else's.

    Each has the title of its chat; those of chats that the host keeps for itself are left out.
    """
    await add_message(
        worker, "c", "m6", "ada", [{"type": "text", "text": "A"}], 14
    )
    await add_message(
        worker, "c", "m7", "ada", "", 15, output=[{"type": "message"}]
    )
    past = HostPastChats()
    many = [("c", f"x{number}") for number in range(1200)]
    keys = [
        ("c", "m1"),
        ("b", "m4"),
        ("inner", "m3"),
        ("c", "m5"),
        *many,
        ("c", "m6"),
        ("c", "m7"),
    ]
    found = await past.current("ada", keys)
    assert [(id, one["content"]) for (_, id), one in found.items()] == [
        ("m1", "Which team?"),
        ("m5", ""),
        ("m6", [{"type": "text", "text": "A"}]),
        ("m7", ""),
    ]
    assert found["c", "m7"]["output"] == [{"type": "message"}]
    assert found["c", "m7"]["chat_title"] == "c"


async def test_former_versions(worker: Worker) -> None:
    """What people wrote in the same place of a chat is what a message was before it was edited."""
    await add_message(
        worker, "c", "m6", "ada", "Which club?", 15, parent_id="m2"
    )
    answer = {"role": "assistant", "parent_id": "m2"}
    await add_message(worker, "c", "m7", "ada", "None", 16, **answer)
    await add_message(worker, "c", "m8", "ada", "Hello", 17)
    former = {
        message_id: await chat_hook(message_id).former_versions()
        for message_id in ("m6", "m1", "gone")
    }
    assert former == {"m6": {"m5"}, "m1": {"m8"}, "gone": frozenset()}


async def located(worker: Worker, user_id: str, chat_id: str) -> LocatedChat:
    """Where a user's chat is found, for which the page tells another folder."""
    tables = HostTables(Sealer("secret"), worker.database)
    told = {"chat_id": chat_id, "folder_id": "f2"}
    place = Place(model="model=m", new_folders="here")
    return await located_chat(tables.entries, user_id, told, place)


async def test_where_chats_are(
    worker: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    """A chat is where its row says, with what its user has chosen; without a row, where the page says.

    Where it can't be read, that is known; a folder that is gone is told from one that stands. What
    the user's chat was given comes along.
    """
    past = HostPastChats()
    tables = HostTables(Sealer("secret"), worker.database)
    await tables.places.write("ada", "", {"folder=f1": "here"}, 7)
    for user_id, words in (("ada", "Tea."), ("bob", "Beer.")):
        given = {"key": Addition(texts=[AddedText(words)])}
        await tables.chats.write(user_id, "c", given, 7)
    await worker.change("UPDATE chat SET folder_id = 'f1' WHERE id = 'c'")
    await worker.change(
        "UPDATE chat_message SET model_id = 'a/b' WHERE role = 'assistant'"
    )
    chosen: PlaceChoices = {"folder=f1": "here"}
    here = await located(worker, "ada", "c")
    assert here.place == Place("folder=f1", "model=m", chosen, "here")
    assert here.shared is None
    assert "Tea." in str(here.given)
    inner = await located(worker, "ada", "inner")
    assert (inner.place.folder, inner.given) == ("", {})
    temporary = await located(worker, "ada", "local:x")
    assert (temporary.place.folder, temporary.shared) == ("folder=f2", False)
    others = await located(worker, "bob", "c")
    assert others.place == Place("folder=f2", "model=m", {}, "here")
    assert others.shared is True
    assert "Beer." in str(others.given)
    assert await past.scopes("ada", ["c", "b", "inner"]) == {
        "c": {"folder=f1", "model=a%2Fb"},
        "inner": set(),
    }
    await worker.change("INSERT INTO folder VALUES ('f1', NULL, 'ada')")
    scopes = {"folder=f1", "folder=f2"}
    assert await past.standing_folders(scopes) == {"folder=f1"}
    await worker.change("DROP TABLE chat")
    assert await located(worker, "ada", "c") == LocatedChat()
    assert not LocatedChat().place.known
    assert "reading where a chat is" in caplog.text


@dataclass(frozen=True)
class Sharing:
    """How a chat of Ada's is shared, and whether others read it as it goes on."""

    how: str
    changes: tuple[str, ...]
    is_read: bool


SHARINGS = (
    Sharing("with nobody", (), False),
    Sharing(
        "to be read",
        (
            "INSERT INTO shared_chat VALUES ('c', '{\"share_mode\": \"view\"}')",
        ),
        False,
    ),
    Sharing(
        "to be gone on with",
        (
            "INSERT INTO shared_chat VALUES ('c', '{\"share_mode\": \"continue\"}')",
        ),
        True,
    ),
    Sharing(
        "in a folder of her own",
        (
            "INSERT INTO folder VALUES ('f1', NULL, 'ada')",
            "UPDATE chat SET folder_id = 'f1'",
        ),
        False,
    ),
    Sharing(
        "in a folder within a shared one",
        (
            "INSERT INTO folder VALUES ('f1', 'f0', 'ada')",
            "INSERT INTO folder VALUES ('f0', NULL, 'ada')",
            "INSERT INTO access_grant VALUES ('folder', 'f0')",
            "UPDATE chat SET folder_id = 'f1'",
        ),
        True,
    ),
    Sharing("of somebody else's", ("UPDATE chat SET user_id = 'bob'",), True),
    Sharing("that is not stored yet", ("DELETE FROM chat",), False),
)


@pytest.mark.parametrize("case", SHARINGS, ids=lambda case: case.how)
async def test_who_reads_chats(worker: Worker, case: Sharing) -> None:
    """Others read a chat that is shared to be gone on with, by itself or with a folder above it.

    The look that finds where it is tells the same, as far as it goes.
    """
    for change in case.changes:
        await worker.change(change)
    assert await is_read_by_others("c", "ada") is case.is_read
    told = (await located(worker, "ada", "c")).shared
    assert told is (None if "folder" in case.how else case.is_read)


async def test_other_authors(worker: Worker) -> None:
    """Whoever wrote into a user's chat is told apart; on doubt there is somebody."""
    assert await chat_hook("m1").other_authors()
    await worker.change("UPDATE chat_message SET user_id = 'ada'")
    assert not await chat_hook("m1").other_authors()
    await worker.change("DROP TABLE chat_message")
    assert await chat_hook("m1").other_authors()


def chat_hook(question_id: str) -> HostHook:
    """Ada's hook for one of her messages."""
    told = {"chat_id": "c", "session_id": "s", "user_message_id": question_id}
    return hook_on_host(hook_settings(), {"id": "ada"}, told)


async def test_unlearned(worker: Worker) -> None:
    """Messages that nothing knows of are found, the newest chat first; nobody else's are."""
    for id_, owner, at, meta in (
        ("old", "eve", 100, None),
        ("new", "eve", 200, None),
        ("note", "eve", 300, {"internal": True}),
        ("run", "eve", 300, None),
        ("erased", "eve", 300, None),
        ("others", "mallory", 300, None),
    ):
        await add_chat(worker, id_, owner, at, meta)
        await add_message(worker, id_, "first", owner, "Hello", at - 50)
        await add_message(
            worker, id_, "answer", owner, "Hi", at - 40, role="assistant"
        )
        await add_message(worker, id_, f"{id_}-last", owner, "Bye", at - 10)
    await add_message(worker, "new", "foreign", "mallory", "Me too", 195)
    await worker.change("INSERT INTO automation_run VALUES ('1', 'run')")
    tables = HostTables(Sealer("key"), worker.database)
    erased = Entry("erased", None, 290, "erased")
    await tables.entries.put("erased_history", "eve", [erased])
    chats = HostPastChats()

    async def unlearned(since: int = 0, until: int = 1000) -> dict[str, Any]:
        """What is left, in its order."""
        found = await chats.unlearned("eve", since, until)
        return {chat.id: sorted(chat.message_ids) for chat in found}

    everything = {"new": ["first", "new-last"], "old": ["first", "old-last"]}
    assert await unlearned() == everything
    assert [*await unlearned()] == ["new", "old"]
    assert await unlearned(60, 160) == {"new": ["first"], "old": ["old-last"]}
    waiting = Entry("old-last", None, 5)
    await tables.entries.put("waiting", "eve", [waiting])
    changed = Entry("1~~~1:saved:x", None, 5, "new", "new-last")
    await tables.entries.put("audit", "eve", [changed])
    assert await unlearned() == {"new": ["first"], "old": ["first"]}
    await tables.entries.put("done", "eve", [Entry("first", None, 5)])
    assert await unlearned() == {}
    # Former releases have noted some times in milliseconds.
    await add_message(worker, "old", "sure", "eve", "Sure", 20_000_000_000)
    assert await unlearned(20_000_001, 10**12) == {}
    assert await unlearned(0, 20_000_001) == {"old": ["sure"]}


async def test_timers_say_nothing(worker: Worker) -> None:
    """What a timer has brought in its user's place is no word of theirs."""
    await add_chat(worker, "timed", "eve", 100)
    await add_message(
        worker, "timed", "m", "eve", "Wake up", 90, meta={"internal": True}
    )
    (message,) = await HostPastChats().messages("eve", "timed")
    assert message["content"] == ""


async def test_listed(worker: Worker) -> None:
    """Chats are listed by what their user said in a time, the last said first."""
    for id_, owner, at, meta in (
        ("old", "eve", 100, None),
        ("new", "eve", 200, None),
        ("note", "eve", 300, {"internal": True}),
        ("others", "mallory", 300, None),
    ):
        await add_chat(worker, id_, owner, at, meta)
        await add_message(worker, id_, "m", owner, "Hello", at)
    listed = await HostPastChats().listed("eve", 0, 1000)
    assert [(one.id, one.title, one.said_at) for one in listed] == [
        ("new", "new", 200),
        ("old", "old", 100),
    ]
    await worker.change("UPDATE chat SET title = 'New Chat' WHERE id = 'old'")
    (early,) = await HostPastChats().listed("eve", 0, 200)
    assert (early.id, early.title) == ("old", "")


async def test_listed_by_words_of_the_users_own(worker: Worker) -> None:
    """A chat is listed by when its user spoke, though noted in milliseconds, and by nobody else's words."""
    await add_chat(worker, "former", "eve", 100)
    await add_message(worker, "former", "m", "eve", "Hello", 20_000_000_123)
    await add_message(worker, "former", "n", "mallory", "Hi", 20_000_100)
    (chat,) = await HostPastChats().listed("eve", 0, 30_000_000)
    assert (chat.id, chat.said_at) == ("former", 20_000_000)
