"""What a recogniser of personal data is: a pattern and what makes its match believable."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

PersonalKind = Literal[
    "email",
    "phone",
    "card",
    "iban",
    "national_id",
    "ssn",
    "passport",
    "ip",
    "mac",
    "url_credentials",
    "address",
    "birth_date",
    "crypto_wallet",
    "coordinates",
]

# What stands at the head of a number: how many digits, or one of the others.
Lead = int | Literal["+", "(", "word", "letters", "any"]

# A finding counts from this score on.
BELIEVABLE = 0.5

# Ends of a number or word that is none of its neighbours'; letters of other scripts may touch it,
# as Chinese and Japanese write no spaces.
HEAD = r"(?<![0-9A-Za-z])(?<![0-9][-./])"
TAIL = r"(?![0-9A-Za-z])(?![-./][0-9])"
# The same for numbers in groups, which may be the middle of a longer one.
GROUP_HEAD = HEAD + r"(?<![0-9]{2} )"
GROUP_TAIL = TAIL + r"(?! [0-9]{2})"


# No match that begins at a lead is wider.
WIDEST = 60


@dataclass(frozen=True)
class Recogniser:
    """One form of one kind of personal data.

    Attributes:
        kind: what is found.
        name: tells it from others of its kind.
        anchor: near what it is looked for, a name of ``anchors.py``; empty where ``leads`` tell it.
        leads: with what a match begins: how many digits stand together at its head, or a bracket,
            a plus, or a word, or letters right before it (``number_starts.py``). Matches are tried
            at these places only.
        pattern: bounded in width, without repeats nested over the same characters. A group
            ``value`` narrows what is found; a group ``sure`` that took part stands for context.
        score: how believable a match is without context, 0 to 1.
        in_context: the same with a word of its context nearby; 0 means as without.
        context: the subject whose words speak for it, in ``context_words.py``.
        reach: how many characters before and behind are searched for context.
        clues: the text holds one of these, in small letters, or no match is possible.
        numbered: whether a number begins right behind the clue, or behind a space there.
        signs: each of them stands in the window, or no match is possible.
        holds: a check of the match's letters and digits, in capitals: a checksum.
        fits: a check of the match and what is around it.
        countered: whether a nearer word of orders and versions lowers the score.
        trim: what to leave out at the head of a match, in scripts without spaces.
        against: a subject whose words speak against it when they stand nearer.
    """

    kind: PersonalKind
    name: str
    anchor: str
    pattern: str
    score: float
    in_context: float = 0.0
    context: str = ""
    reach: tuple[int, int] = (60, 30)
    clues: tuple[str, ...] = ()
    numbered: bool = False
    signs: str = ""
    holds: Callable[[str], bool] | None = None
    fits: Callable[[re.Match[str]], bool] | None = None
    countered: bool = True
    trim: str = ""
    leads: frozenset[Lead] = frozenset()
    against: str = "counter"

    @cached_property
    def needs_context(self) -> bool:
        """Whether no match is believable without a word of its context."""
        return bool(self.context) and self.score < BELIEVABLE and "(?P<sure>" not in self.pattern

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled when a text first needs it."""
        return re.compile(self.pattern)

    @cached_property
    def trimmed(self) -> re.Pattern[str]:
        """The pattern of ``trim``, compiled likewise."""
        return re.compile(self.trim)


def letters_and_digits(text: str) -> str:
    """The text without separators, in capitals."""
    return "".join(filter(str.isalnum, text)).upper()
