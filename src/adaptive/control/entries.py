"""The entries of what other assistants and memory servers give away, as fields of memories.

Of JSON they are found by the names of fields, of Markdown line by line; what is no entry comes as
the text that it is. ``docs/export.md`` tells which forms are read, ``prompts/exports.txt`` how.
"""

import functools
import json
import re
from collections.abc import Iterator, Sequence

from adaptive.core import (
    Json,
    JsonMapping,
    JsonObject,
    has_words,
    listing,
    mapping,
    pattern_table,
    read_notation,
)

_LONGEST_LINE = 300
_LONGEST_TEXT = 1000
_JSON = re.compile(r"^[ \t]*(?=\{|\[\s*[\[{\"])", re.MULTILINE)
# Where talk stands before it, such a beginning is JSON though its end is missing.
_OBJECTS = re.compile(r"(?:\[\s*)?\{\s*\"")
_DEEPEST = 50
_FENCE = re.compile(r"^[ \t]*(?:`{3}|~{3}).*$", re.MULTILINE)
# What a line of a text begins with that holds several entries.
_PAGE = re.compile(r"^[ \t]*(?:[-*+•#|]|\d{1,4}[.)])", re.MULTILINE)
_MARKS = re.compile(
    r"(?:(?:[-*+•–—]\s+)+|\d{1,4}(?:[.)]\s+|、))?(?:\[[ xX✓✔]?\]\s*)?"
)
_DATED = re.compile(
    r"\[([^\[\]:]{4,30}|\d[^\[\]]{3,29})\][\s.:–—-]*"
    r"|\(?(\d{4}[-/]\d\d[-/]\d\d)(?:\)\s*|\s*[:–—-]\s+)"
)
_LETTER = re.compile(r"[^\W\d_]")
SENTENCE_END = re.compile(
    r"(?<=[^\s.]{3}[.!?])\s+(?![a-z])|(?<=[\u3002\uff01\uff1f])"
)
_FORMS = pattern_table("exports")

# What an entry says of a memory, or the text of what is none.
CarriedEntry = JsonObject | str


def entries_of(text: str) -> Iterator[Json]:
    """The entries of a text; what is said around JSON, or a fence that holds most of it, is none.

    What begins like JSON is never read as lines: each of its keys would become a memory.
    """
    parts = _FENCE.split(text.strip(" \n\ufeff"))
    fenced = "\n".join(parts[1::2])
    text = fenced if 2 * len(fenced) > len(text) else "\n".join(parts)
    start = _JSON.search(text)
    if start is None:
        return _of_lines(text)
    talk, value = text[: start.start()], text[start.end() :]
    # What is cut before anything is closed stays whole.
    value = value[: 1 + max(value.rfind("}"), value.rfind("]"))] or value
    is_json = not talk.strip() or _OBJECTS.match(value) or _loaded(value)
    return _of_json(value) if is_json else _of_lines(text)


def about_user(text: str) -> str:
    """English sentences to the user, or by them, as some about them; any other as it is."""
    if len(text) > _LONGEST_TEXT:
        return text
    return _rewritten("third person", text).strip()


@functools.cache
def _rules(title: str) -> list[tuple[re.Pattern[str], str]]:
    """Patterns, and what stands in the place of what they match."""
    parted = [line.partition(" =>") for line in _FORMS[title]]
    return [
        (re.compile(pattern, re.MULTILINE), place.strip())
        for pattern, _, place in parted
    ]


def _rewritten(title: str, text: str) -> str:
    """A text after all rules of a kind."""
    for pattern, place in _rules(title):
        text = pattern.sub(place, text)
    return text


