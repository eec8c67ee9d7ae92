"""Simple English statements about oneself, read by a table of rules.

A demonstration, not a parser of English: what no rule knows is not a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from demo.standin.wording import (
    about_the_user,
    conjugated,
    in_third_person,
    sentences_of,
    tidy,
)
from demo.standin.words import listed

_VALUE = r"(?P<value>.{1,200}?)"
_THING = r"(?P<thing>\w[\w' -]{0,40}?)"
_OFTEN = r"(?:(?:really|absolutely|also|always|still|just|do|now|currently|recently) )*"
_AMOUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|some|several)"
_LATELY = r"(?: (?:last|this) \w+| in (?:19|20)\d\d| (?:\w+ ){1,3}ago| yesterday| recently)?"

_FAMILY = listed(
    """
    aunt boyfriend boss brother child children colleague cousin dad daughter father friend
    girlfriend grandfather grandmother husband mom mother mum neighbour neighbor nephew niece
    parents partner sister son uncle wife
    """
)
_IDENTITY = listed("address age birthday job name nationality profession")
_PETS = listed("bird budgie cat dog fish hamster horse kitten parrot puppy rabbit")


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of statement: how it is said, and the memory that it becomes.

    A ``single`` fact is true once at a time, so the next one of the same frame corrects it. The
    frame is the template before ``{value}``, unless ``frame`` names it. Without ``tags`` the thing
    that the statement is about decides.
    """

    pattern: str
    template: str
    tags: tuple[str, ...] = ()
    importance: int = 6
    bank: str = "Personal"
    single: bool = False
    frame: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact about the user as a plain sentence; no ``frame`` when others may stand beside it."""

    content: str
    tags: tuple[str, ...]
    importance: int
    bank: str
    frame: str = ""


# The first rule that matches a whole clause counts, so the special ones stand first.
RULES = (
    Rule(
        rf"my {_THING}'s name is {_VALUE}",
        "User's {thing} is called {value}.",
        single=True,
    ),
    Rule(
        rf"my {_THING} (?P<be>is|are) (?:called|named) {_VALUE}",
        "User's {thing} {be} called {value}.",
        single=True,
    ),
    Rule(
        rf"(?:i|we) {_OFTEN}have (?:got )?(?:an?|one) (?:new |little |young )?{_THING}"
        rf" (?:(?:who|that|which) is |)(?:called|named|whose name is) {_VALUE}",
        "User's {thing} is called {value}.",
        single=True,
    ),
    Rule(
        r"(?:my name is|(?:you can |just |please )*call me|i am called)"
        rf" (?!(?:back|later|when|if|tomorrow|an?|the)\b){_VALUE}",
        "User's name is {value}.",
        tags=("identity",),
        importance=9,
        single=True,
    ),
    Rule(
        rf"my birthday is (?:on )?(?!(?:in|on|not|today|tomorrow|coming|soon|next)\b){_VALUE}",
        "User's birthday is on {value}.",
        tags=("identity",),
        importance=8,
        single=True,
        frame="User's birthday is",
    ),
    Rule(
        rf"(?:i|we) (?:have )?{_OFTEN}(?:moved|relocated) (?:from .{{1,60}}? )?to"
        rf" {_VALUE}{_LATELY}",
        "User lives in {value}.",
        tags=("identity",),
        importance=8,
        single=True,
    ),
    Rule(
        rf"(?:i|we) (?:am |are )?{_OFTEN}(?:live|living|based) in {_VALUE}",
        "User lives in {value}.",
        tags=("identity",),
        importance=8,
        single=True,
    ),
    Rule(
        rf"i (?:am|come) (?:originally )?from {_VALUE}",
        "User is from {value}.",
        tags=("identity",),
        importance=7,
        single=True,
    ),
    Rule(
        rf"i (?:am )?{_OFTEN}work(?:ing)? (?P<how>as|at|for) {_VALUE}",
        "User works {how} {value}.",
        tags=("identity",),
        importance=7,
        bank="Work",
        single=True,
    ),
    Rule(
        rf"i am {_OFTEN}allergic to {_VALUE}",
        "User is allergic to {value}.",
        tags=("identity",),
        importance=9,
    ),
    Rule(
        rf"i am (?P<article>an?) (?!(?:bit|little|lot|few)\b){_VALUE}",
        "User is {article} {value}.",
        tags=("identity",),
    ),
    Rule(
        rf"i {_OFTEN}(?P<verb>like|love|prefer|hate|enjoy|dislike)"
        rf" (?!(?:it|that|this|your?|how|what|when)\b){_VALUE}",
        "User {verb}s {value}.",
        tags=("preference",),
    ),
    Rule(
        r"i (?:do not|don't) (?:really )?(?:like|enjoy)"
        rf" (?!(?:it|that|this|your?|how|what|when)\b){_VALUE}",
        "User does not like {value}.",
        tags=("preference",),
    ),
    Rule(
        rf"i {_OFTEN}(?P<verb>play|collect|speak|study|teach|practi[cs]e|drive|ride|grow|cook|bake"
        rf"|paint|drink|eat|read|use) (?!(?:it|that|this|you|to|about|with)\b){_VALUE}",
        "User {does} {value}.",
        tags=("behavior",),
    ),
    Rule(
        r"i (?:(?P<verb>want|plan|hope)|am (?P<planning>plan)ning) to"
        rf" (?!(?:know|ask|see|understand|hear|talk|thank|tell|say)\b){_VALUE}",
        "User {verb}s to {value}.",
        tags=("goal",),
    ),
    Rule(
        rf"(?:i|we) {_OFTEN}(?:have|own) (?:got )?(?P<amount>{_AMOUNT})"
        rf" (?!(?:\w+ )?(?:questions?|problems?|issues?|requests?|tasks?|ideas?|bugs?)\b){_VALUE}",
        "User has {amount} {value}.",
        tags=("possession",),
    ),
    Rule(
        rf"my (?!(?:questions?|problem|issue|code|guess|point|message|bad)\b){_THING}"
        rf" (?P<be>is|are) (?!(?:not|today|tomorrow|here|there|coming|that|how)\b){_VALUE}",
        "User's {thing} {be} {value}.",
        single=True,
    ),
)

_PATTERNS = tuple((re.compile(rule.pattern, re.IGNORECASE), rule) for rule in RULES)
_REMEMBER = re.compile(
    r"(?:remember|do not forget|don't forget|keep in mind)"
    r"(?:,? that|:|,? (?=(?:i|i'm|my|we|our|the)\b)),? ?(?P<rest>.{1,200})",
    re.IGNORECASE,
)
_FORGET = re.compile(r"forget(?: about)?(?: the fact)?(?: that)? (?P<rest>.{1,200})", re.IGNORECASE)


def statements_in(message: str) -> list[Statement]:
    """The statements of a message about its writer, in their order, none twice."""
    found: dict[str, Statement] = {}
    for clause in sentences_of(message):
        statement = _remembered(clause) or _stated(clause)
        if statement:
            found.setdefault(statement.content, statement)
    return list(found.values())


def forgotten_in(message: str) -> Iterator[str]:
    """What the message asks to forget, in the user's words."""
    for clause in sentences_of(message):
        if wish := _FORGET.fullmatch(clause):
            yield wish["rest"]


