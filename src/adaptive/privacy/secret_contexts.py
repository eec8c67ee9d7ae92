"""Secrets that only their context tells: "password is ...", ``API_KEY=``, "... is my PIN".

A word announces (``secret_words``), a link leads from it to a value, and the look of the value
decides (``secret_values``). What is looked at after each word is bounded, so the work is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from typing import NamedTuple

from adaptive.privacy.secret_links import (
    adjacent_signs,
    amount_signs,
    chance_run_signs,
    closing_marks_signs,
    code_after_signs,
    few_words_signs,
    figurative_signs,
    figure_signs,
    is_uuid_signs,
    link_mark_signs,
    link_signs,
    link_space_signs,
    names_account_signs,
    of_many_signs,
    other_code_signs,
    other_name_signs,
    phrase_opening_signs,
    plain_link_signs,
    quoted_signs,
    said_before_signs,
    scope_of_secret_signs,
    second_signs,
    sentence_rest_signs,
    sign_link_signs,
    small_word_signs,
    value_signs,
)
from adaptive.privacy.secret_phrases import announced_phrase
from adaptive.privacy.secret_values import (
    bare_value,
    is_placeholder,
    is_saying,
    looks_chosen,
    looks_random,
)
from adaptive.privacy.secret_words import ADJECTIVE_ENDINGS, ALONE, SecretSort, announcing_words
from adaptive.privacy.word_places import WordTable

# Characters between an announcing word and the end of what is looked at.
_CONTEXT_REACH = 120
_CONTEXT_BEFORE = 90
# The least of a run of chance signs (``chance_run_signs``), less one.
_LEAST_RUN = 15
_RIGHT_BEHIND = 3
_LEAST_UNLINKED = 6
# The shortest value and the shortest word between it and an announcing word.
_LEAST_BEFORE = 5
# What is read of a text around the end of an announcing word: a little before it; of what stands
# behind it at most this much, but for a run of blanks or letters that begins before the tail.
_WINDOW_BEFORE = 40
_WINDOW_BEHIND = 1200
_WINDOW_TAIL = 200
# So many different surroundings are remembered while a text is read.
_MOST_READINGS = 500
# So many characters between two announcing words make them one.
_GLUED = 2
KIND_OF_SORT: dict[SecretSort, str] = {
    "nothing": "",
    "password": "password",
    "code": "PIN or one-time code",
    "key": "key or token",
    "phrase": "recovery phrase",
}


class Announced(NamedTuple):
    """A place where a word announces a secret."""

    start: int
    end: int
    sort: SecretSort


class ContextFinding(NamedTuple):
    """A secret told by its context, as a span of the text that was looked at."""

    kind: str
    start: int
    end: int


def context_secrets(text: str, lower: str, ascii_held: Set[str]) -> Iterator[ContextFinding]:
    """Secrets in a folded text, as far as words announce them; in no order.

    ``lower`` is the same text in small letters, sign for sign; ``ascii_held`` has all announcing
    words of ASCII that stand in it, and may have more.
    """
    places = _announced(lower, ascii_held)
    readings = _ContextReadings(text)
    for number, place in enumerate(places):
        if place.sort == "nothing":
            continue
        following = places[number + 1].start if number + 1 < len(places) else len(text)
        # Of words that follow one another directly, the last leads to the value: SECRET_KEY=...
        if following - place.end > _GLUED or following == len(text):
            yield from readings.after(place, min(following, place.end + _CONTEXT_REACH))
        if place.sort != "phrase":
            yield from readings.before(place, places[number - 1].end if number else 0)


class _ContextReadings:
    """What stands around the announcing words of one text; equal surroundings are read once.

    Otherwise a text that repeats one word ten thousand times takes ten times as long as others.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._after: dict[tuple[SecretSort, int, int, str], list[ContextFinding]] = {}
        self._before: dict[tuple[SecretSort, str], list[ContextFinding]] = {}

    def after(self, place: Announced, stop: int) -> Iterable[ContextFinding]:
        """Secrets behind a word, up to where the next one stands."""
        text, base = self._text, place.end
        if base < _WINDOW_BEFORE:
            return _secrets_after(text, place, stop)
        window = text[base - _WINDOW_BEFORE : base + _WINDOW_BEHIND]
        key = place.sort, stop - base, base - place.start, window
        found = self._after.get(key)
        if found is None:
            found = [
                ContextFinding(kind, start - base, end - base)
                for kind, start, end in _secrets_after(text, place, stop)
            ]
            if len(self._after) < _MOST_READINGS and _ends_within(window):
                self._after[key] = found
        return [ContextFinding(kind, start + base, end + base) for kind, start, end in found]

    def before(self, place: Announced, previous: int) -> Iterable[ContextFinding]:
        """Secrets before a word, from where the former one ends."""
        base = place.start
        head = self._text[max(previous, base - _CONTEXT_BEFORE) : base]
        if len(head) < _LEAST_BEFORE:
            return ()
        key = place.sort, head
        found = self._before.get(key)
        if found is None:
            found = list(_secrets_before(head, place.sort))
            if len(self._before) < _MOST_READINGS:
                self._before[key] = found
        return [ContextFinding(kind, start + base, end + base) for kind, start, end in found]


