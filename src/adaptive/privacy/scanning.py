"""What the finders of secrets and of personal data share: one spelling, and quick alternatives."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from adaptive.core import frozen, text_cache

# Signs, the plain ones that they look like, and fillers and selectors, which are not seen. The full
# stops that a browser takes in a host name are U+3002, U+FF0E and U+FF61 (UTS #46, section 4).
_LOOK_ALIKES = str.maketrans(
    "\u2024\u3002\uff0e\uff61\u00b7\u2027\u2219\u22c5\u30fb\uff65\u06d4"
    "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
    "\u2018\u2019\u02bc\uff07\u2236\ua789\u2044\u2215\u00ba\u02da\u1680\u0085\u2028\u2029",
    "...........----------'''':://°° \n\n\n",
    "\u034f\u115f\u1160\u180b\u180c\u180d\u3164\uffa0\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06"
    "\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f",
)


@frozen
class Finding:
    """What kind of thing stands where in a text as it was given; not the thing itself."""

    kind: str
    start: int
    end: int


@frozen
class Respelling:
    """A text in plainer signs, with the place in the original of each of them."""

    text: str
    places: Sequence[int]

    def in_original(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Findings as they stand in the original, in their order; what overlaps is one."""
        joined: list[Finding] = []
        for finding in sorted(findings, key=_place):
            start = self.places[finding.start]
            end = self.places[finding.end - 1] + 1
            if joined and start < joined[-1].end:
                end = max(joined[-1].end, end)
                joined[-1] = replace(joined[-1], end=end)
            else:
                joined.append(Finding(finding.kind, start, end))
        return tuple(joined)


def _place(finding: Finding) -> tuple[int, int]:
    """The order of findings: the first before others, and the longest of those that begin there."""
    return finding.start, -finding.end


def spliced(text: str, pieces: Iterable[tuple[int, int, str]]) -> str:
    """The text with other words from each beginning to its end; what overlaps is cut once."""
    parts: list[str] = []
    position = 0
    for start, end, words in sorted(pieces):
        parts += [text[position : max(start, position)], words]
        position = max(end, position)
    return "".join([*parts, text[position:]])


def plain_text(text: str) -> Respelling:
    """The text as a reader sees it.

    Digits and letters of all kinds become plain ones, dashes, dots and spaces one of each.
    """
    return respelled(text, _plain_sign)


def respelled(text: str, plain_sign: Callable[[str], str]) -> Respelling:
    """The text with one sign, or none, in the place of each."""
    table = {ord(sign): plain_sign(sign) for sign in set(text)}
    places: Sequence[int] = range(len(text))
    if "" in table.values():
        places = [place for place, sign in enumerate(text) if table[ord(sign)]]
    return Respelling(text.translate(table), places)


@text_cache(20_000)
def _plain_sign(sign: str) -> str:
    """One plain sign for what looks like it; nothing for what is not seen."""
    if unicodedata.category(sign) == "Cf":
        return ""
    digit = unicodedata.decimal(sign, sign)
    plain = unicodedata.normalize("NFKC", str(digit).translate(_LOOK_ALIKES))
    return plain if len(plain) <= 1 else sign


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of these, in their order, by the first sign, which is plain."""
    by_sign: dict[str, list[str]] = {}
    for word in words:
        by_sign.setdefault(word[0], []).append(word[1:])
    return "|".join(
        f"{sign}(?:{'|'.join(rests)})" for sign, rests in by_sign.items()
    )
