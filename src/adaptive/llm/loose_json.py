"""JSON as models write it, read to the letter and in linear time.

Beyond JSON are read: comments; commas doubled, left over, or forgotten at the end of a line; other
quotes than ``"``; bare names; line breaks and unknown escapes within strings; the words of Python
and JavaScript; a bracket too many, or one forgotten before the next one closes; full-width colons
and commas. Nothing is guessed: no string, number or word comes out that does not stand between its
own marks. What the text breaks off in is handed out as far as it goes, and is not ``whole``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

# What a reply is asked for has four levels; a call of a tool around it has about eight more.
_DEEPEST = 64
_LONGEST_EXACT_INTEGER = 18
# The longest fact that is taken has half as many.
_LONGEST_OTHER_STRING = 8000
# Each strict try that fails counts the lines of the text up to there.
_MOST_STRICT_TRIES = 4

ReadingState = Literal["whole", "ended", "broken"]


class JsonObject(dict[str, Any]):
    """An object, and what a plain ``dict`` forgets of it.

    Attributes:
        whole: whether its closing bracket was reached.
        twice: names that stand in it with two values that differ; the later one is held.
    """

    __slots__ = ("twice", "whole")

    def __init__(self, pairs: Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__()
        self.whole = True
        self.twice: set[str] = set()
        for name, value in pairs:
            self.put(name, value)

    def put(self, name: str, value: Any) -> Any:
        """Add a value and return what holds it; lists and objects of one name become one list."""
        former: object = self.get(name)
        if isinstance(former, list) and isinstance(value, list):
            held = cast(list[object], former)
            held.extend(cast(list[object], value))
            return held
        if isinstance(former, list | dict) and isinstance(value, dict):
            known = cast(list[object], former if isinstance(former, list) else [former])
            self[name] = JsonList([*known, cast(object, value)])
            return cast(object, value)
        if name in self and not _is_same(self[name], value):
            self.twice.add(name)
        self[name] = value
        return value


def _is_same(one: object, other: object) -> bool:
    return type(one) is type(other) and not isinstance(one, list | dict) and one == other


class JsonList(list[Any]):
    """A list; ``whole`` says whether its closing bracket was reached."""

    __slots__ = ("whole",)

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__(values)
        self.whole = True


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from a bracket on.

    Attributes:
        value: the object or list, as far as it goes.
        end: the place in the text where reading stopped.
        state: closed, cut by the end of the text, or broken off at something that is not read.
        named: whether a name with a colon was read, which brackets in prose seldom hold.
    """

    value: object
    end: int
    state: ReadingState
    named: bool


def read_strictly(text: str, start: int) -> Reading | None:
    """The JSON value that begins at ``start``, if it is one to the letter and not too deep."""
    try:
        value, end = _strict_decoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return Reading(value, end, "whole", named=True) if _is_shallow(value) else None


def read_loosely(text: str, start: int) -> Reading:
    """What begins with the bracket at ``start``, by the wider rules above."""
    return _LooseReader(text, start).read()


@cache
def _strict_decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=JsonObject)


