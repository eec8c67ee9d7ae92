"""Behind an answer: chats are indexed and follow edits, and past ones come, each once."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from adaptive.core.model import HostError
from adaptive.history.indexing import LONGEST_EMBEDDED
from tests.history.world import DAY, KEY, START, World, chat_of


class Worker(World):
    """A finished chat and a new one."""

    def __init__(self) -> None:
        super().__init__(
            old=chat_of("old", "Which team?", "The Wolves!", "Why?", "Home."),
            new=chat_of("new", "Hello", "Hi", start=START + 2 * DAY),
        )

    async def backfill(self, **valves: Any) -> None:
        """Behind a turn of somebody who wants all chats indexed."""
        await self.keep(self.hook(**{"index_past_chats": True, **valves}))


async def test_only_what_changed_is_embedded() -> None:
    """A new message brings one unit, an edit its own and the next one's; what is gone goes."""
    here = Worker()
    rows = here.chats.rows
    assert [await here.index("old"), await here.index("old")] == [4, 0]
    rows["old"] += chat_of("old", *"xxxx", "Yes")[4:]
    assert await here.index("old") == 1
    rows["old"][0]["content"] = "Which club?"
    assert await here.index("old") == 2
    assert "Which club?\nThe Wolves!" in here.embedder.embedded
    rows["old"] = rows["old"][:2]
    await here.index("old")
    assert here.vectors.messages == ["old0", "old1"]
    rows["old"].append(
        {**rows["old"][1], "id": "other", "timestamp": START + 90}
    )
    await here.index("old")
    assert here.vectors.messages == ["old0", "other"]
    await here.index("old", "old1")
    assert here.vectors.messages == ["old0", "old1"]
    here.embedder.label = "another model"
    assert await here.index("old") == 2


