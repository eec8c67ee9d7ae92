"""One user's memory: the admin's rules hold for each of its verbs, and none mixes with another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from adaptive.core.model import Draft, NewMemory, Proposal, WriteRefused
from adaptive.core.texts import LANGUAGE, Phrase
from adaptive.learn.queue import always
from adaptive.memory.tables import ArchivedMemory
from adaptive.memory.user_memory import UserMemory
from adaptive.privacy.injection import passed_mark
from tests.fakes import SOURCE, memory
from tests.learn.world import NOW, World
from tests.rates import over

CITY = "User lives in \u0130stanbul."
HOME = memory("m-1", "User lives in a flat.")
PETS = [memory(f"p-{at}", f"User has {at} cats.") for at in range(2)]


async def applied(ada: UserMemory, *operations: Proposal) -> str:
    """The reason of the last operation that is carried out."""
    async with ada.lock:
        outcomes = await ada.apply(
            operations, await ada.store.read(), SOURCE, always
        )
    return outcomes[-1].reason


async def new(ada: UserMemory) -> str:
    """Learned, agreed to, or by ``/remember``."""
    return await applied(ada, Proposal("NEW", draft=Draft(CITY)))


async def update(ada: UserMemory) -> str:
    """A correction."""
    return await applied(ada, Proposal("UPDATE", HOME.id, Draft(CITY)))


async def end(ada: UserMemory) -> str:
    """Rewritten, as something else has made it untrue."""
    return await applied(ada, Proposal("END", HOME.id, Draft(CITY)))


async def bring_in(ada: UserMemory) -> str:
    """Imported."""
    return await ada.bring_in(
        [NewMemory(Draft(CITY), SOURCE, {"imported": True})], "c"
    )


async def restore(ada: UserMemory) -> str:
    """Brought back from the archive, with the mark of a gate that let it pass."""
    meta = {"passed": passed_mark(CITY)}
    await ada.archive.put(
        "ada", [ArchivedMemory(memory("a", CITY, meta=meta), "old", NOW)]
    )
    return str(await ada.restore(["a"]))


async def undo(ada: UserMemory) -> str:
    """Taken back, so that what was there before would stand again."""
    await applied(ada, Proposal("DELETE", "m-2"))
    step = (await ada.steps())[0]
    with pytest.raises(WriteRefused) as refusal:
        await ada.undo(step)
    return str(refusal.value)


async def summarise(ada: UserMemory) -> str:
    """Summed up."""
    with pytest.raises(WriteRefused) as refusal:
        await ada.summarise(PETS, CITY)
    return str(refusal.value)


Write = Callable[[UserMemory], Awaitable[str]]
WRITES: list[Write] = [new, update, end, bring_in, restore, undo, summarise]
RULES: list[tuple[dict[str, Any], str]] = [
    ({"blacklist_topics": "istanbul"}, Phrase("ruled_out")),
    ({"save_mode": "off"}, Phrase("saving_off")),
]


@over("write", WRITES)
async def test_rules_hold_for_every_write(write: Write) -> None:
    """No verb writes what today's rules refuse; the reason is told, and what stood stays."""
    for valves, reason in RULES:
        world = World(HOME, *PETS)
        if write is undo:
            world.store.rows["m-2"] = memory("m-2", CITY)
        assert reason in await write(world.memory(**valves))
        assert CITY not in world.contents
        assert {HOME.content, *(one.content for one in PETS)} <= set(
            world.contents
        )
        assert [one for one in world.audit.entries if one.after == CITY] == []


async def test_refusal_of_a_write_is_for_all_languages() -> None:
    """Why something was not written is kept in English, and told in the language of who reads it."""
    world = World(HOME)
    token = LANGUAGE.set("de")
    reason = await update(world.memory(blacklist_topics="istanbul"))
    assert "".join([reason]) == Phrase("ruled_out")
    assert f"{reason}".startswith("es enth\u00e4lt ein Wort")
    LANGUAGE.reset(token)


async def test_former_contents_obey_the_rules() -> None:
    """What comes back brings no former content along that may not be stored today."""
    world = World()
    history = [{"content": CITY}, {"content": "User lives in a tent."}]
    row = memory("a", HOME.content, meta={"history": history})
    ada = world.memory(blacklist_topics="istanbul")
    await ada.archive.put("ada", [ArchivedMemory(row, "old", NOW)])
    assert await ada.restore(["a"]) == ["Restored: 1 memory."]
    (stored,) = world.store.rows.values()
    assert stored.meta["history"] == history[1:]


