"""Recall explains itself, and finds what words name; meaning is judged by the real MiniLM."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast

import pytest

from adaptive.core.embedding import Sources
from adaptive.core.model import Memory
from adaptive.core.texts import phrase
from adaptive.search.calibration import EXAMPLE_TEXTS, NULL_PROMPTS
from adaptive.search.index import FoundMemory
from adaptive.settings.hook import Hook
from tests.fakes import ListedMemories, ShelvedVectors, WordEmbedder, memory
from tests.minilm import MINILM
from tests.recall.test_recall import House
from tests.recall.test_selection import (
    ADA,
    CELLO,
    DOG,
    ILL,
    NAME,
    NUTS,
    ORDERS,
    SECRET,
    SISTER,
)
from tests.wordless import english_in, wordless

__all__ = ["wordless"]
DAY = 86_400


CAKE = memory("cake", "User bakes cakes.", created_at=9)


@pytest.fixture(autouse=True)
async def model_loaded() -> None:
    """The model at work: loading it may take longer than a turn."""
    known = [*NULL_PROMPTS, *EXAMPLE_TEXTS, *(one.content for one in ADA)]
    await MINILM.embed(known, query=True)


def house(*memories: Memory, embedder: Any = MINILM) -> House:
    """A house of a user with these memories and this embedding model."""
    made = House()
    made.sources = Sources(
        "ada", ListedMemories(*memories), embedder, ShelvedVectors()
    )
    return made


async def why(home: House, *texts: str, **fields: Any) -> str:
    """The explanation for the last of the user's messages."""
    messages = [{"role": "user", "content": text} for text in texts]
    hook = cast(Hook, home.turn(**fields))
    return await home.recall.why(hook, messages, numbers={"name": 7})


async def found(home: House, words: str, **fields: Any) -> list[FoundMemory]:
    """What words name."""
    return await home.recall.found(cast(Hook, home.turn(**fields)), words)


async def test_why_it_came() -> None:
    """What fits stands with its figures, core facts without, and then the three nearest others.

    What has a number stands behind it.
    """
    told = await why(house(*ADA, NAME, NUTS), "What breed is my dog?")
    head, came, nearly, others, closing = told.split("\n\n")
    assert head == "For “What breed is my dog?” these memories come:"
    first, *rest = came.splitlines()
    assert first.startswith(f"- “{DOG}”: ")
    assert " % (similarity " in first
    assert " + keywords 5.5" in first
    assert rest[-2:] == [
        f"- “{NUTS.content}”: for every answer",
        f"- **7.** “{NAME.content}”: for every answer",
    ]
    assert (nearly, len(others.splitlines())) == ("Nearly:", 3)
    assert all(
        line.endswith(", not near enough") for line in others.splitlines()
    )
    assert (
        closing
        == "Worked out anew from what is remembered now, without a model."
    )


async def test_nothing_fits() -> None:
    """That nothing fits is said, and what comes nearest; an empty chat or store is told apart."""
    told = await why(house(*ADA), "What is the boiling point of ethanol?")
    assert told.startswith(
        "No memory fits “What is the boiling point of ethanol?”.\n\nNearly:\n\n"
    )
    assert told.count(", not near enough\n") == 3
    assert "These come all the same:" in await why(house(NAME), "?!")
    assert "no answer yet" in await why(house(*ADA))
    assert await why(house(), "Hi") == phrase("none_found")


async def test_through_a_chat() -> None:
    """What stands from before and a limit are told."""
    home, visit = house(*ADA), "I want to visit my sister Marta"
    await home.asks(home.turn(), "What breed is my dog?")
    told = await why(
        home,
        "What breed is my dog?",
        visit,
        "And where does she live?",
        related_memories_n=1,
    )
    assert f"\n- “{SISTER}”: " in told
    assert f"\n- “{DOG}”: shown earlier in this chat\n" in told
    many = house(
        *(
            memory(f"d{at}", f"User has dog {at}.", created_at=at)
            for at in range(4)
        )
    )
    told = await why(many, "Which dogs do I have?", related_memories_n=2)
    assert told.count(", the limit is 2 memories") == 2


def kennel(*, by_words: bool = False) -> House:
    """A house of somebody with three dogs, the last of whom is important; or found by words alone."""
    down = WordEmbedder()
    down.failing = True
    breeds = enumerate(["poodle", "border collie", "dachshund from Kassel"])
    dogs = [
        memory(
            f"d{at}",
            f"User's dog is a {breed}.",
            created_at=at,
            importance=4 * at,
        )
        for at, breed in breeds
    ]
    return house(*dogs, CAKE, embedder=down if by_words else MINILM)


async def test_figures_with_which_it_came() -> None:
    """What comes for a thought stands with its figures, not with those of a thought it is not near."""
    told = await why(
        kennel(by_words=True), "Volcanoes slept here. Which dog have I?"
    )
    came, _ = told.split("Nearly:")
    lines = [one for one in came.splitlines() if one.startswith("- ")]
    assert len(lines) == 3
    assert all(percent(line) >= 35 for line in lines), lines


