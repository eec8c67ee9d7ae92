"""Conversation recall from question to section."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive.errors import HostError, ModelBusy
from adaptive.history.index import HistoryIndexes
from adaptive.history.indexing import index_chat
from adaptive.history.ranking import HistoryScope
from adaptive.history.recall import recall_history
from adaptive.history.section import HistorySection
from adaptive.history.summaries import HistorySummariser
from adaptive.llm.ask import AnswerFormats
from tests.fakes import ScriptedModel, hook_settings
from tests.history.world import DAY, START, Notes, World, chat_of, no_nulls

TEAM = "Which team was it?"


class Past(World):
    """Three indexed chats of one user."""

    def __init__(self, **notes: str) -> None:
        super().__init__(
            c=chat_of("c", "Which team will you join?", "The Wolves!"),
            d=chat_of("d", "My dog is called Rex", "Nice", start=START + DAY),
            e=chat_of("e", "Bread needs yeast", "It does", start=START + 2 * DAY),
        )
        self.indexes, self.notes = HistoryIndexes(no_nulls), Notes(**notes)

    async def filled(self) -> Past:
        """The same with everything indexed."""
        for chat_id in self.chats.rows:
            await index_chat(self.past, chat_id, START)
        return self

    async def warm(self) -> Past:
        """The same with the keyword index at hand."""
        await self.filled()
        await self.indexes.renew(self.past, 2**30)
        return self

    async def recall(
        self,
        text: str,
        scope: HistoryScope | None = None,
        summariser: HistorySummariser | None = None,
        previous: str = "",
        *,
        opens: bool = False,
        **valves: Any,
    ) -> HistorySection:
        """Ask for a text."""
        return await recall_history(
            self.past,
            self.indexes,
            self.notes,
            (previous, text) if previous else (text,),
            scope or HistoryScope("new"),
            hook_settings(**valves),
            opens=opens,
            summariser=summariser,
        )


@pytest.mark.parametrize("warm", [True, False])
async def test_found_with_dates_roles_and_neighbours(warm: bool) -> None:
    """The first question is served by the vector database alone, later ones by keywords too."""
    here = await (Past().warm() if warm else Past().filled())
    assert (await here.recall(TEAM)).text.splitlines()[:4] == [
        "### Relevant past conversation",
        "2023-11-14",
        "- User: Which team will you join?",
        "- Assistant: The Wolves!",
    ]


async def test_new_messages_are_found_at_once() -> None:
    """What was indexed after the keyword index was made is found by its vector."""
    here = await Past().warm()
    here.chats.add("f", "The violin is old", start=START + 3 * DAY)
    await index_chat(here.past, "f", START)
    assert (await here.recall("the old violin")).messages[0].id == "f0"


async def test_edited_and_deleted() -> None:
    """Nothing is shown that was edited or deleted since."""
    here = await Past().warm()
    here.chats.rows["d"][0] = {**here.chats.rows["d"][0], "content": "My dog is called Bo"}
    assert "called Bo" in (await here.recall("called dog")).text
    here.chats.remove("d")
    assert "dog" not in (await here.recall("called dog")).text


async def test_without_vectors() -> None:
    """Keywords serve while the embedder or the vector database fails."""
    here = await Past().warm()
    here.embedder.failing = True
    assert "Wolves" in (await here.recall(TEAM)).text
    here.embedder.failing, here.vectors.failing = False, True
    assert "Wolves" in (await here.recall(TEAM)).text
    here.chats.failing = True
    with pytest.raises(HostError):
        await here.recall(TEAM)


async def test_scope_of_the_current_chat() -> None:
    """Of the current chat only what is beyond its window comes back."""
    here = await Past().warm()
    assert "Wolves" not in (await here.recall(TEAM, HistoryScope("c"))).text
    partly = HistoryScope("c", frozenset({"c0"}), only_current=True)
    assert [one.id for one in (await here.recall(TEAM, partly)).messages] == ["c0"]
    assert (await here.recall(TEAM, HistoryScope("c", only_current=True))).text == ""


async def test_follow_up() -> None:
    """A question that continues another one is searched for with it."""
    here = await Past().warm()
    found = await here.recall("And when was that?", previous="Which team did you join?")
    assert found.messages[0].id == "c0"


@pytest.mark.parametrize("warm", [True, False])
async def test_nothing_where_nothing_fits(warm: bool) -> None:
    """What has nothing to do with the past gets no section, and what holds no words no search."""
    here = await (Past().warm() if warm else Past().filled())
    for text in ("?!", "thanks!"):
        assert (await here.recall(text)).text == ""
    assert here.embedder.queries == []
    unrelated = "Prove that the team of Fermat numbers covers infinitely many distinct primes"
    assert (await here.recall(unrelated)).text == ""


async def test_topics_stand_first() -> None:
    """A topic's summary is told above its messages, unless topics are off or the topic is gone."""
    here, asked = await Past().filled(), "which team asked"
    await index_chat(here.past, "c", START, summaries={"c0": "The user asked which team."})
    assert (await here.recall(asked)).text.splitlines()[2] == "- Topic: The user asked which team."
    off = await here.recall(asked, enable_history_topics=False)
    assert "- Topic" not in off.text
    assert "- Topic" not in (await here.recall(asked, HistoryScope("c"))).text
    here.chats.remove("c")
    assert "- Topic" not in (await here.recall(asked)).text


async def test_similar_chats() -> None:
    """A new chat is told of former ones like it, by titles and notes, secrets left out."""
    key = "AKIA" + "QWERTYUIOPASDFGH"
    here = await Past(c=f"They talk about teams, key {key}.").filled()
    await index_chat(here.past, "c", START, summaries={"c0": "They talk about teams"})
    found = await here.recall(TEAM, opens=True)
    assert found.text.splitlines()[2].startswith("- Similar chat: c: They talk about teams")
    assert key not in found.text
    assert "- Topic" not in found.text
    assert "Similar chat: d" not in found.text
    assert "Similar" not in (await here.recall(TEAM)).text
    assert "Similar" not in (await here.recall(TEAM, opens=True, similar_past_chats=0)).text
    here.notes.failing = True
    assert "- Similar chat: c\n" in (await here.recall(TEAM, opens=True)).text


async def test_summarised_only_where_it_exceeds() -> None:
    """A model is asked only if what fits exceeds the budget, and may fail or bring nothing."""
    here = await Past().warm()
    model = ScriptedModel('{"summary": "The Wolves."}', ModelBusy("down"), '{"summary": ""}')
    summariser = HistorySummariser(model, AnswerFormats(), 5)
    await here.recall(TEAM, summariser=summariser)
    assert model.requests == []
    here.chats.add("c", "Which team will you join? " * 30, "The Wolves, my team! " * 30)
    asked = "Which team will you join the Wolves"
    found = await here.recall(asked, summariser=summariser, history_tokens=260)
    assert found.text == "### Relevant past conversation\n- Summary: The Wolves."
    for _ in range(2):
        found = await here.recall(asked, summariser=summariser, history_tokens=260)
        assert "- User: " in found.text
