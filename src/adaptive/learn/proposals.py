"""Reading what a model proposes: notes on the lines of a message, or JSON.

What a proposal does must be understood: operation, memory and content; everything else is taken
where it is. Each item is read by itself.
"""

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from adaptive.core.messages import listing, mapping
from adaptive.core.model import (
    CATEGORIES,
    Draft,
    JsonMapping,
    JsonObject,
    Memory,
    Proposal,
    ProposalKind,
    frozen,
)
from adaptive.core.providers import Completion, ReplyUnusable
from adaptive.core.texts import word_table
from adaptive.learn.notation import END_NOTE, holds_notes, read_notes
from adaptive.llm.ask import number, share, text_line
from adaptive.llm.reply import plain_name, read_items, without_reasoning
from adaptive.settings.merged import Settings

_LONGEST_SENTENCE = 4000
SAID_TWICE = "it was said twice"
_LONGEST_NAMED = 200  # an id, and what a model writes around it
_MOST_SPANS = 4
# Whom a fact is about, and what it is, where a model tells it.
ABOUT = ("user", "other", "assistant", "world")
FACT_KINDS = ("FACT", "STYLE", "IMAGINED", "QUOTED")

_KINDS: tuple[ProposalKind, ...] = ("NEW", "UPDATE", "DELETE")
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
        proposals.append(
            cut.decided("rejected", "the model's reply was cut off")
        )
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
        unclear = (
            "not said whether to save or delete it"
            if fields
            else "it is no operation"
        )
        yield proposal.decided("rejected", unclear)
    elif kind != "DELETE" and (
        len(content) > _LONGEST_SENTENCE or _PLACEHOLDER.fullmatch(content)
    ):
        yield proposal.decided("rejected", "the sentence is empty or too long")
    elif kind == "NEW":
        yield replace(proposal, draft=_draft(fields, content, None, settings))
    else:
        for named in ids or [""]:
            memory = named_memory(named, source.shown, source.others)
            if memory is None or (kind == "UPDATE" and len(ids) > 1):
                yield proposal.decided(
                    "rejected", "not one of the memories shown"
                )
            else:
                yield replace(
                    proposal,
                    memory_id=memory.id,
                    draft=_draft(fields, content, memory, settings),
                    before=memory.content,
                )


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
        tags=tags or kept.tags,
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
