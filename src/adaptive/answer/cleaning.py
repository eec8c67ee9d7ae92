"""An answer without what a model left in it by mistake: marks of its template, repeated JSON.

Code stays as it is, and so does a mark that is spoken of. What is clean is not touched, and
cleaning twice changes nothing more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from adaptive.messages import has_words

Span = tuple[int, int]

# What is left when a mark goes may be a mark again. A text that needs more is no slip of a model.
_MOST_CLEANINGS = 4
# How far around a mark its line and the space that it leaves are looked at.
_LOOKED_AT = 200
_QUOTED = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’", "(": ")"}  # noqa: RUF001
_RUNAWAY_REPEATS = 3
# Each failure may read the rest of the text.
_MOST_UNREADABLE = 64
_GAP = re.compile(r"[\s,;]*")

# Fences as in CommonMark 0.31 (4.5), whatever quotes and indentation stand before them, and with a
# model's end mark glued to them; lines that are indented by four; code spans (6.1).
_FENCE_INDENT = r"[ \t>]{0,80}"
_CODE = re.compile(
    rf"^{_FENCE_INDENT}(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]{{1,4}})?"
    r"(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*(?P<body>[\s\S]*?)"
    rf"(?:\n{_FENCE_INDENT}(?P=fence)[`~]*(?=[ \t]*(?:$|</|<\|))|\Z)"
    r"|^(?: {4}|\t)[^\n]*$"
    rf"|(?<![\\`])(?P<ticks>`+)(?!`)(?:(?!\n{_FENCE_INDENT}(?:\n|```|~~~))[\s\S]){{1,1000}}?"
    r"(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE,
)
_TAGS = (
    "s|tool_codes?|tool_calls?|tool_responses?|tool_results?|tool_outputs?|function"
    "|function_calls?|function_results?|invoke|think|thinking|reasoning|answer|response"
)
# Control tokens of chat templates (ChatML, Llama, Gemma, Mistral, DeepSeek, Harmony), and tags. A
# role or a channel that a token opens belongs to it.
_MARK = re.compile(
    r"<\|(?:im_start|start_header_id|start|role)\|>"
    r"(?:(?:system|developer|user|assistant|tool|ipython)\b)?"
    r"|<\|channel\|>(?:(?:analysis|commentary|final)\b)?"
    r"|<start_of_turn>(?:(?:model|user)\b)?"
    r"|<\|[A-Za-z_][A-Za-z0-9_]{0,40}\|>|<\uff5c[^<>\uff5c\n]{1,40}\uff5c>"
    r"|<end_of_turn>|<(?:bos|eos|pad|unk)>|<</?SYS>>"
    r"|\[/?(?-i:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]"
    rf"|</(?P<closing>{_TAGS})>|<(?P<opening>{_TAGS})>",
    re.IGNORECASE,
)


def masked_code(text: str) -> str:
    """The text with each sign of code replaced by a letter, so that all places stay the same."""
    return _CODE.sub(lambda code: "x" * len(code[0]), text)


def cleaned_answer(text: str) -> str:
    """The answer without stray marks and runaway JSON."""
    cleaned = text
    for _ in range(_MOST_CLEANINGS):
        masked = masked_code(cleaned)
        cuts = [*_mark_cuts(masked), *_json_cuts(cleaned, masked)]
        if not cuts:
            return cleaned
        cleaned = _without_cuts(cleaned, cuts)
    return text


def _without_cuts(text: str, cuts: Sequence[Span]) -> str:
    kept: list[str] = []
    position = 0
    for start, end in sorted(cuts):
        kept.append(text[position : max(start, position)])
        position = max(end, position)
    return "".join([*kept, text[position:]])


def _mark_cuts(text: str) -> list[Span]:
    """What to cut out of a text for its stray marks; those that follow each other go together."""
    groups: list[tuple[int, int, int]] = []
    for start, end in _stray_marks(text):
        if groups and not text[groups[-1][1] : start].strip():
            groups[-1] = (groups[-1][0], end, groups[-1][2] + 1)
        else:
            groups.append((start, end, 1))
    found = (_cut_around(text, start, end, spoken_of=number == 1) for start, end, number in groups)
    return [cut for cut in found if cut is not None]


def _stray_marks(text: str) -> Iterator[Span]:
    """The marks without those that are one of a pair, or open something in the middle.

    ``<s>crossed out</s>`` is HTML.
    """
    marks = list(_MARK.finditer(text))
    opened: dict[str, list[int]] = {}
    paired: set[int] = set()
    for number, mark in enumerate(marks):
        if mark["opening"]:
            opened.setdefault(mark["opening"].lower(), []).append(number)
        elif mark["closing"] and (openings := opened.get(mark["closing"].lower())):
            paired |= {number, openings.pop()}
    first_word, last_word = len(text) - len(text.lstrip()), len(text.rstrip())
    for number, mark in enumerate(marks):
        inside = mark.start() > first_word and mark.end() < last_word
        if number not in paired and not (mark["opening"] and inside):
            yield mark.span()


def _cut_around(text: str, start: int, end: int, *, spoken_of: bool) -> Span | None:
    """Marks with the space that would be left over at a line's or at the text's ends.

    ``None`` of one that is quoted, or stands as a word in the middle of a line, if it may be
    ``spoken_of``.
    """
    ahead, behind = text[max(start - _LOOKED_AT, 0) : start], text[end : end + _LOOKED_AT]
    in_line = ahead.rpartition("\n")[2].strip() and behind.partition("\n")[0].strip()
    quoted = ahead and behind and _QUOTED.get(ahead[-1]) == behind[0]
    if spoken_of and (quoted or (ahead[-1:] in (" ", "\t") and in_line)):
        return None
    before = start - len(ahead) + len(ahead.rstrip())
    after = end + len(behind) - len(behind.lstrip())
    if before == 0 or after == len(text):
        return before, after
    if (line_end := text.find("\n", end, after)) < 0:
        return start, end
    line_start = text.rfind("\n", before, start)
    return (before, end) if line_start < 0 else (line_start + 1, line_end + 1)


def _json_cuts(text: str, masked: str) -> list[Span]:
    """What to cut out of a text for JSON that a model repeats until it is stopped.

    Three or more equal objects with nothing but space and commas between them go, in prose or each
    in a fence of its own, and with them the beginning of another one that the end of the text cuts
    off. An answer that holds nothing else keeps the first.
    """
    cuts: list[Span] = []
    kept: list[Span] = []
    done = 0
    for start, end in _objects(text, masked):
        if start < done:
            continue
        block, number, done = text[start:end], 1, end
        while text.startswith(block, after := _GAP.match(text, done).end()):  # type: ignore[union-attr]
            number, done = number + 1, after + len(block)
        if block.startswith(text[after:].rstrip()):
            done = len(text)
        if number >= _RUNAWAY_REPEATS:
            cuts.append((start, done))
            kept.append((end, done))
    return cuts if has_words(_without_cuts(text, cuts)) else kept


def _objects(text: str, masked: str) -> list[Span]:
    """Where JSON objects stand in prose, and fences that hold nothing but one."""
    found: list[Span] = []
    position, failures = masked.find("{"), 0
    while position >= 0 and failures < _MOST_UNREADABLE:
        end = _object_end(text, position)
        if end and masked[position:end] == text[position:end]:
            found.append((position, end))
        else:
            end, failures = position + 1, failures + 1
        position = masked.find("{", end)
    for code in _CODE.finditer(text):
        body = (code["body"] or "").strip()
        if body.startswith("{") and _object_end(body, 0) == len(body):
            found.append(code.span())
    return sorted(found)


def _object_end(text: str, position: int) -> int:
    """Where the JSON object ends that begins there; 0 where none does, or an empty one."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, position)
    except (ValueError, RecursionError):
        return 0
    return end if value else 0
