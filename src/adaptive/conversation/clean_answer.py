"""An answer without what a model left in it by mistake: marks of its template, repeated JSON.

Code stays as it is, and so does a mark that is spoken of. What is clean is not touched, and
cleaning twice changes nothing more.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from adaptive.conversation.prose import MarkedCode, Span, without_cuts
from adaptive.conversation.runaway_json import runaway_json

AnswerAnomaly = Literal["sanitised", "empty_response"]

# What is left when a mark goes may be a mark again. A text that needs more passes, or holds
# more marks, is no slip of a model; it stays whole.
_MOST_CLEANINGS = 4
_MOST_MARKS = 20_000
_LINE_LOOKED_AT = 200
_QUOTED = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’", "(": ")"}  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class CleanAnswer:
    """An answer as it may be stored, and what was wrong with it."""

    text: str
    anomalies: tuple[AnswerAnomaly, ...] = ()


def cleaned_answer(text: str) -> CleanAnswer:
    """The answer without stray marks and runaway JSON; it takes time linear in its length."""
    cleaned = _cleaned_text(text)
    anomalies: list[AnswerAnomaly] = ["sanitised"] if cleaned != text else []
    if not cleaned.strip():
        anomalies.append("empty_response")
    return CleanAnswer(cleaned, tuple(anomalies))


def _cleaned_text(text: str) -> str:
    if not _suspicious().search(text):
        return text
    cleaned = text
    for _ in range(_MOST_CLEANINGS):
        cuts = _cuts(cleaned)
        if cuts is None:
            return text
        if not cuts:
            return cleaned
        cleaned = without_cuts(cleaned, cuts)
    return text if _cuts(cleaned) != [] else cleaned


def _cuts(text: str) -> list[Span] | None:
    """What is to go of a text; ``None`` where marks are too many to be slips."""
    code = MarkedCode(text)
    marks = list(itertools.islice(_marks_of_models().finditer(text), _MOST_MARKS + 1))
    if len(marks) > _MOST_MARKS:
        return None
    outside = [mark for mark in marks if not code.holds(mark.start())]
    return [*_artefacts(text, outside), *runaway_json(text, code)]


def _artefacts(text: str, marks: Sequence[re.Match[str]]) -> list[Span]:
    """What to cut out of a text for its marks, with the space that they leave."""
    stray = list(_stray_marks(text, marks))
    cuts: list[Span] = []
    first = 0
    while first < len(stray):
        last = first
        while last + 1 < len(stray) and not text[stray[last][1] : stray[last + 1][0]].strip():
            last += 1
        group = (stray[first][0], stray[last][1])
        if first != last or not _is_spoken_of(text, group):
            cuts.append(_with_space_around(text, group))
        first = last + 1
    return cuts


def _stray_marks(text: str, marks: Sequence[re.Match[str]]) -> Iterator[Span]:
    """The marks without those that are one of a pair, or open something in the middle.

    ``<s>crossed out</s>`` is HTML.
    """
    opened: dict[str, list[int]] = {}
    paired: set[int] = set()
    for number, mark in enumerate(marks):
        name = mark["closing"]
        if mark["opening"]:
            opened.setdefault(mark["opening"].lower(), []).append(number)
        elif name and opened.get(name.lower()):
            paired |= {number, opened[name.lower()].pop()}
    last_word = len(text.rstrip())
    first_word = len(text) - len(text.lstrip())
    for number, mark in enumerate(marks):
        inside = mark.start() > first_word and mark.end() < last_word
        if number not in paired and not (mark["opening"] and inside):
            yield mark.span()


def _is_spoken_of(text: str, group: Span) -> bool:
    """Whether a mark is quoted, or stands as a word in the middle of a line."""
    start, end = group
    before, after = text[start - 1 : start], text[end : end + 1]
    if before and after and _QUOTED.get(before) == after:
        return True
    ahead = text[max(start - _LINE_LOOKED_AT, 0) : start].rpartition("\n")[2]
    behind = text[end : end + _LINE_LOOKED_AT].partition("\n")[0]
    return before in (" ", "\t") and bool(ahead.strip() and behind.strip())


def _with_space_around(text: str, group: Span) -> Span:
    """The marks with the space that would be left over at a line's or at the text's ends."""
    start, end = group
    before, after = start, end
    while before and text[before - 1].isspace():
        before -= 1
    while after < len(text) and text[after].isspace():
        after += 1
    if after == len(text):
        return before, after
    if before == 0:
        return 0, after
    line_end = text.find("\n", end, after)
    if line_end < 0:
        return start, end
    line_start = text.rfind("\n", before, start)
    return (before, end) if line_start < 0 else (line_start + 1, line_end + 1)


@cache
def _suspicious() -> re.Pattern[str]:
    """What any text with something to clean holds."""
    return re.compile(
        r"<[/|<\uff5c]|<(?:s|bos|eos|start_of|end_of|tool|function|think)|\[/?[A-Z]|\{"
    )


@cache
def _marks_of_models() -> re.Pattern[str]:
    """Control tokens of chat templates (ChatML, Llama, Gemma, Mistral, DeepSeek, Harmony), tags.

    A role or a channel that a token opens belongs to it.
    """
    names = (
        "s|tool_codes?|tool_calls?|tool_responses?|tool_results?|tool_outputs?|function"
        "|function_calls?|function_results?|invoke|think|thinking|reasoning|answer|response"
    )
    return re.compile(
        r"<\|(?:im_start|start_header_id|start|role)\|>"
        r"(?:(?:system|developer|user|assistant|tool|ipython)\b)?"
        r"|<\|channel\|>(?:(?:analysis|commentary|final)\b)?"
        r"|<start_of_turn>(?:(?:model|user)\b)?"
        r"|<\|[A-Za-z_][A-Za-z0-9_]{0,40}\|>|<\uff5c[^<>\uff5c\n]{1,40}\uff5c>"
        r"|<end_of_turn>|<(?:bos|eos|pad|unk)>|<</?SYS>>"
        r"|\[/?(?-i:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]"
        rf"|</(?P<closing>{names})>|<(?P<opening>{names})>",
        re.IGNORECASE,
    )
