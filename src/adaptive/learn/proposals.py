"""Reading what a model proposes: notes on the lines of a message, or JSON.

A message is shown line by line, numbered. The answer has a line for each: its number, and a sentence
or a dash. ``2 User works nights.`` notes what line 2 says; ``2 #4 User works days.`` puts that in the
place of memory 4; ``2 #4 forget`` deletes that memory, ``2 #4 quiet`` is the wish that it is never
brought up; ``2 [Work] User works nights.`` files it in a bank, if there are others than usual;
``(until 2031-03-03)`` behind a sentence is the last day on which it holds. Small models follow this
where JSON makes them give up or copy whole paragraphs, and it takes a third of the tokens
(benchmarks/README.md).

What a proposal does must be understood: operation, memory and content; everything else is taken
where it is. Each item is read by itself.
"""

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache

from adaptive.core import (
    CATEGORIES,
    QUIET,
    Completion,
    Draft,
    JsonMapping,
    JsonObject,
    Memory,
    Phrase,
    Proposal,
    ProposalKind,
    ReplyUnusable,
    frozen,
    has_words,
    listing,
    mapping,
    marked,
    word_table,
)
from adaptive.learn.quotation import word_units
from adaptive.learn.support import beginnings, noted_line
from adaptive.llm.ask import number, share, text_line
from adaptive.llm.reply import plain_name, read_items, without_reasoning
from adaptive.memory import draft_of
from adaptive.settings import Settings

# How a model is shown, and tells, the last day on which a memory holds.
END_NOTE = " (until {})"
# What a line may ask for in the place of a sentence.
_REQUESTS = {"forget": "DELETE", "quiet": "QUIET"}
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
    begun = [(line, beginnings(line)) for line in lines]
    for note in map(_NOTE.fullmatch, reply.splitlines()):
        if note is None or not has_words(note["sentence"]):
            continue
        end = _UNTIL.search(note["sentence"])
        sentence = _UNTIL.sub("", note["sentence"]).strip()
        number = int(note["line"])
        request = _REQUESTS.get(sentence.casefold().strip("."))
        # A request has no words of its line.
        line = noted_line("" if request else sentence, number, begun)
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
        if request:
            fields["operation"] = request
            fields["id"] = note["memory"] or ""
            fields["evidence"] = line
        notes.append(fields)
    return notes


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


_LONGEST_SENTENCE = 4000
# What is to be done with which memory can't be told from a proposal.
UNCLEAR = Phrase("reply_unusable")
SAID_TWICE = "it was said twice"
QUIET_ALREADY = "it is not brought up already"
_LONGEST_NAMED = 200  # an id, and what a model writes around it
_MOST_SPANS = 4
# Whom a fact is about, and what it is, where a model tells it.
ABOUT = ("user", "other", "assistant", "world")
FACT_KINDS = ("FACT", "STYLE", "IMAGINED", "QUOTED")

_KINDS: tuple[ProposalKind, ...] = ("NEW", "UPDATE", "DELETE", "QUIET")
# Fields, and what is to be done, with other words that models have for them.
_REPLY_WORDS = word_table("reply_words")
_NAMES = {
    word: field for field, words in _REPLY_WORDS.items() for word in words
}
_VERBS: dict[str, ProposalKind] = {
    word: kind for kind in _KINDS for word in _REPLY_WORDS[kind]
}
# What a form has in the place of a sentence, or the end of one.
_PLACEHOLDER = re.compile(r"\W*|<[^<>]*>|.*\s(?:\.{3}|\u2026)\.?")
_AROUND_ID = re.compile(
    r"^[\s\[(<{'\"#]*(?:id\s?[=:]\s?)?|(?:\s[|(].*)?[\s\])>}'\"]*$",
    re.I | re.S,
)


@frozen
class ExtractionSource:
    """What a model is to take facts from: lines of the newest message, beside what is known.

    A reply names the memories that are ``shown`` by their numbers, and any memory by its id.
    """

    lines: Sequence[str]
    shown: Sequence[Memory] = ()
    others: Sequence[Memory] = ()