def _loaded(text: str) -> object:
    """What JSON says; ``None`` where it is broken, or nested deeper than any export."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    level: list[object] = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (*mapping(outer).values(), *listing(outer))
        ]
    return None if level else value


def _of_json(text: str) -> Iterator[Json]:
    """The entries of JSON, or of JSON on each line."""
    lines = [text]
    if _loaded(text) is None and _loaded(text.partition("\n")[0]) is not None:
        lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        value = _loaded(line)
        if value is None:
            yield line
        else:
            yield from _of_value(value)


def _of_value(value: object) -> Iterator[Json]:
    """The entries that lie in a value of JSON."""
    if isinstance(value, str):
        yield from _of_content(value, {})
    elif mapping(value):
        yield from _of_fields(mapping(value))
    elif listing(value):
        for item in listing(value):
            yield from _of_value(item)
    elif value != []:
        yield str(value)


def _of_fields(fields: JsonMapping) -> Iterator[Json]:
    """The entries that lie in fields; those without a known name are of the user's profile."""
    named = {name.strip().casefold(): field for name, field in fields.items()}
    parts = [named[name] for name in _FORMS["parts"] if name in named]
    forms = [form for form in _FORMS["forms"] if _fits(form, named)]
    if "adaptive_memory" in named:
        yield from listing(named.get("memories"))
    elif forms:
        start, _, name = forms[0].rpartition("{")
        label = start.format_map(named).replace("_", " ")
        for content in _items(named[name.rstrip("}")]):
            yield from _of_content(str(content), {**named, "label": label})
    elif parts:
        for part in parts:
            yield from _of_value([*mapping(part).values()] or part)
    elif any(f"{{{name}}}" in _FORMS["forms"] for name in named) or any(
        mapping(item) for field in named.values() for item in _items(field)
    ):
        # An entry whose text is none, or what nobody has described.
        yield json.dumps(fields, ensure_ascii=False)
    else:
        for name, field in fields.items():
            label = f"{name.replace('_', ' ')}: "
            for item in filter(None, _items(field)):
                yield _entry(str(item), {"label": label})


def _items(field: object) -> Sequence[object]:
    """The items of a list; of anything else itself."""
    items = listing(field)
    return items if items or field == [] else [field]


def _fits(form: str, fields: JsonMapping) -> bool:
    """Whether there is all that a form names, and texts where it tells the memory."""
    names = re.findall(r"\w+", form)
    return fields.keys() >= set(names) and all(
        isinstance(item, str) for item in _items(fields[names[-1]])
    )


def _of_content(text: str, fields: JsonMapping) -> Iterator[Json]:
    """What a text in JSON says, be it a whole page, with the fields that stand with it."""
    is_page = _PAGE.search(text) if "\n" in text else None
    if is_page is None:
        yield _entry(text, fields)
        return
    for entry in _of_lines(text):
        yield {**fields, **entry} if isinstance(entry, dict) else entry


def _entry(content: str, fields: JsonMapping) -> JsonObject:
    """A memory's fields, those included that stand in its text or in its meta.

    A label says what the text is about.
    """
    noted = read_notation(content)
    told = fields.get("label", "") + about_user(noted.get("content", ""))
    said = {"content": _rewritten("contents", told)}
    return {**fields, **mapping(fields, "meta"), **noted, **said}


def _of_lines(text: str) -> Iterator[Json]:
    """The entries of Markdown.

    In a list what has no marks is talk, unless there is a heading above it.
    """
    lines = list(map(str.strip, _rewritten("lists", text).splitlines()))
    yield from _of_table([line for line in lines if line[:1] == "|"])
    read = [
        _marked(line)
        for line in lines
        if line == "#" or (has_words(line) and line[0] != "|")
    ]
    marked = sum(isinstance(entry, dict) for entry in read)
    is_list = marked > 1 and 3 * marked >= 2 * (len(read) - read.count("#"))
    is_headed = not is_list
    for entry in read:
        if entry == "#":
            is_headed = True
        elif isinstance(entry, dict):
            is_headed = not is_list
            yield _entry(entry["content"], entry)
        elif is_headed:
            is_long = len(entry) > _LONGEST_LINE
            for said in SENTENCE_END.split(entry) if is_long else [entry]:
                yield _entry(said, {})
        else:
            yield entry


def _marked(line: str) -> CarriedEntry:
    """What a line says behind its marks and the date before it; a line without them as it is."""
    marks = _MARKS.match(line)
    words = line[marks.end() if marks else 0 :]
    dated = _DATED.match(words)
    if dated is None or dated.end() == len(words):
        return line if words == line else {"content": words}
    day = (dated[1] or dated[2]).replace("/", "-")
    return {"content": words[dated.end() :], "said_at": day}


def _of_table(lines: Sequence[str]) -> Iterator[Json]:
    """The rows of tables by the names of their columns; of others what they say in words."""
    heads: list[str] = []
    for line in lines:
        cells = list(map(str.strip, line.strip("|").split("|")))
        fields = dict(zip(heads, cells, strict=False))
        if cells[0] == "#":
            heads = list(map(str.casefold, cells[1:]))
        elif any(_fits(form, fields) for form in _FORMS["forms"]):
            yield from _of_fields(fields)
        else:
            yield _entry(": ".join(filter(_LETTER.search, cells)), {})
