"""Which paragraphs of a message are somebody else's text that the user has pasted without a mark.

A message with a paste asks to work on a text ("Translate this:"), and has a paragraph beside it
that reads as a letter, a page or a chat. Both are learned from examples in many languages, by
kernel ridge regression over the vector of a text and over its letters and words. What is found is
made a block quote, which is no source of facts.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core.messages import has_words
from adaptive.core.model import Embedder, EmbeddingError, Sources, Vectors
from adaptive.core.texts import titled_parts
from adaptive.learn.prefilter import EMBEDDING_PATIENCE_SECONDS
from adaptive.learn.quotation import COLONS, unpasted_words
from adaptive.privacy.injection import order_features
from adaptive.privacy.secrets import without_secrets
from adaptive.search.calibration import SharedVectors, script_of
from adaptive.search.vectors import query_vectors

_FloatArray = NDArray[np.floating[Any]]

# Requests that work on another's text, such texts, what users tell about themselves, other
# requests, and requests that work on a text of the user's own.
KINDS = ("request", "text", "own", "task", "draft")
_REQUEST, _TEXT, _OWN, _TASK, _DRAFT = range(len(KINDS))
_RIDGE = 1.5
_SPELLING_BUCKETS = 1024
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
_SENTENCE_ENDS = re.compile(
    r"(?<=[.!?\u2026\u061f\u0964])\s+|(?<=[\u3002\uff01\uff1f])|\n+"
)
# Learned by tools/train_pastes.py for what ``message_features`` and ``paragraph_features`` give.
MESSAGE_WEIGHTS = np.array(
    [0.839, -0.082, -0.077, 1.661, 0.561, -0.537, 0.034]
)
PARAGRAPH_WEIGHTS = np.array(
    [-0.535, -0.239, -0.605, -0.612, 1.967, 0.073, -0.639]
)
# Of personal messages that are hard to tell, 3 % in English and in other languages score higher.
LATIN_BAR = 0.4
OTHER_BAR = -0.1
PARAGRAPH_BAR = 0.3


@dataclass(frozen=True, slots=True)
class Example:
    """A text of which it is known what it is, and in which language."""

    kind: str
    language: str
    text: str


def paste_examples() -> list[Example]:
    """The examples that are learned from."""
    examples: list[Example] = []
    for title, lines in titled_parts("paste_examples").items():
        kind, language = title.split()
        examples += [
            Example(kind, language, text) for text in lines.split("\n")
        ]
    return examples


@dataclass(frozen=True, slots=True)
class KindFit:
    """A fit for one embedding model: how much a text looks like each of the kinds."""

    vectors: _FloatArray
    vector_weights: _FloatArray
    spelling_weights: _FloatArray

    @classmethod
    def of(cls, examples: Sequence[Example], vectors: Vectors) -> KindFit:
        """The fit on examples, and their normalised vectors."""
        rows = vectors.astype(np.float64)
        letters = spelling([example.text for example in examples])
        kernel = _likeness(rows, rows) + letters @ letters.T
        targets = np.array(
            [
                [1.0 if example.kind == kind else -1.0 for kind in KINDS]
                for example in examples
            ]
        )
        ridge = _RIDGE * np.eye(len(rows))
        weights = np.linalg.solve(kernel + ridge, targets)
        return cls(
            vectors=rows,
            vector_weights=weights,
            spelling_weights=letters.T @ weights,
        )

    def scores(self, texts: Sequence[str], vectors: Vectors) -> _FloatArray:
        """How much each text looks like each of the kinds; a row for each text."""
        by_vector = _likeness(vectors, self.vectors) @ self.vector_weights
        return by_vector + spelling(texts) @ self.spelling_weights


def _likeness(some: _FloatArray, others: _FloatArray) -> _FloatArray:
    """Vectors by vectors: 1 for the same, less the further apart."""
    return (np.maximum(1 + some @ others.T, 0) / 2) ** 3


def spelling(texts: Sequence[str]) -> _FloatArray:
    """For each text a row of length 1 that counts its letters in a row, its words and pairs."""
    counts = np.stack(
        [
            np.bincount(
                order_features(text.lower()) % _SPELLING_BUCKETS,
                minlength=_SPELLING_BUCKETS,
            )
            for text in texts
        ]
    )
    roots = np.sqrt(counts)
    return roots / np.linalg.norm(roots, axis=1, keepdims=True)


def message_features(whole: _FloatArray, best: _FloatArray) -> _FloatArray:
    """What tells whether a message holds a paste.

    ``whole`` are the scores of its paragraphs, and ``best`` the highest of the sentences of each.
    """
    request = request_place(whole, best)
    others = np.arange(len(best)) != request
    asks = best[request, _REQUEST]
    text = whole[others, _TEXT].max()
    return np.array(
        [
            asks,
            best[:, _DRAFT].max(),
            best[others, _TASK].max(),
            text,
            asks * text,
            whole[others, _OWN].max(),
            1.0,
        ]
    )


def paragraph_features(whole: _FloatArray, best: _FloatArray) -> _FloatArray:
    """What tells which paragraphs of a message with a paste are pasted; a row for each."""
    request = request_place(whole, best)
    places = np.arange(len(best))
    text = whole[places != request, _TEXT].max()
    return np.column_stack(
        [
            whole[:, _OWN],
            best[:, _REQUEST],
            whole[:, _TASK],
            whole[:, _DRAFT],
            whole[:, _TEXT] - text,
            np.abs(places - request) == 1,
            np.ones(len(best)),
        ]
    )


def request_place(whole: _FloatArray, best: _FloatArray) -> int:
    """The place of the paragraph that looks most like a request, and least like a text."""
    return int(
        (best[:, _REQUEST] - _TEXT_IS_NO_REQUEST * whole[:, _TEXT]).argmax()
    )


def pasted_places(
    whole: _FloatArray, best: _FloatArray, bar: float
) -> list[int]:
    """The places of those paragraphs of a message that are somebody else's text."""
    if message_features(whole, best) @ MESSAGE_WEIGHTS < bar:
        return []
    scores = paragraph_features(whole, best) @ PARAGRAPH_WEIGHTS
    # One of them is what the user says of the others.
    spoken = scores.argmin()
    return [
        place
        for place, score in enumerate(scores)
        if score >= PARAGRAPH_BAR and place != spoken
    ]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a message, and the numbers of its lines."""

    text: str
    lines: range

    def sentences(self) -> list[str]:
        """The text, and its sentences where it is short enough for a request."""
        if len(self.text) > _LONGEST_SPOKEN:
            return [self.text]
        sentences = [
            sentence
            for sentence in _SENTENCE_ENDS.split(self.text)
            if has_words(sentence)
        ]
        half = _MOST_SENTENCES // 2
        return [self.text, *sentences[:half], *sentences[half:][-half:]]


def introduced_apart(line: str) -> list[str]:
    """A line, or what stands before its first colon and what that introduces."""
    colon = _INLINE_COLON.search(line[:_LONGEST_INTRODUCTION])
    if colon is None:
        return [line]
    return [line[: colon.start() + 1], line[colon.end() :]]


def paragraphs(lines: Sequence[str]) -> list[Paragraph]:
    """The paragraphs of a message that hold words; what a colon introduces is one.

    Where there is no empty line, the first line and the last one are paragraphs, too.
    """
    filled = [number for number, line in enumerate(lines) if line.strip()]
    is_one_block = bool(filled) and filled[-1] - filled[0] < len(filled)
    starts: list[int] = []
    for number in filled:
        before = lines[number - 1].rstrip() if number else ""
        is_outer = is_one_block and number in (filled[0] + 1, filled[-1])
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


class PasteJudge:
    """What marks pastes as block quotes, with a fit for each embedding model that was met."""

    def __init__(self) -> None:
        self._examples = paste_examples()
        self._shared = SharedVectors([one.text for one in self._examples])
        self._fits: dict[tuple[str, int], KindFit] = {}

    async def marked(
        self, words: str, embedder: Embedder, sources: Sources
    ) -> str:
        """A message with other people's texts as block quotes; without vectors as it is.

        ``embedder`` keeps the vectors of the user's words, and that of ``sources`` does not.
        """
        # A secret is known by what stands around it, which its paragraphs alone do not show. In a
        # thread: it is looked for in all of the message, and other chats go on.
        cleaned = await asyncio.to_thread(without_secrets, words)
        if cleaned.count("\n") != words.count("\n"):
            words = cleaned
        lines = words.split("\n")
        typed = unpasted_words(cleaned).split("\n")
        first = next(
            (number for number, line in enumerate(typed) if line.strip()), 0
        )
        lines[first : first + 1] = introduced_apart(lines[first])
        typed[first : first + 1] = introduced_apart(typed[first])
        parts = paragraphs(typed)
        if len(parts) < 2:  # a request beside a text
            return words
        sentences = [part.sentences() for part in parts]
        texts = list(dict.fromkeys(itertools.chain(*sentences)))
        vectors = await query_vectors(
            embedder, texts, EMBEDDING_PATIENCE_SECONDS
        )
        if vectors is None:
            return words
        try:
            fit = await self.fit_for(sources, vectors.shape[1])
        except EmbeddingError:
            return words
        # In a thread: long paragraphs have many letters, and other chats go on.
        rows = await asyncio.to_thread(fit.scores, texts, vectors)
        scores = dict(zip(texts, rows, strict=True))
        whole = np.stack([scores[part.text] for part in parts])
        best = np.stack(
            [
                np.max([scores[text] for text in spoken], axis=0)
                for spoken in sentences
            ]
        )
        bar = LATIN_BAR if script_of(words) == "latin" else OTHER_BAR
        pasted = pasted_places(whole, best, bar)
        for number in itertools.chain(*(parts[one].lines for one in pasted)):
            if lines[number].strip():
                lines[number] = f"> {lines[number]}"
        return "\n".join(lines) if pasted else words

    async def fit_for(self, sources: Sources, dimension: int) -> KindFit:
        """The fit for vectors of the embedder; all workers share those of the examples.

        Raises ``EmbeddingError`` where the embedder brings none of this dimension.
        """
        key = (await sources.embedder.name(), dimension)
        if key not in self._fits:
            vectors = await self._shared.made(
                sources.embedder, sources.table, dimension
            )
            if vectors.shape[1] != dimension:
                raise EmbeddingError(
                    f"vectors of {vectors.shape[1]} numbers, not {dimension}"
                )
            self._fits[key] = await asyncio.to_thread(
                KindFit.of, self._examples, vectors
            )
        return self._fits[key]
