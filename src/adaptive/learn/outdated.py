"""What no longer holds: memories that a change of another one has silently made untrue.

When a far-reaching fact is changed, ended or deleted, or a new one is near to such a memory, the
model is asked which of the memories nearest to the old and the new sentence ended with it; its
reason has to speak of the change.
"""

import asyncio
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial

from adaptive.core import (
    CATEGORIES,
    PROMPTS,
    Completion,
    CompletionRequest,
    Draft,
    JsonMapping,
    Memory,
    ModelError,
    Proposal,
    Turn,
    Vectors,
    each_open,
    log,
    log_failure,
    mapping,
    staged,
)
from adaptive.learn.addressing import subjects
from adaptive.learn.duplicates import calibrated_likeness, unrelated_likeness
from adaptive.learn.extraction import (
    AskModel,
    listed_memories,
    nearest_memories,
)
from adaptive.learn.proposals import (
    END_NOTE,
    last_day,
    named_memory,
    repeats,
    text_lines,
)
from adaptive.learn.quotation import (
    quoted_share,
    unpasted_words,
    word_units,
)
from adaptive.learn.support import beginnings
from adaptive.llm.ask import render_prompt, text_line
from adaptive.llm.reply import read_items
from adaptive.memory import NO_LONGER_TRUE, draft_of
from adaptive.privacy import escaped_entry
from adaptive.search import MemoryIndex, RankingQuery, holds_words_of, products
from adaptive.settings import HiddenMemories

# What hangs on a preference or a habit is seldom another memory.
_FAR_REACHING = frozenset(CATEGORIES) - {"preference", "behavior"}
# A new fact so like a memory of its kind may be what became of it ("moved to Lyon", "lives in
# Rome"). Of 13 changes told as new facts 12 reach it; of 127 messages 14 more are asked about.
_LEAST_LIKENESS = 0.35
_MOST_COMPARED = 24
_MOST_ENDED = 8  # a model that ends more has not understood the question
_LEAST_KNOWN = 0.6  # of a rewritten sentence, in the change or in the memory
# Of a memory's subjects, in what became of it: capable models keep 0.6 at least.
_LEAST_REMAINING = 0.5
_LONGEST_SAID = 2000
SAID_LATER = "you have said something else since"

OUTDATED_SCHEMA = json.loads(PROMPTS["outdated_schema"])


def far_reaching_changes(
    proposals: Iterable[Proposal],
    index: MemoryIndex,
    vectors: Mapping[str, Vectors],
    updates: Collection[str] = (),
) -> list[Proposal]:
    """The proposals after which other memories may no longer hold.

    ``updates`` are contents that the model proposed as updates, whatever they are taken for.
    """

    def is_far_reaching(proposal: Proposal) -> bool:
        """Whether a change is of a far-reaching kind, and a new fact near to another of it."""
        draft = proposal.draft
        if proposal.kind == "NEW":
            return draft.content in updates or _is_near_its_kind(
                draft, index, vectors.get(draft.content)
            )
        memory = index.memory(proposal.memory_id)
        if memory is None or repeats(draft, memory):
            return False
        topics = {*memory.topics, *draft.topics}
        return not topics or not topics.isdisjoint(_FAR_REACHING)

    return [
        proposal
        for proposal in proposals
        if proposal.is_open and is_far_reaching(proposal)
    ]


def _is_near_its_kind(
    draft: Draft, index: MemoryIndex, vector: Vectors | None
) -> bool:
    """Whether a new fact is like a memory that shares a far-reaching tag with it, or has none."""
    kinds = _FAR_REACHING.intersection(draft.topics or _FAR_REACHING)
    if vector is None or len(vector) != index.dimension:
        return False
    cosines = zip(
        index.memories,
        products(index.ranking.vectors, vector).tolist(),
        strict=True,
    )
    near = [
        cosine
        for one, cosine in cosines
        if kinds.intersection(one.topics or kinds)
    ]
    likeness = calibrated_likeness(
        max(near, default=-1.0), unrelated_likeness(index.nulls)
    )
    return likeness is not None and likeness >= _LEAST_LIKENESS


