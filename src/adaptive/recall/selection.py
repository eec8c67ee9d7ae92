"""The pure steps from what is asked to what is selected.

Who may be asked, what of that is nearest, and what of the nearest comes within the block's budget.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from adaptive.core.embedding import Embedder
from adaptive.core.messages import (
    Message,
    has_words,
    local_time,
    message_text,
    spoken_text,
)
from adaptive.core.model import Memory, Vectors, frozen, has_ended
from adaptive.core.runtime import stage
from adaptive.privacy.secrets import without_secrets
from adaptive.privacy.spoken_requests import sentences_to_forget
from adaptive.recall.block import (
    BlockEntry,
    core_room,
    entries_within,
    entry_of,
    placed_entries,
    reason_against,
    retrieved_room,
    withheld_reason,
)
from adaptive.recall.core_facts import (
    MOST_CORE_FACTS,
    CoreFacts,
    CoreJudges,
    core_facts_for,
)
from adaptive.search.fitting import fitting, interleaved, without_places
from adaptive.search.fusion import (
    DEFAULT_WEIGHTS,
    GATES,
    Ranked,
    RankingQuery,
    Weights,
    rank,
    ranking_query,
)
from adaptive.search.index import FoundMemory, MemoryIndex
from adaptive.search.kinds import LearnedKind
from adaptive.search.thoughts import (
    thought_queries,
    thoughts_of,
    with_evidence,
)
from adaptive.search.tokens import continues, tokens
from adaptive.search.vectors import query_vectors
from adaptive.settings.hook import Hook
from adaptive.settings.merged import LocalOnlyBanks, Settings

# Shares of the inlet's time limit; what is left is for ranking, and for the judge if there is one.
_SHARE_FOR_EMBEDDING = 0.5
_SHARE_FOR_SEARCHING_AGAIN = 0.15
# The most that valves allow for a model to judge, and some that may not stand in a prompt.
_MOST_RANKED = 220
_MOST_NAMED = 20
# Words name what they say: neither its neighbours nor, if they speak of the user, everything.
_NAMING = Weights(neighbours=0.0, personal=0.0)
_LEAST_NAMED = GATES[0] / 4

# Brings the text to search with, the message's own words included, within a bounded time; empty
# where the message stands as it is.
Complete = Callable[[], Awaitable[str]]


@frozen
class Question:
    """What memories are wanted for; without a ``chat_id`` nothing is kept in place.

    ``previous`` is the user's message before it. ``first`` tells that the chat holds no earlier
    message of the user. ``today`` is the user's day as "YYYY-MM-DD"; without it nothing has ended.
    ``to_forget`` is what of the message asks to forget something. ``complete`` is there where a
    model is asked for better words. ``vectors`` are those of the text and, where that continues it,
    of the previous one; ``None`` where keywords have to serve. ``thoughts`` are those of a message
    that has several, each with its vector. ``former`` are the ids of the memories that stand in the
    chat's block. ``about_writer`` knows messages that are about their writer.
    """

    text: str
    previous: str = ""
    chat_id: str = ""
    first: bool = False
    today: str = ""
    to_forget: str = ""
    complete: Complete | None = None
    vectors: Vectors | None = None
    thoughts: Sequence[RankingQuery] = ()
    former: Sequence[str] = ()
    about_writer: LearnedKind | None = None

    def nearest(
        self,
        index: MemoryIndex,
        limit: int,
        weights: Weights = DEFAULT_WEIGHTS,
        without: Sequence[int] = (),
    ) -> list[list[Ranked]]:
        """The memories nearest to the whole and to each thought, best first; none without words.

        Those of the places ``without`` are left out.
        """
        if not has_words(self.text):
            return []
        queries = self.queries(index.dimension)
        return [
            rank(
                index.ranking,
                query,
                limit,
                weights,
                thoughts=len(queries),
                without=without,
            )
            for query in queries
        ]

    def queries(self, dimension: int) -> list[RankingQuery]:
        """The whole message, with the previous one where it continues that, and its thoughts."""
        own = ranking_query(self.text, self.previous, self.vectors, dimension)
        return with_evidence([own, *self.thoughts], self.about_writer)


def question_of(
    hook: Hook, messages: Sequence[Message], *, answered: bool = False
) -> Question:
    """The question that a request asks, or the newest that was ``answered``."""
    of_user = [
        message for message in messages if message.get("role") == "user"
    ]
    nothing: Message = {}
    previous, newest = [nothing, nothing, *of_user][-2:]
    if hook.regenerated_message and not answered:
        # "make it shorter" stands last then; what it is about, the user's message tells.
        newest = hook.regenerated_message
    text = spoken_text(message_text(newest))
    return Question(
        text=text,
        previous=spoken_text(message_text(previous)),
        chat_id=hook.chat_id if hook.told_kind == "saved" else "",
        first=len(of_user) <= 1,
        today=local_time(time.time(), *hook.time_zones).date().isoformat(),
        to_forget=sentences_to_forget(text),
    )


async def embedded_question(
    hook: Hook, question: Question, embedder: Embedder, index: MemoryIndex
) -> Question:
    """The question in the words to search with, and with their vectors."""
    seconds = hook.settings.inlet_timeout_seconds
    texts = [question.text]
    thoughts: list[str] = []
    if continues(question.text):
        texts.append(question.previous)
    else:
        # A secret of several lines is none that can be known by one of them.
        spoken = without_secrets(question.text)
        thoughts = thoughts_of(spoken, index.ranking.keywords)
    # Before the question is completed: with a model in this process both take longer at once.
    vectors = await query_vectors(
        embedder, [*texts, *thoughts], seconds * _SHARE_FOR_EMBEDDING
    )
    question = replace(
        question, thoughts=thought_queries(thoughts, vectors, index.dimension)
    )
    text = await question.complete() if question.complete else ""
    if not text or text == question.text:
        return replace(question, vectors=vectors)
    if vectors is not None:
        again = seconds * _SHARE_FOR_SEARCHING_AGAIN
        completed = await query_vectors(embedder, [text], again)
        if completed is not None:
            vectors = np.concatenate([completed, vectors[1:]])
    return replace(question, text=text, vectors=vectors)


@frozen
class Candidates:
    """The memories that may come for a question: those of ``index`` but the ``withheld`` ids.

    ``core`` are the facts that always come, ``bearing`` the core facts that come with this message,
    nearest first.
    """

    question: Question
    index: MemoryIndex
    withheld: AbstractSet[str]
    core: Sequence[Memory]
    bearing: Sequence[Memory]

    def memory_at(self, near: Ranked) -> Memory:
        """A memory that was ranked."""
        return self.index.memories[near.place]

    def memory(self, memory_id: str) -> Memory:
        """The memory of an id that is in the index."""
        return self.index.memories[self.index.places[memory_id]]


def candidates_for(
    question: Question,
    index: MemoryIndex,
    hidden: LocalOnlyBanks,
    judges: CoreJudges | None,
) -> Candidates:
    """The candidates for a question, without the memories of ``hidden``.

    Without ``judges`` the first core facts come: the most important ones, then the oldest.
    """
    question = replace(question, about_writer=judges and judges.about_writer)
    to_forget = set(tokens(question.to_forget))
    # What has ended is no fact of today: it is left out as if it were none of the model's business.
    withheld = {
        memory.id
        for memory in index.memories
        if has_ended(memory, question.today)
        or (hidden.names and hidden.holds(memory))
        or (to_forget and to_forget.intersection(tokens(memory.content)))
    }
    # What may not stand in a prompt takes no place from other facts.
    facts = [
        memory
        for memory in index.core
        if memory.id not in withheld and not reason_against(memory)
    ]
    coming = CoreFacts(facts[:MOST_CORE_FACTS])
    if facts and judges is not None:
        places = [index.places[memory.id] for memory in facts]
        vectors = index.ranking.vectors[places]
        queries = question.queries(index.dimension)
        coming = core_facts_for(queries, facts, vectors, judges)
    return Candidates(
        question=question,
        index=index,
        withheld=withheld,
        core=coming.standing,
        bearing=coming.bearing,
    )


@frozen
class Selection:
    """What was selected for a question: the entries of ``core`` facts, and all ``retrieved`` ones.

    ``shown`` are the ids of both. ``fitting`` is the relevance, from 0 to 1, of those that fit the
    message, by id, best first.
    """

    candidates: Candidates
    core: Sequence[BlockEntry]
    retrieved: Sequence[BlockEntry]
    shown: Sequence[str]
    fitting: Mapping[str, float]


@stage("ranking")
def ranked_candidates(candidates: Candidates) -> list[list[Ranked]]:
    """As many of the nearest candidates as could come, best first, for each thought."""
    places = candidates.index.places
    return candidates.question.nearest(
        candidates.index,
        _MOST_RANKED + len(candidates.core),
        without=[places[memory_id] for memory_id in candidates.withheld],
    )


def fitting_memories(
    candidates: Candidates,
    rankings: Sequence[Sequence[Ranked]],
    limit: int,
    **rules: float,
) -> dict[str, Ranked]:
    """As many as fit by the rules of ``fitting``, by id, best first.

    Core facts among them take no place from others, nor does what may not stand in a prompt.
    """
    while True:  # only what would come is looked at
        fit = fitting(rankings, len(candidates.core) + limit, **rules)
        refused = {
            near.place
            for near in fit
            if reason_against(candidates.memory_at(near))
        }
        if not refused:
            return {candidates.memory_at(near).id: near for near in fit}
        rankings = without_places(rankings, refused)


def fitting_by_settings(
    candidates: Candidates,
    rankings: Sequence[Sequence[Ranked]],
    settings: Settings,
    more: int = 0,
) -> dict[str, Ranked]:
    """What fits a message by the valves, by id, best first; so many ``more`` than may come."""
    return fitting_memories(
        candidates,
        rankings,
        settings.related_memories_n + more,
        vector_floor=settings.vector_similarity_threshold,
        relevance_floor=settings.relevance_threshold,
    )


def eligible_memories(
    candidates: Candidates, fit: Iterable[str]
) -> list[Memory]:
    """The core facts, what fits, and what stood in the chat's block, as far as they may come."""
    facts = [memory.id for memory in (*candidates.core, *candidates.bearing)]
    ids = dict.fromkeys([*facts, *fit, *candidates.question.former])
    memories = map(candidates.index.memory, ids)
    return [
        memory
        for memory in memories
        if memory and memory.id not in candidates.withheld
    ]


