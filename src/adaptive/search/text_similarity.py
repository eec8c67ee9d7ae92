"""How alike two sentences are by their words alone: as sets of words, and as sets of stems.

``token_set_ratio`` is that of rapidfuzz: words as sets, and what differs compared letter by letter
with the indel distance, which allows insertions and deletions only. Where rapidfuzz is missing the
same figure is computed here, with the longest common subsequence held in the bits of one integer
(Hyyrö: "Bit-parallel LCS-length computation revisited", 2004).
"""

from __future__ import annotations

import re
import unicodedata

from adaptive.messages import head_and_tail
from adaptive.search.tokens import tokens
from adaptive.soft import soft_import

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
    return set(_compared_words(other)) <= set(_compared_words(text))


def token_set_ratio(one: str, other: str) -> float:
    """Share of letters that two texts have in common as sets of words, from 0 to 1.

    It is 1 where all words of one text stand in the other, too: it finds candidates and proves
    nothing by itself.
    """
    first, second = _compared_words(one), _compared_words(other)
    if not first or not second:
        return 0.0
    if _RAPIDFUZZ is None:
        return own_token_set_ratio(first, second)
    return float(_RAPIDFUZZ.token_set_ratio(" ".join(first), " ".join(second))) / 100


def own_token_set_ratio(first: list[str], second: list[str]) -> float:
    """The same of two lists of words, without rapidfuzz."""
    ours, theirs = set(first), set(second)
    shared = " ".join(sorted(ours & theirs))
    only_ours, only_theirs = " ".join(sorted(ours - theirs)), " ".join(sorted(theirs - ours))
    if shared and not (only_ours and only_theirs):
        return 1.0
    gap = 1 if shared else 0
    whole_ours = len(shared) + gap + len(only_ours)
    whole_theirs = len(shared) + gap + len(only_theirs)
    changed = len(only_ours) + len(only_theirs) - 2 * _common_letters(only_ours, only_theirs)
    ratios = [_share(changed, whole_ours + whole_theirs)]
    if shared:
        ratios += [
            _share(whole - len(shared), whole + len(shared)) for whole in (whole_ours, whole_theirs)
        ]
    return max(ratios)


def jaccard(one: str, other: str) -> float:
    """Share of the stems of both texts that stand in either, from 0 to 1."""
    ours, theirs = (set(tokens(head_and_tail(text, _LONGEST_COMPARED))) for text in (one, other))
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else 0.0


def _compared_words(text: str) -> list[str]:
    return _FUZZY_WORDS.findall(folded_text(head_and_tail(text, _LONGEST_COMPARED)))


def _share(distance: int, length: int) -> float:
    return 1 - distance / length if length else 1.0


def _common_letters(one: str, other: str) -> int:
    """Length of the longest common subsequence; a bit of ``row`` is 0 where the length grows."""
    places: dict[str, int] = {}
    for at, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << at
    everywhere = (1 << len(one)) - 1
    row = everywhere
    for letter in other:
        matched = row & places.get(letter, 0)
        row = (row + matched | row - matched) & everywhere
    return len(one) - row.bit_count()
