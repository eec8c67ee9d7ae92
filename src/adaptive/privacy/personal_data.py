"""Finding personal data in a text.

Each recogniser looks where its numbers begin, or at the windows of its anchor; what its pattern
matches must pass its checksum, and is then scored by the words around it. Time is linear in the
length of the text, which is not bounded, since what stood behind a bound would pass unseen.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import compress, repeat
from operator import itemgetter

from adaptive.privacy.anchors import Window, windows
from adaptive.privacy.birth_recognisers import BIRTH_RECOGNISERS
from adaptive.privacy.context_index import ContextIndex
from adaptive.privacy.id_recognisers import ID_RECOGNISERS
from adaptive.privacy.network_addresses import NETWORK_RECOGNISERS
from adaptive.privacy.number_starts import NumberStarts, number_head
from adaptive.privacy.payment_recognisers import PAYMENT_RECOGNISERS
from adaptive.privacy.phone_numbers import PHONE_RECOGNISERS, phone_library, possible_phones
from adaptive.privacy.place_recognisers import ADDRESS_RECOGNISERS, COORDINATE_RECOGNISERS
from adaptive.privacy.recogniser import BELIEVABLE, PersonalKind, Recogniser, letters_and_digits
from adaptive.privacy.unicode_text import unicode_text
from adaptive.privacy.wallet_recognisers import WALLET_RECOGNISERS

RECOGNISERS: tuple[Recogniser, ...] = (
    *NETWORK_RECOGNISERS,
    *PHONE_RECOGNISERS,
    *ID_RECOGNISERS,
    *PAYMENT_RECOGNISERS,
    *ADDRESS_RECOGNISERS,
    *COORDINATE_RECOGNISERS,
    *BIRTH_RECOGNISERS,
    *WALLET_RECOGNISERS,
)
# What a nearer counter word leaves of a score, and how near it must stand.
_COUNTERED = 0.4
_COUNTER_REACH = 30
# From so many places on it pays to look first for what no match is possible without.
_MANY_STARTS = 2000


@dataclass(frozen=True, slots=True)
class Finding:
    """Personal data at a place of a text.

    Attributes:
        kind: what it is.
        start: where it begins, a character of the text as it was given.
        end: where it ends, exclusive.
        score: how believable it is, 0.5 to 1.
    """

    kind: PersonalKind
    start: int
    end: int
    score: float


def find_personal_data(text: str) -> tuple[Finding, ...]:
    """All personal data, by place, without overlaps; the best scored wins, then the longest."""
    spelled = unicode_text(text)
    chosen = _without_overlaps(list(_PiiScan(spelled.text).findings()))
    return tuple(
        Finding(found.kind, *spelled.original_span(found.start, found.end), found.score)
        for found in chosen
    )


def _without_overlaps(found: Sequence[Finding]) -> list[Finding]:
    ranked = sorted(found, key=lambda one: (-one.score, one.start - one.end, one.start))
    starts: list[int] = []
    chosen: list[Finding] = []
    if len(ranked) < 2:
        return ranked
    for one in ranked:
        at = bisect_left(starts, one.start)
        if (at and chosen[at - 1].end > one.start) or (at < len(starts) and starts[at] < one.end):
            continue
        starts.insert(at, one.start)
        chosen.insert(at, one)
    return chosen


@cache
def _clues() -> frozenset[str]:
    return frozenset(clue for recogniser in RECOGNISERS for clue in recogniser.clues)


class _PiiScan:
    """One text, with what the recognisers ask of it, each found once when first asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._windows: dict[str, list[Window]] = {}

    @cached_property
    def _starts(self) -> NumberStarts:
        return NumberStarts(self._text)

    @cached_property
    def _context(self) -> ContextIndex:
        return ContextIndex(self._text, _clues())

    def findings(self) -> Iterator[Finding]:
        """Everything believable; parts of it may overlap."""
        phones: list[Finding] = []
        for recogniser in RECOGNISERS:
            found = self._of(recogniser)
            if recogniser.kind == "phone" and recogniser.name.startswith("international"):
                phones.extend(found)
            else:
                yield from found
        yield from self._possible(phones)

    def _possible(self, phones: Sequence[Finding]) -> Iterator[Finding]:
        if phones:
            numbers = [self._text[phone.start : phone.end] for phone in phones]
            verdicts = possible_phones(numbers, phone_library())
            yield from (phone for phone, good in zip(phones, verdicts, strict=True) if good)

    def _of(self, recogniser: Recogniser) -> Iterator[Finding]:
        matches = self._at_starts if recogniser.leads else self._in_windows
        for match in matches(recogniser):
            if found := self._judged(recogniser, match):
                yield found

    def _at_starts(self, recogniser: Recogniser) -> Iterator[re.Match[str]]:
        starts = self._starts.at(recogniser.leads, number_head(recogniser.pattern))
        places = starts.listed
        if not places:
            return
        many = len(places) > _MANY_STARTS
        if many and recogniser.clues and not self._context.holds_one(recogniser.clues):
            return
        if recogniser.needs_context:
            places = self._context.places_near(recogniser.context, starts, recogniser.reach)
        matches = self._after_one_another if many else self._at_each
        yield from matches(recogniser.compiled, places)

    def _at_each(self, pattern: re.Pattern[str], places: Sequence[int]) -> Iterator[re.Match[str]]:
        """The matches that none before them covers; of few places, all of which are tried."""
        consumed = 0
        for match in filter(None, map(pattern.match, repeat(self._text), places)):
            if match.start() >= consumed:
                consumed = match.end()
                yield match

    def _after_one_another(
        self, pattern: re.Pattern[str], places: Sequence[int]
    ) -> Iterator[re.Match[str]]:
        """The same; what a match covers is not tried."""
        match_at = pattern.match
        consumed = 0
        for place in places:
            if place >= consumed and (match := match_at(self._text, place)):
                consumed = match.end()
                yield match

    def _in_windows(self, recogniser: Recogniser) -> Iterator[re.Match[str]]:
        anchor = recogniser.anchor
        if anchor not in self._windows:
            self._windows[anchor] = windows(
                self._text, anchor, self._context.places_of, self._starts.runs
            )
        places = self._windows[anchor]
        if not places:
            return
        if recogniser.needs_context and not self._context.holds_any(recogniser.context):
            return
        if recogniser.clues:
            numbered = recogniser.numbered
            places = self._context.windows_with(places, recogniser.clues, numbered=numbered)
        if not places:
            return
        if recogniser.signs:
            places = [window for window in places if self._holds_all(recogniser.signs, window)]
        pattern = recogniser.compiled
        lows, highs = map(itemgetter(0), places), map(itemgetter(1), places)
        # Most windows hold no match, which a search tells soonest.
        matches = map(pattern.search, repeat(self._text), lows, highs)
        for low, high in compress(places, matches):
            yield from pattern.finditer(self._text, low, high)

    def _holds_all(self, signs: str, window: Window) -> bool:
        low, high = window
        return all(self._text.find(sign, low, high) >= 0 for sign in signs)

    def _judged(self, recogniser: Recogniser, match: re.Match[str]) -> Finding | None:
        if recogniser.fits and not recogniser.fits(match):
            return None
        if recogniser.holds and not recogniser.holds(letters_and_digits(match[0])):
            return None
        groups = match.re.groupindex
        start, end = match.span("value" if "value" in groups else 0)
        if recogniser.trim and (head := recogniser.trimmed.match(self._text, start, end)):
            start = head.end()
        score = recogniser.score
        if "sure" in groups and match["sure"]:
            score = recogniser.in_context
        elif recogniser.context or recogniser.countered:
            score = self._in_its_place(recogniser, start, end)
        return Finding(recogniser.kind, start, end, score) if score >= BELIEVABLE else None

    def _in_its_place(self, recogniser: Recogniser, start: int, end: int) -> float:
        """The score of a match by the nearest word before it, and those behind."""
        before, behind = recogniser.reach
        context = recogniser.context
        nearest = self._context.nearest(context, start, before) if context else -1
        if recogniser.countered:
            reach = min(before, _COUNTER_REACH)
            if self._context.nearest(recogniser.against, start, reach) > nearest:
                return recogniser.score * _COUNTERED
        if nearest >= 0 or (context and self._context.follows(context, end, behind)):
            return max(recogniser.score, recogniser.in_context)
        return recogniser.score
