"""The set of model replies: every group, and the replies that are cut at every byte."""

from __future__ import annotations

from collections.abc import Iterator

from tests.llm.replies.around import FENCED, PROSE, REASONING
from tests.llm.replies.case import ReplyCase
from tests.llm.replies.characters import CHARACTERS
from tests.llm.replies.clean import CLEAN
from tests.llm.replies.endings import CUT_OFF, LIMITS, UNUSABLE
from tests.llm.replies.fields import IDS, NAMES, OPERATIONS, VALUES
from tests.llm.replies.notation import LITERALS, PUNCTUATION, QUOTES
from tests.llm.replies.shapes import CALLS, NESTED, SEVERAL
from tests.llm.replies.strangers import EXAMPLES, PROGRAMS, SORTED, WORDS, WRAPPED

REPLIES: tuple[ReplyCase, ...] = (
    *CLEAN,
    *FENCED,
    *PROSE,
    *REASONING,
    *PUNCTUATION,
    *QUOTES,
    *LITERALS,
    *NESTED,
    *CALLS,
    *SEVERAL,
    *NAMES,
    *OPERATIONS,
    *IDS,
    *VALUES,
    *CHARACTERS,
    *SORTED,
    *WRAPPED,
    *EXAMPLES,
    *PROGRAMS,
    *WORDS,
    *CUT_OFF,
    *UNUSABLE,
    *LIMITS,
)
_LONGEST_SAMPLE = 1200


def samples() -> tuple[ReplyCase, ...]:
    """The replies that are cut at every byte: those that hold something, and are short enough."""
    return tuple(
        case
        for case in REPLIES
        if case.operations and not case.draft and len(_raw(case.reply)) < _LONGEST_SAMPLE
    )


def cuts(reply: str) -> Iterator[str]:
    """A reply cut after each of its bytes; half a character is what a decoder makes of it."""
    raw = _raw(reply)
    for end in range(len(raw)):
        yield raw[:end].decode("utf-8", "replace")


def _raw(reply: str) -> bytes:
    return reply.encode("utf-8", "surrogatepass")
