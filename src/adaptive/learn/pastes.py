"""Which paragraphs of a message are somebody else's text that the user has pasted without a mark.

A message with a paste asks to work on a text ("Translate this:"), and has a paragraph beside it
that reads as a letter, a page or a chat. Both are learned from examples in many languages
(``tools/train_pastes.py``). What is found is made a block quote, which is no source of facts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from adaptive.core import classifier, frozen, has_words, sentences
from adaptive.learn.quotation import COLONS, unpasted_words
from adaptive.search import script_of

# Requests that work on another's text, such texts, what users tell about themselves, other
# requests, and requests that work on a text of the user's own.
KINDS = ("request", "text", "own", "task", "draft")
# How much a text looks like each of them
Scoring = Callable[[str], NDArray[np.float64]]
_REQUEST, _TEXT, _OWN, _TASK, _DRAFT = range(len(KINDS))
_MOST_PARAGRAPHS = 12  # of a message; those between are taken together
_LONGEST_INTRODUCTION = 300  # signs before a colon
_LONGEST_SPOKEN = (
    800  # signs of a paragraph that is judged by its sentences, too
)
_MOST_SENTENCES = 8
_TEXT_IS_NO_REQUEST = (
    1.5  # how much it speaks against a request to read as a text
)
_INLINE_COLON = re.compile(r":\s+(?=\S)|\uff1a(?=\S)")
# Learned by tools/train_pastes.py for what ``message_features`` and ``paragraph_features`` give.
MESSAGE_WEIGHTS = np.array([0.926, 0.431, 0.1, 1.111, 0.621, -0.184, 0.249])
PARAGRAPH_WEIGHTS = np.array(
    [-0.193, -0.213, -0.468, -0.236, 1.467, -0.081, 0.138]
)
# Of personal messages that are hard to tell, 3 % in English and in other languages score higher.
LATIN_BAR = 0.1
OTHER_BAR = -0.15
PARAGRAPH_BAR = 0.3


@frozen
class Paragraph:
    """A paragraph of a message, and the numbers of its lines."""

    text: str
    lines: range

    def sentences(self) -> list[str]:
        """The text, and its sentences where it is short enough for a request."""
        if len(self.text) > _LONGEST_SPOKEN:
            return [self.text]
        parts = sentences(self.text)
        half = _MOST_SENTENCES // 2
        return [self.text, *parts[:half], *parts[half:][-half:]]


@frozen
class ParagraphScores:
    """How much the paragraphs of a message look like each of the kinds; a row for each.

    ``best`` are the highest scores of a paragraph and of its sentences.
    """

    whole: NDArray[np.float64]
    best: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        paragraphs: Sequence[Paragraph],
        score: Scoring,
    ) -> ParagraphScores:
        """The scores of paragraphs, by what gives those of a text for each kind."""
        rows = [
            np.stack([score(text) for text in paragraph.sentences()])
            for paragraph in paragraphs
        ]
        return cls(
            whole=np.stack([row[0] for row in rows]),
            best=np.stack([row.max(axis=0) for row in rows]),
        )

    @property
    def request(self) -> int:
        """The place of the paragraph that looks most like a request, and least like a text."""
        texts = _TEXT_IS_NO_REQUEST * self.whole[:, _TEXT]
        return int((self.best[:, _REQUEST] - texts).argmax())

    def message_features(self) -> NDArray[np.float64]:
        """What tells whether the message holds a paste."""
        request = self.request
        others = np.arange(len(self.best)) != request
        asks = self.best[request, _REQUEST]
        text = self.whole[others, _TEXT].max()
        return np.array(
            [
                asks,
                self.best[:, _DRAFT].max(),
                self.best[others, _TASK].max(),
                text,
                asks * text,
                self.whole[others, _OWN].max(),
                1.0,
            ]
        )

    def paragraph_features(self) -> NDArray[np.float64]:
        """What tells which paragraphs of a message with a paste are pasted; a row for each."""
        request = self.request
        places = np.arange(len(self.best))
        text = self.whole[places != request, _TEXT].max()
        return np.column_stack(
            [
                self.whole[:, _OWN],
                self.best[:, _REQUEST],
                self.whole[:, _TASK],
                self.whole[:, _DRAFT],
                self.whole[:, _TEXT] - text,
                np.abs(places - request) == 1,
                np.ones(len(self.best)),
            ]
        )

    def pasted(self, bar: float) -> list[int]:
        """The places of those paragraphs that are somebody else's text."""
        if self.message_features() @ MESSAGE_WEIGHTS < bar:
            return []
        scores = self.paragraph_features() @ PARAGRAPH_WEIGHTS
        # One of them is what the user says of the others.
        spoken = scores.argmin()
        return [
            place
            for place, score in enumerate(scores)
            if score >= PARAGRAPH_BAR and place != spoken
        ]


def introduced_apart(line: str, score: Scoring) -> list[str]:
    """A line, or what stands before its first colon and what that introduces.

    It is parted where that asks to work on a text: what users tell stands behind colons, too.
    """
    colon = _INLINE_COLON.search(line[:_LONGEST_INTRODUCTION])
    if colon is None:
        return [line]
    introduction = line[: colon.start() + 1]
    scores = score(introduction)
    if scores[_REQUEST] <= scores[_TASK]:
        return [line]
    return [introduction, line[colon.end() :]]


def paragraphs(lines: Sequence[str]) -> list[Paragraph]:
    """The paragraphs of a message that hold words; what a colon introduces is one.

    The first line is one, too, and where there is no empty line the last one.
    """
    filled = [number for number, line in enumerate(lines) if line.strip()]
    is_one_block = bool(filled) and filled[-1] - filled[0] < len(filled)
    starts: list[int] = []
    for number in filled:
        before = lines[number - 1].rstrip() if number else ""
        is_outer = number == filled[0] + 1 or (
            is_one_block and number == filled[-1]
        )
        if not before or before.endswith(COLONS) or is_outer:
            starts.append(number)
    half = _MOST_PARAGRAPHS // 2
    starts = [*starts[:half], *starts[half:][-half:]]
    split: list[Paragraph] = []
    for start, end in itertools.pairwise([*starts, len(lines)]):
        text = "\n".join(lines[start:end]).strip()
        if has_words(text):
            split.append(Paragraph(text, range(start, end)))
    return split


def without_pastes(words: str) -> str:
    """A message with other people's texts as block quotes."""
    lines = words.split("\n")
    typed = unpasted_words(words).split("\n")
    first = next(
        (number for number, line in enumerate(typed) if line.strip()), 0
    )
    score = classifier("paste").scores
    lines[first : first + 1] = introduced_apart(lines[first], score)
    typed[first : first + 1] = introduced_apart(typed[first], score)
    parts = paragraphs(typed)
    if len(parts) < 2:  # a request beside a text
        return words
    scores = ParagraphScores.of(parts, score)
    bar = LATIN_BAR if script_of(words) == "latin" else OTHER_BAR
    pasted = scores.pasted(bar)
    for number in itertools.chain(*(parts[place].lines for place in pasted)):
        if lines[number].strip():
            lines[number] = f"> {lines[number]}"
    return "\n".join(lines) if pasted else words
