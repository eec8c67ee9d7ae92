"""Attributes that have one value at a time: home, age, name, employer, favourite colour.

Another value of the same attribute of the same person replaces the former one. Of sisters and dogs
there may be several, so theirs count only where a name tells which one is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from adaptive.learn.statement import WEAK, Clause, Statement, Word, strong
from adaptive.search.meanings import folded_text, numbers, people
from adaptive.text_cache import text_cache

Relation = Literal["same", "refines", "contradicts", "different"]

# "User's X is Y" has one Y.
_SINGULAR_TEXT = """
    favourite born age phone email address height weight salary budget hometown employer occupation
    car timezone nickname size
"""
_SINGULAR = frozenset(_SINGULAR_TEXT.split())
_MARITAL = frozenset(("married", "single", "divorced"))
# "User weighs 80 kg": only the number differs.
_MEASURED = frozenset(("weigh", "sleep", "wake", "earn", "take", "pay", "have"))
_VERBS = _MEASURED | {"live", "moved", "work", "drive", "born"}
_ONLY_ONES = frozenset(("mother", "father", "wife", "husband", "partner", "boss", "landlord"))
_AT_WORK = frozenset(("at", "for", "by", "bei", "fur", "chez", "presso", "para"))
_INTO = frozenset(("to", "nach", "в", ""))
_INTO_NAMED = frozenset(("to", "nach", "a", "à", "para", "в"))
_INSIDE = frozenset(("in", "at", "en", "em", "na", "в", ""))
# Their values have to be names: to live in a small house says nothing against living in Porto.
_BY_NAME = frozenset(("live", "employer", "drive", "name", "hometown", "timezone"))
# A phone may be broken, its number can't.
_BY_NUMBER = frozenset(("phone", "height", "weight", "salary", "budget", "size", "age"))
# Who works somewhere at weekends may work elsewhere too.
_AT_TIMES_TEXT = """
    weekend wochenende summer winter sommer ete verano verao estate inverno invierno hiver лето зима
    morning evening sometimes occasionally manchmal parfois part side volunteer nebenbei aushilfe
    day1 day2 day3 day4 day5 day6 day7 周末
"""
_AT_TIMES = frozenset(_AT_TIMES_TEXT.split())
# Somebody who lives in Portugal may live in Porto.
_COUNTRIES_TEXT = """
    usa us america states england scotland wales britain uk kingdom ireland germany deutschland
    allemagne alemania alemanha germania германии france frankreich francia franca франции spain
    spanien espagne espana espanha spagna испании portugal portogallo italy italien italie italia
    италии austria osterreich autriche switzerland schweiz suisse suiza svizzera netherlands holland
    niederlande belgium belgien belgique poland polen polska czechia hungary greece griechenland
    turkey turkei russia russland russie россии ukraine украине sweden schweden norway norwegen
    denmark danemark finland finnland iceland canada kanada mexico mexiko brazil brasil brasilien
    bresil brasile argentina argentinien chile colombia peru australia australien japan japon
    giappone china chine cina korea india indien inde israel egypt africa europe europa asia bavaria
    bayern california texas florida catalonia 中国 日本 美国 德国 英国 法国 加拿大 韩国 俄罗斯
"""


# Meanings by which a statement about an attribute is found among many.
_FOUND_BY = {
    "marital": ("married", "single", "divorced"),
    "age": ("age", "old", "year"),
    "live": ("live", "moved"),
    "employer": ("work",),
    "occupation": ("occupation", "work"),
    "drive": ("drive", "car"),
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that has one value at a time, and the value that a statement gives it.

    ``key`` names it together with whose it is, ``value`` holds the compared words, ``extras`` what
    the statement says besides; ``named`` tells whether the value is a proper name, ``sole`` whether
    it is clear whose attribute it is.
    """

    key: frozenset[str]
    value: frozenset[str]
    extras: frozenset[str]
    named: bool = True
    sole: bool = True


@text_cache(1024)
def attribute(statement: Statement) -> Attribute | None:
    """The attribute that a statement gives a present value, if it is about one."""
    main = statement.clauses[0]
    if statement.about == "other" or not _states(main):
        return None
    size = _owner_size(statement)
    owner = frozenset(word.key for word in main.words[:size])
    words = main.words[size:]
    found = _age(words) or _linked(words, statement.about == "owned") or _predicate(words)
    if found is None:
        return None
    key, value = found
    inside = {word.key for word in value}
    besides = {word.key for word in strong(statement.words)} - inside - key - owner - _TOLD_BY_KEY
    named = any(word.name or "\u3400" <= word.key[0] <= "\u9fff" for word in value)
    return Attribute(owner | key, frozenset(inside), frozenset(besides), named, of_one(statement))


def found_by(statement: Statement) -> frozenset[str]:
    """Meanings that statements about the same attribute may have, whatever its value."""
    found = attribute(statement) if statement.clauses else None
    key = found.key if found else frozenset[str]()
    return frozenset(word for name in key for word in _FOUND_BY.get(name, ()))


