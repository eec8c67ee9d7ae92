"""A sentence about a person, read for comparison.

Two sentences may have all but one word in common and mean different facts. So a statement is read
as clauses of words, each word under the name of its meaning (``search.meanings``) and with the
small word that changes it (``learn.contrast``). This is no grammar: what is not understood makes
statements differ, and different facts stay apart.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from adaptive.learn.contrast import MODIFIERS, phrased, signs
from adaptive.search.meanings import (
    folded_text,
    meaning,
    meanings,
    numbers,
    people,
    says_nothing,
)
from adaptive.text_cache import text_cache

Time = Literal["present", "past", "wish"]
# Whose fact: the user's, that of somebody or something of theirs ("User's sister"), another's.
About = Literal["user", "owned", "other"]

# Longer texts are no single statements.
LONGEST_STATEMENT = 400

# Verbs that carry little themselves.
WEAK = frozenset(("be", "have", "name"))
_WISHES = frozenset(("like", "prefer", "want", "plan", "afraid", "learn"))
_RELATIVE = frozenset(("der", "die", "das", "den", "dem"))
_TOKEN = re.compile(
    r"(?P<mail>[\w.+-]{1,64}@[\w.-]{1,64})"
    r"|(?P<number>\d+(?:[.,:/-]\d+)*)"
    r"|(?P<word>[^\W\d_]+[+#]*)"
    r"|(?P<owner>'s\b|(?<=s)'(?=\s))"
    r"|(?P<dash>\s[—–-]\s)"
    r"|(?P<end>(?<=\w\w\w)\.(?=\s|$)|[!?。！？])"
    r"|(?P<stop>[,;:()，；、：（）])"
)
_PORTUGUESE = re.compile(r"usuári|utilizador|\b(?:eu|meu|minha|não)\b", re.IGNORECASE)
_IN_GERMAN = re.compile(r"\b(?:(?:be)?nutzer|anwender|ich\b|mein|der\b|das\b|ist\b)", re.IGNORECASE)
_SPAN_OF_YEARS = re.compile(
    r"\b(?:19|20)\d\d\s?(?:to|until|till|bis|à|a|al|ao|fino al|до|по|到|至|[-–])\s?(?:19|20)\d\d"
)
_SENTENCES = re.compile(r"[.!?]\s|[。！？\n]")
# A former content that was added to a statement, see ``reconcile.with_former``.
_FORMER = re.compile(r"\(until \d{4}-\d\d: [^()]*\)")


class Word(NamedTuple):
    """A word that says something.

    ``key`` is what it is compared by; ``prep`` the function word before it, empty where there is
    none or an article; ``glued`` whether it follows another word directly.
    """

    key: str
    meaning: str
    prep: str
    name: bool
    glued: bool

    @property
    def hard(self) -> bool:
        """Whether another word in its place makes another fact: numbers, dates, names, people."""
        changed = self.key != self.meaning
        return changed or self.name or self.figure or self.meaning in people()

    @property
    def figure(self) -> bool:
        """Whether it is a number or part of a date."""
        return self.meaning[:1].isdigit() or self.meaning in numbers()


@dataclass(frozen=True, slots=True)
class Clause:
    """Words between commas, conjunctions and relative pronouns.

    ``foreign``: its subject is new; ``ended``: it is negative now and was not so before.
    """

    words: tuple[Word, ...]
    negative: bool
    time: Time
    foreign: bool
    also: bool
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A text read for comparison; ``clauses`` is empty where it is too long or says nothing."""

    about: About
    clauses: tuple[Clause, ...]

    @property
    def words(self) -> tuple[Word, ...]:
        """All words in their order."""
        return tuple(word for clause in self.clauses for word in clause.words)

    @property
    def times(self) -> frozenset[Time]:
        """The times of its clauses."""
        return frozenset(clause.time for clause in self.clauses)

    @property
    def flags(self) -> frozenset[tuple[bool, Time]]:
        """Negation and time of its clauses; one pair if they agree."""
        return frozenset((clause.negative, clause.time) for clause in self.clauses)