def without_doubles(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Proposals of which those that say again what stands before them are superseded."""
    earlier: set[tuple[str, ...]] = set()
    checked: list[Proposal] = []
    for proposal in proposals:
        change = (
            proposal.kind,
            proposal.memory_id,
            proposal.draft.content,
            proposal.status,
            proposal.reason,
        )
        if change in earlier:
            proposal = proposal.decided("superseded", SAID_TWICE)
        earlier.add(change)
        checked.append(proposal)
    return checked


def read_proposals(
    completion: Completion, source: ExtractionSource, settings: Settings
) -> list[Proposal]:
    """The proposals in a model's reply, each validated by itself.

    Raises:
        ReplyUnusable: it is neither notes on the lines of the message nor JSON.
    """
    items: Sequence[object]
    try:
        reply = read_items(
            completion,
            "operations",
            lambda item: isinstance(_named(item).get("operation"), str),
        )
        items = reply.items
        is_cut = reply.cut
    except ReplyUnusable:
        answer = without_reasoning(completion.text)
        if not holds_notes(answer):
            raise
        items = read_notes(answer, source.lines, len(source.shown))
        is_cut = completion.cut
    proposals: list[Proposal] = []
    for item in items:
        proposals += _proposals_in(_named(mapping(item)), source, settings)
    if is_cut:
        cut = Proposal("NEW")
        proposals.append(cut.decided("rejected", Phrase("reply_unusable")))
    return proposals


def _named(item: JsonMapping) -> JsonMapping:
    """The fields under the prompt's names; of two that contradict each other neither."""
    fields: JsonObject = {}
    for name, value in item.items():
        field = _NAMES.get(plain_name(name), plain_name(name))
        if (
            value not in (None, "") or field == "until"
        ):  # null says that it has no end
            fields[field] = (
                value if fields.get(field, value) == value else None
            )
    return fields


def _proposals_in(
    fields: JsonMapping, source: ExtractionSource, settings: Settings
) -> Iterator[Proposal]:
    """The proposals of one item: none, one, or several deletions."""
    content = text_line(fields.get("content"))
    ids = text_lines(fields.get("id"))
    word = plain_name(text_line(fields.get("operation")))
    if content and not ids and "operation" not in fields:
        word = "new"
    if word in _REPLY_WORDS["NOTHING"]:
        return
    about = text_line(fields.get("about")).lower()
    fact_kind = text_line(fields.get("kind")).upper()
    kind = _VERBS.get(word)
    proposal = Proposal(
        kind=kind or "NEW",
        draft=Draft(" ".join(text_lines(fields.get("content")) or ids)),
        evidence=tuple(text_lines(fields.get("evidence"))[:_MOST_SPANS]),
        about=about if about in ABOUT else "",
        fact_kind=fact_kind if fact_kind in FACT_KINDS else "",
    )
    if kind is None:
        yield proposal.decided("rejected", UNCLEAR)
    elif not proposal.states_nothing and (
        len(content) > _LONGEST_SENTENCE or _PLACEHOLDER.fullmatch(content)
    ):
        yield proposal.decided("rejected", Phrase("bad_length"))
    elif kind == "NEW":
        yield replace(proposal, draft=_draft(fields, content, None, settings))
    else:
        for named in ids or [""]:
            memory = named_memory(named, source.shown, source.others)
            if memory is None or (kind == "UPDATE" and len(ids) > 1):
                yield proposal.decided("rejected", UNCLEAR)
            else:
                draft = _draft(fields, content, memory, settings)
                if kind == "QUIET":
                    quiet = marked(memory.tags, QUIET)
                    draft = replace(draft_of(memory), tags=quiet)
                change = replace(
                    proposal,
                    memory_id=memory.id,
                    draft=draft,
                    before=memory.content,
                )
                if kind == "QUIET" and memory.is_quiet:
                    change = change.decided("superseded", QUIET_ALREADY)
                yield change


def _draft(
    fields: JsonMapping,
    content: str,
    former: Memory | None,
    settings: Settings,
) -> Draft:
    """What the row is to say; what the model leaves out of an update stays as it was."""
    kept = former or Memory("", "", 0, 0)
    said = ",".join(text_lines(fields.get("tags"))).lower().split(",")
    tags = tuple(
        one for one in dict.fromkeys(map(str.strip, said)) if one in CATEGORIES
    )
    banks = {one.casefold(): one for one in settings.banks}
    bank = banks.get(text_line(fields.get("memory_bank")).casefold())
    confidence, importance = (
        share(fields.get("confidence")),
        number(fields.get("importance")),
    )
    return Draft(
        content=content.removesuffix(END_NOTE.format(kept.until)),
        tags=tags or kept.topics,
        bank=bank or kept.bank or settings.default_bank,
        confidence=kept.confidence if confidence is None else confidence,
        importance=kept.importance
        if importance is None
        else round(min(10, max(1, importance))),
        until=last_day(fields["until"]) if "until" in fields else kept.until,
    )


def text_lines(value: object) -> list[str]:
    """The texts in a list, or the one that there is; numbers are texts too."""
    several = listing(value) or [value]
    found = (str(one) if isinstance(one, int) else one for one in several)
    return [line for one in found if (line := text_line(one))]


def last_day(value: object) -> str:
    """A date as YYYY-MM-DD, of a month or a year its last day; empty where it is none."""
    parts = re.fullmatch(
        r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[T ].*)?)?)?", str(value).strip()
    )
    if not parts:
        return ""
    year, month = int(parts[1]), int(parts[2] or 12)
    try:
        return date(
            year, month, int(parts[3] or calendar.monthrange(year, month)[1])
        ).isoformat()
    except ValueError:  # calendar's own error is one
        return ""


def named_memory(
    said: str, shown: Sequence[Memory], others: Sequence[Memory] = ()
) -> Memory | None:
    """The memory that a reply means by a number or an id, whatever stands around it."""
    plain = _AROUND_ID.sub("", said[:_LONGEST_NAMED]).casefold()
    for place, memory in enumerate(shown, start=1):
        if plain == str(place):
            return memory
    for memory in (*shown, *others):
        if memory.id.casefold() == plain:
            return memory
    return None


def repeats(draft: Draft, memory: Memory) -> bool:
    """Whether a row would say the same as now, but for a full stop, and hold as long."""
    said, known = (
        text.rstrip(" .\u3002") for text in (draft.content, memory.content)
    )
    return said == known and draft.until == memory.until