async def with_consequences(
    proposals: Sequence[Proposal],
    changes: Sequence[Proposal],
    index: MemoryIndex,
    vectors: Mapping[str, Vectors],
    hidden: HiddenMemories,
    ask_model: AskModel,
    turn: Turn,
    now: datetime,
) -> list[Proposal]:
    """Proposals with the ends of other memories that far-reaching changes among them bring.

    What is of a past chat ends no memory of what was said later; that may have ended it.
    """
    near = await _memories_near(changes, index, vectors, hidden)
    later = [one for one in near if one.said_at > turn.source.said_at]
    if later and turn.source.is_past:
        proposals = await _without_past(
            proposals, changes, later, ask_model, turn, now
        )
        changes = [one for one in changes if one in proposals]
        near = [one for one in near if one not in later]
    ended = await outdated_by(changes, near, ask_model, turn, now)
    addressed = {one.memory_id for one in proposals if one.is_open}
    return [
        *proposals,
        *(one for one in ended if one.memory_id not in addressed),
    ]


async def _memories_near(
    changes: Sequence[Proposal],
    index: MemoryIndex,
    vectors: Mapping[str, Vectors],
    hidden: HiddenMemories,
) -> list[Memory]:
    """The memories nearest to what was and is said of changes, but those that are changed."""
    known = index.vectors_of(vectors)
    said = [
        one
        for change in changes
        for one in (change.before, change.draft.content)
        if one
    ]
    asked = [RankingQuery(one, known.get(one)) for one in said]
    near = await asyncio.to_thread(nearest_memories, index, asked)
    changed = {change.memory_id for change in changes}
    return [one for one in hidden.without(near) if one.id not in changed]


async def _without_past(
    proposals: Sequence[Proposal],
    facts: Sequence[Proposal],
    later: Sequence[Memory],
    ask_model: AskModel,
    turn: Turn,
    now: datetime,
) -> list[Proposal]:
    """Proposals of a past chat without those new facts that ended with what was said later."""
    since = [Proposal("NEW", draft=draft_of(memory)) for memory in later]
    said_then = [
        Memory(one.draft.content, one.draft.content, 0, 0)
        for one in facts
        if one.kind == "NEW"
    ]
    wordless = replace(turn, words="", opening="")
    ended = await outdated_by(
        since[:_MOST_COMPARED], said_then, ask_model, wordless, now
    )
    past = {one.memory_id for one in ended}

    def step(proposal: Proposal) -> Proposal:
        """Let a fact pass that still holds."""
        if proposal.kind != "NEW" or proposal.draft.content not in past:
            return proposal
        return proposal.decided("superseded", SAID_LATER)

    return each_open(proposals, step)


def without_changes_of_later(
    proposals: Sequence[Proposal], index: MemoryIndex, turn: Turn
) -> list[Proposal]:
    """Proposals of which none changes a memory of what was said later.

    A sentence that says all that such a memory does, and more, is a fact of its own.
    """

    def step(proposal: Proposal) -> Proposal:
        """Let a change pass of what was said before."""
        memory = index.memory(proposal.memory_id)
        if memory is None or memory.said_at <= turn.source.said_at:
            return proposal
        content = proposal.draft.content
        if proposal.kind == "UPDATE" and holds_words_of(
            content, memory.content
        ):
            return replace(proposal, kind="NEW", memory_id="", before="")
        return proposal.decided("superseded", SAID_LATER)

    return each_open(proposals, step)


