"""Whether a sentence follows from words: what of it stands in them, and what is new."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adaptive.learn.figures import spelled_in_digits
from adaptive.learn.quotation import UNSPACED
from adaptive.search.tokens import folded_text, tokens

_FIRST_LETTERS = 4
_ABBREVIATION = 3  # letters of "mon", "dec"
_LEAST_ABBREVIATED = 6  # letters of what is cut so short
_NAME = re.compile(
    r"(?<=\w )(?:[^\W\d_]['\u2019])?([^\W\d_][^\W\d_'\u2019-]{2,})"
)
_TELLING = "x0x"  # a word that is always telling
_NEAR = 3  # words
_MOST_LETTERS = 400
_JAPANESE = ("HIRAGANA", "KATAKANA")
_WORD = re.compile(r"[^\W_]+")
_DIGIT = re.compile(r"\d")
_SHORT_PREFIX = re.compile(
    r"\b([^\W_]{1,3})-(?=[^\W_])"
)  # "X-ray", which is typed "xray", too
# Of telling words; in languages that write all nouns with capitals they are more than half.
_MOST_CAPITALS = 0.45


def beginnings(text: str) -> frozenset[str]:
    """How the telling words of a text begin."""
    return frozenset(map(beginning, telling_words(text) or tokens(text)))


def beginning(word: str) -> str:
    """The first letters of a word, without the vowel signs that are spelled in many ways."""
    if word.isascii():
        return word[:_FIRST_LETTERS]
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


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words by which a sentence may be supported."""

    telling: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """All words of several texts."""
        joined = "\n".join(texts)
        telling = beginnings(joined) | beginnings(spelled_in_digits(joined))
        return cls(telling, frozenset(_WORD.findall(folded_text(joined))))

    def supports(self, token: str) -> bool:
        """Whether a telling word begins like one of these."""
        return beginning(token) in self.telling

    def knows(self, word: str) -> bool:
        """Whether a word stands here, inflected or cut short ("mon" for Mondays)."""
        folded = folded_text(word)
        if (
            len(folded) >= _LEAST_ABBREVIATED
            and folded[:_ABBREVIATION] in self.words
        ):
            return True
        forms = (folded, folded.replace("-", ""), *tokens(folded))
        return any(map(self.supports, forms))


def supported_share(sentence: str, said: Vocabulary) -> float:
    """The share of a sentence's telling words that stand in what was said, from 0 to 1."""
    telling = beginnings(sentence)
    supported = sum(map(said.supports, telling))
    own = [
        word
        for word in telling
        if word.isdecimal() and not said.supports(word)
    ]
    counted = len(telling) - len(own)
    return supported / counted if counted else 0.0


def new_ending(sentence: str, said: Vocabulary) -> int:
    """With how many telling words that were not said a sentence ends; days and years are none."""
    words = telling_words(sentence)
    new = 0
    for place in range(len(words) - 1, -1, -1):
        around = words[max(0, place - 1) : place + 2]
        if any(one[0].isdecimal() for one in around):
            continue  # part of a date, which a model works out
        if said.knows(words[place]):
            break
        new += 1
    return new


def left_over(spans: Sequence[str], sentence: str) -> int:
    """How many telling words of a quotation do not stand in a sentence: it may paraphrase them."""
    quoted = beginnings("\n".join(spans))
    return len(quoted - beginnings(sentence))


def with_initials(sentence: str, said: Vocabulary) -> str:
    """A sentence with the initials in place of each name of several words that was said so."""
    pieces: list[str] = []
    end = 0
    for name in _names(sentence):
        initials = folded_text("".join(word[1][0] for word in name))
        if len(name) > 1 and said.knows(initials):
            pieces += [sentence[end : name[0].start(1)], initials]
            end = name[-1].end(1)
    return "".join([*pieces, sentence[end:]])


def _names(sentence: str) -> list[list[re.Match[str]]]:
    """The names of a sentence: words with capitals that follow on each other."""
    names: list[list[re.Match[str]]] = []
    for word in _capitalised(sentence):
        if names and word.start(1) == names[-1][-1].end(1) + 1:
            names[-1].append(word)
        else:
            names.append([word])
    return names


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
        is_in_date = _beside_figure(sentence, match)
        if (
            not is_in_date
            and telling_words(match[1])
            and not said.knows(match[1])
        ):
            return match[1]
    return ""


def _beside_figure(sentence: str, name: re.Match[str]) -> bool:
    before, after = (
        sentence[: name.start()].rstrip(" ."),
        sentence[name.end() :].lstrip(" .,"),
    )
    return before[-1:].isdecimal() or after[:1].isdecimal()


def may_be_spelled(before: str, after: str, spans: Sequence[str]) -> bool:
    """Whether a quotation has a word of its own in the place of a sentence's figure.

    The place is between the words nearest to the figure that stand in both; number words are
    not known as such, but the sentence has the figure in their stead.
    """
    left = _spelled_beginnings(before)
    right = _spelled_beginnings(after)
    own = beginnings(f"{before} {after}")
    for span in spans:
        words = list(map(beginning, telling_words(spelled_in_digits(span))))
        places = {word: place for place, word in enumerate(words)}
        begins = [places[word] for word in left if word in places]
        ends = [places[word] for word in right if word in places]
        if left and not begins and not ends:
            continue
        first = begins[-1] + 1 if begins else 0
        last = ends[0] if ends else len(words)
        # A sentence may turn the order round: then it stands just before what follows the figure.
        between = (
            words[first:last]
            if first <= last
            else words[max(0, last - _NEAR) : last]
        )
        others = [word for word in between if word not in own]
        if others and not any(_DIGIT.search(word) for word in others):
            return True
    return False


def _spelled_beginnings(text: str) -> list[str]:
    """How the telling words of a text begin, in their order, without figures."""
    return [
        beginning(word) for word in telling_words(text) if not word.isdecimal()
    ]
