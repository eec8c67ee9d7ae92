"""Which proposed facts last, and which say who the user is, judged by the local model's vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from adaptive.core.model import Draft, Proposal, Vectors
from adaptive.learn.judges import (
    SOON_OVER,
    is_about_identity,
    judged_facts,
    lasts,
)
from adaptive.search.calibration import (
    EXAMPLE_TEXTS,
    NULL_PROMPTS,
    ComparedExamples,
)
from adaptive.search.vectors import normalised
from tests.fakes import turn
from tests.learn.test_reader import right_facts
from tests.minilm import MINILM, judges_of_minilm
from tests.rates import labelled_set, rate

# What a real model of 1.5B has proposed, of people whose messages the examples' author had seen.
PASSING_PROPOSALS: list[str] = labelled_set("passing_facts")
CORE = (
    "User is called Wanjiru.",
    "User works as a plumber in Nairobi.",
    "User is allergic to sesame.",
    "User wants answers without bullet points.",
    "User lives in a flat in Kisumu.",
)
OTHERS = (
    "User has a parrot.",
    "User's cousin plays the trumpet.",
    "User bought a telescope.",
    "User goes bowling on Thursdays.",
    "User is flying to Cape Town on 3 May 2031.",
)


Judge = Callable[[str, Vectors, ComparedExamples], bool]


async def judged_so(judge: Judge, sentences: Sequence[str]) -> set[str]:
    """The sentences of which a judge says yes."""
    examples = (await judges_of_minilm()).facts
    rows = normalised(await MINILM.embed(sentences, query=False))
    pairs = zip(sentences, rows, strict=True)
    return {
        sentence for sentence, row in pairs if judge(sentence, row, examples)
    }


async def judged(proposal: Proposal, said: str = "") -> Proposal:
    """A proposal as the judges leave it."""
    sentence = proposal.draft.content
    (row,) = normalised(await MINILM.embed([sentence], query=False))
    (outcome,) = judged_facts(
        [proposal],
        turn(said or sentence),
        {sentence: row},
        await judges_of_minilm(),
    )
    return outcome


async def test_passing_proposals_are_refused() -> None:
    """Most questions, errands and moods that a small model takes for facts are refused."""
    lasting = await judged_so(lasts, PASSING_PROPOSALS)
    rate(PASSING_PROPOSALS, lambda one: one not in lasting).at_least(0.7)


async def test_right_facts_pass() -> None:
    """Of what a capable reader has found in real messages at most three in 182 are refused."""
    contents = [item.get("content", "") for _, item in right_facts()]
    facts = [*dict.fromkeys(filter(None, contents))]
    lasting = await judged_so(lasts, facts)
    rate(facts, lambda one: one in lasting).at_least(1 - 3 / len(facts))


async def test_core_facts() -> None:
    """Who the user is, and how they want to be answered, is told from what they have and do."""
    core = await judged_so(is_about_identity, [*CORE, *OTHERS])
    rate(CORE, lambda one: one in core).at_least(0.8)
    rate(OTHERS, lambda one: one not in core).at_least(0.8)


def test_examples() -> None:
    """All judges together ask for few texts, none of them twice, and for nothing that is empty."""
    assert all(EXAMPLE_TEXTS)
    assert len(EXAMPLE_TEXTS) == len(set(EXAMPLE_TEXTS))
    assert len(set(EXAMPLE_TEXTS) - {*NULL_PROMPTS}) <= 290


async def test_passing_proposal() -> None:
    """A passing proposal is refused with its reason; a deletion is no business of the judges."""
    passing = Proposal("NEW", draft=Draft("User wants to know the time."))
    refused = await judged(passing)
    assert (refused.status, refused.reason) == ("rejected", SOON_OVER)
    deletion = Proposal("DELETE", "m", before="User wants to know the time.")
    assert await judged(deletion) == deletion


async def test_what_the_model_leaves_out() -> None:
    """A core fact without tags is marked as one; tags that the model names stay."""
    name = Draft("User's name is Wanjiru.")
    marked = (await judged(Proposal("NEW", draft=name))).draft
    assert marked.tags == ("identity",)
    assert marked.importance > name.importance
    tagged = Draft(name.content, tags=("relationship",))
    assert (await judged(Proposal("NEW", draft=tagged))).draft == tagged
    parrot = Draft("User has a parrot.")
    assert (await judged(Proposal("NEW", draft=parrot))).draft == parrot


@pytest.mark.parametrize(
    ("said", "confidence"),
    [("my parrot eats seeds", 1.0), ("the bird eats seeds", 0.83)],
)
async def test_confidence(said: str, confidence: float) -> None:
    """A fact is the surer the more of its telling words the user has said."""
    draft = Draft("User's parrot eats seeds.")
    outcome = await judged(Proposal("NEW", draft=draft), said)
    assert outcome.draft.confidence == confidence


def test_without_vectors() -> None:
    """Without the vectors of a fact, or of the examples, nothing is refused."""
    proposal = Proposal("NEW", draft=Draft("User wants to know the time."))
    (outcome,) = judged_facts([proposal], turn("Time?"), {}, None)
    assert outcome.is_open
