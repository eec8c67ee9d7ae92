"""Finding personal data in a text.

Each recogniser looks at the windows of its anchor; what its pattern matches must pass its checksum,
and is then scored by the words around it. Time is linear in the text's length, which is not bounded,
since what stood behind a bound would pass unseen.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from adaptive.privacy.anchors import Window, windows
from adaptive.privacy.birth_recognisers import BIRTH_RECOGNISERS
from adaptive.privacy.context_words import words_of, words_only
from adaptive.privacy.id_recognisers import ID_RECOGNISERS
from adaptive.privacy.network_addresses import NETWORK_RECOGNISERS
from adaptive.privacy.phone_numbers import PHONE_RECOGNISERS, phone_library, possible_phones
from adaptive.privacy.place_recognisers import ADDRESS_RECOGNISERS, COORDINATE_RECOGNISERS
from adaptive.privacy.recogniser import BELIEVABLE, PersonalKind, Recogniser, letters_and_digits
from adaptive.privacy.unicode_text import unicode_text
from adaptive.privacy.wallet_recognisers import WALLET_RECOGNISERS

RECOGNISERS: tuple[Recogniser, ...] = (
    *NETWORK_RECOGNISERS,
    *PHONE_RECOGNISERS,
    *ID_RECOGNISERS,
    *ADDRESS_RECOGNISERS,
    *COORDINATE_RECOGNISERS,
    *BIRTH_RECOGNISERS,
    *WALLET_RECOGNISERS,
)
# What a nearer counter word leaves of a score, and how near it must stand.
_COUNTERED = 0.4
_COUNTER_REACH = 30


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
        if (at and chosen[at - 1].end > one.start) or (
            at < len(starts) and starts[at] < one.end
        ):
            continue
        starts.insert(at, one.start)
        chosen.insert(at, one)
    return chosen


@dataclass(slots=True)
class _PiiScan:
    """One text, with its windows and the context words that it holds, each looked for once."""

    text: str
    words: str = ""
    known_windows: dict[str, list[Window]] = field(default_factory=dict[str, list[Window]])
    known_words: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def findings(self) -> Iterator[Finding]:
        """Everything believable; parts of it may overlap."""
        phones: list[Finding] = []
        for recogniser in RECOGNISERS:
            found = self._of(recogniser)
            if recogniser.fits and recogniser.name.startswith("international"):
                phones.extend(found)
            else:
                yield from found
        yield from self._possible(phones)

    def _possible(self, phones: Sequence[Finding]) -> Iterator[Finding]:
        if phones:
            numbers = [self.text[phone.start : phone.end] for phone in phones]
            verdicts = possible_phones(numbers, phone_library())
            yield from (phone for phone, good in zip(phones, verdicts, strict=True) if good)

    def _of(self, recogniser: Recogniser) -> Iterator[Finding]:
        places = self._windows(recogniser.anchor)
        if not places or not self._may_hold(recogniser):
            return
        for low, high in places:
            for match in recogniser.compiled.finditer(self.text, low, high):
                if found := self._judged(recogniser, match):
                    yield found

    def _windows(self, anchor: str) -> list[Window]:
        if anchor not in self.known_windows:
            self.known_windows[anchor] = windows(self.text, anchor)
        return self.known_windows[anchor]

    def _may_hold(self, recogniser: Recogniser) -> bool:
        """Whether the text holds the words without which nothing can be found."""
        if recogniser.clues:
            words = self._small_letters()
            if not any(clue in words for clue in recogniser.clues):
                return False
        return not recogniser.needs_context or bool(self._present(recogniser.context))

    def _small_letters(self) -> str:
        """The words of the text behind one space, so that a first word has a space before it."""
        if not self.words:
            self.words = f" {words_only(self.text)} "
        return self.words

    def _present(self, subject: str) -> tuple[str, ...]:
        if subject not in self.known_words:
            words = self._small_letters()
            present = tuple(word for word in words_of(subject) if word in words)
            self.known_words[subject] = present
        return self.known_words[subject]

    def _judged(self, recogniser: Recogniser, match: re.Match[str]) -> Finding | None:
        if recogniser.fits and not recogniser.fits(match):
            return None
        if recogniser.holds and not recogniser.holds(letters_and_digits(match[0])):
            return None
        groups = match.re.groupindex
        start, end = match.span("value" if "value" in groups else 0)
        if recogniser.trim and (head := recogniser.trimmed.match(self.text, start, end)):
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
        nearest = self._nearest(recogniser.context, start, before)
        against = "" if not recogniser.countered else recogniser.against
        counter = self._nearest(against, start, min(before, _COUNTER_REACH))
        if counter > nearest:
            return recogniser.score * _COUNTERED
        if nearest >= 0 or self._follows(recogniser.context, end, behind):
            return max(recogniser.score, recogniser.in_context)
        return recogniser.score

    def _nearest(self, subject: str, start: int, reach: int) -> int:
        """Where the last word of a subject begins in the characters before, or -1."""
        if not subject:
            return -1
        words = self._small_letters()
        low, high = max(start - reach, 0), start + 1
        return max(
            (words.rfind(word, low, high) for word in self._present(subject)),
            default=-1,
        )

    def _follows(self, subject: str, end: int, reach: int) -> bool:
        if not subject:
            return False
        words = self._small_letters()
        return any(words.find(word, end + 1, end + 1 + reach) >= 0 for word in self._present(subject))
