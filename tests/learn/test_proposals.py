"""Nothing that a model proposes is lost on its way: it is written, or comes out with a reason."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adaptive.core.model import Memory, Proposal
from adaptive.core.providers import Completion, ReplyUnusable
from adaptive.learn.duplicates import REPLACED_IN_BATCH
from adaptive.learn.proposals import ExtractionSource, read_proposals
from tests.fakes import hook_settings, memory
from tests.learn.world import Work, World, reply

ROME = memory("m-1", "User lives in Rome.")
DOG = memory("m-2", "User has a dog.")
WORDS = "I live in Porto with my wife and my dog."
PORTO = {
    "operation": "NEW",
    "content": "User lives in Porto.",
    "evidence": ["I live in Porto"],
}
BROKEN = {"operation": "DELETE", "id": "m-9"}


def moved(content: str) -> dict[str, Any]:
    """A proposed change of where the user lives."""
    evidence = ["I live in Porto with my wife"]
    return {
        "operation": "UPDATE",
        "id": "m-1",
        "content": content,
        "evidence": evidence,
    }


def outcomes_of(outcomes: Any) -> list[tuple[str, str, str]]:
    """The content, status and reason of each proposal."""
    return [(one.draft.content, one.status, one.reason) for one in outcomes]


ALONE = "User lives in Porto."
MARRIED = "User lives in Porto with a wife."


async def test_two_updates_of_one_memory() -> None:
    """The last change of a memory is written, the other comes out as replaced by it."""
    world = World(ROME, script=[reply(moved(ALONE), moved(MARRIED))])
    lesson = await world.lesson(WORDS)
    outcomes = outcomes_of(lesson.outcomes)
    assert outcomes[0] == (ALONE, "rejected", REPLACED_IN_BATCH)
    assert outcomes[-1] == (MARRIED, "updated", "")
    assert world.contents == [MARRIED]


async def test_part_of_an_answer() -> None:
    """What can be read of an answer is written, and what can't is told; it is one model call."""
    world = World(script=[reply(PORTO, BROKEN)])
    lesson = await world.lesson(WORDS)
    assert world.contents == ["User lives in Porto."]
    assert [one.status for one in lesson.outcomes] == ["saved", "rejected"]
    assert "Not saved: " in lesson.report.line


# --- for any replies and any store ----------------------------------------------------------------

CONTENTS = st.sampled_from(
    [
        "User lives in Porto.",
        "User's home is in Porto.",
        "User lives in Porto with a wife.",
        "User has a dog.",
        "User plays the cello.",
        "User's number is 42.",
        "...",
        "",
    ]
)
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "operation": st.sampled_from(["NEW", "UPDATE", "DELETE", "JOKE"]),
        "id": st.sampled_from(["m-1", "m-2", "m-9", ["m-1", "m-2"]]),
        "content": CONTENTS,
        "evidence": st.sampled_from(
            [[], ["I live in Porto"], [WORDS], ["not said"]]
        ),
        "about": st.sampled_from(["user", "other", "world"]),
        "kind": st.sampled_from(["FACT", "IMAGINED", "STYLE"]),
    },
)
ROWS = st.sampled_from([[], [ROME], [DOG], [ROME, DOG]])
WRITTEN = ("saved", "updated", "deleted", "ended")


def proposed(text: str, rows: Sequence[Memory]) -> list[Proposal] | None:
    """What one answer proposes; ``None`` of one that can't be used."""
    try:
        return read_proposals(
            Completion(text), ExtractionSource((), rows), hook_settings()
        )
    except ReplyUnusable:
        return None


def words_of(item: Mapping[str, Any]) -> str:
    """The sentence that an item of a reply holds, if it is to be written."""
    return (
        item.get("content", "")
        if item.get("operation") in ("NEW", "UPDATE")
        else ""
    )


@settings(max_examples=150, deadline=None)
@given(
    answers=st.lists(st.lists(ITEMS, max_size=5), min_size=2, max_size=2),
    cut=st.sampled_from([0, 0, 1, 5, 30]),
    rows=ROWS,
    mode=st.sampled_from(["auto", "suggest"]),
    attempts=st.integers(0, 1),
)
def test_what_goes_in_comes_out(
    answers: list[list[dict[str, Any]]],
    cut: int,
    rows: list[Memory],
    mode: str,
    attempts: int,
) -> None:
    """The number and the words of what any replies propose are found again among the outcomes.

    Each has one status, and a reason where it is not written.
    """
    first = reply(*answers[0])
    first = first[: len(first) - cut]
    second = reply(*answers[1])
    world = World(*rows, script=[first, *[second] * 6])
    valves = hook_settings(save_mode=mode, check_outdated_memories=False)
    # As the model is shown them.
    shown = sorted(rows, key=lambda row: row.id)
    of_first = proposed(first, shown)
    of_second = proposed(second, shown)
    replies = [
        one for one in (of_first, of_second, of_second) if one is not None
    ]
    assume(replies)
    lesson = asyncio.run(
        world.lesson(WORDS, Work(attempts=attempts), settings=valves)
    )
    expected = replies[0]
    assert len(lesson.outcomes) == len(expected)
    said = [one.draft.content for one in lesson.outcomes]
    told = Counter(filter(None, said))
    if cut == 0:
        assert told >= Counter(filter(None, map(words_of, answers[0])))
    if of_first is None:
        assert told >= Counter(filter(None, map(words_of, answers[1])))
    for outcome in lesson.outcomes:
        assert outcome.status != "open"
        assert outcome.reason or outcome.status in WRITTEN
