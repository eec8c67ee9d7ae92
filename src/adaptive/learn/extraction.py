"""Asking a model which durable facts a turn holds.

The request stands in an order that a local server can keep: what never changes comes first, and
the newest message last.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from math import inf
from typing import Protocol

from adaptive.core import (
    CATEGORIES,
    PROMPTS,
    Completion,
    CompletionRequest,
    Memory,
    Proposal,
    Turn,
    Vectors,
    sentences,
    staged,
)
from adaptive.learn.judges import joined_parts
from adaptive.learn.proposals import (
    END_NOTE,
    ExtractionSource,
    message_lines,
    numbered,
    read_proposals,
)
from adaptive.learn.quotation import unpasted_words
from adaptive.llm.ask import AnswerRead
from adaptive.privacy import escaped_entry, excerpt_without_secrets
from adaptive.search import MemoryIndex, RankingQuery, rank, ranking_query
from adaptive.settings import HiddenMemories, Settings

_LONGEST_WORDS = 12000
_LONGEST_UTTERANCE = 200
_LONGEST_MEMORY = 1000
MOST_SHOWN = 6  # of the memories, to the model
# Of these, whatever they say: a move is told without a word of the old place.
_ALWAYS_SHOWN = 2
_MOST_ASKED = 12  # parts of a message, each of which may change a memory
_LEAST_EVIDENCE = 1.5  # that a message may be about one of the others
# A longer message is understood without the answer that stands before it.
_SHORT_MESSAGE = 120
# User and assistant by turns, as a model has it before the question.
_EXAMPLES = tuple(PROMPTS["extract_examples"].strip().split("\n---\n"))
_NOTED = _EXAMPLES[1]
_TASK = _EXAMPLES[2].rpartition("\n")[2]
_PASTED = "> (pasted text)"
# Which small models need not be asked for.
_USUAL_BANKS = Settings.model_fields["allowed_memory_banks"].default
# Of the signs of a message; with less typed, a model is told that something was pasted.
_MOSTLY_TYPED = 0.7
_LONGEST_OPENING = 80  # characters of a message


class AskModel(Protocol):
    """Who asks the model of a lesson, and reads its answer (see ``LessonResources.ask``)."""

    async def __call__(
        self,
        request: CompletionRequest,
        read: Callable[[Completion], AnswerRead],
    ) -> AnswerRead: ...


@staged("extraction")
async def extraction(
    ask_model: AskModel,
    turn: Turn,
    source: ExtractionSource,
    settings: Settings,
    now: datetime,
) -> Sequence[Proposal]:
    """What a model proposes for a turn."""
    # In a thread: secrets are looked for in all of it, and other chats go on.
    request = await asyncio.to_thread(
        extraction_request, turn, source, settings, now
    )
    read = partial(read_proposals, source=source, settings=settings)
    return await ask_model(request, read)


def extraction_request(
    turn: Turn, source: ExtractionSource, settings: Settings, now: datetime
) -> CompletionRequest:
    """The question to the model: what never changes first, and the newest message last."""
    known: list[str] = []
    rules = settings.keeping_rules.splitlines()
    language = settings.memory_language.strip()
    if language:
        rules.append(f"- Write in {language}.")
    if settings.categories != CATEGORIES:
        kinds = ", ".join(settings.categories)
        rules.append(f"- Note only facts of these kinds: {kinds}.")
    if settings.allowed_memory_banks != _USUAL_BANKS:
        names = ", ".join(f"[{bank}]" for bank in settings.banks)
        rules.append(f"- Begin each note with where it belongs: {names}.")
    if rules:
        known.append("\n".join(["Rules:", *rules]))
    if source.shown:
        known.append(f"Known:\n{listed_memories(source.shown)}")
    # In a turn of its own: beside a message small models take it for what the message says.
    before = ("\n\n".join(known), _NOTED) if known else ()
    sections: list[str] = []
    answer = turn.earlier[-1] if turn.earlier else None
    if answer and len(turn.words) <= _SHORT_MESSAGE:
        text = _one_line(answer.text, _LONGEST_UTTERANCE)
        sections.append(f"It answers:\n{answer.role}: {text}")
    day = f"{now:%A}, {now.day} {now:%B %Y}"
    sections.append(
        f"Newest message, {day}:\n{shown_message(turn, source.lines)}"
    )
    sections.append(_TASK)
    return CompletionRequest(
        system=PROMPTS["extract"].strip(),
        user="\n\n".join(sections),
        schema_name="memory_operations",
        earlier=(*_EXAMPLES, *before),
    )


def typed_lines(words: str) -> list[str]:
    """The lines of a message that its user has typed, without secrets."""
    excerpt = excerpt_without_secrets(words, _LONGEST_WORDS)
    return message_lines(unpasted_words(excerpt))


def shown_message(turn: Turn, lines: Sequence[str]) -> str:
    """A message as a model is shown it: its lines with their numbers, and where it begins.

    The beginning stands there as it was typed, so that a request can be told from others by it.
    """
    shown = numbered(lines)
    opening = turn.opening or opening_of(turn.words)
    if opening not in shown:
        shown = f"{opening} ...\n{shown}"
    typed = len("".join(lines))
    if typed < _MOSTLY_TYPED * len("".join(turn.words.split())):
        shown += f"\n{_PASTED}"
    return shown


def opening_of(words: str) -> str:
    """How a message begins, without secrets."""
    excerpt = excerpt_without_secrets(words, _LONGEST_WORDS)
    return excerpt[:_LONGEST_OPENING].strip()


async def shown_memories(
    index: MemoryIndex,
    words: str,
    vectors: Vectors | None,
    hidden: HiddenMemories,
) -> Sequence[Memory]:
    """The few memories that a message may change.

    Small models take more of them for what the message says (benchmarks/README.md).
    """
    # What several turns say that are learned together is near to none of what it corrects: each
    # sentence is looked for by its own words, rare ones first.
    said = joined_parts(sentences(words), _MOST_ASKED)
    parts = [RankingQuery(one, None) for one in said]
    asked = [ranking_query(words, "", vectors), *parts]
    near = await asyncio.to_thread(
        nearest_memories, index, asked, _LEAST_EVIDENCE, _ALWAYS_SHOWN
    )
    # What each part may change must be among them.
    return hidden.without(near)[: max(MOST_SHOWN, len(asked))]


def nearest_memories(
    index: MemoryIndex,
    asked: Sequence[RankingQuery],
    least: float = -inf,
    always: int = 0,
) -> Sequence[Memory]:
    """The nearest to each of several questions, then the second of each.

    ``least`` is the evidence that each needs, without what all memories have in common; so many
    of them ``always`` come.
    """
    rankings = [rank(index.ranking, each) for each in asked]
    # The best evidence of each, by its place, in the order in which they come.
    evidence: dict[int, float] = {}
    for ranked in itertools.chain.from_iterable(
        itertools.zip_longest(*rankings)
    ):
        if ranked is not None:
            own = ranked.evidence - ranked.personal
            evidence[ranked.place] = max(own, evidence.get(ranked.place, own))
    places = [
        place
        for number, (place, best) in enumerate(evidence.items())
        if number < always or best >= least
    ]
    return [index.memories[place] for place in places]


def listed_memories(memories: Sequence[Memory]) -> str:
    """Memories as a model is shown them: a line each, with its number and the day it ends on."""
    lines: list[str] = []
    for number, memory in enumerate(memories, start=1):
        content = _one_line(memory.content, _LONGEST_MEMORY)
        until = memory.until and END_NOTE.format(memory.until)
        lines.append(f"#{number} {escaped_entry(content + until)}")
    return "\n".join(lines)


def _one_line(text: str, limit: int) -> str:
    return " ".join(excerpt_without_secrets(text, limit).split())
