"""Users who tell facts about themselves, and a model that finds them: the material of long runs.

Each fact has a number of its own, from a range of its user's: so a fact is known wherever it turns
up, in a prompt or in the database, and so is whose it is. The model keeps nothing between two
calls: what it has found, and for whom, is read again from the requests it has recorded.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

from tests.e2e.driver.extraction import (
    known_memories,
    new,
    newest_words,
    operations,
    update,
)
from tests.e2e.driver.replies import Body

# Nothing in it is worth keeping, but a model has to be asked to know it.
HARMLESS = (
    "I have a minute before lunch, so give me a word that rhymes with time."
)

# Five digits are no year.
_FIRST_NUMBER, _NUMBERS_PER_USER = 20_000, 3_000
# As said in the first person, and as told of somebody; the first ones may change later.
_KEPT = {"keep": "keeps", "store": "stores", "rent": "rents"}
_VERBS = {
    **_KEPT,
    **{verb: verb for verb in ("repaired", "bought", "painted", "inherited")},
}
_THINGS = (
    *(
        "guitar",
        "bicycle",
        "boat",
        "camera",
        "piano",
        "telescope",
        "caravan",
        "sewing-machine",
    ),
    *(
        "loom",
        "canoe",
        "tractor",
        "violin",
        "typewriter",
        "kayak",
        "accordion",
        "barometer",
    ),
)
_PLACES = (
    "Porto",
    "Faro",
    "Ghent",
    "Tartu",
    "Bergen",
    "Graz",
    "Cork",
    "Turku",
    "Parma",
    "Basel",
)
_NUMBERED = re.compile(r"[a-z] (\d{5}) in [A-Z]")
_SAID = re.compile(
    rf"\bI (?P<verb>{'|'.join(_VERBS)}) (?P<rest>[\w-]+ \d{{5}} in \w+)"
)
_TOLD = re.compile(
    rf"\bUser (?:{'|'.join(_VERBS.values())}) [\w-]+ (?P<number>\d{{5}}) in \w+"
)
_OFFERED = re.compile(r"^#(?P<id>\d+) ")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact at one time; another one with the same number is what it has become."""

    number: int
    verb: str
    thing: str
    place: str

    @property
    def told(self) -> str:
        """As the model puts it and as it is to stand in the user's memory."""
        return f"User {_VERBS[self.verb]} {self.thing} {self.number} in {self.place}."

    @property
    def said(self) -> str:
        """As the user says it."""
        return f"I {self.verb} {self.thing} {self.number} in {self.place}"


@dataclass(frozen=True, slots=True)
class Saying:
    """What a user says in one message, and the facts in it."""

    words: str
    facts: tuple[Fact, ...]


def user_of(number: int) -> int:
    """Which user's the fact with this number is."""
    return (number - _FIRST_NUMBER) // _NUMBERS_PER_USER


def users_in(*texts: str) -> set[int]:
    """Whose facts stand in these texts, in whatever form."""
    return {
        user_of(int(digits))
        for text in texts
        for digits in _NUMBERED.findall(text)
    }


def facts_in(text: str) -> list[tuple[int, str]]:
    """The facts that a text tells of somebody, each with its number."""
    return [
        (int(found["number"]), f"{found.group()}.")
        for found in _TOLD.finditer(text)
    ]


def made_up_fact(user: int, number: int, chance: random.Random) -> Fact:
    """A user's fact with this number, counted from 0."""
    assert number < _NUMBERS_PER_USER, (
        "a user tells more facts than have a number"
    )
    number += _FIRST_NUMBER + user * _NUMBERS_PER_USER
    verb, thing, place = (
        chance.choice(words) for words in (tuple(_VERBS), _THINGS, _PLACES)
    )
    return Fact(number, verb, thing, place)


def made_up_sayings(user: int, count: int, seed: int) -> list[Saying]:
    """What a user tells, message by message: mostly new facts, some in pairs, some corrected."""
    chance = random.Random(f"{seed} {user}")
    life: dict[int, Fact] = {}
    sayings: list[Saying] = []
    for _ in range(count):
        kept = [fact for fact in life.values() if fact.verb in _KEPT]
        draw = chance.random()
        if draw < 0.15 and kept:
            fact = chance.choice(kept)
            place = chance.choice(
                [place for place in _PLACES if place != fact.place]
            )
            moved = Fact(fact.number, fact.verb, fact.thing, place)
            words = f"That has changed: {moved.said} now, no longer elsewhere."
            sayings.append(Saying(words, (moved,)))
        elif draw < 0.25 and life:
            fact = chance.choice(list(life.values()))
            sayings.append(Saying(f"As I said before, {fact.said}.", (fact,)))
        else:
            facts = [
                made_up_fact(user, len(life) + at, chance)
                for at in range(1 + (draw > 0.8))
            ]
            words = ". Another thing: ".join(fact.said for fact in facts)
            sayings.append(Saying(f"By the way, {words}.", tuple(facts)))
        life |= {fact.number: fact for fact in sayings[-1].facts}
    return sayings


def extracted_facts(body: Body) -> list[str]:
    """The facts that the model finds in the newest words; of one told twice what was said last."""
    facts: dict[int, str] = {}
    for found in _SAID.finditer(newest_words(body)):
        told = f"User {_VERBS[found['verb']]} {found['rest']}."
        facts[facts_in(told)[0][0]] = told
    return list(facts.values())


def extraction_reply(body: Body) -> dict[str, Any]:
    """The operations of an extraction request: an update for what is known otherwise, else new.

    What is known word for word is given as new again, as a model does that does not look: that it
    does not stand there twice is the plug-in's duty.
    """
    known: dict[int, tuple[str, str]] = {}
    for line in known_memories(body).splitlines():
        if offered := _OFFERED.search(line):
            known |= {
                number: (offered["id"], told)
                for number, told in facts_in(line)[:1]
            }
    found: list[dict[str, Any]] = []
    for told in extracted_facts(body):
        memory_id, content = known.get(facts_in(told)[0][0], ("", told))
        found.append(new(told) if content == told else update(memory_id, told))
        found[-1] |= {"tags": ["possession"], "importance": 5, "kind": "FACT"}
    return operations(*found)