@stage("block")
def selected(
    candidates: Candidates,
    fit: Mapping[str, float],
    settings: Settings,
    most_tokens: int,
) -> Selection:
    """What comes within so many tokens: core facts, what stood there before, and what fits now."""
    existing: dict[str, BlockEntry] = {}
    for memory in eligible_memories(candidates, fit):
        entry = entry_of(memory, settings.memory_format)
        if entry is not None and not reason_against(memory):
            existing[memory.id] = entry
    facts = [memory.id for memory in candidates.core]
    core = entries_within(core_room(most_tokens), facts, existing)
    for entry in core:
        del existing[entry.memory.id]
    best = [memory_id for memory_id in fit if memory_id in existing]
    bearing = [memory.id for memory in candidates.bearing]
    coming = [*dict.fromkeys([*best, *bearing])]
    retrieved = placed_entries(
        former=candidates.question.former,
        fitting=coming[: settings.related_memories_n],
        existing=existing,
        room=retrieved_room(core, most_tokens),
    )
    shown = [entry.memory.id for entry in (*core, *retrieved)]
    return Selection(
        candidates=candidates,
        core=core,
        retrieved=retrieved,
        shown=shown,
        fitting={
            memory_id: score
            for memory_id, score in fit.items()
            if memory_id in shown
        },
    )


def found_memories(
    candidates: Candidates, hidden: LocalOnlyBanks
) -> list[FoundMemory]:
    """The memories nearest to words in meaning, and those that hold one of them, best first."""
    index = candidates.index
    words = set(tokens(candidates.question.text))
    rankings = candidates.question.nearest(index, len(index.memories), _NAMING)
    named = interleaved(
        [
            [
                near
                for near in ranked
                if near.keywords > 0 or near.evidence >= _LEAST_NAMED
            ]
            for ranked in rankings
        ]
    )
    found: list[FoundMemory] = []
    for near in named[:_MOST_NAMED]:
        memory = index.memories[near.place]
        found.append(
            FoundMemory(
                memory=memory,
                score=round(100 * near.relevance),
                has_all_words=words.issubset(tokens(memory.content)),
                withheld=withheld_reason(memory, hidden),
            )
        )
    return found
