"""What is pinned always comes, and what is quiet never does by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from adaptive.core.messages import estimated_tokens
from adaptive.core.model import Memory
from adaptive.recall.block import CORE_HEADING, RETRIEVED_HEADING
from adaptive.settings.hook import Hook
from tests.fakes import WordEmbedder, memory
from tests.recall.test_selection import Person, block, said

DIVORCE = memory("divorce", "User is divorced.", tags=("relationship",))
BOAT = memory("boat", "User owns a boat called Merle.", created_at=2)
FACTS = [
    memory(f"f{at}", f"User is fact {at}.", importance=9, created_at=10 + at)
    for at in range(8)
]


def tagged(row: Memory, *marks: str) -> Memory:
    """The memory with marks."""
    return replace(row, tags=(*row.topics, *marks))


def person(*rows: Memory) -> Person:
    """Somebody with these memories, whose words alone are compared."""
    return Person(*rows, embedder=WordEmbedder())


async def test_pinned_comes_with_anything() -> None:
    """A pinned memory stands first among the standing facts, beside as many core facts as ever."""
    plain = await person(BOAT, *FACTS).asks("What is 2 + 2?")
    assert BOAT.content not in said(plain)
    facts = said(plain)
    assert len(facts) == 5
    pinned = await person(tagged(BOAT, "pinned"), *FACTS).asks(
        "What is 2 + 2?"
    )
    assert said(pinned) == [BOAT.content, *facts]
    assert block(pinned).count(CORE_HEADING) == 1
    assert RETRIEVED_HEADING not in block(pinned)


async def test_pinned_core_fact_takes_no_place() -> None:
    """A core fact that is pinned leaves its place among the five to another one."""
    selection = await person(tagged(FACTS[7], "pinned"), *FACTS[:7]).asks("?!")
    assert said(selection)[0] == FACTS[7].content
    assert len(said(selection)) == 6


async def test_pinned_within_the_budget() -> None:
    """Of many pinned memories those come that have room, and the block stays within it."""
    rows = [
        tagged(
            memory(f"p{at}", f"User wants thing {at} always.", created_at=at),
            "pinned",
        )
        for at in range(60)
    ]
    selection = await person(*rows).asks("Hello", max_injected_tokens=300)
    assert 10 < len(said(selection)) < 40
    assert estimated_tokens(block(selection)) <= 300


async def test_pinned_in_a_running_chat() -> None:
    """A pin comes with the newest message, once, and what stood before stays as it was."""
    ada = person(BOAT, FACTS[0])
    first = await ada.asks("Hello", chat="c")
    ada.store.rows["boat"] = tagged(BOAT, "pinned")
    ada.store.edit("boat", BOAT.content)
    second = await ada.asks("And what is 2 + 2?", chat="c")
    *before, newest = second.placed.values()
    assert [entry.memory.id for entry in newest.core] == ["boat"]
    assert [each.entries for each in before] == [
        each.entries for each in first.placed.values()
    ]
    third = await ada.asks("And 3 + 3?", chat="c")
    *_, newest = third.placed.values()
    assert newest.entries == ()
    assert BOAT.content in said(third)


async def test_pinned_comes_when_an_answer_is_made_anew() -> None:
    """What was pinned since a message was answered comes with it, once, and the rest stays."""
    ada = person(BOAT, FACTS[0])
    first = await ada.asks("Hello", chat="c")
    ada.store.rows["boat"] = tagged(BOAT, "pinned")
    ada.store.edit("boat", BOAT.content)
    for _ in range(2):
        ada.said["c"].pop()
        anew = await ada.asks("Hello", chat="c")
        assert said(anew) == [*said(first), BOAT.content]


async def test_quiet_comes_for_nothing() -> None:
    """A quiet memory fits no message, be it a core fact, and is found by words all the same."""
    quiet = tagged(replace(DIVORCE, importance=10), "quiet")
    ada = person(quiet, BOAT)
    selection = await ada.asks("I am divorced, is the user divorced?")
    assert DIVORCE.content not in said(selection)
    hook = cast(Hook, ada.home.turn())
    (match,) = await ada.home.recall.found(hook, "divorced")
    assert (match.memory.id, match.withheld) == ("divorce", "")
    told = await ada.home.recall.why(
        hook, [{"role": "user", "content": "divorced?"}], {}
    )
    assert ", quiet" in told


async def test_quiet_leaves_earlier_places() -> None:
    """What becomes quiet leaves the prompt of a running chat, and what is loud again comes back."""
    ada = person(DIVORCE, BOAT)
    first = await ada.asks("Since when is the user divorced?", chat="c")
    assert DIVORCE.content in said(first)
    ada.store.rows["divorce"] = tagged(DIVORCE, "quiet")
    ada.store.edit("divorce", DIVORCE.content)
    second = await ada.asks("And the divorced user's boat?", chat="c")
    assert DIVORCE.content not in said(second)
    ada.store.rows["divorce"] = DIVORCE
    ada.store.edit("divorce", DIVORCE.content)
    third = await ada.asks("And?", chat="c")
    assert DIVORCE.content in said(third)
