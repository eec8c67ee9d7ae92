"""Recall explains itself: why memories come for a message, and which of them some words name.

What is told stands in a chat that models may read later. So it repeats no memory that may not stand
in a prompt, or that is kept from the chat's model: the day on which it was noted tells which it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from adaptive.core.markdown import clipped_line, plain_line
from adaptive.core.messages import has_words
from adaptive.core.model import Memory, has_ended
from adaptive.privacy.escaping import escaped_entry
from adaptive.recall.block import utc_day
from adaptive.recall.question import Question
from adaptive.recall.recollection import Library, Recollection, gather, reason_against, recollect
from adaptive.search.fusion import GATES, Ranked, Weights, fitting
from adaptive.search.tokens import continues, tokens
from adaptive.settings.merged import LocalOnlyBanks, Settings

_NEAREST_TOLD = 3
_LONGEST_QUOTED = 200
# Words name what they say: neither its neighbours nor, if they speak of the user, everything.
_NAMING = Weights(neighbours=0.0, personal=0.0)
_LEAST_NAMED = GATES[0] / 4


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that words name; ``score`` is its relevance in percent.

    ``withheld`` says why its words may not be repeated in the chat; mostly it is empty.
    """

    memory: Memory
    score: int
    has_all_words: bool
    withheld: str = ""


async def found_memories(
    library: Library, words: str, settings: Settings, most: int
) -> list[FoundMemory]:
    """The memories nearest to words in meaning, and those that hold one of them, best first."""
    gathered = await gather(library, Question(words, first=True), settings)
    if gathered is None:
        return []
    memories, wanted = gathered.index.memories, {*tokens(words)}
    found: list[FoundMemory] = []
    for one in gathered.ranked(len(memories), _NAMING):
        if len(found) < most and (one.keywords > 0 or one.evidence >= _LEAST_NAMED):
            memory, score = memories[one.place], round(100 * one.relevance)
            has_all = wanted <= {*tokens(memory.content)}
            found.append(FoundMemory(memory, score, has_all, _withheld(memory, library.hidden)))
    return found


async def explained(library: Library, question: Question, settings: Settings) -> str:
    """Why memories come for a question, and why the nearest others do not; Markdown."""
    if settings.use_llm_for_relevance:  # then the threshold is for the model's scores
        settings = settings.model_copy(update={"relevance_threshold": 0.0})
    came = await recollect(library, question, settings)
    if (gathered := came.gathered) is None:
        return "Nothing is remembered about you yet."
    memories = gathered.index.memories
    ranked = {memories[one.place].id: one for one in gathered.ranked(len(memories))}
    told = _lines_of(came, ranked)
    best = [ranked[one.memory.id] for one in came.fitting]
    nearly: list[str] = []
    for one in [one for id_, one in ranked.items() if id_ not in told][:_NEAREST_TOLD]:
        memory = memories[one.place]
        words, reason = _quoted(memory.content), _withheld(memory, library.hidden)
        if reason:
            words = f"A memory of {utc_day(memory.created_at)}, not repeated here"
        elif has_ended(memory, question.today):
            reason = f"it held until {memory.until}"
        nearly.append(f"- {words}: {_figures(one)}, {reason or _why_behind(one, best, settings)}")
    asked = _quoted(question.text)
    if has_words(question.previous) and continues(question.text):
        asked += f", read together with {_quoted(question.previous)}"
    head = f"For {asked} these memories come:"
    if not came.fitting:
        head = f"No memory fits {asked}{'; these come all the same:' if told else '.'}"
    closing = "Worked out anew from what is remembered now, without a model."
    if gathered.vectors is None and has_words(question.text):
        closing += " The message has no vector at present: keywords serve alone."
    missing = len(gathered.index.missing())
    closing += f" {missing} not embedded yet: found by keywords." if missing else ""
    others = ["Nearly:", "\n".join(nearly)] if nearly else []
    return "\n\n".join(filter(None, [head, "\n".join(told.values()), *others, closing]))


def _lines_of(came: Recollection, ranked: Mapping[str, Ranked]) -> dict[str, str]:
    """A line for each memory that came, by id: what fits, best first, then what always comes."""
    always = {one.id: "shown earlier in this chat" for one in came.earlier}
    for one in came.core:
        always[one.id] = "who you are" if "identity" in one.tags else "important"
    for one in came.gathered.bearing if came.gathered else ():
        always[one.id] = "for a message about you or for advice"
    fits = {one.memory.id: _figures(ranked[one.memory.id]) for one in came.fitting}
    return {
        one.id: f"- {_quoted(one.content)}: {', '.join(filter(None, why))}"
        for one in (*(one.memory for one in came.fitting), *came.core, *came.earlier)
        if (why := (fits.get(one.id), always.get(one.id)))
    }


def _why_behind(one: Ranked, best: Sequence[Ranked], settings: Settings) -> str:
    """Why a memory that might come does not, behind those that do, the best first."""
    floors = settings.vector_similarity_threshold, settings.relevance_threshold
    allowed = partial(fitting, vector_floor=floors[0], relevance_floor=floors[1])
    if not allowed([one], 1, gate=-math.inf if best else None):
        return "below the gate"
    if best and one not in allowed([*best, one], len(best) + 1, gate=-math.inf):
        return "far below the best"
    most, budget = settings.related_memories_n, settings.max_injected_tokens
    return f"beyond the limit of {most} memories or {budget} tokens"


def _withheld(memory: Memory, hidden: LocalOnlyBanks) -> str:
    """Why a memory's words may not stand where the chat's model reads them; empty if they may."""
    return "kept from this model" if hidden.holds(memory) else reason_against(memory)


def _quoted(text: str) -> str:
    """A text as one line that is no Markdown and plays no role."""
    return f"\u201c{plain_line(clipped_line(escaped_entry(text), _LONGEST_QUOTED))}\u201d"


def _figures(one: Ranked) -> str:
    """Relevance in percent, and what the place in the order is made of."""
    parts = {"similarity": one.similarity, "keywords": one.keywords, "neighbours": one.neighbours}
    told = [f"{name} {value:.1f}" for name, value in parts.items() if round(value, 1)]
    return f"{round(100 * one.relevance)} % ({' + '.join(told) or 'nothing in common'})"
