"""Whether a text repeats memories that the answer was given, and that nobody said in this chat."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from adaptive.model import Memory
from adaptive.search.text_similarity import token_set_ratio
from adaptive.search.tokens import tokens

# From here on two sentences say the same in nearly the same words.
_SAME_SENTENCE = 0.85
# Share of what only the memory could tell: with half of it, a reader learns the fact.
_TOLD_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Confidential:
    """Memories by what only they could tell: their words but for those that were said anyway."""

    memories: tuple[Memory, ...]
    unsaid: tuple[frozenset[str], ...]
    names: frozenset[str]

    @classmethod
    def among(cls, memories: Sequence[Memory], said: str) -> Confidential:
        """Those of the memories that ``said``, the chat's own words, does not hold whole."""
        spoken = frozenset(tokens(said))
        kept = [(one, frozenset(tokens(one.content)) - spoken) for one in memories]
        kept = [(one, unsaid) for one, unsaid in kept if unsaid]
        names = frozenset(name for one, _ in kept for name in _names_told_in(one.content)) - spoken
        return cls(tuple(one for one, _ in kept), tuple(unsaid for _, unsaid in kept), names)

    def is_told_in(self, text: str) -> bool:
        """Whether a sentence tells a memory: its words, half of its own ones, or a name or figure.

        A memory that is put in other words, or in another language, is not recognised.
        """
        words = frozenset(tokens(text))
        if words & self.names:
            return True
        return any(
            len(words & unsaid) >= _TOLD_SHARE * len(unsaid)
            or token_set_ratio(text, memory.content) >= _SAME_SENTENCE
            for memory, unsaid in zip(self.memories, self.unsaid, strict=True)
        )

    def is_hinted_at_by(self, tag: str) -> bool:
        """Whether a tag has a word that only a memory could tell."""
        words = frozenset(tokens(tag))
        return any(words & unsaid for unsaid in self.unsaid) or self.is_told_in(tag)


def without_confidential(text: str, confidential: Confidential) -> str:
    """The text without the sentences that tell a memory."""
    sentences = _sentence_ends().split(text)
    return " ".join(one for one in sentences if one and not confidential.is_told_in(one))


def _names_told_in(content: str) -> list[str]:
    """Names and figures as they are compared: words with a digit or a capital letter.

    Capitals at the beginning of a sentence say nothing.
    """
    told = [
        word
        for sentence in _sentence_ends().split(content)
        for number, word in enumerate(sentence.split())
        if any(sign.isdigit() for sign in word) or (number and word[:1].isupper())
    ]
    return [stemmed for word in told for stemmed in tokens(word)]


@cache
def _sentence_ends() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")  # noqa: RUF001 - ends of Chinese sentences
