"""A model's reply as text to the items in it: what may be taken is taken, nothing else is.

The ladder:

1. Reasoning goes: what stands between the marks of any family of models, what stands before the
   end of a reasoning whose opening the chat template swallowed, and all that follows one which
   never ends.
2. Each bracket in what is left is read as strict JSON, else by the wider rules of ``loose_json``.
   Text, fences and tags between the values are passed over.
3. A value that the end of the text cuts gives its complete items only. One that is broken in
   the middle is handed to ``json-repair``, where that can be imported and every word of the result
   proves to be the text's own (see ``repair``); else it too gives its complete items, and reading
   goes on with what begins a line after the break.
4. Items are looked for in a value as ``envelope`` says.
5. Values one after the other are all taken. A list is an answer as a whole: of two with prose
   between them the later is taken if it says what the earlier does, and maybe more; else it is not
   known which is meant, and neither is taken.

A half item is worse than none: half a sentence would be kept as a fact. Nothing here reads YAML,
XML, Markdown or prose: a reply in these is unusable, and the model is asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Any

from adaptive.errors import ReplyUnusable
from adaptive.llm.envelope import Found, ReplyForm, found_items
from adaptive.llm.loose_json import Reading, read_loosely, read_strictly
from adaptive.llm.repair import repaired_json
from adaptive.shapes import mapping

# Some 60,000 tokens, fifteen times what is asked for; more would hold up the event loop.
_LARGEST_REPLY_TEXT = 256 * 1024
# Each failure of strict reading counts the lines up to it; then the wider rules alone do.
_MOST_STRICT_FAILURES = 16
# How often a bracket that led nowhere is read again from the next one on.
_MOST_SECOND_LOOKS = 64
_MOST_REPAIRS = 2
_MOST_VALUES = 12_000
_MOST_FAILURES = 500
# How often a reply is taken out of a string, of HTML or of full-width signs.
_MOST_WRAPPINGS = 3

REPLY_TOO_LONG = "the model's reply is longer than 256 kB"
REPLY_EMPTY = "the model's reply is empty"
REPLY_ONLY_REASONING = "the model only reasoned and gave no answer"
REPLY_PROSE = "the model answered in prose"
REPLY_CUT = "the model's reply ends in the middle"
REPLY_NO_JSON = "the model's reply is no usable JSON"
REPLY_SEVERAL = "the model gave several answers that differ"


@dataclass(frozen=True, slots=True)
class ReplyItems:
    """What a reply holds.

    Attributes:
        items: in the order in which they stand; objects, and whatever else is in the list.
        cut: whether the end of the text cut something off.
        broken: whether something in it could not be read.
    """

    items: list[Any]
    cut: bool = False
    broken: bool = False


def reply_items(text: str, key: str, *, cut: bool = False) -> list[Any]:
    """The items of the list under ``key``; outside of it, one has an ``operation`` or an ``id``.

    ``cut`` says that the provider reported the token limit.

    Raises:
        ReplyUnusable: nothing of that kind is in the reply.
    """
    return read_reply(text, ReplyForm(key, _has_operation_or_id), cut=cut).items


def read_reply(text: str, form: ReplyForm, *, cut: bool = False) -> ReplyItems:
    """All that a reply in this form holds; ``cut`` says that the provider reported the limit.

    Raises:
        ReplyUnusable: nothing of that form is in the reply. Its text quotes nothing of it.
    """
    if len(text) > _LARGEST_REPLY_TEXT:
        raise ReplyUnusable(REPLY_TOO_LONG)
    text = text.strip().lstrip("\ufeff").lstrip()
    if not text:
        raise ReplyUnusable(REPLY_EMPTY)
    scan = _ReplyScan(text, form, cut=cut)
    plain: str | None = text
    for _ in range(_MOST_WRAPPINGS):
        plain = _unwrapped(plain) if plain and not scan.answers else None
        again = _ReplyScan(plain, form, cut=cut) if plain else None
        scan = again if again and again.answers else scan
    return scan.result()


def _has_operation_or_id(fields: Mapping[str, Any]) -> bool:
    return "operation" in fields or "id" in fields


# Marks of reasoning: those that Open WebUI knows (host: utils/middleware.py), its own rendering of
# them, and those of Mistral, Cohere and gpt-oss.
_REASONING_TAGS = (
    "think|thinking|thoughts?|reason|reasoning|reflection|analysis|scratchpad|seed:think"
)
_ONLY_CLOSING = (
    rf"</(?:{_REASONING_TAGS})>|\[/think\]|<\|end_of_thought\|>|<\|end_thinking\|>|\u25c1/think\u25b7"
    r"|<\|channel\|>final<\|message\|>|assistantfinal"
)


@cache
def _marks() -> re.Pattern[str]:
    opening = (
        rf"<(?:{_REASONING_TAGS})(?:\s[^<>]{{0,200}})?>|<details\s{{1,9}}type=.reasoning.[^<>]{{0,500}}>"
        r"|\[think\]|<\|begin_of_thought\|>|<\|start_thinking\|>|\u25c1think\u25b7"
        r"|<\|channel\|>analysis<\|message\|>"
    )
    return re.compile(
        rf"(?=[<\[{{\u25c1a])(?:(?P<opening>{opening})|(?P<closing>{_ONLY_CLOSING})|[\[{{])",
        re.IGNORECASE,
    )


@cache
def _end_of_reasoning() -> re.Pattern[str]:
    return re.compile(rf"{_ONLY_CLOSING}|</details>|<\|end\|>", re.IGNORECASE)


_QUOTED_NAME = re.compile(r"""(?:\[\s{0,20})?\{\s{0,20}\\?["'\u201c\u201e]\w""")
_LINE_OF_VALUE = re.compile(r"\n[ \t]*+(?=[\[{])")
_ANSWER_AT_ONCE = re.compile(r"[\[{]|```")
# What may stand between two values that belong together: tags, fences, numbers of a list.
_NO_PROSE = re.compile(r"<[^<>]{0,80}>|```\w{0,20}|\[/?[A-Z_]{1,30}\]")
_PROSE = re.compile(r"[^\W\d_]")


@dataclass(slots=True)
class _Answer:
    """Items in one value of the reply, and the places where that begins and ends."""

    found: Found
    start: int
    end: int

    @property
    def says_nothing(self) -> bool:
        """Whether it is the list that was asked for, and empty."""
        found = self.found
        return found.listed and found.finished and not found.bare and not found.items


class _ReplyScan:
    """One way through a reply, from bracket to bracket."""

    def __init__(self, text: str, form: ReplyForm, *, cut: bool) -> None:
        self.answers: list[_Answer] = []
        self._text = text
        self._form = form
        self._reported = cut
        # Where a value begins of which a part could not be read.
        self._losses: list[int] = []
        self._lost_end = self._open_end = self._reasoned = self._brackets = False
        self._values = self._failures = self._repairs = 0
        first = _marks().match(text)
        reasons = first is not None and bool(first["opening"] or first["closing"])
        self._at_once = bool(_ANSWER_AT_ONCE.match(text)) and not reasons
        self._run()

    def result(self) -> ReplyItems:
        """The items of all answers; raises ``ReplyUnusable`` where there is none."""
        if not self.answers:
            raise ReplyUnusable(self._reason())
        self._drop_void()
        begin, items = self._agreed()
        last = self.answers[-1]
        ends = self._lost_end or (
            self._reported and not (last.found.listed and last.found.finished)
        )
        return ReplyItems(items, cut=ends, broken=any(start >= begin for start in self._losses))

    def _reason(self) -> str:
        if not self._brackets:
            return REPLY_ONLY_REASONING if self._reasoned else REPLY_PROSE
        return REPLY_CUT if self._reported or self._open_end else REPLY_NO_JSON

    def _run(self) -> None:
        position: int | None = 0
        while (
            position is not None
            and self._may_go_on()
            and (mark := _marks().search(self._text, position))
        ):
            if mark["opening"]:
                closing = _end_of_reasoning().search(self._text, mark.end())
                self._reasoned = True
                position = closing.end() if closing else None
            elif mark["closing"]:
                position = mark.end()
                if not self._at_once:
                    self._forget()
            else:
                self._brackets = True
                position = self._take(mark.start())
        self._settle()
        if not self._may_go_on():
            self._losses.append(len(self._text))

    def _may_go_on(self) -> bool:
        return self._values < _MOST_VALUES and self._failures < _MOST_FAILURES

    def _forget(self) -> None:
        """What stood before was reasoning."""
        self.answers.clear()
        self._reasoned = True
        self._losses.clear()
        self._lost_end = self._open_end = self._brackets = False

    def _take(self, start: int) -> int | None:
        """Read the value at a bracket; the place to go on from, ``None`` where the text ends."""
        reading = self._read(start)
        found = found_items(reading.value, self._form)
        if reading.state == "broken" and reading.named and not (found and found.finished):
            repaired = self._repaired(start, found)
            if repaired:
                return repaired
        if found:
            self._note(found, start, reading)
        if reading.state == "whole":
            self._values += 1
            return reading.end
        self._failures += 1
        self._open_end = self._open_end or reading.state == "ended"
        if reading.state == "ended" and (found or reading.named):
            self._lost_end = self._lost_end or not found or not found.finished
            return None
        if found or _QUOTED_NAME.match(self._text, start):
            if not found and reading.state == "broken":
                self._losses.append(start)
            following = _LINE_OF_VALUE.search(self._text, reading.end)
            return following.end() if following else None
        again = self._failures <= _MOST_SECOND_LOOKS
        return start + 1 if again else max(start + 1, reading.end)

    def _read(self, start: int) -> Reading:
        strict = None
        if self._failures < _MOST_STRICT_FAILURES:
            strict = read_strictly(self._text, start)
        return strict or read_loosely(self._text, start)

    def _repaired(self, start: int, found: Found | None) -> int | None:
        """Take what json-repair makes of a broken value, and say where that ends."""
        if self._reported or self._repairs >= _MOST_REPAIRS:
            return None
        self._repairs += 1
        repaired = repaired_json(self._text[start:])
        better = found_items(repaired[0], self._form) if repaired else None
        if not repaired or not better or len(better.items) < len(found.items if found else []):
            return None
        end = start + repaired[1]
        self._note(better, start, Reading(None, end, "whole", named=True))
        return end

    def _note(self, found: Found, start: int, reading: Reading) -> None:
        # The form that a model repeats from its prompt before it answers is no loss.
        repeated = not found.items and self._text[reading.end : reading.end + 1] == "<"
        if not found.finished and reading.state != "ended" and not repeated:
            self._losses.append(start)
        self.answers.append(_Answer(found, start, reading.end))

    def _settle(self) -> None:
        """Drop what is no answer: half items alone, and empty brackets in prose."""
        kept = [one for one in self.answers if one.found.items or one.says_nothing]
        if self.answers and not kept and not self._losses:
            last = self.answers[-1]
            if last.found.finished and not self._is_prose(last.end, len(self._text)):
                kept = [last]
        self.answers = kept

    def _is_prose(self, start: int, end: int) -> bool:
        return _PROSE.search(_NO_PROSE.sub("", self._text[start:end])) is not None

    def _drop_void(self) -> None:
        """Drop examples of the form, which say nothing, where something else is an answer."""
        telling = [
            one
            for one in self.answers
            if not one.found.items
            or not all(self._form.is_void(mapping(item)) for item in one.found.items)
        ]
        self.answers = telling or self.answers

    def _agreed(self) -> tuple[int, list[Any]]:
        """All items, if the answers go together or say the same, and where they begin."""
        versions: list[list[Any]] = [[]]
        begin = 0
        before: _Answer | None = None
        for answer in self.answers:
            if before and self._are_rivals(before, answer):
                versions.append([])
                begin = answer.start
            versions[-1] += answer.found.items
            before = answer
        last = versions[-1]
        if any(one != last and one != last[: len(one)] for one in versions):
            raise ReplyUnusable(REPLY_SEVERAL)
        return begin, last

    def _are_rivals(self, before: _Answer, after: _Answer) -> bool:
        if not before.found.finished:  # what follows is the rest of it, or another try
            return after.found.listed
        listed = before.found.listed or after.found.listed
        return listed and self._is_prose(before.end, after.start)


_FULL_WIDTH = str.maketrans("\uff5b\uff5d\uff3b\uff3d\uff02", '{}[]"')


def _unwrapped(text: str) -> str | None:
    """The text of a reply that nothing was found in, freed of one layer; ``None`` without one."""
    if "&quot;" in text or "&#34;" in text:
        return unescape(text)
    if "\uff5b" in text:
        return text.translate(_FULL_WIDTH)
    lines = text.splitlines()
    for mark in (">", "+"):
        if all(line.startswith(mark) or not line.strip() for line in lines):
            return "\n".join(line[1:] for line in lines)
    return _without_escapes(text)


def _without_escapes(text: str) -> str | None:
    """The text of a reply that is a JSON string, or the inside of one; ``None`` of any other."""
    start = re.search(r"[\[{]", text)
    if not start or '\\"' not in text:
        return None
    inside = text[start.start() :].removesuffix('"')
    try:
        return json.JSONDecoder(strict=False).decode(f'"{inside}"')
    except ValueError:
        return None
