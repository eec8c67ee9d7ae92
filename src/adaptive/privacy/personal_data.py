"""Finding personal data in a text: by shape, by a word nearby that names it, by a check digit.

Time is linear in the length of the text, all of which is read: nothing may pass unseen.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from adaptive.core import frozen, pattern_table, word_table
from adaptive.privacy.scanning import Finding, any_of, plain_text
from adaptive.privacy.secrets import is_placeholder

# So many characters before a value, and behind it, may a word begin that tells what it is.
_BEFORE = 80
_BEHIND = 40


def _stem_pattern(stem: str) -> str:
    """A pattern for a stem, whose words may be parted by any sign; ``$`` ends the word."""
    parted = re.escape(stem.rstrip("$")).replace(r"\ ", r"[\W_]{1,2}")
    return parted + (r"(?![^\W\d_])" if stem.endswith("$") else "")


# What names each kind of thing, in small letters, all languages together.
_NAMING = {
    subject: re.compile(
        r"(?:(?<![A-Za-z\u00c0-\u058f])|(?=[\u0590-\uffff]))"
        f"(?:{any_of(map(_stem_pattern, stems))})"
    )
    for subject, stems in word_table("personal_data").items()
}


def _card_holds(match: re.Match[str]) -> bool:
    """Whether the digits of a card fit Luhn."""
    digits = [int(sign) for sign in match[0] if sign.isdigit()]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (doubled + sum(digits[-1::-2])) % 10 == 0


def _iban_holds(match: re.Match[str]) -> bool:
    """Whether an account number has the remainder 1 (ISO 13616)."""
    code = re.sub(r"\W", "", match[0])
    figures = "".join(str(int(sign, 36)) for sign in code[4:] + code[:4])
    return int(figures) % 97 == 1


def _credentials_hold(match: re.Match[str]) -> bool:
    """Whether the password of an address stands for no other."""
    return not is_placeholder(match["secret"] or "")


_CHECKS: dict[str, Callable[[re.Match[str]], bool]] = {
    "card": _card_holds,
    "iban": _iban_holds,
    "url_credentials": _credentials_hold,
}


@frozen
class _Shape:
    """A form of a kind of personal data; words for ``others``, nearer before, rule it out."""

    kind: str
    others: Sequence[str]
    pattern: re.Pattern[str]


_SHAPES: list[_Shape] = []
for _title, _patterns in pattern_table("personal_shapes").items():
    _kind, _, _others = _title.partition(" unless ")
    for _pattern in _patterns:
        if not _kind.isupper():
            _shape = _Shape(_kind, _others.split(), re.compile(_pattern))
            _SHAPES.append(_shape)


def find_personal_data(text: str) -> tuple[Finding, ...]:
    """All personal data in a text, in its order, none over another."""
    seen = plain_text(text)
    # The only letter that is longer in small letters is replaced.
    small = seen.text.replace("İ", "i").lower()
    places = {
        subject: [word.start() for word in naming.finditer(small)]
        for subject, naming in _NAMING.items()
    }
    findings: list[Finding] = []
    for shape in _SHAPES:
        for match in shape.pattern.finditer(seen.text):
            narrowed = "value" if "value" in shape.pattern.groupindex else 0
            finding = Finding(shape.kind, *match.span(narrowed))
            if _is_believed(finding, match, shape.others, places):
                findings.append(finding)
    return seen.in_original(findings)


def _is_believed(
    finding: Finding,
    match: re.Match[str],
    others: Sequence[str],
    places: Mapping[str, Sequence[int]],
) -> bool:
    """Whether what was matched is named where it must be, and its check holds."""
    own = places.get(finding.kind, ())
    start = finding.start
    earliest = start - _BEFORE
    other = max([-1, *(_last_before(places[name], start) for name in others)])
    is_other = other >= max(earliest, _last_before(own, start) + 1, 0)
    # What another line speaks of, as another message, does not tell what this one holds.
    if is_other and "\n" not in match.string[other:start]:
        return False
    if finding.kind in _CHECKS:
        return _CHECKS[finding.kind](match)
    is_telling = match.groupdict().get("telling") is not None
    is_named = _last_before(own, finding.end + _BEHIND) >= earliest
    return is_telling or is_named or finding.kind not in places


def _last_before(places: Sequence[int], end: int) -> int:
    """The last of these places before another; one that is out of reach where there is none."""
    index = bisect_left(places, end)
    return places[index - 1] if index else -_BEFORE - 1
