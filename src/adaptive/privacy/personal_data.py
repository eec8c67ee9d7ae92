"""Finding personal data in a text: by shape, by a word nearby that names it, by a check digit.

Time is linear in the length of the text, all of which is read: nothing may pass unseen.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter

from adaptive.core.texts import word_table
from adaptive.privacy.personal_shapes import SHAPES, Shape
from adaptive.privacy.scanning import Finding, any_of, plain_text

# Words that name what a number or a line is, all languages together.
_STEMS = word_table("personal_data")
# Names a home as well as a word does: the post code of a city.
_POST_CODE = re.compile(
    "[A-Z]{2} [0-9]{5}(?![0-9])|, [0-9]{4,5}(?: [A-Z]{2})? [A-Z]"
    "|[A-Z][0-9]{1,2} [0-9][A-Z]{2}(?![0-9A-Za-z])| [0-9]{6}(?![0-9])"
)


def _key(words: str) -> str:
    """Letters and digits alone, which tell a stem however its words are parted."""
    return "".join(filter(str.isalnum, words))


def _pattern(stem: str) -> str:
    parted = re.escape(stem.rstrip("$")).replace(r"\ ", r"[\W_]{1,2}")
    return parted + (r"(?![^\W\d_])" if stem.endswith("$") else "")


@dataclass(frozen=True, slots=True)
class _Mention:
    """Where a text names subjects."""

    start: int
    end: int
    subjects: set[str]


_START = attrgetter("start")
_SUBJECTS: dict[str, set[str]] = {}
for _subject, _stems in _STEMS.items():
    for _stem in _stems:
        _SUBJECTS.setdefault(_key(_stem), set()).add(_subject)
_LONGEST_FIRST = sorted(chain(*_STEMS.values()), key=len, reverse=True)
_NAMING = re.compile(
    r"(?:(?<![A-Za-z\u00c0-\u058f])|(?=[\u0590-\uffff]))"
    f"(?:{any_of(map(_pattern, _LONGEST_FIRST))})"
)


def _mentions(text: str) -> list[_Mention]:
    """All places where a text names subjects, in its order."""
    small = text.replace("İ", "i").lower()  # the only letter that is longer in small letters
    mentions = [
        _Mention(*name.span(), _SUBJECTS[_key(name[0])]) for name in _NAMING.finditer(small)
    ]
    mentions += [_Mention(*code.span(), {"residence"}) for code in _POST_CODE.finditer(text)]
    return sorted(mentions, key=_START)


# A street address: a word for a street, its name and a number, near a word of living.
_CAPITAL = "[A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f\u0410-\u042f]"
_NAME = rf"{_CAPITAL}[\w'.\-]{{0,24}}"
_NAME_PART = (
    r"(?:(?:de|du|des|del|della|dello|dei|di|da|do|dos|das|la|le|les|el|las|los|y|e|et|sur|en|i|der|den|dem)"
    rf"(?!\w)|[dlDL]'[\w\-]{{2,24}}|\d{{1,2}}[º°ª]?(?= (?:[^\W\d]|#))|{_NAME})"
)
_HOUSE = r"\d{1,5} ?(?:[A-Za-zа-я](?!\w))?(?:[/\-] ?\d{1,4}[A-Za-z]?|/[A-Za-z])?(?!\w)"
_CODE_AND_CITY = (
    r"(?:,? (?:\d{4,5}(?: ?[A-Z]{2}(?!\w))?|\d{3} \d{2}|\d{2}-\d{3}|\d{5}-\d{3})"
    rf"(?: {_NAME})?(?!\w))?"
)
_CITY_AND_CODE = (
    rf"(?:(?:,? {_NAME}(?:[ \-]{_NAME}){{0,3}}){{0,2}},? (?:[A-Z]{{2,3}} \d{{4,5}}(?:-\d{{4}})?"
    r"|[A-Z]{1,2}\d[0-9A-Z]? ?\d[A-Z]{2}|[1-9]\d\d ?\d{3}|[A-Z]\d[A-Z] ?\d[A-Z]\d)(?!\w))?"
)
_HAN = "\u3005-\u3007\u3041-\u30ff\u4e00-\u9fff"
_STREETS = {title: "|".join(some) for title, some in word_table("streets").items()}
_FLAT = r"(?:Apt|Unit|Suite|Flat|Floor|#)\.? ?#?[0-9A-Za-z\-]{1,6}(?!\w)"
_PATTERNS = (
    # 12 Main Street, Apt 4, Springfield, IL 62701
    rf"(?<![0-9A-Za-z])(?<!\d[-./])(?:{_FLAT}, )?\d{{1,5}}[A-Za-z]?(?:[-/]\d{{1,4}})?,? "
    rf"(?:(?:\d{{1,3}}(?:st|nd|rd|th)|{_NAME}) ){{1,4}}(?:{_STREETS['english']})(?![\w'])\.?"
    rf"(?: (?:NW|NE|SW|SE|[NSEW])(?!\w))?(?:,? {_FLAT})?{_CITY_AND_CODE}",
    r"(?<!\w)(?:[Pp]\.? ?[Oo]\.? [Bb]ox|Postfach|Apartado|Caixa Postal|Postbus) \d{1,6}(?!\w)",
    # Lange Straße 44, 10115 Berlin; Keizersgracht 123
    rf"(?<!\w)(?:{_CAPITAL}[^\W\d_]{{1,24}}\.?[ \-]){{0,3}}(?={_CAPITAL})[^\W\d_]{{0,24}}?"
    rf"(?i:{_STREETS['germanic']})"
    rf" ?{_HOUSE}{_CODE_AND_CITY}",
    # 3 bis avenue Victor Hugo, 69006 Lyon
    rf"(?<![0-9A-Za-z])\d{{1,4}}(?: ?(?:bis|ter|quater|[A-D])(?!\w))?,? (?i:{_STREETS['french']})"
    rf"(?: {_NAME_PART}){{1,6}}{_CODE_AND_CITY}",
    # Via Roma, 22, 10121 Torino; ул. Ленина, д. 5, кв. 12
    rf"(?<!\w)(?i:{_STREETS['ahead']}) ?"
    rf"{_NAME_PART}(?: {_NAME_PART}){{0,5}},? ?(?:n[.º°or]{{1,2}} ?|núm(?:ero|\.)? ?|número |#"
    rf"|civico |д\. ?|дом |[Nn]o\.? ?)?{_HOUSE}"
    r"(?:,? (?:к\.|корп\.|кв\.|квартира|m\.|lok\.|piso|apto\.?|int\.) ?\d{1,4}"
    rf"|,? \d{{1,2}} ?[º°ªoa]\.?(?: ?[A-Z])?(?!\w))?{_CODE_AND_CITY}",
    # Тверская улица, дом 7; Atatürk Caddesi No: 12
    rf"(?<!\w)(?:{_NAME},? ){{1,4}}(?:(?:utca|út|tér|ул\.|улиц[аеу]|пр-т|проспекте?|пер\."
    r"|переул[а-я]{2,3}|бульваре?|шоссе|набережн[а-я]{2}|площад[ьи]),? (?:д\. ?|дом )?|(?:Cad(?:\."
    r"|desi)|Sok(?:\.|ak|ağı)|Bulvarı|Mah(?:\.|allesi)),? ?[\w. ]{0,40}?(?i:no|numara)\.?:? ?)"
    rf"{_HOUSE}(?:,? (?:кв\.|D|Daire|Kat)[:.]? ?\d{{1,3}}){{0,2}}",
    # By signs of their scripts. What tells of living stands right before it.
    rf"(?:[{_HAN}]{{0,12}}[在到给于是址住はをに])?(?P<value>(?:〒 ?\d{{3}}-\d{{4}} ?)?"
    rf"[{_HAN}]{{2,24}}?(?:(?:大道|路|街|道|巷|弄|胡同|村)[{_HAN}]{{0,4}}\d{{1,5}}(?:弄|号院|号|號)"
    rf"(?:[{_HAN}]{{0,8}}[0-9A-Z]{{1,4}}(?:号楼|楼|栋|幢|座|单元|层|室|号|樓)){{0,4}}"
    rf"|[市区町村郡][{_HAN}]{{0,10}}\d{{1,4}}(?:丁目|番地?|-\d{{1,4}})"
    r"(?:(?:-|の)?\d{1,4}(?:番地?|号)?){0,3}))",
    *(pattern for script, pattern in _STREETS.items() if script.startswith("in ")),
)
PERSONAL_SHAPES = (
    *SHAPES,
    *(Shape("address", re.compile(pattern), words={"residence"}) for pattern in _PATTERNS),
)
# So many characters before a value, and behind it, may a word begin that tells what it is.
_BEFORE = 80
_BEHIND = 40


def find_personal_data(text: str) -> tuple[Finding, ...]:
    """All personal data in a text, in its order, none over another."""
    seen = plain_text(text)
    mentions = _mentions(seen.text)
    judged = (
        _judged(shape, match, mentions)
        for shape in PERSONAL_SHAPES
        for match in shape.pattern.finditer(seen.text)
    )
    return seen.in_original(filter(None, judged))


def _judged(shape: Shape, match: re.Match[str], mentions: Sequence[_Mention]) -> Finding | None:
    """What was matched, if it is named where it must be, and its check holds."""
    start, end = match.span("value" if "value" in match.re.groupindex else 0)
    first = bisect_left(mentions, start - _BEFORE, key=_START)
    near = mentions[first : bisect_right(mentions, end + _BEHIND, key=_START)]
    if _is_something_else(shape, match.string, start, near):
        return None
    named = any(shape.words & mention.subjects for mention in near)
    holds = shape.holds(match, named) if shape.holds else named or not shape.words
    return Finding(shape.kind, start, end) if holds else None


def _is_something_else(shape: Shape, text: str, start: int, near: Sequence[_Mention]) -> bool:
    """Whether the nearest word before a value that tells what it is names something else."""
    telling = shape.words | shape.against
    before = [mention for mention in near if mention.end <= start and telling & mention.subjects]
    if not before or shape.words & before[-1].subjects:
        return False
    # What another line speaks of, as another message, does not tell what this one holds.
    return "\n" not in text[before[-1].end : start]
