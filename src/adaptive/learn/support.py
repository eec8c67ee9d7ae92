"""The user's words, and whether a sentence follows from them: what stands in them, and what is new."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from operator import attrgetter

from adaptive.core import Memory, Turn, frozen, sentences
from adaptive.learn.derivation import Said
from adaptive.learn.figures import Figures
from adaptive.learn.quotation import (
    UNSPACED,
    quoted_share,
    typed_words,
    unpasted_words,
)
from adaptive.search import KnownWords, folded_text, tokens

_FIRST_LETTERS = 4
_PARTS = re.compile(r"[\w\s'\u2019]+")
_NAME = re.compile(
    r"(?<=\w )(?:[^\W\d_]['\u2019])?([^\W\d_][^\W\d_'\u2019-]{2,})"
)
_RELATION = re.compile(
    r"(?:The )?[Uu]ser's (?P<relation>(?:[a-z]+ ){1,2})(?=[^\W\d_a-z]\w)"
)
_SHORT_WORD = re.compile(r"\b[^\W\d_]{2,6}\b")
_MOST_INITIALS = 60
# Fewer stand for names alone, whose capitals are written.
_CERTAIN_INITIALS = 3
_LONG_INITIALS = 4  # of which one may stand within a word: "PostGraduate"
_NEXT_WORD = r"[^\W\d_]{0,20}+[ -](?:[^\W\d_]{1,3}[ -])?"
_TELLING = "x0x"  # a word that is always telling
_MOST_LETTERS = 400
_JAPANESE = ("HIRAGANA", "KATAKANA")
_WORD = re.compile(r"[^\W_]+")
_DOUBLED = re.compile(r"([a-z])\1")
_SHORT_PREFIX = re.compile(
    r"\b([^\W_]{1,3})-(?=[^\W_])"
)  # "X-ray", which is typed "xray", too
# Of telling words; in languages that write all nouns with capitals they are more than half.
_MOST_CAPITALS = 0.45
# Of a memory's telling words, in a sentence that says it again
_LEAST_REPEATED = 0.5
_LEAST_REPEATED_WORDS = 4
_LEAST_NEW = 0.3  # a fact of which less is new says no more than another one


def beginnings(text: str) -> frozenset[str]:
    """How the telling words of a text begin."""
    return frozenset(map(beginning, telling_words(text) or tokens(text)))


BegunSentences = Sequence[tuple[str, frozenset[str]]]


def noted_line(sentence: str, number: int, lines: BegunSentences) -> str:
    """The line with most telling words of a note, of several that with its number.

    Small models count their notes in place of the lines. Without any of them it is the line with
    that number, and empty where there is none.
    """
    telling = beginnings(sentence)
    marked = [
        (len(telling & begun), place == number, line)
        for place, (line, begun) in enumerate(lines, start=1)
    ]
    shared, is_named, line = max(
        marked, key=lambda mark: mark[:2], default=(0, False, "")
    )
    return line if shared or is_named else ""


def beginning(word: str) -> str:
    """The first letters of a word, without doubled ones and vowel signs: these are misspelled."""
    if word.isascii():
        return _DOUBLED.sub(r"\1", word)[:_FIRST_LETTERS]
    return "".join(filter(str.isalnum, word))[:_FIRST_LETTERS]


def telling_words(text: str) -> list[str]:
    """The telling words of a text in their order; none of a text that has no others."""
    joined = _SHORT_PREFIX.sub(r"\1", text)
    words = tokens(f"{joined} {_TELLING}")[:-1]
    return [word for word in words if word.isascii() or _is_telling(word)]


def _is_telling(word: str) -> bool:
    """Whether a word is more than one letter with its vowel signs, as postpositions in Hindi."""
    return sum(map(str.isalnum, word)) > 1 or UNSPACED.match(word) is not None


def main_script(text: str) -> str:
    """The script in which most letters of a text's beginning are written."""
    letters = (letter for letter in text[:_MOST_LETTERS] if letter.isalpha())
    scripts = (
        unicodedata.name(letter, "").split(" ")[0] for letter in letters
    )
    counted = Counter("CJK" if one in _JAPANESE else one for one in scripts)
    return counted.most_common(1)[0][0] if counted else ""


