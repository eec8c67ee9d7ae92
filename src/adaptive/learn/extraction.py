"""Asking a model which durable facts a turn holds, and reading the proposals in its reply.

What a proposal does must be understood: operation, id and content; everything else is taken where
it is. Each item is read by itself, and of a broken reply the model is asked once more.
"""

from __future__ import annotations

import asyncio
import calendar
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import Any, Protocol

from adaptive.core.messages import listing, mapping
from adaptive.core.model import (
    CATEGORIES,
    Draft,
    Memory,
    Proposal,
    ProposalKind,
    Turn,
    Vectors,
)
from adaptive.core.providers import (
    Completion,
    CompletionRequest,
    ModelError,
)
from adaptive.core.runtime import staged
from adaptive.core.texts import word_table
from adaptive.learn.prefilter import spoken_parts
from adaptive.llm.ask import (
    AnswerRead,
    list_schema,
    number,
    render_prompt,
    share,
    text_line,
)
from adaptive.llm.reply import plain_name, read_items
from adaptive.privacy.injection import escaped_entry
from adaptive.privacy.secrets import excerpt_without_secrets
from adaptive.search.fusion import RankingQuery, rank, ranking_query
from adaptive.search.index import MemoryIndex
from adaptive.settings.merged import LocalOnlyBanks, Settings

_LONGEST_WORDS = 12000
_LONGEST_UTTERANCE = 1000
_LONGEST_MEMORY = 1000
MOST_SHOWN = 20  # of the memories, to the model
# Of these, whatever the message says: an allergy is near to few
_BY_IMPORTANCE = 5
_AGAIN = """## Your last answer
It could not be used as it was:
- {}
Answer again, in full: one JSON object of the form above, and nothing else."""
_LONGEST_SENTENCE = 4000
SAID_TWICE = "it was said twice"
_LONGEST_NAMED = 200  # an id, and what a model writes around it
_MOST_SPANS = 4
# Whom a fact is about, and what it is, as the extraction prompt asks for it.
ABOUT = ("user", "other", "assistant", "world")
FACT_KINDS = ("FACT", "STYLE", "META", "STATE", "IMAGINED", "QUOTED")

_KINDS: tuple[ProposalKind, ...] = ("NEW", "UPDATE", "DELETE")
# Fields, and what is to be done, with other words that models have for them.
_REPLY_WORDS = word_table("reply_words")
_NAMES = {
    word: field for field, words in _REPLY_WORDS.items() for word in words
}
_VERBS: dict[str, ProposalKind] = {
    word: kind for kind in _KINDS for word in _REPLY_WORDS[kind]
}
# How a model is shown the last day on which a memory holds; some copy it into the sentence.
END_NOTE = " (until {})"
# What the prompt's form has in the place of a sentence, or the end of one.
_PLACEHOLDER = re.compile(r"\W*|<[^<>]*>|.*\s(?:\.{3}|\u2026)\.?")
_AROUND_ID = re.compile(
    r"^[\s\[(<{'\"]*(?:id\s?[=:]\s?)?|(?:\s[|(].*)?[\s\])>}'\"]*$", re.I | re.S
)


class AskModel(Protocol):
    """Who asks the model of a lesson, and reads its answer (see ``LessonResources.ask``)."""

    async def __call__(
        self,
        request: CompletionRequest,
        read: Callable[[Completion], AnswerRead],
    ) -> AnswerRead: ...


EXTRACT_SCHEMA = list_schema(
    "operations",
    {
        "operation": {"enum": ["NEW", "UPDATE", "DELETE"]},
        "id": "string",
        "content": "string",
        "evidence": {"type": "array", "items": {"type": "string"}},
        "about": {"enum": list(ABOUT)},
        "kind": {"enum": list(FACT_KINDS)},
        "until": ["string", "null"],
        "tags": {"type": "array", "items": {"type": "string"}},
        "memory_bank": "string",
        "confidence": "number",
        "importance": "integer",
    },
    "operation",
)


@staged("extraction")
async def extraction(
    ask_model: AskModel,
    turn: Turn,
    shown: Sequence[Memory],
    settings: Settings,
    now: datetime,
) -> Sequence[Proposal]:
    """What a model proposes for a turn; where nothing of it stands, it is asked once more."""
    # In a thread: secrets are looked for in all of it, and other chats go on.
    request = await asyncio.to_thread(
        extraction_request, turn, shown, settings, now
    )
    read = partial(read_proposals, offered=shown, settings=settings)
    first = await ask_model(request, read)
    wrong = [one.reason for one in first]
    if not wrong or any(one.is_open for one in first):
        return first
    note = _AGAIN.format("\n- ".join(dict.fromkeys(wrong)))
    again = replace(request, user=f"{request.user}\n\n{note}")
    try:
        second = await ask_model(again, read)
    except ModelError:
        return first
    # The model was asked for it again.
    superseded = [one.decided("superseded", one.reason) for one in first]
    return [*superseded, *second]


