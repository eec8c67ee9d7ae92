"""Secrets in a text: found by who issued them, by their form and by their context.

They are never a memory, and no status, log, table or request of ours carries them. A finding knows
where a secret stands and of what kind it is; it does not hold it, so no reason can repeat it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.guard_text import cut_text, guard_text, in_latin
from adaptive.privacy.secret_contexts import context_secrets
from adaptive.privacy.secret_issuers import IssuedKey, issued_keys
from adaptive.privacy.secret_phrases import listed_phrases
from adaptive.privacy.secret_shapes import SECRET_SHAPES, SecretShape
from adaptive.privacy.secret_values import is_placeholder, looks_chosen, looks_random
from adaptive.privacy.secret_words import announcing_words
from adaptive.privacy.sign_runs import SignSort
from adaptive.privacy.unicode_text import code_points
from adaptive.privacy.word_places import WordTable

# The longest name with a cookie's anchor at its head, and its sign of assignment.
_ASSIGNMENT_REACH = 24
# A prefix of two signs, its joint and a run of 24.
_LEAST_PREFIXED = 27
# What stands right before a line break within a key: blanks, and the two signs of a soft break.
_MOST_BLANKS = 8
_BEFORE_BREAK = _MOST_BLANKS + 3
# The least that a key has which its beginning does not tell.
_LEAST_SHAPED = 34
_LINE_FEED = ord("\n")
_FULL_STOP = ord(".")
_KEY_SIGNS = string.ascii_letters + string.digits + "_-+/."
SECRET_MARK = "[secret removed]"  # noqa: S105 - the mark in its place


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """A span of the text as it was given, and what kind of secret stands there."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[SecretFinding, ...]:
    """All secrets in a text, in its order, none within or over another; linear in the text."""
    seen = guard_text(text)
    spans = sorted(_secret_spans(seen.text), key=lambda span: (span[1], -span[2]))
    found: list[SecretFinding] = []
    for kind, start, end in spans:
        first, last = seen.span(start, end)
        if found and first < found[-1].end:
            former = found[-1]
            found[-1] = SecretFinding(former.kind, former.start, max(former.end, last))
        else:
            found.append(SecretFinding(kind, first, last))
    return tuple(found)


def without_secrets(text: str) -> str:
    """The text with a fixed mark in the place of each secret; itself where there is none."""
    kept: list[str] = []
    position = 0
    for finding in find_secrets(text):
        kept += [text[position : finding.start], SECRET_MARK]
        position = finding.end
    return "".join([*kept, text[position:]]) if kept else text


def secret_reason(findings: tuple[SecretFinding, ...]) -> str:
    """Why a text with these secrets is not kept, in words for its user, without the secrets."""
    kinds = list(dict.fromkeys(finding.kind for finding in findings))
    if not kinds:
        return ""
    article = "an" if kinds[0][0] in "aeioAEIO" else "a"
    told = " and ".join([f"{article} {kinds[0]}", *kinds[1:2]])
    return f"it holds what looks like {told}; secrets are never remembered"


def _secret_spans(text: str) -> Iterator[tuple[str, int, int]]:
    # Keys are ASCII; what is no wider is read faster, and each sign keeps its place.
    latin = in_latin(text).encode("ascii", "replace").decode("ascii")
    lower = text.lower()
    # All anchors together, so that the text is read through for them once.
    held = _secret_anchors().held(latin.lower())
    yield from _issued_spans(latin, held)
    yield from _shaped_spans(text, latin, lower, held)
    yield from _unknown_issuers(latin)
    yield from context_secrets(text, lower, held)
    for start, end in listed_phrases(text):
        yield "recovery phrase", start, end


def _issued_spans(text: str, held: set[str]) -> Iterator[tuple[str, int, int]]:
    """Keys by their issuer; also those that a mail has broken over lines."""
    found: list[tuple[str, int, int]] = []
    numbers = [
        number for anchor in _issuer_anchors().keys() & held for number in _issuer_anchors()[anchor]
    ]
    keys = issued_keys()
    present = [keys[number] for number in sorted(numbers) if keys[number].anchor in text]
    for key in present:
        found += _issued_by(key, text)
    for kind, start, end in found:
        yield kind, start, _over_lines(text, end)
    # A break within an anchor of a few signs is not looked for.
    if "\n" in text and (cut := [key for key in present if key.begins and key.cut.search(text)]):
        yield from _broken_keys(text, cut)