async def test_taking_away_works_while_nothing_is_saved() -> None:
    """With saving switched off a memory can be forgotten, and a new one taken back."""
    world = World(HOME)
    await applied(world.memory(), Proposal("NEW", draft=Draft(CITY)))
    ada = world.memory(save_mode="off")
    (step,) = await ada.steps()
    await ada.undo(step)
    assert world.contents == [HOME.content]
    await applied(ada, Proposal("DELETE", HOME.id))
    assert world.contents == []


async def test_a_step_is_taken_back_whole_or_not_at_all() -> None:
    """Where one former row may not stand again, nothing of its step is touched."""
    world = World(*PETS)
    plain = world.memory()
    await plain.summarise(PETS, "User has 0 cats and 1 cat.")
    summed_up = world.contents
    ada = world.memory(blacklist_topics="cats")
    with pytest.raises(WriteRefused, match=Phrase("ruled_out")):
        await ada.undo((await ada.steps())[0])
    assert world.contents == summed_up
    assert len(world.archive.rows) == 2


async def test_one_write_at_a_time() -> None:
    """Writes of a user wait for each other, whichever hook they come from; another user's don't."""
    world = World()
    everybody = world.memories()
    sources = world.resources().sources
    settings = world.memory().settings
    ada = everybody.over(sources, settings)
    again = everybody.over(sources, settings)
    bob = everybody.over(replace(sources, user_id="bob"), settings)
    carried = [NewMemory(Draft("User likes tea."), SOURCE)]
    async with ada.lock:
        waiting = asyncio.create_task(again.bring_in(carried, "c"))
        await bob.bring_in([NewMemory(Draft("User likes rum."), SOURCE)], "c")
        assert world.contents == ["User likes rum."]
    await waiting
    assert world.contents == ["User likes rum.", "User likes tea."]


CARRIED = [
    NewMemory(Draft(f"User knows fact {number}."), SOURCE)
    for number in range(60)
]


async def test_import_doubles_nothing() -> None:
    """Two imports at once, a fact learned between, masked and repeated words: each stands once."""
    world = World(clock=time.time)
    everybody = world.memories()
    sources = world.resources().sources
    settings = world.memory(mask_in_memories="email").settings
    again = everybody.over(sources, settings)
    learned = world.memory()

    async def learn() -> None:
        """What the other import has yet to write is learned in between."""
        if "User knows fact 59." not in world.contents:
            await applied(
                learned, Proposal("NEW", draft=Draft("User knows fact 59."))
            )

    ada = replace(everybody.over(sources, settings), give_way=learn)

    told = await asyncio.gather(
        ada.bring_in(CARRIED, "c"),
        again.bring_in(CARRIED, "d"),
    )
    assert len(world.contents) == len({*world.contents}) == len(CARRIED)
    assert "Already known" in told[1]
    mail = [
        NewMemory(Draft("User's e-mail is ana.k@example.org."), SOURCE)
    ] * 2
    assert await ada.bring_in(mail, "c") == "Saved: 1 / 2 · Already known: 1"
    assert await ada.bring_in(mail, "c") == "Saved: 0 / 2 · Already known: 2"


async def test_labels_obey_the_rules() -> None:
    """A row whose bank or tag may not be written today does not come back by an undo."""
    rows = [
        memory("m-2", "User sails.", bank="Poker"),
        memory("m-3", "User runs.", tags=("poker",)),
    ]
    for row in rows:
        world = World(row)
        await applied(world.memory(), Proposal("DELETE", row.id))
        ada = world.memory(blacklist_topics="poker")
        with pytest.raises(WriteRefused, match=Phrase("not_as_it_was")):
            await ada.undo((await ada.steps())[0])
        assert world.contents == []


@over(
    "words, count",
    [("tea", 1), ("Milk TEA", 1), ("teas", 1), ("coffee", 0), ("", 1)],
)
async def test_restorable_by_words(words: str, count: int) -> None:
    """An archived memory is named by its words, whatever stands behind them."""
    ada = World().memory()
    row = memory("a", "User likes tea, milk and honey.")
    await ada.archive.put("ada", [ArchivedMemory(row, "old", NOW)])
    assert len((await ada.restorable(words))[0]) == count
