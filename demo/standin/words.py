"""Which words of two texts mean the same: stop words dropped, endings cut."""

from __future__ import annotations

import re
from collections.abc import Sequence


def listed(words: str) -> frozenset[str]:
    """A set written as a line of words."""
    return frozenset(words.split())


STOP_WORDS = listed(
    """
    a about again all also am an and any anything are as at be been but by can can't could did do
    does don't everything for forget forgot had has have he her his how i i'd i'm i've if in is it
    its just know known me memories memory mine more my myself now of on or our please recall
    remember remembered say she so some something tell than that the their them then there these
    they this those to told us user was we were what when where which who whom whose why will with
    would you your ich wir mein meine wie wo eu meu minha que qual o de em
    """
)

# What a question may call a thing that the memory words otherwise.
_RELATED = {
    **dict.fromkeys(("city", "town"), "live"),
    **dict.fromkeys(("job", "profession"), "work"),
    **dict.fromkeys(("allergy", "allergies"), "allergic"),
    "pet": "dog cat rabbit bird fish horse",
}
_SAME = {"favorite": "favourite", "named": "called"}
_ENDINGS = ("ing", "ed", "es", "s", "e")


def stem(word: str) -> str:
    """The word without its ending, so that "lives" and "live" are one."""
    word = _SAME.get(word, word)
    for ending in _ENDINGS:
        if (
            word.endswith(ending)
            and not word.endswith("ss")
            and len(word) - len(ending) >= 3
        ):
            return word.removesuffix(ending)
    return word


# "Called" and "name" alone do not say what is called so; nor does "favourite" what is one.
_NAME = frozenset({stem("name")})
_NAMING = _NAME | {stem("called")}
_WEAK = _NAMING | {stem("favourite")}


def content_words(text: str) -> frozenset[str]:
    """Stems of the words that carry the meaning of a text."""
    plain = text.casefold().replace("\u2019", "'")
    words = (
        word.strip("'").removesuffix("'s")
        for word in re.findall(r"[\w']+", plain)
    )
    return frozenset(
        stem(word) for word in words if word and word not in STOP_WORDS
    )


def question_words(text: str) -> frozenset[str]:
    """Stems to look for in a memory to answer a question."""
    words = content_words(text)
    for asked, others in _RELATED.items():
        if stem(asked) in words:
            words |= {stem(other) for other in others.split()}
    if not words & _NAMING:
        return words
    # "My dog's name" may stand in a memory as "called"; "what am I called?" asks for the name.
    return words | _NAMING if words - _NAMING else _NAME


def overlap(wanted: frozenset[str], text: str) -> int:
    """How well a text fits the wanted words; 0 when it shares none that says anything."""
    shared = wanted & content_words(text)
    telling = wanted - _WEAK
    if telling and not shared & telling:
        return 0
    return len(shared)


def best_fitting(wanted: frozenset[str], texts: Sequence[str]) -> list[int]:
    """Positions of the texts that fit the wanted words best, in their order; none if none fits."""
    scores = [overlap(wanted, text) for text in texts]
    best = max(scores, default=0)
    return [
        position for position, score in enumerate(scores) if score == best > 0
    ]