def _remembered(clause: str) -> Statement | None:
    """A sentence after "remember that": by the rules where one knows it, else as it stands."""
    wish = _REMEMBER.fullmatch(clause)
    if not wish:
        return None
    stated = _stated(wish["rest"])
    if stated:
        return stated
    return Statement(about_the_user(wish["rest"]), ("behavior",), importance=8, bank="General")


def _stated(clause: str) -> Statement | None:
    for pattern, rule in _PATTERNS:
        if said := pattern.fullmatch(clause):
            return _statement(rule, said.groupdict())
    return None


def _statement(rule: Rule, said: dict[str, str | None]) -> Statement | None:
    value = in_third_person(tidy(said["value"] or ""))
    if not value:
        return None
    parts = {name: (text or "").lower() for name, text in said.items()}
    parts["verb"] = parts.get("verb") or parts.get("planning", "")
    parts["does"] = conjugated(parts["verb"])
    parts["thing"] = thing = in_third_person(said.get("thing") or "")
    template = rule.template.replace("{value}", "\0")
    content = template.format(**parts)
    frame = rule.frame or content.partition("\0")[0].strip()
    return Statement(
        content.replace("\0", value),
        rule.tags or _tags_of(thing),
        rule.importance,
        rule.bank,
        frame if rule.single and _is_one_at_a_time(thing, frame) else "",
    )


def _tags_of(thing: str) -> tuple[str, ...]:
    words = _words_of(thing)
    if words & _FAMILY:
        return ("relationship",)
    if words & {"favourite", "favorite"}:
        return ("preference",)
    return ("identity",) if words & _IDENTITY else ("possession",)


def _is_one_at_a_time(thing: str, frame: str) -> bool:
    """A living being has one name, but much else can be said of it at the same time."""
    return frame.endswith("called") or not _words_of(thing) & (_FAMILY | _PETS)


def _words_of(thing: str) -> set[str]:
    """The words of "dog", "older sister" and "brother-in-law" alike."""
    return set(re.findall(r"\w+", thing.casefold()))
