"""JSON that a model repeats until it is stopped: three equal objects, or three calls of tools."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from adaptive.conversation.prose import MarkedCode, Span, without_cuts
from adaptive.messages import has_words
from adaptive.shapes import mapping

RUNAWAY_REPEATS = 3

# Each failure may read the rest of the text.
_MOST_UNREADABLE = 64
_CALLED = frozenset({"name", "tool", "tool_name", "function", "action", "command"})
_GIVEN = frozenset(
    {"arguments", "args", "parameters", "params", "input", "tool_input", "action_input"}
)


@dataclass(frozen=True, slots=True)
class _JsonBlock:
    """One object: where it stands, what it says in one form, and whether it calls a tool."""

    span: Span
    said: str
    calls: bool


def runaway_json(text: str, code: MarkedCode) -> list[Span]:
    """What to cut out of a text for its runaway JSON.

    Three or more equal objects with nothing but space and commas between them go, in prose or each
    in a fence of its own, and so do three or more calls of tools in prose. The beginning of another
    one that the end of the text cuts off goes with them. An answer that holds nothing else keeps
    the first of equal ones, and all calls.
    """
    if text.count("{") < RUNAWAY_REPEATS:
        return []
    runs = [
        *_json_runs(text, _prose_objects(text, code)),
        *_json_runs(text, _fenced_objects(text, code)),
    ]
    repeated = [part for run in runs for part in _repeated_json(run)]
    called = [run for run in runs if len(run) >= RUNAWAY_REPEATS and all(o.calls for o in run)]
    cuts = [_json_cut(text, part) for part in (*repeated, *called)]
    if not cuts or has_words(without_cuts(text, cuts)):
        return cuts
    kept = len(repeated) if called else 1
    return [_json_cut(text, part, keeps_one=at < kept) for at, part in enumerate(repeated)]


def _json_runs(text: str, blocks: list[_JsonBlock]) -> list[list[_JsonBlock]]:
    """Blocks that follow one another directly."""
    runs: list[list[_JsonBlock]] = []
    for block in blocks:
        if runs and not text[runs[-1][-1].span[1] : block.span[0]].strip(" \t\r\n,;"):
            runs[-1].append(block)
        else:
            runs.append([block])
    return runs


def _repeated_json(run: list[_JsonBlock]) -> list[list[_JsonBlock]]:
    """Three or more equal ones in a row."""
    parts: list[list[_JsonBlock]] = []
    for block in run:
        if parts and parts[-1][0].said == block.said:
            parts[-1].append(block)
        else:
            parts.append([block])
    return [part for part in parts if len(part) >= RUNAWAY_REPEATS]


def _json_cut(text: str, part: list[_JsonBlock], *, keeps_one: bool = False) -> Span:
    """From the first to the last of them, with one that the end of the text has cut."""
    start, end = part[0].span[1 if keeps_one else 0], part[-1].span[1]
    first = text[slice(*part[0].span)]
    gap = len(text[end : end + 200]) - len(text[end : end + 200].lstrip(" \t\r\n,;"))
    rest = text[end + gap : end + gap + len(first) + 1].rstrip()
    if len(text) - end - gap <= len(first) and first.startswith(rest):
        end = len(text)
    return start, end


def _prose_objects(text: str, code: MarkedCode) -> list[_JsonBlock]:
    found: list[_JsonBlock] = []
    failures = 0
    position = text.find("{")
    while position >= 0 and failures < _MOST_UNREADABLE:
        block = None if code.holds(position) else _object_after(text, position, found)
        if block and block.span[1] <= code.next_start(position):
            found.append(block)
            position = text.find("{", block.span[1])
            continue
        failures += not code.holds(position)
        position = text.find("{", position + 1)
    return found


def _object_after(text: str, position: int, found: list[_JsonBlock]) -> _JsonBlock | None:
    """The object that begins there; one that repeats the last one is not read again."""
    if found:
        start, end = found[-1].span
        if text.startswith(text[start:end], position):
            span = (position, position + end - start)
            return _JsonBlock(span, found[-1].said, found[-1].calls)
    return _object_at(text, position)


def _fenced_objects(text: str, code: MarkedCode) -> list[_JsonBlock]:
    found: list[_JsonBlock] = []
    for fence in code.fences:
        start, end = fence.body
        inside = _json_space().match(text, start, end)
        begin = inside.end() if inside else start
        block = _object_at(text, begin) if text.startswith("{", begin) else None
        if block and block.span[1] <= end and not text[block.span[1] : end].strip():
            # Calls in fences are shown to somebody.
            found.append(_JsonBlock((fence.start, fence.end), block.said, calls=False))
    return found


def _object_at(text: str, position: int) -> _JsonBlock | None:
    """The JSON object that begins there; an empty one says nothing."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, position)
        said = json.dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        return None
    fields: Any = mapping(value)
    if not fields:
        return None
    calls = bool(_CALLED & fields.keys()) and bool(_GIVEN & fields.keys())
    return _JsonBlock((position, end), said, calls)


@cache
def _json_space() -> re.Pattern[str]:
    return re.compile(r"\s*")
