"""Notes line by line: how a model is shown a message, and how it tells what each line says.

A message stands line by line, numbered. The answer has a line for each: its number, and a sentence
or a dash. ``2 User works nights.`` notes what line 2 says; ``2 #4 User works days.`` puts that in the
place of memory 4; ``2 #4 forget`` deletes that memory; ``2 [Work] User works nights.`` files it in a
bank, if there are others than usual; ``(until 2031-03-03)`` behind a sentence is the last day on
which it holds. Small models follow this where JSON makes them give up or copy whole
paragraphs, and it takes a third of the tokens (benchmarks/README.md).
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from adaptive.core.messages import has_words
from adaptive.learn.quotation import word_units
from adaptive.learn.support import beginnings

# How a model is shown, and tells, the last day on which a memory holds.
END_NOTE = " (until {})"
FORGET = "forget"  # what a line asks for that deletes a memory
_MOST_LINES = 80
_LONGEST_LINE = 1000  # in which a quotation is narrowed
# Of a quotation, before the first word that its sentence has, and from the last one on
_WORDS_BEFORE = 4
_WORDS_BEHIND = 3
# An initial, a short title or a date ends none: "J. Orr", "dr. Silva", "bis 31.3. zu Hause".
_SENTENCE_END = re.compile(
    r"(?<=[.!?\u2026])(?<![\s(][^\W\d_]\.)(?<![\s(][^\W\d_]{2}\.)"
    r"(?<!^[^\W\d_]\.)(?<!^[^\W\d_]{2}\.)(?<!\d\.\d\.)(?<!\d\.\d\d\.)\s+"
    r"|(?<=[\u3002\uff01\uff1f])\s*"
)
_NOTE = re.compile(
    r"[ *(\[-]{0,3}(?P<line>\d{1,3})[\]).:]?"
    r"(?: +#(?P<memory>\d{1,3})[:.]?)?(?: +\[(?P<bank>[^\]]{1,80})\])?"
    r" +(?P<sentence>[^\[{#].*)"
)
_UNTIL = re.compile(r" *\(until (\d{4}-\d\d-\d\d)\)[ .]*$")
_WORD = re.compile(r"\w+")


def message_lines(words: str) -> list[str]:
    """The sentences of a message, line by line; the last of many holds all the rest."""
    lines = [
        sentence.strip()
        for line in words.splitlines()
        for sentence in _SENTENCE_END.split(line)
        if has_words(sentence)
    ]
    if len(lines) > _MOST_LINES:
        rest = " ".join(lines[_MOST_LINES - 1 :])
        lines[_MOST_LINES - 1 :] = [rest]
    return lines


def numbered(lines: Sequence[str]) -> str:
    """Lines with their numbers, as a model is shown them."""
    return "\n".join(
        f"{number} {line}" for number, line in enumerate(lines, start=1)
    )


def holds_notes(reply: str) -> bool:
    """Whether an answer keeps to the form, be it with nothing to note."""
    return any(map(_NOTE.fullmatch, reply.splitlines()))


def read_notes(
    reply: str, lines: Sequence[str], memories: int
) -> list[Mapping[str, str]]:
    """The notes in an answer, with the fields that an answer in JSON would have.

    So many ``memories`` were shown. A sentence that stands for another one is a new fact: small
    models number their notes as memories are numbered.
    """
    notes: list[Mapping[str, str]] = []
    # A reply may have hundreds of notes on the same long line.
    units, words_of = cache(word_units), cache(_begun_words)
    for note in map(_NOTE.fullmatch, reply.splitlines()):
        if note is None or not has_words(note["sentence"]):
            continue
        end = _UNTIL.search(note["sentence"])
        sentence = _UNTIL.sub("", note["sentence"]).strip()
        line = _line(int(note["line"]), lines)
        if units(sentence) == units(line):
            # A model that only copies has not said whose it is.
            sentence = f"User said: {line}"
        is_update = 0 < int(note["memory"] or 0) <= memories
        fields = {
            "operation": "UPDATE" if is_update else "NEW",
            "id": note["memory"] if is_update else "",
            "content": sentence,
            "evidence": _evidence(sentence, line, words_of(line)),
            "until": end[1] if end else "",
            "memory_bank": note["bank"] or "",
        }
        if sentence.casefold().strip(".") == FORGET:
            fields["operation"] = "DELETE"
            fields["id"] = note["memory"] or ""
            fields["evidence"] = line
        notes.append(fields)
    return notes


def _line(number: int, lines: Sequence[str]) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _begun_words(line: str) -> list[tuple[re.Match[str], frozenset[str]]]:
    """The words of a line, and how they begin."""
    words = _WORD.finditer(line[:_LONGEST_LINE])
    return [(word, beginnings(word[0])) for word in words]


def _evidence(
    sentence: str,
    line: str,
    words: Sequence[tuple[re.Match[str], frozenset[str]]],
) -> str:
    """What of a line says a sentence: from the first to the last word that both have.

    The words around say of whom it is said, and whether it is so.
    """
    shared = beginnings(sentence)
    places = [
        place for place, (_, begun) in enumerate(words) if shared & begun
    ]
    if not places:
        return line
    first, _ = words[max(0, places[0] - _WORDS_BEFORE)]
    last, _ = words[places[-1] :][:_WORDS_BEHIND][-1]
    return line[first.start() : last.end()]