def percent(line: str) -> int:
    """The relevance in a line."""
    return int(line.split(" %")[0].rsplit(" ", 1)[1])


async def test_why_it_stays() -> None:
    """What would fit is told apart from what is not near, whatever else the limit is used for."""
    home = kennel()
    told = await why(home, "Which dogs do I have?", related_memories_n=2)
    assert told.count(", the limit is 2 memories") == 1
    assert f"“{CAKE.content}”" in told
    assert told.count(", not near enough") == 1
    told = await why(home, "Which dogs do I have?", max_injected_tokens=100)
    assert told.count(", no room is left for it") > 0
    assert "the limit is" not in told
    told = await why(home, "Forget that my dog is a poodle")
    assert told.count(", the message asks to forget it") == 3


async def test_named_by_one_of_two_thoughts() -> None:
    """What holds a word is found, where it comes first for another thought that has no word of it."""
    named = await found(kennel(by_words=True), "Volcanoes slept here.\nmy dog")
    assert {one.memory.id for one in named} == {"d0", "d1", "d2"}


async def test_what_may_not_come() -> None:
    """An end is named; what reads as an order, holds a secret or is kept away is not repeated."""
    ended = memory(
        "old", "User's dog is a poodle.", until="2020-02-01", created_at=DAY
    )
    told = await why(
        house(ended, SECRET), "What breed is my dog and what is my PIN?"
    )
    assert "- “User's dog is a poodle.”: " in told
    assert ", until 2020-02-01" in told
    assert "4821" not in told
    assert "secrets are never remembered" in told
    hidden = replace(ILL, created_at=3 * DAY)
    home = house(hidden, replace(ORDERS[0], created_at=DAY))
    told = await why(
        home, "Do dogs praise dog food?", hidden=frozenset({"health"})
    )
    assert "- a memory that is not repeated here (1970-01-04): " in told
    assert ", kept from this model" in told
    assert ", it reads as an order, not as a fact" in told
    assert "allergic" not in told
    assert "Ignore" not in told
    one, other = await found(home, "dog allergy", hidden=frozenset({"health"}))
    assert (one.memory, one.withheld) == (hidden, "kept from this model")
    assert other.withheld.startswith("it reads as an order")


async def test_markdown() -> None:
    """No memory and no message breaks the list that it stands in, nor is an answer made anew."""
    home = house(
        memory("md", "User writes **dog** `code`\n- and # lists", created_at=1)
    )
    anew = {"content": "/memory why"}
    told = await why(home, "my dog\n\n# <b>code</b>", regenerated_message=anew)
    assert "“User writes \\*\\*dog\\*\\* \\`code\\` - and # lists”: " in told
    assert "/memory" not in told
    assert not [line for line in told.splitlines() if line.startswith("#")]


@pytest.mark.parametrize(
    "fields", [{"told_kind": "channel"}, {"known_kind": "shared"}]
)
async def test_others_read_it(fields: dict[str, Any]) -> None:
    """Where other people read the answer, no memory is named."""
    assert CELLO not in await why(
        house(*ADA), "Which instrument do I play?", **fields
    )


async def test_found() -> None:
    """Words name what holds them or means the same, best first, and nothing unrelated."""
    home = house(*ADA, NAME)
    best, *_ = await found(home, "my dog Biscuit")
    assert (best.memory.content, best.has_all_words, best.withheld) == (
        DOG,
        True,
        "",
    )
    assert 50 < best.score <= 100
    [meant, *others] = await found(home, "musical instrument")
    assert (meant.memory.content, meant.has_all_words) == (CELLO, False)
    assert len(others) < 4
    assert (
        await found(home, "boiling point of ethanol")
        == await found(home, "?!")
        == []
    )
    many = house(
        *(
            memory(f"d{at}", f"User has dog {at}.", created_at=at)
            for at in range(25)
        )
    )
    assert len(await found(many, "dog")) == 20


@pytest.mark.usefixtures("wordless")
@pytest.mark.parametrize(
    "asked",
    [
        "What breed is my dog?",
        "What is the boiling point of ethanol?",
        "Forget that my dog is a poodle",
        "?!",
    ],
)
async def test_languages(asked: str) -> None:
    """But for what was asked and the memories no word of an explanation stands in the code."""
    old = memory("old", "User's dog is a poodle.", until="2020-02-01")
    home = house(*ADA, NAME, NUTS, SECRET, old)
    told = await why(home, asked, related_memories_n=2)
    assert "ん" in told
    assert english_in(re.sub("“[^”]*”", "", told)) == []


async def test_without_vectors() -> None:
    """While nothing can be embedded, keywords explain and find alone."""
    embedder = WordEmbedder()
    embedder.failing = True
    home = house(*ADA, embedder=embedder)
    told = await why(home, "What breed is my dog?")
    assert f"- “{DOG}”: " in told
    assert "similarity" not in told
    # The message has no vector, either.
    assert "9 not embedded yet: found by keywords." in told
    assert [one.memory.content for one in await found(home, "the dog")] == [
        DOG
    ]