def extraction_request(
    turn: Turn, shown: Sequence[Memory], settings: Settings, now: datetime
) -> CompletionRequest:
    """The question to the model."""
    values = {
        "date": now.strftime("%A, %d %B %Y, %H:%M"),
        "timezone": str(now.tzinfo or "UTC"),
        "categories": ", ".join(settings.categories),
        "banks": ", ".join(settings.banks),
        "language": settings.memory_language.strip()
        or "the language of the message",
        "admin": settings.keeping_rules,
    }
    system = render_prompt("extract", "", values)
    sections: list[str] = []
    if turn.earlier:
        lines = [
            f"{one.role}: {_one_line(one.text, _LONGEST_UTTERANCE)}"
            for one in turn.earlier
        ]
        sections.append(
            "## Earlier turns, for reference only\n" + "\n".join(lines)
        )
    if shown:
        sections.append("## Existing memories\n" + listed_memories(shown))
    words = excerpt_without_secrets(turn.words, _LONGEST_WORDS)
    sections.append("## Newest message of the user\n" + words)
    return CompletionRequest(
        system, "\n\n".join(sections), "memory_operations", EXTRACT_SCHEMA
    )


async def shown_memories(
    index: MemoryIndex,
    words: str,
    vectors: Vectors | None,
    hidden: LocalOnlyBanks,
) -> Sequence[Memory]:
    """All memories of a small store; of another those that may matter for a message."""
    if len(index.memories) <= MOST_SHOWN:
        return hidden.without(index.memories)
    # What several turns say that are learned together is near to none of what it corrects: each
    # part is looked for by its own words, rare ones first.
    parts = [RankingQuery(one, None) for one in spoken_parts(words)]
    asked = [ranking_query(words, "", vectors, index.dimension), *parts]
    near = await asyncio.to_thread(nearest_memories, index, asked)
    weighty = sorted(index.memories, key=lambda one: -one.importance)[
        :_BY_IMPORTANCE
    ]
    chosen = [*near[: MOST_SHOWN - len(weighty)], *weighty, *near]
    return hidden.without({one.id: one for one in chosen}.values())[
        :MOST_SHOWN
    ]


def nearest_memories(
    index: MemoryIndex, asked: Sequence[RankingQuery]
) -> Sequence[Memory]:
    """The nearest to each of several questions, then the second of each; of a small store all."""
    rankings = [
        [one.place for one in rank(index.ranking, each)] for each in asked
    ]
    places = itertools.chain.from_iterable(itertools.zip_longest(*rankings))
    return [
        index.memories[place]
        for place in dict.fromkeys(places)
        if place is not None
    ]


def listed_memories(memories: Sequence[Memory]) -> str:
    """Memories as a model is shown them: one a line, with its id and the day on which it ends."""
    lines: list[str] = []
    for memory in memories:
        content = _one_line(memory.content, _LONGEST_MEMORY)
        until = memory.until and END_NOTE.format(memory.until)
        lines.append(f"- id={memory.id} | {escaped_entry(content + until)}")
    return "\n".join(lines)


def _one_line(text: str, limit: int) -> str:
    return " ".join(excerpt_without_secrets(text, limit).split())


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
    completion: Completion, offered: Sequence[Memory], settings: Settings
) -> list[Proposal]:
    """The proposals in a model's reply, each validated by itself."""
    reply = read_items(
        completion,
        "operations",
        lambda item: isinstance(_named(item).get("operation"), str),
    )
    proposals: list[Proposal] = []
    for item in reply.items:
        proposals += _proposals_in(_named(mapping(item)), offered, settings)
    if reply.cut:
        cut = Proposal("NEW")
        proposals.append(
            cut.decided("rejected", "the model's reply was cut off")
        )
    return proposals


def _named(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields under the prompt's names; of two that contradict each other neither."""
    fields: dict[str, Any] = {}
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
    fields: Mapping[str, Any], offered: Sequence[Memory], settings: Settings
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
            memory = named_memory(named, offered)
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
    fields: Mapping[str, Any],
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


def named_memory(said: str, offered: Sequence[Memory]) -> Memory | None:
    """The one offered memory that an id of a reply means; case and what is around do not count."""
    plain = _AROUND_ID.sub("", said[:_LONGEST_NAMED]).casefold()
    return next((one for one in offered if one.id.casefold() == plain), None)


def repeats(draft: Draft, memory: Memory) -> bool:
    """Whether a row would say the same as now, but for a full stop, and hold as long."""
    said, known = (
        text.rstrip(" .\u3002") for text in (draft.content, memory.content)
    )
    return said == known and draft.until == memory.until
