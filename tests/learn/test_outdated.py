"""What no longer holds after a change: when it is asked, what is believed, what comes of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from adaptive.core.model import Draft, Memory, Proposal, Vectors
from adaptive.core.providers import Completion
from adaptive.learn.outdated import far_reaching_changes, read_outdated
from adaptive.memory.writing import NO_LONGER_TRUE
from adaptive.search.calibration import NULL_PROMPTS
from tests.fakes import hook_settings, memory
from tests.learn.world import Work, World, index_of, reply
from tests.rates import over

TODAY = date(2026, 11, 22)
HOME = memory("home", "User lives in Sheffield.", tags=("identity",))
CYCLES = memory(
    "cycles", "User cycles to the office in Sheffield.", tags=("behavior",)
)
TEA = memory("tea", "User likes tea.", tags=("preference",))
SISTER = memory(
    "sister", "User's sister lives in Horsforth.", tags=("relationship",)
)
SAID = "I live in Horsforth now, I gave the keys to the Sheffield flat back."
MOVED = {
    "operation": "UPDATE",
    "id": "home",
    "content": "User lives in Horsforth.",
    "evidence": "I live in Horsforth now",
}
CHANGE = Proposal(
    kind="UPDATE",
    memory_id="home",
    draft=Draft("User lives in Horsforth."),
    before=HOME.content,
)


# Small models write their reason once more where the new sentence is asked for.
COPIED = "User cycles to the office in Sheffield, but lives in Horsforth now."


def outdated(*items: Any) -> str:
    """A reply to the check."""
    return json.dumps({"outdated": list(items)})


def ended(id: str = "cycles", **fields: Any) -> dict[str, Any]:
    """An item of it."""
    because = "the office in Sheffield is too far from Horsforth"
    return {"id": id, "because": because, "until": None, "now": "", **fields}


NULLS = np.eye(3, dtype=np.float32)[np.arange(len(NULL_PROMPTS)) % 3]


def vector_of(text: str) -> Vectors:
    """All that lies in Sheffield or Horsforth has one vector, all else another."""
    is_place = "Sheffield" in text or "Horsforth" in text
    return np.array([is_place, not is_place, 0], dtype=np.float32)


LEEDS, NURSE = "User lives in Leeds.", "User works as a nurse."
MOVING = "User has moved to Horsforth."


@over(
    "tags, content, of_draft, asks",
    [
        (("identity",), LEEDS, (), True),
        (("goal", "preference"), LEEDS, (), True),
        (("preference", "behavior"), LEEDS, (), False),
        (("preference",), LEEDS, ("identity",), True),
        (None, MOVING, (), True),
        (None, MOVING, ("goal", "preference"), False),
        (None, NURSE, ("identity",), False),
    ],
)
def test_what_asks(
    tags: tuple[str, ...] | None,
    content: str,
    of_draft: tuple[str, ...],
    asks: bool,
) -> None:
    """What hangs on a home or a person may end with it; a changed preference ends nothing.

    A new fact (no ``tags``) asks where it is near to a memory of its kind, and has a vector.
    """
    is_new = tags is None
    row = memory(
        "m",
        "User lives in Sheffield.",
        tags=("identity",) if tags is None else tags,
    )
    change = Proposal(
        "NEW" if is_new else "UPDATE",
        "" if is_new else "m",
        Draft(content, of_draft),
    )
    index = index_of([row], {"m": vector_of(row.content)}, NULLS)
    found = far_reaching_changes(
        [change], index, {content: vector_of(content)}
    )
    assert found == ([change] if asks else [])
    assert not (is_new and far_reaching_changes([change], index, {}))


def read(
    *items: Any, shown: tuple[Memory, ...] = (CYCLES, TEA, SISTER)
) -> list[Proposal]:
    """The proposals of a reply."""
    return list(
        read_outdated(
            Completion(outdated(*items)), [CHANGE], shown, SAID, TODAY
        )
    )


@over(
    "item",
    [
        ended("home"),
        ended("made-up"),
        ended(because="bananas grow on plantations"),
        ended(because=""),
        ended(now=CYCLES.content),
        ended(because=COPIED, now=COPIED),
        {"id": 7, "because": "the office"},
        "cycles",
    ],
)
def test_not_believed(item: Any) -> None:
    """What was not shown, has no reason or its reason alone, or changes nothing ends nothing."""
    assert read(item) == []
    draft = Draft(
        CYCLES.content, CYCLES.tags, "", CYCLES.confidence, CYCLES.importance
    )
    ends = Proposal(
        kind="END",
        memory_id=CYCLES.id,
        draft=draft,
        reason=NO_LONGER_TRUE,
        before=CYCLES.content,
    )
    assert read(item, ended()) == [ends]
    dated = replace(CYCLES, until="2099-01-31")
    assert (
        read(ended(until=dated.until), shown=(dated,)) == []
    )  # it was shown that day


def test_too_many_are_none() -> None:
    """A model that ends half of everything has not understood the question."""
    rows = tuple(
        memory(f"m-{n}", f"User's office chair {n} is in Sheffield.")
        for n in range(16)
    )
    items = [ended(row.id) for row in rows]
    assert len(read(*items[:8], shown=rows)) == 8
    assert read(*items[:9], shown=rows) == []


STORE = (HOME, CYCLES, TEA, SISTER)


def moving(*items: Any, rows: tuple[Memory, ...] = STORE) -> World:
    """A store in which the user's home changes, and what the check then says."""
    return World(*rows, script=[reply(MOVED), outdated(*items)])