def bare_text(text: str) -> str:
    """A text as it is compared word for word: case, spaces and the final stop do not count."""
    return " ".join(text.casefold().split()).rstrip(".!。")


def strong(words: Iterable[Word]) -> list[Word]:
    """The words without those that carry little."""
    return [word for word in words if word.meaning not in WEAK]


def weak_words(statement: Statement) -> frozenset[str]:
    """Which of those that carry little it has; whose something is, has it."""
    weak = {word.meaning for word in statement.words if word.meaning in WEAK}
    return frozenset(weak | {"have"} if statement.about == "owned" else weak)


class _Reader:
    """Reads one statement, word by word."""

    def __init__(self, text: str) -> None:
        self._past = _SPAN_OF_YEARS.search(text) is not None
        self._portuguese = _PORTUGUESE.search(text) is not None
        self._german = _IN_GERMAN.search(text) is not None
        self._clauses: list[Clause] = []
        self._about: About | None = None
        self._begin(foreign=False)
        self._opens_sentence = True
        self._after_user = False

    def _begin(self, *, foreign: bool) -> None:
        self._words: list[Word] = []
        self._negated = self._flipped = self._also = self._ended = False
        self._time: Time = "past" if self._past else "present"
        self._foreign = foreign
        self._separate()

    def _separate(self) -> None:
        """The next word follows no other directly."""
        self._prep = self._modifier = ""
        self._glued = False

    def _close(self, *, foreign: bool = False) -> None:
        if self._words:
            negative = self._negated != self._flipped
            words = tuple(self._words)
            ended = negative and self._ended
            clause = Clause(words, negative, self._time, self._foreign, self._also, ended)
            self._clauses.append(clause)
            self._begin(foreign=foreign)
        else:
            self._foreign = self._foreign or foreign
            self._separate()

    def statement(self) -> Statement:
        """What was read."""
        self._close()
        return Statement(self._about or "other", tuple(self._clauses))

    def take(self, kind: str, raw: str, *, dash_is: bool) -> None:
        """Read one token."""
        after_user, self._after_user = self._after_user, False
        if kind == "dash" and dash_is:
            self._add("be", "be", name=False)
        elif kind in ("dash", "stop", "end"):
            self._close()
            self._opens_sentence = self._opens_sentence or kind == "end"
        elif kind == "owner":
            self._owner(after_user)
        elif kind == "word":
            self._word(raw)
            self._opens_sentence = False
        else:
            self._add(folded_text(raw), folded_text(raw), name=kind == "mail")

    def _owner(self, after_user: bool) -> None:
        """What stands before is somebody's whose the next is: another person's fact."""
        if after_user and not self._clauses:
            copula = not self._words or any(word.meaning == "be" for word in self._words)
            self._about = "owned" if copula else "other"
        elif after_user:
            self._foreign |= not self._words
        elif self._glued:
            last = self._words[-1]
            self._words[-1] = last._replace(key=f"of {last.key}")

    def _word(self, raw: str) -> None:
        folded = folded_text(raw)
        sign, _, stands_for = self._sign(raw, folded).partition(" ")
        if sign in ("user", "mine"):
            self._user(mine=sign == "mine")
        elif sign in ("who", "and"):
            self._close(foreign=sign == "who")
        elif sign in MODIFIERS:
            self._separate()
            # What is preferred over, to or than is told by its place.
            preferring = any(word.meaning == "prefer" for word in self._words)
            self._prep, self._modifier = sign, "" if preferring else sign
        elif sign == "article":
            self._foreign |= bool(self._clauses) and not self._words and folded in _RELATIVE
            self._glued = False
        elif sign == "he":
            self._foreign |= not self._words
        elif sign not in ("", "as"):
            self._change(sign)
            if stands_for:
                self._add(stands_for, stands_for, name=False)
        elif sign or self._joins(raw, folded):
            self._separate()
            self._prep = folded
        else:
            self._meaningful(raw, folded)

    def _joins(self, raw: str, folded: str) -> bool:
        """Whether a word is there for the others only."""
        known = folded in meanings() or self._name(raw, folded)
        return not known and says_nothing(folded)

    def _name(self, raw: str, folded: str) -> bool:
        """Whether a word is a proper name, as all German nouns seem to be."""
        if not raw[0].isupper():
            return False
        return (
            not self._opens_sentence
            or (len(raw) > 1 and raw.isupper())
            or (folded not in meanings() and not says_nothing(folded))
        )

    def _sign(self, raw: str, folded: str) -> str:
        """What a word does, empty if it only means something."""
        sign = signs().get(folded, "")
        if raw[0].isupper() and not self._opens_sentence:  # "Mia", "MIT": no small words
            return sign if raw == "I" or (sign in ("user", "mine") and len(raw) > 4) else ""
        if (folded == "no" and self._portuguese) or (folded == "mai" and self._negated):
            return "article"
        return "article" if raw == "i" else sign

    def _change(self, sign: str) -> None:
        """A sign that turns its whole clause."""
        if sign == "not":
            self._negated = True
        elif sign == "ended":  # "can't stand it any more" is negative once
            self._negated = self._negated or not self._flipped
            self._ended = True
        elif sign == "flip":
            self._flipped = not self._flipped
            self._ended = True
        elif sign == "also":
            self._also = True
        elif sign == "past" or sign == "wish":
            self._time = sign

    def _user(self, *, mine: bool) -> None:
        if self._about is None:
            before = any(not (word.prep or word.figure) for word in self._words)
            self._about = "owned" if mine else "other" if before else "user"
        elif self._clauses and not self._words:
            self._foreign = mine or self._about != "user"
        self._glued = False
        self._after_user = True

    def _meaningful(self, raw: str, folded: str) -> None:
        name = self._name(raw, folded)
        said = meaning(raw, name=name)
        if name and not self._german and said not in numbers():
            said = folded  # Marie, Mark, Rose
        if said == "hate":
            self._flipped, said = not self._flipped, "like"
        if said in ("want", "plan"):
            self._time = "wish"
        if said in ("be", "have"):
            name = False
        doing = folded.endswith("ing") and not self._flipped
        doing = doing and not (self._words and self._words[-1].meaning == "be")
        if folded not in meanings() and not name and (doing or self._infinitive()):
            self._modifier = f"{self._modifier} doing".strip()
        self._add(said, f"{self._modifier} {said}".strip(), name=name and said not in numbers())

    def _infinitive(self) -> bool:
        return self._prep == "to" and bool(self._words) and self._words[-1].meaning in _WISHES

    def _add(self, said: str, key: str, *, name: bool) -> None:
        if said == "name" and self._words:  # "dog's name" is the dog's being called
            self._words[-1] = self._words[-1]._replace(key=self._words[-1].key.removeprefix("of "))
        weak = said in WEAK
        self._words.append(Word(key, said, self._prep, name, self._glued and not weak))
        self._separate()
        self._glued = not weak


@text_cache(4096)
def read_statement(text: str) -> Statement:
    """A sentence as it is compared; one that is too long has no clauses."""
    text = without_former(text)
    if len(text) > LONGEST_STATEMENT:
        return Statement("other", ())
    reader = _Reader(text)
    cyrillic = any("\u0400" <= letter <= "\u04ff" for letter in text)
    for match in _TOKEN.finditer(phrased(text)):
        reader.take(match.lastgroup or "", match.group(), dash_is=cyrillic)
    return reader.statement()


def meanings_said(text: str) -> frozenset[str]:
    """What the words of a text mean, whatever their language; sentences are read one by one."""
    return frozenset(
        word.meaning
        for sentence in _SENTENCES.split(text)
        for word in strong(read_statement(sentence).words)
    )


def without_former(text: str) -> str:
    """A content without the former one that ``reconcile.with_former`` may have added."""
    bare = text.rstrip()
    at = bare.rfind("(until ")
    return bare[:at].rstrip() if at >= 0 and _FORMER.fullmatch(bare, at) else text