def _ends_within(window: str) -> bool:
    """Whether no run of blanks or of letters goes on beyond what was read of a text."""
    tail = window[-_WINDOW_TAIL:]
    return not (tail.isspace() or tail.replace("_", "0").isalnum())


def _announced(lower: str, ascii_held: Set[str]) -> list[Announced]:
    """Where words announce; of those that overlap, the one that begins first, else the longest."""
    found: list[Announced] = []
    # Most words are ASCII, and are found faster in what is no wider.
    narrow = lower if lower.isascii() else lower.encode("ascii", "replace").decode("ascii")
    sorts = _announced_sorts()
    held = sorts.keys() & ascii_held
    if not lower.isascii():
        held |= _foreign_announcing().held(lower)
    meanings: Iterator[tuple[str, SecretSort]] = (
        (one, sort) for one in held for sort in sorts[one]
    )
    for word, sort in meanings:
        read = narrow if word.isascii() else lower
        at = read.find(word)
        while at >= 0:
            end = at + len(word)
            if word not in ALONE or _stands_alone(lower, at, end):
                found.append(Announced(at, end, sort))
            at = read.find(word, end)
    found.sort(key=lambda place: (place.start, -place.end))
    distinct: list[Announced] = []
    for place in found:
        if not distinct or place.start >= distinct[-1].end:
            distinct.append(place)
    return distinct


@cache
def _foreign_announcing() -> WordTable:
    return WordTable(word for word in _announced_sorts() if not word.isascii())


@cache
def _announced_sorts() -> Mapping[str, list[SecretSort]]:
    """What each word announces, in the order in which the words are listed."""
    sorts: dict[str, list[SecretSort]] = {}
    for word, sort in announcing_words():
        sorts.setdefault(word, []).append(sort)
    return sorts


def _stands_alone(lower: str, start: int, end: int) -> bool:
    """No letter before, and none after but a plural or what an identifier joins to it."""
    before = lower[start - 1 : start]
    after = lower[end : end + 1]
    return not (before.isalpha() or (after.isalpha() and lower[end - 1].isalpha()))


def _secrets_after(text: str, place: Announced, stop: int) -> Iterator[ContextFinding]:
    kind = KIND_OF_SORT[place.sort]
    if place.sort == "phrase":
        opening = phrase_opening_signs().match(text, place.end)
        begin = opening.end() if opening else place.end
        if (end := announced_phrase(text, begin)) >= 0:
            yield ContextFinding(kind, begin, end)
        return
    if place.sort == "code":
        # The value may hold what looks like the next word.
        end = min(len(text), stop + 12)
        figure = figure_signs().search(text, place.end, end)
        match = code_after_signs().match(text, place.end, end) if figure else None
        if match and not other_code_signs().search(match.group()):
            yield ContextFinding(kind, *match.span("value"))
        return
    end = min(len(text), stop + 1)
    for pattern in _possible_links(text, place.end, end):
        link = pattern.match(text, place.end, end)
        if link and (span := _linked_value(text, place, link)):
            yield ContextFinding(kind, *span)
            return
    if span := _unlinked_value(text, place, stop):
        yield ContextFinding(kind, *span)


def _possible_links(text: str, start: int, end: int) -> tuple[re.Pattern[str], ...]:
    """The patterns of those links that a part of the text has the signs for."""
    if link_mark_signs().search(text, start, end):
        return link_signs(), sign_link_signs()
    return (link_signs(),) if link_space_signs().search(text, start, end) else ()


def _linked_value(text: str, place: Announced, link: re.Match[str]) -> tuple[int, int] | None:
    """The value that a link leads to, if it is one."""
    if quoted := quoted_signs().match(text, link.end()):
        said = quoted.group("value")
        good = not is_placeholder(said) and (
            looks_random(said, 8) if place.sort == "key" else _is_quoted_password(said)
        )
        return quoted.span("value") if good else None
    value = value_signs().match(text, link.end())
    if not value:
        return None
    said = bare_value(value.group())
    span = (value.start(), _shown_end(text, value.start() + len(said)))
    if names_account_signs().match(text, place.start) and (
        second := second_signs().match(text, link.end())
    ):
        told = bare_value(second.group("value"))
        if looks_chosen(told) or looks_random(told, 8):
            return second.span("value")
    if place.sort == "key" and not (looks_random(said, 8) or _is_token_of_words(said)):
        return None
    if is_placeholder(said) or _is_amount(text, said, span[1]):
        return None
    if place.sort == "key":
        return span
    return _password_after(text, said, span, link)


