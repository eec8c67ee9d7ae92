"""The user's words in a turn, in which alone a proposal may find its proof."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from adaptive.core.model import Memory, Turn
from adaptive.learn.derivation import Said
from adaptive.learn.figures import Figures
from adaptive.learn.quotation import (
    quoted_share,
    typed_words,
    unpasted_words,
)
from adaptive.learn.support import Vocabulary

# Of a quotation, in one window of the typed words: small models misquote. For what it costs, see
# benchmarks/grounding.py.
_LEAST_QUOTED = 0.7


@dataclass(frozen=True)
class Source:
    """The newest message, what was typed of it and in the ones before it, and what is unpasted."""

    words: str
    earlier: str
    typed: str
    unpasted: str  # with what stands in quotation marks: others' sentences, or drafts
    # What the model was shown: names may be known from there.
    remembered: tuple[str, ...]
    day: date  # on which it was said

    @classmethod
    def of(cls, turn: Turn, shown: Iterable[Memory] = ()) -> Source:
        """The user's words in a turn, and the memories that were shown with it."""
        said = (
            typed_words(one.text) for one in turn.earlier if one.role == "user"
        )
        return cls(
            words=turn.words,
            earlier="\n".join(said),
            typed=typed_words(turn.words),
            unpasted=unpasted_words(turn.words),
            remembered=tuple(memory.content for memory in shown),
            day=date.fromtimestamp(turn.source.said_at),
        )

    @cached_property
    def said(self) -> Said:
        """The numbers and dates of the message and of those before it, and what follows."""
        return Said(Figures(self.unpasted, self.earlier), self.day)

    @cached_property
    def message(self) -> Vocabulary:
        """The words of the message and of those before it."""
        return Vocabulary.of([self.unpasted, self.earlier])

    @cached_property
    def familiar(self) -> Vocabulary:
        """The words that were said, and those of the memories that the model was shown."""
        return Vocabulary.of([self.unpasted, self.earlier, *self.remembered])

    def quotes(self, spans: Sequence[str]) -> bool:
        """Whether a quotation stands in what was typed, near enough to its words."""
        return quoted_share(spans, self.typed) >= _LEAST_QUOTED

    def quoted(self, spans: Sequence[str]) -> Sequence[str]:
        """A quotation that stands in what was typed, else all of that."""
        return spans if self.quotes(spans) else [self.typed]
