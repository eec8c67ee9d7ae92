"""Two users who say the same in the same order, and the words by which their facts are told apart.

What both say is equal but for names that nobody else bears: each name begins with three letters of
its user, so it is known wherever it turns up, in whatever form. The model takes facts from the
newest words, asks to change memories that it was not offered, and repeats every name that it is
told: what crosses from one user to the other is carried as far as it can go.
"""

from __future__ import annotations

import json
import random
import re
from collections import OrderedDict
from typing import Any

from tests.e2e.driver.openai_protocol import Body
from tests.e2e.driver.scripted_model import system_prompt, text_of

USERS = 2
_HEADS = ("kor", "vel")
_CONSONANTS, _VOWELS = "bdfgklmnprst", "aeiou"
_SYLLABLES = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
_NAME = re.compile(rf"\b(?P<head>{'|'.join(_HEADS)})(?:[{_CONSONANTS}][{_VOWELS}]){{3}}\b", re.I)
THINGS = ("boat", "guitar", "bicycle", "piano", "caravan", "canoe", "loom", "telescope")
PLACES = ("Porto", "Ghent", "Tartu", "Bergen", "Graz", "Cork")
QUESTIONS = (
    "What is my boat called?",
    "I forgot what my guitar is called; do you know?",
    "Which of my things have names?",
    "Where do I live?",
    "What do you know about my bicycle and my canoe?",
)
_NEWEST = re.compile(r"^## Newest .*$", re.MULTILINE)
_SAID_NAME = re.compile(r"\bI have a (?P<thing>[a-z]+) called (?P<name>[A-Za-z]+)")
_SAID_HOME = re.compile(r"\bI live in (?P<place>[A-Z][a-z]+)")
_OFFERED = re.compile(r"\bid=(?P<id>[\w-]{8,})")
# Ids that the model has seen in any request, to ask for where they were not offered.
_MOST_IDS = 200
_FOREIGN_IDS = 3


class Names:
    """A new name for each fact of a user."""

    def __init__(self, user: int) -> None:
        self._head, self._given = _HEADS[user].title(), 0

    def next(self) -> str:
        """A name that was never given."""
        number, syllables = self._given, ""
        self._given += 1
        for _ in range(3):
            number, place = divmod(number, len(_SYLLABLES))
            syllables += _SYLLABLES[place]
        return self._head + syllables


def users_named(text: str) -> set[int]:
    """Whose names stand in a text."""
    return {_HEADS.index(found["head"].lower()) for found in _NAME.finditer(text)}


def names_of(user: int, text: str) -> list[str]:
    """The names of one user in a text."""
    head = _HEADS[user]
    return [found[0] for found in _NAME.finditer(text) if found["head"].lower() == head]


def named_fact(chance: random.Random, name: str) -> str:
    """A fact as a user says it."""
    return f"By the way, I have a {chance.choice(THINGS)} called {name}."


def told_fact(chance: random.Random, name: str) -> str:
    """A fact as it stands in a memory."""
    return f"User has a {chance.choice(THINGS)} called {name}."


class GossipingModel:
    """The model of both users. It keeps nothing but the ids of memories it was shown."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._ids: OrderedDict[str, None] = OrderedDict()

    def chat(self, body: Body) -> str:
        """Repeat every name that stands in the system prompt."""
        names = [found[0] for found in _NAME.finditer(system_prompt(body))]
        return f"I know {', '.join(names)}." if names else "Understood."

    def extraction(self, body: Body) -> dict[str, Any]:
        """What the newest words tell, and changes of memories that were not offered."""
        text = text_of(body["messages"][-1]["content"])
        newest = _NEWEST.split(text)[-1]
        facts = [f"User has a {one['thing']} called {one['name']}." for one in _names(newest)]
        facts += [f"User lives in {one['place']}." for one in _SAID_HOME.finditer(newest)]
        operations: list[dict[str, Any]] = [_new(fact) for fact in facts]
        for memory_id in self._foreign(text):
            told = facts[0] if facts else "User likes green tea."
            operations.append({"operation": "UPDATE", "id": memory_id, "content": told})
        return {"operations": operations}

    def relevance(self, body: Body) -> dict[str, Any]:
        """Everything offered matters, and what was not offered too."""
        text = json.dumps(body["messages"], ensure_ascii=False)
        foreign = self._foreign(text)
        ids = [found["id"] for found in _OFFERED.finditer(text)]
        return {"scores": [{"id": one, "score": 1.0} for one in (*ids, *foreign)]}

    def _foreign(self, text: str) -> list[str]:
        offered = {found["id"] for found in _OFFERED.finditer(text)}
        others = [one for one in self._ids if one not in offered]
        for memory_id in sorted(offered):
            self._ids[memory_id] = None
            self._ids.move_to_end(memory_id)
        while len(self._ids) > _MOST_IDS:
            self._ids.popitem(last=False)
        return self._chance.sample(others, min(_FOREIGN_IDS, len(others)))


def _names(text: str) -> list[re.Match[str]]:
    return list(_SAID_NAME.finditer(text))


def _new(content: str) -> dict[str, Any]:
    return {
        "operation": "NEW",
        "content": content,
        "tags": ["possession" if "called" in content else "identity"],
        "memory_bank": "Personal",
        "confidence": 0.9,
        "importance": 5,
        "kind": "FACT",
    }