def _issued_by(key: IssuedKey, text: str) -> Iterator[tuple[str, int, int]]:
    if not key.begins:
        for start, end in _printed_signs().runs(text, _LEAST_SHAPED):
            yield from (
                (key.kind, *match.span()) for match in key.pattern.finditer(text, start, end)
            )
        return
    at = text.find(key.anchor)
    while at >= 0:
        match = key.pattern.match(text, at)
        if match and _is_key(match.group()):
            yield key.kind, match.start(), match.end()
            at = text.find(key.anchor, match.end())
        else:
            # What is no key does not hold one either: its figures would have told.
            least = at + len(key.anchor)
            at = text.find(key.anchor, max(least, match.end() - 8) if match else least)


def _is_key(value: str) -> bool:
    """Not a name in words, as "sk-learn-pipeline-for-text-data"."""
    if any(sign.isdigit() for sign in value[4:]):
        return True
    longest = max(re.split(r"[_\-./:]", value), key=len)
    return len(longest) >= 16 and longest.lower() != longest and not is_placeholder(longest)


def _over_lines(text: str, end: int) -> int:
    """The end of a key whose lines go on: lines of chance signs right below it."""
    for _ in range(8):
        following = _next_line().match(text, end)
        if not following or not looks_random(following.group("rest"), 6):
            return end
        end = following.end()
    return end


def _broken_keys(text: str, keys: list[IssuedKey]) -> Iterator[tuple[str, int, int]]:
    """Keys that a line break cuts before they are long enough to be known."""
    codes = code_points(text)
    gone = _line_break_marks(text, codes)
    if not gone.any():
        return
    joined = cut_text(codes, gone)
    for key in keys:
        for kind, start, end in _issued_by(key, joined.text):
            first, last = joined.span(start, end)
            piece = text[first:last]
            if "\n" in piece and _is_cut_key(piece):
                yield kind, first, last