@staged("outdated")
async def outdated_by(
    changes: Sequence[Proposal],
    near: Sequence[Memory],
    ask_model: AskModel,
    turn: Turn,
    now: datetime,
) -> tuple[Proposal, ...]:
    """What ends or is rewritten because of changes; nothing where the model can't be asked."""
    shown = near[:_MOST_COMPARED]
    if not shown or not changes:
        return ()
    system = render_prompt("outdated", {"date": now.strftime("%A, %d %B %Y")})
    user = "## What changed"
    for one in changes:
        after = (
            escaped_entry(one.draft.content) or "the user wants it forgotten"
        )
        before = (
            f"Before: {escaped_entry(one.before)}\n  Now"
            if one.before
            else "New"
        )
        user += f"\n- {before}: {after}"
    words = " ".join(unpasted_words(turn.words).split())
    user += f"\nThe user's words: {escaped_entry(words[:_LONGEST_SAID])}"
    if turn.opening not in user:
        # By it a request can be told from others.
        user += f"\nTheir message begins: {turn.opening} ..."
    user += "\n\n## Other memories\n" + listed_memories(shown)
    request = CompletionRequest(
        system, user, "outdated_memories", OUTDATED_SCHEMA
    )
    try:
        return await ask_model(
            request,
            partial(
                read_outdated,
                changes=changes,
                shown=shown,
                words=words,
                today=now.date(),
            ),
        )
    except ModelError as error:
        log_failure("what no longer holds is not known", error)
        return ()


def read_outdated(
    completion: Completion,
    changes: Sequence[Proposal],
    shown: Sequence[Memory],
    words: str,
    today: date,
) -> tuple[Proposal, ...]:
    """The proposals in a reply, each grounded in the change."""
    changed = [
        f"{change.before}\n{change.draft.content}" for change in changes
    ]
    said = beginnings("\n".join([words, *changed]))
    found: dict[str, Proposal] = {}
    for item in map(
        mapping,
        read_items(completion, "outdated", lambda one: "id" in one).items,
    ):
        if (
            memory := named_memory(
                "".join(text_lines(item.get("id"))[:1]), shown
            )
        ) is None:
            continue
        known = said | beginnings(memory.content)
        reason = text_line(item.get("because"))
        # Small models write it once more in place of what is true now.
        is_reasoned = beginnings(reason) & known and reason != text_line(
            item.get("now")
        )
        if (
            is_reasoned
            and (ended := _end(item, memory, known, words, today)) is not None
        ):
            found.setdefault(memory.id, ended)
    if len(found) > _MOST_ENDED:
        log.warning(
            "the model ends %d of %d memories: none ends",
            len(found),
            len(shown),
        )
        return ()
    return tuple(found.values())


def _end(
    item: JsonMapping,
    memory: Memory,
    known: frozenset[str],
    words: str,
    today: date,
) -> Proposal | None:
    """The end of a memory now or on a later day, or its new content; ``None`` where it stays."""
    stored = draft_of(memory)
    until = last_day(item.get("until"))
    if until > today.isoformat():
        # The model was shown the day with the memory.
        return (
            None
            if until == memory.until
            else _ended(memory, replace(stored, until=until))
        )
    now = text_line(item.get("now")).removesuffix(
        END_NOTE.format(memory.until)
    )
    rewritten = replace(stored, content=now)
    is_copied = quoted_share([now], words) == 1
    if now and (is_copied or not _is_what_became_of(now, memory.content)):
        return None
    telling = beginnings(rewritten.content)
    is_grounded = telling and len(telling & known) >= _LEAST_KNOWN * len(
        telling
    )
    return _ended(memory, rewritten if is_grounded else stored)


def _is_what_became_of(now: str, content: str) -> bool:
    """Whether a sentence may stand for what a memory said: about the same, and not that again.

    Small models write the memory again, with a word before it, or what has changed in its place.
    """
    units = word_units(content)
    is_said_again = word_units(now)[-len(units) :] == units
    former = subjects(content)
    remaining = former & subjects(now)
    return not is_said_again and len(remaining) >= _LEAST_REMAINING * len(
        former
    )


def _ended(memory: Memory, draft: Draft) -> Proposal:
    """The proposal to end a memory, with what its row is to say then."""
    return Proposal(
        kind="END",
        memory_id=memory.id,
        draft=draft,
        reason=NO_LONGER_TRUE,
        before=memory.content,
    )
