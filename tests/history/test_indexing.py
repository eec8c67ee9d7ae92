"""Behind an answer: chats are indexed and follow edits, past ones come, the past is calibrated."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from adaptive.core.model import HostError
from adaptive.history.indexing import LONGEST_EMBEDDED
from adaptive.search.calibration import NULL_PROMPTS
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
    """All chats are indexed once and told; what fails or is stopped goes on with a later turn."""
    here = Worker()
    await here.backfill(history_recall_default="chat")
    assert here.vectors.messages == ["new0", "new1"]
    here.embedder.failing = True
    await here.backfill()
    here.embedder.failing = False
    for _ in range(2):
        await here.backfill()
    here.history = here.load()
    await here.backfill()
    everything = ["new0", "new1", "old0", "old1", "old2", "old3"]
    assert here.vectors.messages == everything
    failed = "Past chats are not all indexed yet: the provider is down"
    assert here.lines == [failed, "Past chats indexed: 2"]
    # By a tool that takes the collection for an orphan.
    here.vectors.rows.clear()
    await here.backfill()
    assert here.vectors.messages == everything
    await here.history.erase("ada")
    await here.backfill()
    assert here.vectors.messages == ["new0", "new1"]


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


async def test_calibrated() -> None:
    """The null distribution of a past is made once, and again when it has grown by half."""
    here = Worker()
    (team,) = await here.embedder.embed(["team"], query=False)
    here.nulls = np.stack(
        [team * (0.3 + 0.01 * (at % 2)) for at in range(len(NULL_PROMPTS))]
    )
    here.chats.rows["new"] = chat_of("new", "team")
    assert here.history.levels("ada", "words") == {}
    for chat_id, searches in (("new", 1), ("new", 1), ("old", 2), ("old", 2)):
        await here.keep(here.hook(chat_id))
        assert here.vectors.searches == searches * len(NULL_PROMPTS)
    level = here.history.levels("ada", "words")["latin"]
    assert level.mean == pytest.approx(0.305, abs=0.01)
    await here.history.erase("ada")
    assert here.history.levels("ada", "words") == {}


async def test_erased() -> None:
    """The index of a user goes, or a chat's part of it; what is being indexed is stopped."""
    here = Worker()
    for chat_id in ("old", "new"):
        await here.index(chat_id)
    history = here.history
    assert await history.held("ada") == 2
    assert await history.held("ada", "old") == 1
    await history.erase("ada", "old")
    assert here.vectors.messages == ["new0", "new1"]
    keeping = asyncio.create_task(here.keep(here.hook()))
    await asyncio.sleep(0)
    await history.erase("ada")
    await asyncio.wait({keeping})
    assert keeping.cancelled()
    assert here.vectors.rows == {}
    await history.erase("ada")
    await here.index("old")

    async def refuses(_: str) -> None: ...

    here.vectors.delete_all = refuses  # type: ignore[method-assign]
    with pytest.raises(HostError, match="still holds"):
        await history.erase("ada")