def _password_after(
    text: str, said: str, span: tuple[int, int], link: re.Match[str]
) -> tuple[int, int] | None:
    """A password or a code at a place, if its look or what is around it tells."""
    if looks_chosen(said) or looks_random(said, 8):
        return span
    if len(said) >= 4 and said.isdigit():
        return span
    if end := _phrase_of_words(text, span, link):
        return span[0], end
    return span if _is_plain_password(text, said, span, link) else None


def _shown_end(text: str, end: int) -> int:
    """The end of a value with the marks right after it that may belong to it."""
    match = closing_marks_signs().match(text, end)
    return match.end() if match else end


def _is_quoted_password(said: str) -> bool:
    return len(said) >= 4 and not is_saying(said) and said.count(" ") < 9


def _is_plain_password(text: str, said: str, span: tuple[int, int], link: re.Match[str]) -> bool:
    """A plain word as a password: it ends the sentence, and says nothing about the password."""
    if (
        len(said) < 5
        or "(" in said
        or is_saying(said)
        or not said[0].isalpha()
        or said[-1] > "\u2e80"
    ):
        return False
    if of_many_signs().search(link.group()) or not scope_of_secret_signs().fullmatch(
        link.group("scope")
    ):
        return False
    if link.group("scope").isspace() and (
        plain_link_signs().fullmatch(link.group())
        or figurative_signs().search(text, max(link.start() - 8, 0), link.start())
        or said.lower().endswith(ADJECTIVE_ENDINGS)
    ):
        return False
    return sentence_rest_signs().match(text, span[1]) is not None


def _phrase_of_words(text: str, span: tuple[int, int], link: re.Match[str]) -> int:
    """The end of words that make no sentence: "pass phrase: correct horse battery staple"; or 0."""
    if "phrase" not in text[max(0, link.start() - 12) : link.start()].lower():
        return 0
    words = few_words_signs().match(text, span[0])
    if not words or small_word_signs().search(words.group("words")):
        return 0
    return words.end("words")


def _is_token_of_words(said: str) -> bool:
    """A key of words and figures, as "prod-blue-7741-key"."""
    return len(said) >= 12 and sum(sign.isdigit() for sign in said) >= 3 and looks_chosen(said)


def _is_amount(text: str, said: str, end: int) -> bool:
    return said[:1].isdigit() and amount_signs().match(text, end) is not None


def _unlinked_value(text: str, place: Announced, stop: int) -> tuple[int, int] | None:
    """A value that stands by the word without a link: "with password Kedi2024", "token ghx..."."""
    line_end = text.find("\n", place.end, stop)
    if place.sort == "key":
        at = place.end
        # The least of a run must lie within reach; its end may lie behind.
        while head := chance_run_signs().search(text, at, min(stop + _LEAST_RUN, len(text))):
            run = chance_run_signs().match(text, head.start()) or head
            start, at = run.span()
            if start >= stop:
                break
            named = other_name_signs().search(text, place.end, start)
            value = run.group()
            # Right behind the word it may be as short as the secret of an authenticator.
            least = 16 if start - place.end <= _RIGHT_BEHIND else 20
            if not named and looks_random(value, least) and not is_uuid_signs().fullmatch(value):
                return run.span()
        return None
    end = line_end if line_end > place.end else min(len(text), stop + 12)
    value = adjacent_signs().match(text, place.end, end)
    if not value:
        return None
    said = bare_value(value.group("value"))
    if len(said) < _LEAST_UNLINKED or not looks_chosen(said):
        return None
    span = (value.start("value"), _shown_end(text, value.start("value") + len(said)))
    return None if _is_amount(text, said, span[1]) else span


def _secrets_before(head: str, sort: SecretSort) -> Iterator[ContextFinding]:
    """A value that the word follows: "hunter2 is my password", "482913 ist dein Code".

    ``head`` is what stands before the word; places count from the word's beginning.
    """
    match = said_before_signs().search(head)
    if not match:
        return
    said = bare_value(match.group("value"))
    start = match.start("value")
    if sort == "code":
        good = re.fullmatch(r"(?:[A-Z]{1,2}-)?\d{4,8}|\d{3}[ \-]\d{3}", said) is not None
    elif sort == "key":
        good = looks_random(said, 12)
    else:
        quoted = head[start - 1 : start] in ("'", '"', "`", "「")
        good = looks_chosen(said) or (quoted and _is_quoted_password(said))
    if good:
        begin = start - len(head)
        yield ContextFinding(KIND_OF_SORT[sort], begin, begin + len(said))