async def test_no_secrets() -> None:
    """Secrets are not embedded, those at a cut neither."""
    here = Worker()
    padding = "word " * (LONGEST_EMBEDDED * 2 // 15)
    here.chats.rows["old"] = chat_of(
        "old", f"{padding} key {KEY} {padding * 3}", "Thanks"
    )
    await here.index("old")
    for text in here.embedder.embedded:
        assert "AKIA" not in text
        assert "PASDFGH" not in text


async def test_kept_behind_the_answer() -> None:
    """A turn's chat is indexed, unless somebody else owns it or memory is switched off."""
    here = Worker()
    shared = here.hook()
    shared.known_kind = "shared"
    off = here.hook()
    off.wanted = False
    for hook in (shared, off):
        await here.keep(hook)
    assert here.vectors.rows == {}
    await here.keep(here.hook())
    assert here.vectors.messages == ["new0", "new1"]
    assert here.lines == []
    del here.chats.rows["new"]
    await here.keep(here.hook("old"))
    assert here.vectors.messages == ["old0", "old1", "old2", "old3"]


async def test_past_chats() -> None:
    """All chats are indexed once, by one worker, and told; what fails goes on with a later turn."""
    here = Worker()
    old = {f"old{at}": chat_of(f"old{at}", "Tea", "Yes") for at in range(4)}
    here.chats.rows |= old
    await here.backfill(history_recall_default="chat")
    assert here.vectors.messages == ["new0", "new1"]
    here.leases.names.add("history:ada")
    await here.backfill()
    assert here.vectors.messages == ["new0", "new1"]
    here.leases.names.clear()
    here.embedder.failing = True
    await here.backfill()
    here.embedder.failing = False
    await here.backfill()
    everything = here.vectors.messages
    assert len(everything) == 14
    failed = "Past chats are not all indexed yet: the provider is down"
    assert here.lines == [failed, "Past chats indexed: 5"]
    assert here.leases.names == set()


async def test_only_what_is_new_is_looked_at() -> None:
    """Whatever process it is, only chats are read that have changed, or are gone, since."""
    here = Worker()
    await here.backfill()
    here.history = here.load()
    here.chats.read.clear()
    here.vectors.calls.clear()
    await here.backfill()
    assert here.chats.read == ["new"]
    assert here.vectors.calls == ["digests"]
    here.chats.rows["new"] += chat_of("new", *"xx", "Tea?", "Yes")[2:]
    here.vectors.calls.clear()
    await here.backfill()
    assert here.vectors.calls == ["digests", "upsert"]
    here.chats.changed["old"] = START + 9 * DAY
    here.chats.read.clear()
    await here.backfill()
    await here.backfill()
    assert here.chats.read == ["new", "old", "new"]
    del here.chats.rows["old"]
    await here.backfill()
    assert here.vectors.messages == ["new0", "new1", "new2", "new3"]


async def test_index_that_others_removed() -> None:
    """An index that a tool has dropped, or another model has made, is made again, all of it."""
    here = Worker()
    await here.backfill()
    everything = here.vectors.messages
    assert len(everything) == 6
    await here.vectors.delete_all("ada")
    for _ in range(2):
        await here.backfill()
    assert here.vectors.messages == everything
    here.embedder.label = "another model"
    for _ in range(2):
        await here.backfill()
    assert here.vectors.messages == everything
    assert len({*here.vectors.embedders.values()}) == 1


async def test_index_out_of_a_backup() -> None:
    """What an older index lacks comes back once a new chat begins, past chats wanted or not."""
    here = Worker()
    for chat_id in ("old", "new"):
        await here.keep(here.hook(chat_id))
    everything = here.vectors.messages
    assert len(everything) == 6
    await here.vectors.delete("ada", await here.vectors.digests("ada", "new"))
    assert here.vectors.messages == ["old0", "old1", "old2", "old3"]
    for chat_id in ("next", "last"):
        here.chats.rows[chat_id] = chat_of(chat_id, "Tea?", "Yes")
        await here.keep(here.hook(chat_id))
    added = {"next0", "next1", "last0", "last1"}
    assert {*here.vectors.messages} == {*everything} | added
    here.vectors.calls.clear()
    here.chats.rows["then"] = chat_of("then", "Tea?", "Yes")
    await here.keep(here.hook("then"))
    # Whether the index is whole is one question.
    assert here.vectors.calls == ["digests", "standing", "upsert"]


async def test_older_index_of_another_embedder() -> None:
    """An index out of a backup that another embedder had made goes before a new chat is added."""
    here = Worker()
    for chat_id in ("old", "new"):
        await here.keep(here.hook(chat_id))
    await here.vectors.delete("ada", await here.vectors.digests("ada", "new"))
    here.vectors.embedders = dict.fromkeys(here.vectors.rows, "another")
    here.chats.rows["next"] = chat_of("next", "Tea?", "Yes")
    await here.keep(here.hook("next"))
    assert here.vectors.messages == ["next0", "next1"]


async def test_only_chat_that_is_edited() -> None:
    """Where nothing of the only chat stands as it stood, no other tool has dropped the index."""
    here = Worker()
    del here.chats.rows["old"]
    await here.backfill()
    for message in here.chats.rows["new"]:
        message["id"] = f"edited-{message['id']}"
        message["parentId"] = message["parentId"] and "edited-new0"
    await here.backfill()
    assert here.vectors.messages == ["edited-new0", "edited-new1"]
    del here.chats.rows["new"]
    here.chats.rows["next"] = chat_of("next", "Tea?", "Yes")
    await here.keep(here.hook("next"))
    assert here.vectors.messages == ["next0", "next1"]


async def test_no_answer_is_not_nothing() -> None:
    """While the vector database finds nothing because it is away, nothing is made anew or dropped."""
    here = Worker()
    await here.backfill()
    rows = dict(here.vectors.rows)
    noted = {**here.entries.rows}
    here.vectors.away = True
    with pytest.raises(HostError, match="away"):
        await here.backfill()
    assert here.vectors.rows == rows
    assert here.entries.rows == noted
    here.vectors.away = False
    here.chats.read.clear()
    await here.backfill()
    assert here.chats.read == ["new"]


async def test_whole_answer_is_waited_for() -> None:
    """A turn's chat is indexed once its answer stands there whole; not for longer than a while."""
    here = Worker()
    hook = here.hook()
    hook.answer_id = "new1"
    answer = here.chats.rows["new"][1]
    answer |= {"done": False, "content": "H"}

    async def writing(seconds: float) -> None:
        here.slept.append(seconds)
        if len(here.slept) == 3:
            answer.update(done=True, content="Hi, whole")

    here.history.sleep = writing
    await here.keep(hook)
    assert len(here.slept) == 3
    assert "Hello\nHi, whole" in here.embedder.embedded
    answer["done"] = False
    await here.keep(hook)
    assert 10 < sum(here.slept[3:]) < 20


async def test_erased() -> None:
    """The index of a user goes, or a chat's part of it, for good, until a chat goes on.

    What is being indexed is stopped.
    """
    here = Worker()
    now = int(time.time())
    for chat_id in ("old", "new"):
        await here.index(chat_id)
    history = here.history
    await history.erase("ada", "old")
    assert here.vectors.messages == ["new0", "new1"]
    await here.backfill()
    assert here.vectors.messages == ["new0", "new1"]
    keeping = asyncio.create_task(here.keep(here.hook()))
    await asyncio.sleep(0)
    await history.erase("ada")
    await asyncio.wait({keeping})
    assert keeping.cancelled()
    assert here.vectors.rows == {}
    here.history = here.load()
    here.chats.changed["new"] = now + DAY
    await here.backfill()
    assert here.vectors.messages == ["new0", "new1"]

    async def refuses(_: str) -> None: ...

    here.vectors.delete_all = refuses  # type: ignore[method-assign]
    with pytest.raises(HostError) as failed:
        await history.erase("ada")
    assert "still holds" in failed.value.detail