@frozen
class Vocabulary:
    """The words by which a sentence may be supported."""

    text: str
    telling: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """All words of several texts."""
        joined = "\n".join(texts)
        return cls(
            text=joined,
            telling=beginnings(joined),
            words=frozenset(_WORD.findall(folded_text(joined))),
        )

    def reading(self, sentence: str) -> Vocabulary:
        """The same, with the words of a sentence that say the same in another form.

        Numbers count as said, for these are judged by themselves.
        """
        figures = Figures(sentence)
        certain = filter(attrgetter("is_sure"), figures.numbers)
        forms = [one.written for one in (*certain, *figures.names)]
        forms.extend(spelled_out(sentence, self.text))
        typed = KnownWords(self.words)
        forms.extend(
            word
            for word in telling_words(sentence)
            if typed.as_spelled(word) in self.words
        )
        return replace(
            self, telling=self.telling | beginnings(" ".join(forms))
        )

    def knows(self, word: str) -> bool:
        """Whether a word stands here, or in another form of it."""
        folded = folded_text(word)
        forms = (folded, folded.replace("-", ""), *tokens(folded))
        return not self.telling.isdisjoint(map(beginning, forms))


def supported_share(sentence: str, said: Vocabulary) -> float:
    """The share of a sentence's telling words that stand in what was said, from 0 to 1.

    Numbers that were not said do not count: they are judged by themselves.
    """
    telling = beginnings(sentence)
    supported = telling & said.telling
    words = {word for word in telling if not word.isdecimal()} | supported
    return len(supported) / len(words) if words else 0.0


def said_marks(sentence: str, said: Vocabulary) -> str:
    """A plus for each telling word of a sentence that was said, a minus for each other one.

    Days and years have no mark: a model works them out, and what it counts stands beside them.
    """
    words = telling_words(sentence)
    figures = (one.written for one in Figures(sentence).numbers if one.is_sure)
    numbers = frozenset(telling_words(" ".join(figures)))
    marks = ""
    for place, word in enumerate(words):
        around = words[max(0, place - 1) : place + 2]
        if numbers.isdisjoint(around):
            marks += "+" if said.knows(word) else "-"
    return marks


def spelled_out(sentence: str, said: str) -> Iterator[str]:
    """What a sentence has initials for, or in full, where the other was said."""
    for short, long in ((said, sentence), (sentence, said)):
        words = (match[0] for match in _SHORT_WORD.finditer(short))
        telling = filter(telling_words, words)
        for initials in itertools.islice(telling, _MOST_INITIALS):
            expansion = _expansion(initials).search(long)
            if expansion:
                yield initials if short is sentence else expansion[0]


def _expansion(initials: str) -> re.Pattern[str]:
    """How words read that an abbreviation is made of: names, if it is not in capitals itself."""
    first, *others = initials.upper()
    words = rf"\b{first}"
    for initial in others:
        # The nearest one of a word will do: to try each in turn takes minutes.
        within = rf"|[^\W\d_{initial}]{{0,20}}+"
        is_long = len(initials) >= _LONG_INITIALS
        words += f"(?:{_NEXT_WORD}{within if is_long else ''}){initial}"
    is_certain = initials.isupper() and len(initials) >= _CERTAIN_INITIALS
    return re.compile(
        rf"{words}[^\W\d_]*",
        re.IGNORECASE if is_certain else 0,
    )


def left_over(spans: Sequence[str], sentence: str) -> int:
    """How many telling words of a quotation do not stand in a sentence: it may paraphrase them."""
    quoted = beginnings("\n".join(spans))
    return len(quoted - beginnings(sentence))


def reworded(spans: Sequence[str], sentence: str) -> int:
    """How many quoted words a sentence may put in words of its own.

    They stand beside words that it has, up to a comma or stop; all may be, where a span has none.
    """
    telling = beginnings(sentence)
    own_words = 0
    for span in spans:
        parts = map(beginnings, _PARTS.findall(span))
        beside = [len(words - telling) for words in parts if words & telling]
        if not beside:
            return left_over(spans, sentence)
        own_words += sum(beside)
    return own_words


