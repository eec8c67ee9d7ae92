"""Broken JSON made whole by ``json-repair``, where every word of it proves to be as it was said.

The package guesses: of ``"content": "User said "yes, please" once."`` it makes ``User said``. So
what it returns is compared with the text: only punctuation may differ. No word is missing, new or
moved, and a value of several words stands between quotes in the text as it does in the result.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, cast

from adaptive.soft import soft_import

# A reply of 4000 tokens; json-repair reads some nestings again and again.
_LARGEST_REPAIR = 16 * 1024
_MOST_BRACKETS = 2000
# What may follow an answer: nothing, a closing fence or tag, or prose on a line of its own.
_AFTER_BROKEN = re.compile(r"\s*+\Z|[ \t]*+(?:```|<|\r?\n)")
_REPAIR_WORDS = re.compile(r"\w+")
# What need not be a word of a name or a string: numbers and literals.
_NO_WORD = re.compile(r"\d+(?:[eE]\d*)?|[eE]\d+|true|false|null|none|nan", re.IGNORECASE)
_NUMBERS = re.compile(r"[:,\[]\s*+([-+]?\d{1,20}(?:\.\d{1,20})?)\s*+(?=[,}\]])")
_ESCAPED_CHARACTER = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
# A comma or a bracket follows, or the next name, where the comma is what was forgotten.
_END_OF_VALUE = r"""['"\u2018\u2019\u201c\u201d]\s*+(?:[,}\]]|['"]\w{1,40}['"]\s*+:)"""
_BEGIN_OF_VALUE = r"""['"\u2018\u201c\u201e]"""


def repaired_json(body: str) -> tuple[object, int] | None:
    """What the broken JSON at the beginning of ``body`` says, and where in it that ends.

    ``None`` where json-repair can't be imported, where it finds nothing, and where what it finds
    is not to the letter what the text says.
    """
    fenced = body.partition("\n```")[0]
    end = max(fenced.rfind("}"), fenced.rfind("]")) + 1
    if not end or end > _LARGEST_REPAIR or not _AFTER_BROKEN.match(fenced, end):
        return None
    text = fenced[:end]
    if text.count("[") + text.count("{") > _MOST_BRACKETS:
        return None
    package = soft_import("json_repair", "broken replies of models are not repaired")
    if package is None:
        return None
    try:
        # The two halves of a character that is escaped come back apart; this joins them.
        value = cast(object, json.loads(json.dumps(package.loads(text))))
        return (value, end) if _is_faithful(text, value) else None
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _is_faithful(text: str, value: object) -> bool:
    if isinstance(value, list) != text.startswith("["):  # several values, made into one
        return False
    said = _REPAIR_WORDS.findall(_ESCAPED_CHARACTER.sub(_character, text))
    read = [word for string in _strings_in(value) for word in _REPAIR_WORDS.findall(string)]
    if not _accounts_for(said, read):
        return False
    numbers = {float(number) for number in _NUMBERS.findall(text)}
    return all(
        _is_quoted(text, one) if isinstance(one, str) else one in numbers
        for one in _values_in(value)
    )


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[0][2:], 16)) if len(escape[0]) == 6 else " "


def _accounts_for(said: list[str], read: list[str]) -> bool:
    """Whether ``read`` is ``said`` in its order, but for numbers and literals."""
    position = 0
    for word in said:
        if position < len(read) and word == read[position]:
            position += 1
        elif not _NO_WORD.fullmatch(word):
            return False
    return position == len(read)


def _strings_in(value: object) -> Iterator[str]:
    """Names and texts, in order."""
    if isinstance(value, dict):
        for name, inner in cast(dict[str, Any], value).items():
            yield name
            yield from _strings_in(inner)
    elif isinstance(value, list):
        yield from itertools.chain.from_iterable(map(_strings_in, cast(list[object], value)))
    elif isinstance(value, str):
        yield value


def _values_in(value: object) -> Iterator[str | float]:
    """Texts that are no names, and numbers."""
    if isinstance(value, dict):
        value = list(cast(dict[str, object], value).values())
    if isinstance(value, list):
        yield from itertools.chain.from_iterable(map(_values_in, cast(list[object], value)))
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield value


def _is_quoted(text: str, value: str) -> bool:
    """Whether the text holds the value between quotes, or bare where it is a single word."""
    if value.count('"') % 2 or '" + "' in value:  # ends of strings, taken for quotes in one
        return False
    if re.fullmatch(r"[\w.:-]*", value):
        return True
    forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    return any(
        re.search(f"{_BEGIN_OF_VALUE}{re.escape(form)}{_END_OF_VALUE}", text) for form in forms
    )
