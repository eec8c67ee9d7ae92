"""Which proposed facts last, and which say who the user is, judged by the local model's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from adaptive.core.model import Draft, Proposal, Sources
from adaptive.learn.examples import ExampleFit
from adaptive.learn.lasting import (
    PASSING,
    SOON_OVER,
    FactJudges,
    fact_examples,
    lasting_judge,
    plain_judge,
)
from adaptive.search.vectors import normalised
from tests.fakes import ListedMemories, ShelvedVectors, WordEmbedder, turn
from tests.learn.test_reader import right_facts
from tests.learn.world import not_started
from tests.minilm import MINILM
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
JUDGES = FactJudges(not_started)


async def accepted(fit: ExampleFit, sentences: Sequence[str]) -> set[str]:
    """The sentences that a fit takes for positive."""
    rows = normalised(await MINILM.embed(sentences, query=False))
    pairs = zip(sentences, rows, strict=True)
    return {sentence for sentence, row in pairs if fit.accepts(sentence, row)}


async def judged(
    proposal: Proposal, said: str = "", embedder: Any = MINILM
) -> Proposal:
    """A proposal as the judges leave it."""
    sentence = proposal.draft.content
    (row,) = normalised(await MINILM.embed([sentence], query=False))
    sources = Sources("ada", ListedMemories(), embedder, ShelvedVectors())
    await JUDGES.fit(sources, len(row))
    (outcome,) = await JUDGES.judged(
        [proposal], turn(said or sentence), {sentence: row}, sources
    )
    return outcome


async def test_passing_proposals_are_refused() -> None:
    """Most questions, errands and moods that a small model takes for facts are refused."""
    fit = await lasting_judge().fit_for(MINILM, ShelvedVectors(), 384)
    lasting = await accepted(fit, PASSING_PROPOSALS)
    rate(PASSING_PROPOSALS, lambda one: one not in lasting).at_least(0.7)


async def test_right_facts_pass() -> None:
    """Of what a capable reader has found in real messages at most three in 182 are refused."""
    fit = await lasting_judge().fit_for(MINILM, ShelvedVectors(), 384)
    contents = [item.get("content", "") for _, item in right_facts()]
    facts = [*dict.fromkeys(filter(None, contents))]
    lasting = await accepted(fit, facts)
    rate(facts, lambda one: one in lasting).at_least(1 - 3 / len(facts))


async def test_core_facts() -> None:
    """Who the user is, and how they want to be answered, is told from what they have and do."""
    fit = await plain_judge().fit_for(MINILM, ShelvedVectors(), 384)
    plain = await accepted(fit, [*CORE, *OTHERS])
    rate(CORE, lambda one: one not in plain).at_least(0.8)
    rate(OTHERS, lambda one: one in plain).at_least(0.8)


def test_no_example_is_of_two_kinds() -> None:
    """No example stands for what lasts and for what passes, or is written twice."""
    examples = [*fact_examples(), *fact_examples(PASSING)]
    assert len(examples) == len(set(examples))
    assert all(examples)


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


async def test_without_vectors() -> None:
    """While the embedding provider is down nothing is refused."""
    down = WordEmbedder()
    down.failing = True
    passing = Proposal("NEW", draft=Draft("User wants to know the time."))
    assert (await judged(passing, embedder=down)).is_open


async def test_another_length() -> None:
    """Vectors of another length than the embedder's now are judged by nobody."""
    proposal = Proposal("NEW", draft=Draft("User wants to know the time."))
    sources = Sources("ada", ListedMemories(), MINILM, ShelvedVectors())
    row = np.ones(3, np.float32)
    vectors = {proposal.draft.content: row}
    said = turn("What time is it?")
    (outcome,) = await JUDGES.judged([proposal], said, vectors, sources)
    assert outcome.is_open