def _capitalised(text: str) -> list[re.Match[str]]:
    """The words of a text with capitals, but those that open it."""
    return [match for match in _NAME.finditer(text) if match[1][0].isupper()]


def capitalises_nouns(texts: Iterable[str]) -> bool:
    """Whether texts are in a language that writes all nouns with capitals."""
    joined = "\n".join(texts)
    words = [word for word in telling_words(joined) if not word[0].isdecimal()]
    return len(_capitalised(joined)) > max(1, _MOST_CAPITALS * len(words))


def new_name(sentence: str, said: Vocabulary) -> str:
    """The first name in a sentence that was not said; empty without one."""
    for match in _capitalised(sentence):
        if telling_words(match[1]) and not said.knows(match[1]):
            return match[1]
    return ""


def without_unsaid_relation(sentence: str, said: Vocabulary) -> str:
    """A sentence about somebody by their name alone, where nobody said who they are to the user.

    Small models call everybody a sister: "User's sister Elena is ill" is "Elena is ill".
    """
    match = _RELATION.match(sentence)
    if match is None:
        return sentence
    words = match["relation"].split()
    is_relation = telling_words(match["relation"]) and all(
        map(telling_words, words)
    )
    is_said = any(map(said.knows, words))
    return sentence if is_said or not is_relation else sentence[match.end() :]


def says_again(sentence: str, memory: str) -> bool:
    """Whether a sentence has most telling words of a memory, and so many that it is no chance."""
    telling = beginnings(memory)
    shared = telling & beginnings(sentence)
    return len(shared) >= max(
        _LEAST_REPEATED_WORDS, _LEAST_REPEATED * len(telling)
    )


def says_no_more(content: str, said: Sequence[str]) -> bool:
    """Whether most of a fact's telling words stand in one of the sentences."""
    telling = beginnings(content)
    return any(
        len(telling - beginnings(one)) <= _LEAST_NEW * len(telling)
        for one in said
    )


# Of a quotation, in one window of the typed words: small models misquote. For what it costs, see
# benchmarks/grounding.py.
_LEAST_QUOTED = 0.7


def begun_sentences(text: str) -> BegunSentences:
    """The sentences of a text, each with how its telling words begin; an empty one without any."""
    return [(one, beginnings(one)) for one in sentences(text) or [""]]


@dataclass(frozen=True)
class Source:
    """The newest message, what was typed of it and in the ones before it, and what is unpasted."""

    words: str
    earlier: str
    typed: str
    unpasted: str  # with what stands in quotation marks: others' sentences, or drafts
    # What the model was shown: names may be known from there.
    remembered: tuple[str, ...]
    day: date  # on which it was said

    @classmethod
    def of(cls, turn: Turn, shown: Iterable[Memory] = ()) -> Source:
        """The user's words in a turn, and the memories that were shown with it."""
        said = (
            typed_words(one.text) for one in turn.earlier if one.role == "user"
        )
        return cls(
            words=turn.words,
            earlier="\n".join(said),
            typed=typed_words(turn.words),
            unpasted=unpasted_words(turn.words),
            remembered=tuple(memory.content for memory in shown),
            day=date.fromtimestamp(turn.source.said_at),
        )

    @cached_property
    def said(self) -> Said:
        """The numbers and dates of the message and of those before it, and what follows."""
        return Said(Figures(self.unpasted, self.earlier), self.day)

    @cached_property
    def message(self) -> Vocabulary:
        """The words of the message and of those before it."""
        return Vocabulary.of([self.unpasted, self.earlier])

    @cached_property
    def familiar(self) -> Vocabulary:
        """The words that were said, and those of the memories that the model was shown."""
        return Vocabulary.of([self.unpasted, self.earlier, *self.remembered])

    @cached_property
    def sentences(self) -> BegunSentences:
        """What is not pasted, sentence by sentence."""
        return begun_sentences(self.unpasted)

    def quotes(self, spans: Sequence[str]) -> bool:
        """Whether a quotation stands in what was typed, near enough to its words."""
        return quoted_share(spans, self.typed) >= _LEAST_QUOTED

    def quoted(self, spans: Sequence[str]) -> Sequence[str]:
        """A quotation that stands in what was typed, else all of that."""
        return spans if self.quotes(spans) else [self.typed]