def _line_break_marks(text: str, codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Breaks within what may be one key, with the blanks and marks of a mail around them."""
    gone = codes == _LINE_FEED
    is_key_sign = _key_signs().marked(codes)
    breaks = np.flatnonzero(gone[1:-1]) + 1
    is_plain = is_key_sign[breaks - 1] & is_key_sign[breaks + 1] & (codes[breaks + 1] != _FULL_STOP)
    gone[:] = False
    gone[breaks[is_plain]] = True
    is_soft = _before_soft_break().marked(codes[breaks - 1])
    is_soft &= _behind_soft_break().marked(codes[breaks + 1])
    for place in breaks[is_soft & ~is_plain].tolist():
        behind = _line_end().match(text, place)
        head = text[max(place - _BEFORE_BREAK, 0) : place]
        bare = head.removesuffix("\r").removesuffix("=")
        signs = bare.rstrip(" \t")
        blanks = len(bare) - len(signs)
        if behind and signs and signs[-1] in _KEY_SIGNS and blanks <= _MOST_BLANKS:
            gone[place - len(head) + len(signs) : behind.end()] = True
    return gone


def _is_cut_key(piece: str) -> bool:
    """Whether the last line of it looks like the rest of a key, not like a word below it."""
    lines = [line.strip(" \t>=|") for line in piece.splitlines()]
    return looks_random("".join(lines)) and (len(lines[-1]) < 4 or looks_random(lines[-1], 4))


def _shaped_spans(
    text: str, latin: str, lower: str, held: set[str]
) -> Iterator[tuple[str, int, int]]:
    heads = _shape_heads()
    numbers = {number for word in heads.keys() & held for number in heads[word]}
    shapes = _words_of_shapes()
    for number in sorted(numbers):
        shape, words = shapes[number]
        if not any(held.issuperset(one) for one in words):
            continue
        if shape.assigned and not any(_assigned(lower, anchor) for anchor in shape.anchors):
            continue
        if shape.least_word and not _key_signs().runs(latin, shape.least_word):
            continue
        # Of a value that is repeated again and again, the first is looked at.
        told: dict[str, bool] = {}
        for match in shape.pattern.finditer(text):
            value = match.group("value")
            if shape.told and value not in told:
                told[value] = _is_told(value)
            if not shape.told or told[value]:
                yield shape.kind, *match.span("value")


def _assigned(lower: str, anchor: str) -> bool:
    """Whether a sign of assignment stands soon behind an anchor."""
    at = lower.find(anchor)
    while at >= 0:
        behind = lower[at : at + _ASSIGNMENT_REACH]
        if "=" in behind or ":" in behind:
            return True
        at = lower.find(anchor, at + len(anchor))
    return False


def _is_told(value: str) -> bool:
    """A value in the place of a secret that is none: a placeholder, or a word."""
    if is_placeholder(value):
        return False
    if len(value) < 16 and looks_chosen(value):
        return True
    return looks_random(value, 6) or (value.isalpha() and len(value) >= 4) or value.isdigit()


def _unknown_issuers(text: str) -> Iterator[tuple[str, int, int]]:
    """Keys of issuers that are not known: a short prefix before a long run of chance signs."""
    for start, end in _key_signs().runs(text, _LEAST_PREFIXED):
        yield from _unknown_within(text, start, end)


def _unknown_within(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    for match in _prefixed_run().finditer(text, start, end):
        body = match.group("body")
        figures = sum(sign.isdigit() for sign in body)
        mixed = body != body.lower() and body != body.upper()
        if figures >= 3 and mixed and looks_random(body, 24):
            yield "token", match.start(), match.end()


@cache
def _prefixed_run() -> re.Pattern[str]:
    return re.compile(
        r"(?<![A-Za-z0-9_/.\-])(?!pk_|pub|sha\d)[A-Za-z][A-Za-z0-9]{1,9}[_\-](?:[a-z0-9]{2,8}[_"
        r"\-]){0,2}(?P<body>[A-Za-z0-9]{24,200})"
        r"(?![A-Za-z0-9])"
    )


@cache
def _next_line() -> re.Pattern[str]:
    return re.compile(
        r"[ \t]{0,8}=?\r?\n[ \t>|]{0,12}(?P<rest>[A-Za-z0-9_\-+/=.]{4,400})(?=\s|$|[.,;\"'])"
    )


@cache
def _line_end() -> re.Pattern[str]:
    return re.compile(r"\n[ \t>|]{0,12}(?=[A-Za-z0-9_\-+/])")


@cache
def _secret_anchors() -> WordTable:
    """What is looked for in the text in small Latin letters: the words of all sorts of anchors."""
    shapes = (word for _, words in _words_of_shapes() for one in words for word in one)
    announcing = (word for word, _ in announcing_words() if word.isascii())
    return WordTable([*_issuer_anchors(), *shapes, *announcing])


@cache
def _issuer_anchors() -> Mapping[str, list[int]]:
    """The numbers of the issued keys by their anchors in small letters."""
    numbers: dict[str, list[int]] = {}
    for number, key in enumerate(issued_keys()):
        numbers.setdefault(key.anchor.lower(), []).append(number)
    return numbers


@cache
def _shape_heads() -> Mapping[str, list[int]]:
    """The numbers of the shapes by the first words of their anchors."""
    numbers: dict[str, list[int]] = {}
    for number, (_, words) in enumerate(_words_of_shapes()):
        for one in words:
            numbers.setdefault(one[0], []).append(number)
    return numbers


@cache
def _words_of_shapes() -> tuple[tuple[SecretShape, tuple[list[str], ...]], ...]:
    """Each shape with the words of each of its anchors."""
    return tuple((one, tuple(anchor.split() for anchor in one.anchors)) for one in SECRET_SHAPES)


@cache
def _printed_signs() -> SignSort:
    return SignSort(string.ascii_letters + string.digits + string.punctuation)


@cache
def _before_soft_break() -> SignSort:
    return SignSort(_KEY_SIGNS + " \t\r=")


@cache
def _behind_soft_break() -> SignSort:
    return SignSort(_KEY_SIGNS + " \t>|")


@cache
def _key_signs() -> SignSort:
    return SignSort(_KEY_SIGNS)
