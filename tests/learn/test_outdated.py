"""What no longer holds after a change: when it is asked, what is believed, what comes of it."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest

from adaptive.core.model import Completion, Draft, Memory, Operation, StoreStamp
from adaptive.core.ports import Vectors
from adaptive.core.table_ports import StoredVector
from adaptive.learn.archive import UserStore
from adaptive.learn.lesson import Lesson, learn_turn
from adaptive.learn.outdated import (
    Change,
    far_reaching_changes,
    read_outdated,
)
from adaptive.privacy.gate import AuditTrail
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.index import MemoryIndex, build_index, content_hash
from tests.fakes import (
    ListedMemories,
    ScriptedModel,
    hook_settings,
    memory,
    turn,
)
from tests.learn.storerooms import ArchivedRows, CountedRecalls, WrittenAudit
from tests.learn.work_in_hand import Work, lesson_room
from tests.rates import over

NOW = datetime(2026, 11, 22, 9, 5, tzinfo=UTC)
TODAY = date(2026, 11, 22)
HOME = memory("home", "User lives in Sheffield.", tags=("identity",))
CYCLES = memory("cycles", "User cycles to the office in Sheffield.", tags=("behavior",))
TEA = memory("tea", "User likes tea.", tags=("preference",))
SISTER = memory("sister", "User's sister lives in Horsforth.", tags=("relationship",))
SAID = "I live in Horsforth now, I gave the keys to the Sheffield flat back."
MOVED = {
    "operation": "UPDATE",
    "id": "home",
    "content": "User lives in Horsforth.",
    "evidence": "I live in Horsforth now",
}
CHANGE = Change(HOME, "User lives in Horsforth.")


def outdated(*items: Any) -> str:
    """A reply to the check."""
    return json.dumps({"outdated": list(items)})


def ended(id: str = "cycles", **fields: Any) -> dict[str, Any]:
    """An item of it."""
    because = "the office in Sheffield is too far from Horsforth"
    return {"id": id, "because": because, "until": None, "now": "", **fields}


# --- when it is asked -----------------------------------------------------------------------------


def index_of(*rows: Memory) -> MemoryIndex:
    """A store; all that lies in Sheffield or Horsforth has one vector, all else another."""
    known = {
        one.id: StoredVector(content_hash(one.content), vector_of(one.content)) for one in rows
    }
    nulls = np.eye(3, dtype=np.float32)[np.arange(len(NULL_PROMPTS)) % 3]
    return build_index(rows, known, nulls, "three", StoreStamp(len(rows), 1), 9.0)


def vector_of(text: str) -> Vectors:
    """The vector of a text."""
    is_place = "Sheffield" in text or "Horsforth" in text
    return np.array([is_place, not is_place, 0], dtype=np.float32)


def changes(*operations: Operation, rows: tuple[Memory, ...] = (HOME,)) -> tuple[Change, ...]:
    """The changes that ask."""
    said = [one.draft.content for one in operations]
    return far_reaching_changes(operations, index_of(*rows), {one: vector_of(one) for one in said})


@over(
    "tags, of_draft, asks",
    [
        (("identity",), (), True),
        (("relationship", "preference"), (), True),
        (("possession",), (), True),
        (("goal",), (), True),
        ((), (), True),
        (("preference",), (), False),
        (("behavior",), (), False),
        (("preference",), ("identity",), True),
    ],
)
def test_which_changes_ask(tags: tuple[str, ...], of_draft: tuple[str, ...], asks: bool) -> None:
    """What hangs on a home or a person may end with it; a changed preference ends nothing."""
    row = memory("m", "User lives in Sheffield.", tags=tags)
    update = Operation("UPDATE", "m", Draft("User lives in Leeds.", of_draft))
    found = changes(update, rows=(row,))
    assert found == ((Change(row, "User lives in Leeds."),) if asks else ())


@over(
    "content, tags, asks",
    [
        ("User has moved to Horsforth.", ("identity",), True),
        ("User has moved to Horsforth.", (), True),
        ("User has moved to Horsforth.", ("goal", "preference"), False),
        ("User works as a nurse.", ("identity",), False),
    ],
)
def test_which_new_facts_ask(content: str, tags: tuple[str, ...], asks: bool) -> None:
    """A new fact asks where it is near to a memory of its kind, and not without vectors."""
    new = Operation("NEW", draft=Draft(content, tags))
    assert changes(new) == ((Change(None, content),) if asks else ())
    assert far_reaching_changes([new], index_of(HOME), {}) == ()


# --- what is believed -----------------------------------------------------------------------------


def read(*items: Any, shown: tuple[Memory, ...] = (CYCLES, TEA, SISTER)) -> list[Operation]:
    """The operations of a reply."""
    return list(read_outdated(Completion(outdated(*items)), [CHANGE], shown, SAID, TODAY))


def end(row: Memory, content: str = "", until: str = "") -> Operation:
    """The end of a memory."""
    draft = Draft(content or row.content, row.tags, row.bank, row.confidence, row.importance, until)
    return Operation("END", row.id, draft)


@over(
    "item",
    [
        ended("home"),
        ended("made-up"),
        ended("cycles and tea"),
        ended(because="bananas grow on plantations"),
        ended(because=""),
        ended(now=CYCLES.content),
        {"because": "no id"},
        {"id": 7, "because": "the office"},
        "cycles",
        None,
    ],
)
def test_not_believed(item: Any) -> None:
    """What was not shown, speaks of something else, changes nothing or is no item ends nothing."""
    assert read(item) == []
    assert read(item, ended()) == [end(CYCLES)]


def test_too_many_are_none() -> None:
    """A model that ends half of everything has not understood the question."""
    rows = tuple(memory(f"m-{n}", f"User's office chair {n} is in Sheffield.") for n in range(16))
    items = [ended(row.id) for row in rows]
    assert len(read(*items[:8], shown=rows)) == 8
    assert read(*items[:9], shown=rows) == []
    assert len(read(*items[:3], shown=rows[:3])) == 3


# --- what comes of it -----------------------------------------------------------------------------


class House:
    """A user's memories, the model, and what stands behind the store."""

    def __init__(self, *script: str | Exception, rows: tuple[Memory, ...] = ()) -> None:
        self.store = ListedMemories(*(rows or (HOME, CYCLES, TEA, SISTER)))
        self.model = ScriptedModel(*script)
        self.audit, self.archive = WrittenAudit(), ArchivedRows()
        trail = AuditTrail(self.audit)
        self.shelves = UserStore("ada", self.store, self.archive, CountedRecalls(), trail)

    async def lesson(self, work: Work | None = None, **valves: Any) -> Lesson:
        """What comes of the move."""
        settings = hook_settings(**valves)
        room = lesson_room(self.store, self.model, settings=settings, user_store=self.shelves)
        return await learn_turn(room, turn(SAID), NOW, work or Work())


