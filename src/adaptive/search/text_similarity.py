"""How alike two sentences are by their words alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set

from adaptive.core.messages import head_and_tail
from adaptive.core.soft import soft_import

# A fact is one sentence. Of more than this, head and tail are compared.
_LONGEST_COMPARED = 1000
_FUZZY_WORDS = re.compile(r"[^\W_]+")
_COMBINING = re.compile("[\u0300-\u036f]")
_RAPIDFUZZ = soft_import("rapidfuzz.fuzz", "similar texts are compared more slowly")


def folded_text(text: str) -> str:
    """A text in lower case and without accents; of an apostrophe there is one form."""
    if text.isascii():
        return text.lower()
    bare = _COMBINING.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFKC", bare).replace("’", "'").replace("œ", "oe")


def holds_words_of(text: str, other: str) -> bool:
    """Whether every word of another text stands in this one: then it says what that said."""
    return _compared_words(other) <= _compared_words(text)


def token_set_ratio(one: str, other: str) -> float:
    """Share of letters that two texts have in common as sets of words, from 0 to 1 (rapidfuzz).

    It is 1 where all words of one text stand in the other, too. What differs is compared letter by
    letter with the indel distance, which allows insertions and deletions only.
    """
    ours, theirs = _compared_words(one), _compared_words(other)
    if not ours or not theirs:
        return 0.0
    if _RAPIDFUZZ is not None:
        return float(_RAPIDFUZZ.token_set_ratio(" ".join(ours), " ".join(theirs))) / 100
    return own_token_set_ratio(ours, theirs)


def own_token_set_ratio(ours: Set[str], theirs: Set[str]) -> float:
    """The same of two sets of words, without rapidfuzz."""
    shared = " ".join(sorted(ours & theirs))
    only_ours, only_theirs = " ".join(sorted(ours - theirs)), " ".join(sorted(theirs - ours))
    if shared and not (only_ours and only_theirs):
        return 1.0
    common = len(shared) + bool(shared)
    lengths = common + len(only_ours), common + len(only_theirs)
    changed = len(only_ours) + len(only_theirs) - 2 * _common_letters(only_ours, only_theirs)
    ratios = [1 - changed / sum(lengths)]
    if shared:
        ratios += [2 * len(shared) / (length + len(shared)) for length in lengths]
    return max(ratios)


def _compared_words(text: str) -> set[str]:
    return set(_FUZZY_WORDS.findall(folded_text(head_and_tail(text, _LONGEST_COMPARED))))


def _common_letters(one: str, other: str) -> int:
    """Length of the longest common subsequence; a bit of ``row`` is 0 where the length grows.

    (Hyyrö: "Bit-parallel LCS-length computation revisited", 2004.)
    """
    places: dict[str, int] = {}
    for at, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << at
    everywhere = (1 << len(one)) - 1
    row = everywhere
    for letter in other:
        matched = row & places.get(letter, 0)
        row = (row + matched | row - matched) & everywhere
    return len(one) - row.bit_count()