def _is_shallow(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [child for box in level for child in _boxes_in(box)]
        if not level:
            return True
    return False


def _boxes_in(box: object) -> list[object]:
    if isinstance(box, dict):
        children: Iterable[object] = cast(dict[str, object], box).values()
    elif isinstance(box, list):
        children = cast(list[object], box)
    else:
        return []
    return [child for child in children if isinstance(child, list | dict)]


_PLAIN_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_GAP = re.compile(
    r"(?:[\s\ufeff\u200b]++|\\[nrt]|//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z))*+"
)
_COMMAS = frozenset({",", "\uff0c"})
_COLONS = frozenset({":", "\uff1a"})
# What Ruby, PHP and Lua have in the place of the colon.
_ASSIGNS = re.compile(r"=>?(?!=)")
# A string in parts, as the source code of a program has it.
_GOES_ON = re.compile(r'\s{0,20}\+\s{0,20}(?=")')
_BARE_NAME = re.compile(r"[^\W\d]\w{0,63}")
_ATOM = re.compile(r"[^\s,\uff0c:\uff1a{}\[\]\"'/#`]{1,64}")
_NUMBER = re.compile(r"[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,4})?%?")
_WORD_VALUES: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "undefined": None,
    "nan": float("nan"),
    "infinity": float("inf"),
    "-infinity": float("-inf"),
}
# Opening quotes other than `"`, each with what closes it.
_OTHER_QUOTES = {
    "'": "'",
    "\u2018": "\u2019\u2018'",
    "\u201c": '\u201d\u201c"',
    "\u201e": '\u201c\u201d"',
    "\u00ab": "\u00bb",
    "\uff02": "\uff02",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "`": "`",
}
# A quote of these closes only before a colon, a comma, a bracket or the end: the apostrophe in
# "the user's" does not.
_AFTER_QUOTE = re.compile(r"[\s\ufeff\u200b]*+([,\uff0c:\uff1a}\]]|\Z)")
_AFTER_OBJECT = re.compile(r"[ \t]*+(?:[\r\n,\uff0c\]}\[{/#`]|\Z)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@cache
def _closing_candidates(opening: str) -> re.Pattern[str]:
    return re.compile(rf"\\.|[{_OTHER_QUOTES[opening]}]", re.DOTALL)


class _LooseReader:
    """One pass from a bracket on, with the open containers on a stack of its own."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._at = start
        self._open: list[JsonObject | JsonList] = []
        self._named = False
        self._fresh = True
        self._other_quotes = False
        self._strict_tries = _MOST_STRICT_TRIES

    def read(self) -> Reading:
        root = self._begin(None)
        while self._open and self._step():
            pass
        state: ReadingState = "whole"
        if self._open:
            state = "ended" if self._at >= len(self._text) else "broken"
        return Reading(root, self._at, state, self._named)

    def _mark(self) -> str:
        return self._text[self._at : self._at + 1]

    def _step(self) -> bool:
        """Read the next member or closing bracket; false where reading can't go on."""
        apart = self._pass_separators()
        mark = self._mark()
        if mark in ("}", "]"):
            return self._close(mark)
        box = self._open[-1]
        if isinstance(box, JsonList):
            return bool(mark) and (apart or mark == "{") and self._value(None)
        name = self._name() if mark and apart else None
        return name is not None and self._value(name)

    def _pass_separators(self) -> bool:
        """Go to the next token, and say whether it stands apart from the value before."""
        begin, comma = self._at, False
        self._pass_gap()
        while self._mark() in _COMMAS:
            comma = True
            self._at += 1
            self._pass_gap()
        return self._fresh or comma or "\n" in self._text[begin : self._at]

    def _pass_gap(self) -> None:
        gap = _GAP.match(self._text, self._at)
        self._at = gap.end() if gap else self._at

    def _close(self, mark: str) -> bool:
        box = self._open[-1]
        if mark == _closing_of(box):
            followed = _AFTER_OBJECT.match(self._text, self._at + 1)
            if self._other_quotes and isinstance(box, JsonObject) and not followed:
                return False  # the bracket may stand in a string whose quotes are not clear
            self._at += 1
        elif self._other_quotes:
            return False
        elif len(self._open) < 2 or mark != _closing_of(self._open[-2]):
            self._at += 1
            return True
        box.whole = True
        self._open.pop()
        self._fresh = False
        return True

    def _name(self) -> str | None:
        quoted = self._mark() == '"'
        if quoted or self._mark() in _OTHER_QUOTES:
            name = self._string(is_name=True)
        else:
            bare = _BARE_NAME.match(self._text, self._at)
            name = bare[0] if bare else None
            self._at = bare.end() if bare else self._at
        if name is None:
            return None
        self._pass_gap()
        assigns = _ASSIGNS.match(self._text, self._at) if quoted else None
        if self._mark() not in _COLONS and not assigns:
            return None
        self._at = assigns.end() if assigns else self._at + 1
        self._named = True
        self._pass_gap()
        return name

    def _value(self, name: str | None) -> bool:
        mark = self._mark()
        if mark in ("{", "["):
            return self._strict_element(mark) or self._begin(name) is not None
        if mark == '"' or mark in _OTHER_QUOTES:
            said = self._string(is_name=False)
            return said is not None and self._put(name, said)
        atom = _ATOM.match(self._text, self._at)
        if not atom:
            return False
        if atom.end() >= len(self._text):  # the end may have cut it short
            self._at = atom.end()
            return False
        scalar = _scalar(atom[0])
        if not scalar:
            return False
        self._at = atom.end()
        return self._put(name, scalar[0])

    def _strict_element(self, mark: str) -> bool:
        """Take an object in a list at once if it is JSON to the letter, as most are."""
        if mark != "{" or isinstance(self._open[-1], JsonObject) or not self._strict_tries:
            return False
        reading = read_strictly(self._text, self._at)
        if not reading:
            self._strict_tries -= 1
            return False
        self._at = reading.end
        self._named = True
        return self._put(None, reading.value)

    def _begin(self, name: str | None) -> JsonObject | JsonList | None:
        """Open the container at hand, which belongs to its parent from now on."""
        if len(self._open) >= _DEEPEST:
            return None
        box: JsonObject | JsonList = JsonObject() if self._mark() == "{" else JsonList()
        if self._open:
            parent = self._open[-1]
            if isinstance(parent, JsonObject):
                box = parent.put(name or "", box)
            else:
                parent.append(box)
        box.whole = False
        self._open.append(box)
        self._at += 1
        self._fresh = True
        return box

    def _put(self, name: str | None, value: object) -> bool:
        box = self._open[-1]
        if isinstance(box, JsonObject):
            box.put(name or "", value)
        else:
            box.append(value)
        self._fresh = False
        return True

    def _string(self, *, is_name: bool) -> str | None:
        begin = self._at + 1
        if self._text.startswith("```", self._at):  # the end of a fence
            return None
        if self._mark() == '"':
            plain = _PLAIN_STRING.match(self._text, self._at)
            self._at = plain.end() if plain else len(self._text)
            return _unescaped(plain[1]) + self._next_part() if plain else None
        end = min(len(self._text), begin + _LONGEST_OTHER_STRING)
        for quote in _closing_candidates(self._mark()).finditer(self._text, begin, end):
            after = _AFTER_QUOTE.match(self._text, quote.end())
            if len(quote[0]) > 1 or not after:
                continue
            self._at = quote.end()
            if after[1] and (after[1] in _COLONS) != is_name:
                return None
            self._other_quotes = True
            return _unescaped(self._text[begin : quote.start()])
        self._at = end
        return None

    def _next_part(self) -> str:
        """What is added to a string with a plus sign; the parts of a cut string end the text."""
        parts: list[str] = []
        while (plus := _GOES_ON.match(self._text, self._at)) and (
            part := _PLAIN_STRING.match(self._text, plus.end())
        ):
            parts.append(_unescaped(part[1]))
            self._at = part.end()
        return "".join(parts)


def _closing_of(box: JsonObject | JsonList) -> str:
    return "}" if isinstance(box, JsonObject) else "]"


def _scalar(atom: str) -> tuple[Any] | None:
    word = atom.lower()
    if word in _WORD_VALUES:
        return (_WORD_VALUES[word],)
    if not _NUMBER.fullmatch(atom):
        return None
    if atom.endswith("%"):
        return (atom,)
    if atom.lstrip("+-").isdigit() and len(atom) <= _LONGEST_EXACT_INTEGER:
        return (int(atom),)
    return (float(atom),)


def _unescaped(raw: str) -> str:
    """The text that escapes stand for; an escape that JSON does not know stays as written."""
    if "\\" not in raw:
        return raw
    text = _ESCAPE.sub(_escape_value, raw)
    if any("\ud800" <= character <= "\udfff" for character in text):  # halves of one character
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _escape_value(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code) or (escape[0] if code.isalnum() else code)
