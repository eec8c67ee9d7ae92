"""What is read off a pattern stands in every text that it fits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adaptive.privacy.injection_languages import COMMAND_LANGUAGES
from adaptive.privacy.injection_patterns import _command_patterns, commands_in
from adaptive.privacy.need_table import NeedTable
from adaptive.privacy.pattern_needs import Need, needs_of
from tests.rates import over

RED_TEAM = Path(__file__).parent / "red_team.json"


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern and its needs; ``|`` parts the texts of a need, ``<`` and ``>`` are word edges."""

    id: str
    pattern: str
    needs: tuple[str, ...]


CASES = (
    Case("text", "abc", ("abc",)),
    Case("branches", "abc|de", ("abc|de",)),
    Case("group", "a(?:b|cd)e", ("abe|acde",)),
    Case("optional sign", "rules?", ("rule|rules",)),
    Case("optional group", "a (?:new )?role", ("a role|a new role",)),
    Case("anything between", "ignore.{0,9}rules", ("ignore", "rules")),
    Case("word edges", r"\b(?:say|tell)\b", ("<say>|<tell>",)),
    Case("edge of a longer part", r"\b(?:say.x|tell)\b", ("<say|<tell>", "x>|<tell>")),
    Case("edges on either side", r"\b(?:a[^.]b|cd)\b", ("<a|<cd>", "b>|<cd>")),
    Case("repeat", "(?:ab){2,3}", ("ab",)),
    Case("repeat from none", "(?:ab)*c", ("c",)),
    Case("nothing needed", r"\w+", ()),
    Case("one branch needs nothing", r"abc|\w", ()),
    Case("lookaround", "(?<!x)ab(?=cd)", ("ab",)),
    Case("sort of few signs", "x[,:]", ("x,|x:",)),
    Case("sort of many signs", "x[a-z]y", ("x", "y")),
    Case(
        "all of a few branches",
        "is.trusted|are.official",
        ("is|are", "is|official", "trusted|are", "trusted|official"),
    ),
    Case("the most telling of many", "a.bc|d.ef|g.hi|j.kl", ("bc|ef|hi|kl",)),
    Case("escaped", r"a\.b", ("a.b",)),
    Case("code", r"a\u2014b", ("a\u2014b",)),
    Case("named", r"\bSAY\b", ("<say>|<tell>",)),
    Case("unknown name", "MISSING x|abc", ("abc",)),
    Case("only an unknown name", "x MISSING", ("",)),
)


def _need(text: str) -> Need:
    texts = text.replace("<", "\0").replace(">", "\0").split("|") if text else []
    return frozenset(texts)


@over("case", CASES)
def test_needs(case: Case) -> None:
    """The needs of small patterns are these."""
    needs = needs_of(case.pattern, {"SAY": "say|tell"})
    assert set(needs) == {_need(need) for need in case.needs}


COMMANDS = _command_patterns()
NEEDS = [needs_of(one.frame, COMMAND_LANGUAGES[one.language]) for one in COMMANDS]
TABLE = NeedTable(NEEDS)


def test_each_command_needs_something() -> None:
    """No pattern of commands has to be compiled for a text without any of its words."""
    assert all(NEEDS)
    assert TABLE.possible("") == []


def test_attacks_meet_their_needs() -> None:
    """Whatever a pattern of commands finds in the red team's texts, its needs let through."""
    told = json.loads(RED_TEAM.read_text(encoding="utf-8"))
    attacks = [part for one in told for part in one["parts"]]
    found = 0
    for text in map(str.lower, attacks):
        fitting = {one.number for one in COMMANDS if one.compiled.search(text)}
        assert fitting <= set(TABLE.possible(text)), text
        found += len(fitting)
    assert found > len(attacks) / 2


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.data())
def test_what_fits_meets_the_needs(data: st.DataObject) -> None:
    """Texts made to fit a pattern of commands meet its needs."""
    one = data.draw(st.sampled_from(COMMANDS))
    text = data.draw(st.from_regex(one.compiled))
    assert one.number in TABLE.possible(text)


def test_ordinary_facts_need_no_command() -> None:
    """Facts about a user have none of these patterns compiled."""
    facts = (
        "User's sister repaired a boat in 1990 for 12 euros.",
        "User keeps the violin in a box under the stairs, next to the winter coats.",
        "Nutzer hat für das Klavier einen schönen Platz gefunden, gleich neben der Tür.",
        "Пользователь живёт в Казани и держит двух кошек.",
        "ユーザーは東京の店で本を買いました。",
    )
    assert [list(commands_in(fact.lower())) for fact in facts] == [[]] * len(facts)
    possible = {number for fact in facts for number in TABLE.possible(fact.lower())}
    assert not {COMMANDS[number].language for number in possible} & {"en", "de", "ru", "ja"}