async def test_ended_told_audited_and_archived() -> None:
    """What a move has made untrue is told, stands in the trail, and waits in the archive."""
    house, work = moving(ended()), Work()
    lesson = await house.lesson(SAID, work)
    assert lesson.report.line == (
        "Updated: User lives in Horsforth. · "
        "Also no longer true: User cycles to the office in Sheffield."
    )
    assert house.store.contents == [
        "User lives in Horsforth.",
        TEA.content,
        SISTER.content,
    ]
    assert house.audit.told() == [("updated", "home"), ("ended", "cycles")]
    assert house.audit.entries[1].before == CYCLES
    assert work.calls == 2
    assert house.archive.rows["cycles"].memory == CYCLES


@over(
    "valves",
    [
        {"check_outdated_memories": False},
        {"save_mode": "suggest"},
        {"max_extractions_per_hour": 5},
    ],
)
async def test_not_asked(valves: dict[str, Any]) -> None:
    """Switched off, before anything has changed, and at the limit there is no second question."""
    house = moving(ended())
    await house.lesson(
        SAID, Work(calls_before=4), settings=hook_settings(**valves)
    )
    assert len(house.model.requests) == 1


async def test_nearest_of_many_are_shown() -> None:
    """Of a large store those near to the old and to the new sentence are shown, 24 at most."""
    rest = tuple(
        memory(f"x-{n}", f"User read book number {n}.") for n in range(80)
    )
    house = moving(ended(), rows=(*rest, HOME, CYCLES, SISTER))
    lesson = await house.lesson(SAID)
    shown = [
        one
        for one in house.model.requests[1].user.splitlines()
        if re.match(r"#\d", one)
    ]
    assert len(shown) == 24
    assert any(CYCLES.content in one for one in shown)
    assert any(SISTER.content in one for one in shown)
    assert lesson.report.line.endswith(
        f"Also no longer true: {CYCLES.content}"
    )


async def test_later_end_and_new_sentence_are_written() -> None:
    """An end in the future is set as a date, a sentence in the past takes the row's place."""
    past = "User cycled to the office in Sheffield."
    later = ended("sister", because="Horsforth: both live", until="2027-03-31")
    house = moving(ended(now=past), later)
    lesson = await house.lesson(SAID)
    assert lesson.report.line.endswith(
        f"Also no longer true (2): {CYCLES.content} …"
    )
    assert house.store.rows["cycles"].content == past
    assert house.store.rows["sister"].until == "2027-03-31"
    assert house.archive.rows == {}


@pytest.mark.parametrize(
    "now",
    [
        "The user cycles to the office in Sheffield.",
        CYCLES.content,
        "User's sister lives in Horsforth.",
        "User moved, and the office is in Horsforth.",
        "I cycle to the Sheffield office no more, I live in Horsforth now",
    ],
)
async def test_what_became_of_another_ends_nothing(now: str) -> None:
    """A memory that is written again stays, and so does one in whose place another is written."""
    house = moving(ended(now=now))
    await house.lesson(
        f"{SAID} I cycle to the Sheffield office no more, I live in Horsforth now."
    )
    assert house.store.rows["cycles"].content == CYCLES.content
    assert house.archive.rows == {}


async def test_question_shows_the_users_own_words() -> None:
    """The model is asked with what the user typed, and not with what stands in a quotation."""
    house = moving(ended())
    await house.lesson(f"{SAID}\n\n> I moved onto a boat in spring.")
    asked = [
        request.user
        for request in house.model.requests
        if request.system.startswith("# Check what no longer holds")
    ]
    assert asked
    assert all(SAID in one and "boat" not in one for one in asked)