def compared(known: Attribute, said: Attribute, statement: Statement) -> Relation:
    """How a value that is said in this statement stands to the known one of the same attribute."""
    exact = known.value == said.value
    # "York" is no shorter way to say "New York"; "nurse" is one of "head nurse".
    loose = known.sole and "live" not in known.key
    if (exact or (loose and known.value > said.value)) and said.extras <= known.extras:
        return "same"
    if exact or (loose and known.value < said.value):
        return "refines" if known.extras <= said.extras else "different"
    if "live" in known.key and known.sole and known.value <= _countries() & said.extras:
        return "refines"  # Belgium; Ghent, Belgium
    if "live" in known.key and known.sole and said.value <= _countries() & known.extras:
        return "same"
    if known.value <= said.value or said.value <= known.value:
        return "different"
    if not known.sole or not _comparable_values(known, said):
        return "different"
    if (known.extras | said.extras) & _AT_TIMES:
        return "different"
    # Since when it was so may go with it; nothing else may.
    kept = _figures(known.extras) | {word.key for word in statement.words}
    return "contradicts" if known.extras <= kept else "different"


def _comparable_values(known: Attribute, said: Attribute) -> bool:
    """Whether one value rules out the other."""
    both_named = known.named and said.named
    if known.key & _BY_NAME and not both_named:
        return False
    if known.key & _BY_NUMBER and not (_figures(known.value) and _figures(said.value)):
        return False
    if "marital" in known.key and known.value & said.value:  # to a doctor, to Anna
        return both_named
    in_country, now_in_country = (bool(one.value & _countries()) for one in (known, said))
    return "live" not in known.key or in_country == now_in_country


def _figures(words: Iterable[str]) -> set[str]:
    return {word for word in words if word in numbers() or word[:1].isdigit()}


_TOLD_BY_KEY = frozenset(("live", "moved", "work", "drive", "car", "old", "age", "year", "born"))
_AGE_WORDS = frozenset(("old", "age", "year"))
_Found = tuple[frozenset[str], Sequence[Word]]


def _states(clause: Clause) -> bool:
    return not (clause.negative or clause.foreign or clause.also) and clause.time == "present"


def of_one(statement: Statement) -> bool:
    """Whether it is about one who can't be mistaken: the user, their boss, their sister Klara."""
    size = _owner_size(statement)
    owner = {word.key for word in statement.words[:size]}
    return not owner or bool(owner & _ONLY_ONES) or size > 1


def _owner_size(statement: Statement) -> int:
    """How many words say whose it is: "sister", "sister Klara"."""
    words = statement.words if statement.about == "owned" else ()
    size = 0
    while size < len(words) and (words[size].meaning in people() or (size and words[size].name)):
        size += 1
    return size


def _age(words: Sequence[Word]) -> _Found | None:
    rest = [word for word in strong(words) if word.meaning not in _AGE_WORDS]
    if len(rest) != 1 or not rest[0].meaning.isdigit():
        return None
    bare = [word.meaning for word in words] == ["be", rest[0].meaning]
    if not bare and not {word.meaning for word in words} & _AGE_WORDS:
        return None
    return frozenset({"age"}), rest


def _linked(words: Sequence[Word], owned: bool) -> _Found | None:
    """The value behind "is": favourites, names, the like; also "is married", "works as"."""
    at = next((n for n, word in enumerate(words) if word.meaning in ("be", "name")), None)
    if at is None:
        return None
    left, right = strong(words[:at]), strong(words[at:])
    leading = next((n for n, word in enumerate(words) if word.meaning not in WEAK), len(words))
    opening = {word.meaning for word in words[:leading]}
    if right and "name" in opening and "have" not in opening:
        return frozenset({"name"}), _phrase(right)
    for side, value in ((left, right), (right, left)) if owned else ():
        if value and any(w.meaning in _SINGULAR or w.key.startswith("liebling") for w in side):
            key = [word.key for word in side]
            return frozenset(["drive"] if key == ["car"] else key), value
    if right and not left and right[0].meaning in _MARITAL:
        return frozenset({"marital"}), right
    if right and not left and right[0].prep == "as":
        return frozenset({"occupation"}), _phrase(right)
    return None


def _predicate(words: Sequence[Word]) -> _Found | None:
    """The value behind a verb: "lives in Porto", "works at ACME", "drives a Skoda"."""
    verbs = [place for place, word in enumerate(words) if word.meaning in _VERBS]
    place = next((at for at in verbs if words[at].meaning != "have"), verbs[0] if verbs else 0)
    if not verbs or (strong(words[:place]) and place + 1 < len(words)):
        return None
    after = words[place + 1 :] or strong(words[:place])  # German has the verb last
    verb = words[place].meaning
    if verb == "moved" and len(after) > 1 and after[0].key.startswith("from "):
        into = (at for at, word in enumerate(after) if word.prep in _INTO_NAMED and word.name)
        after = after[next(into, 0) :]  # from Ghent to Bruges
    if not after:
        return None
    value = _phrase(after)
    dated = any(word.figure for word in after)
    home = (verb == "live" and value[0].prep in _INSIDE) or (
        verb == "moved" and value[0].prep in _INTO and not dated
    )
    if home:
        return frozenset({"live"}), value
    if verb == "work" and value[0].prep in _AT_WORK:
        return frozenset({"employer"}), value
    if verb == "drive" and not value[0].prep:
        return frozenset({"drive"}), value
    if verb == "born" and all(word.figure for word in after):
        return frozenset({"born"}), after
    if verb in _MEASURED and after[0].meaning[:1].isdigit():
        return frozenset({verb, *(word.key for word in after[1:])}), after[:1]
    return None


def _phrase(words: Iterable[Word]) -> list[Word]:
    """The first words that follow each other directly, without a date at their end."""
    found: list[Word] = []
    for word in words:
        if found and (not word.glued or (word.figure and not found[-1].name)):
            break
        found.append(word)
    return found


@cache
def _countries() -> frozenset[str]:
    return frozenset(folded_text(name) for name in _COUNTRIES_TEXT.split())