def operations(*items: dict[str, Any]) -> str:
    """A reply to the extraction."""
    return json.dumps({"operations": list(items)})


async def test_ended_told_audited_and_archived() -> None:
    """What a move has made untrue is told, stands in the trail, and waits in the archive."""
    house, work = House(operations(MOVED), outdated(ended())), Work()
    lesson = await house.lesson(work)
    assert lesson.line == (
        "Updated: User lives in Horsforth. · "
        "Also no longer true: User cycles to the office in Sheffield."
    )
    assert house.store.contents == ["User lives in Horsforth.", TEA.content, SISTER.content]
    assert house.audit.told() == [("updated", "home"), ("ended", "cycles")]
    assert house.audit.entries[1].before == CYCLES.content
    assert work.calls == 2
    assert house.archive.rows["cycles"].memory == CYCLES


@pytest.mark.parametrize(
    "valves",
    [
        {"check_outdated_memories": False},
        {"save_mode": "suggest"},
        {"max_extractions_per_hour": 5},
    ],
    ids=["off", "proposed only", "limit"],
)
async def test_not_asked(valves: dict[str, Any]) -> None:
    """Switched off, before anything has changed, and at the limit there is no second question."""
    house = House(operations(MOVED))
    await house.lesson(Work(calls_before=4), **valves)
    assert len(house.model.requests) == 1


async def test_nearest_of_many_are_shown() -> None:
    """Of a large store those near to the old and to the new sentence are shown, 24 at most."""
    rest = tuple(memory(f"x-{n}", f"User read book number {n}.") for n in range(80))
    house = House(operations(MOVED), outdated(ended()), rows=(*rest, HOME, CYCLES, SISTER))
    lesson = await house.lesson()
    shown = [one for one in house.model.requests[1].user.splitlines() if one.startswith("- id=")]
    assert len(shown) == 24
    assert any("id=cycles" in one for one in shown)
    assert any("id=sister" in one for one in shown)
    assert lesson.line.endswith(f"Also no longer true: {CYCLES.content}")


async def test_later_end_and_new_sentence_are_written() -> None:
    """An end in the future is set as a date, a sentence in the past takes the row's place."""
    past = "User cycled to the office in Sheffield."
    house = House(
        operations(MOVED),
        outdated(
            ended(now=past), ended("sister", because="Horsforth: both live", until="2027-03-31")
        ),
    )
    lesson = await house.lesson()
    assert lesson.line.endswith(f"Also no longer true (2): {CYCLES.content} …")
    assert house.store.rows["cycles"].content == past
    assert house.store.rows["sister"].until == "2027-03-31"
    assert house.archive.rows == {}
