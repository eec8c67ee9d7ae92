"""Conversation recall from question to section."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adaptive.conversation.history_block import SectionRules
from adaptive.conversation.history_indexes import HistoryIndexes
from adaptive.conversation.history_indexing import (
    BackfillRules,
    HistoryLedger,
    IndexingSources,
    backfill,
    index_chat,
)
from adaptive.conversation.history_ranking import HistoryScope
from adaptive.conversation.history_recall import (
    HistoryQuestion,
    HistoryRules,
    HistorySources,
    RecalledHistory,
    recall_history,
)
from adaptive.conversation.history_summary import HistorySummariser
from adaptive.errors import HostError, ModelBusy
from adaptive.llm.ask import AnswerFormats
from tests.conversation.history_world import DAY, START, NearestUnits, StoredChats, chat_of
from tests.fakes import ScriptedModel, WordEmbedder

RULES = HistoryRules(
    SectionRules(300, lambda text: len(text.split())), patience=1, index_bytes=2**30
)


class World:
    """Three indexed chats of one user."""

    def __init__(self) -> None:
        self.chats = StoredChats(
            c=chat_of("c", "Which team will you join?", "The Wolves!"),
            d=chat_of("d", "My dog is called Rex", "Nice", start=START + DAY),
            e=chat_of("e", "Bread needs yeast", "It does", start=START + 2 * DAY),
        )
        self.vectors = NearestUnits()
        self.embedder = WordEmbedder()
        self.indexes = HistoryIndexes()
        self.sources = HistorySources("ada", self.embedder, self.vectors, self.chats, self.indexes)
        self.indexing = IndexingSources("ada", self.embedder, self.vectors, self.chats)

    async def filled(self) -> World:
        """The same with everything indexed."""

        async def ignored(_: object) -> None: ...

        await backfill(self.indexing, HistoryLedger(), START, BackfillRules(rest=0), ignored)
        return self

    async def warm(self) -> World:
        """The same with the keyword index at hand."""
        await self.filled()
        await self.indexes.at_hand("ada", self.chats, RULES.index_bytes)
        await self.indexes.made("ada")
        return self

    async def recall(
        self,
        text: str,
        scope: HistoryScope | None = None,
        summariser: HistorySummariser | None = None,
        rules: HistoryRules = RULES,
        previous: str = "",
    ) -> RecalledHistory:
        """Ask for a text."""
        question = HistoryQuestion(text, scope or HistoryScope("new"), previous)
        return await recall_history(self.sources, question, rules, summariser)


@pytest.mark.parametrize("warm", [True, False])
async def test_found_with_dates_roles_and_neighbours(warm: bool) -> None:
    """The first question is served by the vector database alone, later ones by keywords too."""
    world = await (World().warm() if warm else World().filled())
    found = await world.recall("Which team was it?")
    assert found.section.text.splitlines()[:4] == [
        "### Relevant past conversation",
        "2023-11-14",
        "- User: Which team will you join?",
        "- Assistant: The Wolves!",
    ]
    await world.indexes.made("ada")


async def test_new_messages_are_found_at_once() -> None:
    """What was indexed after the keyword index was made is found by its vector."""
    world = await World().warm()
    world.chats.rows["f"] = [*chat_of("f", "The violin is old", start=START + 3 * DAY)]
    world.chats.owner["f"] = "ada"
    await index_chat(world.indexing, HistoryLedger(), "f", START)
    found = await world.recall("the old violin")
    assert found.section.messages[0].id == "f0"
    await world.indexes.made("ada")


async def test_edited_and_deleted() -> None:
    """Nothing is shown that was edited or deleted since."""
    world = await World().warm()
    world.chats.rows["d"][0] = {**world.chats.rows["d"][0], "content": "My dog is called Bo"}
    assert "called Bo" in (await world.recall("called dog")).section.text
    world.chats.remove("d")
    assert "dog" not in (await world.recall("called dog")).section.text
    await world.indexes.made("ada")


async def test_without_vectors() -> None:
    """Keywords serve while the embedder or the vector database fails."""
    world = await World().warm()
    world.embedder.failing = True
    assert "Wolves" in (await world.recall("Which team?")).section.text
    world.embedder.failing = False
    world.vectors.failing = True
    assert "Wolves" in (await world.recall("Which team?")).section.text
    world.chats.failing = True
    with pytest.raises(HostError):
        await world.recall("Which team?")


async def test_scope_of_the_current_chat() -> None:
    """Of the current chat only what is beyond its window comes back."""
    world = await World().warm()
    seen = HistoryScope("c", frozenset(), only_current=False)
    assert "Wolves" not in (await world.recall("Which team?", seen)).section.text
    partly = HistoryScope("c", frozenset({"c0"}), only_current=True)
    found = await world.recall("Which team?", partly)
    assert [one.id for one in found.section.messages] == ["c0"]
    nothing = HistoryScope("c", frozenset(), only_current=True)
    assert (await world.recall("Which team?", nothing)).section.text == ""


async def test_follow_up() -> None:
    """A follow-up is searched for with the message that it continues."""
    world = await World().warm()
    found = await world.recall("And when was that?", previous="Which team did you join?")
    assert found.section.messages[0].id == "c0"


async def test_nothing_to_ask_for() -> None:
    """A message without words recalls nothing, and calls nobody."""
    world = await World().filled()
    calls = len(world.embedder.queries)
    assert (await world.recall("?!")).section.text == ""
    assert len(world.embedder.queries) == calls


@pytest.mark.parametrize("warm", [True, False])
async def test_nothing_where_nothing_fits(warm: bool) -> None:
    """A prompt that has nothing to do with the past gets no section, unless the gate is off."""
    world = await (World().warm() if warm else World().filled())
    unrelated = "Prove that the team of Fermat numbers covers infinitely many distinct primes"
    for _ in range(2):  # by words alone, then by null prompts as well
        assert (await world.recall(unrelated)).section.text == ""
        assert (await world.recall("thanks!")).section.text == ""
        await world.indexes.calibrations.made("ada")
        await world.indexes.made("ada")
    open_gate = await world.recall(unrelated, rules=replace(RULES, gate=0))
    assert open_gate.section.messages
    assert (await world.recall("Which team was it?")).section.messages[0].id == "c0"


async def test_topics_stand_first() -> None:
    """A topic's summary is told above its messages, unless topics are off or the topic is gone."""
    world = await World().filled()
    summaries = {"c0": "The user asked which team."}
    await index_chat(world.indexing, HistoryLedger(), "c", START, summaries=summaries)
    found = await world.recall("which team asked")
    assert found.section.text.splitlines()[2] == "- Topic: The user asked which team."
    off = await world.recall("which team asked", rules=replace(RULES, topics=False))
    assert "- Topic" not in off.section.text
    here = await world.recall("which team asked", HistoryScope("c"))
    assert "- Topic" not in here.section.text
    world.chats.remove("c")
    assert "- Topic" not in (await world.recall("which team asked")).section.text
    await world.indexes.made("ada")


async def test_summarised_only_where_it_exceeds() -> None:
    """A model is asked only if what fits exceeds the budget, and may fail or bring nothing."""
    world = await World().warm()
    model = ScriptedModel('{"summary": "The Wolves."}', ModelBusy("down"), '{"summary": ""}')
    summariser = HistorySummariser(model, AnswerFormats(), 5)
    await world.recall("Which team?", summariser=summariser)
    assert model.requests == []
    tight = replace(RULES, section=replace(RULES.section, tokens=13))
    asked = "Which team will you join the Wolves"
    found = await world.recall(asked, summariser=summariser, rules=tight)
    assert found.summarised
    assert found.section.text == "### Relevant past conversation\n- Summary: The Wolves."
    for _ in range(2):
        found = await world.recall(asked, summariser=summariser, rules=tight)
        assert not found.summarised
        assert "- Assistant: The Wolves!" in found.section.text
