"""A request on its way through recall: what the model is sent, and what others are told of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from adaptive.core.embedding import Embedder, Sources
from adaptive.core.marks import Place
from adaptive.core.model import HostError, Memory
from adaptive.history.section import HistorySection, PastMessage
from adaptive.llm.ask import AnswerFormats
from adaptive.recall.block import CLOSE_MARKER, OPEN_MARKER
from adaptive.recall.question import Complete
from adaptive.recall.recall import Recall
from adaptive.recall.request import RequestWindow, plain_window
from adaptive.search.history_ports import PastQuestion, Quotation
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook, TurnState
from tests.fakes import (
    ListedEntries,
    ListedMemories,
    ShelvedVectors,
    TurnHook,
    WordEmbedder,
    chat_notes,
    chat_states,
    hook_settings,
    memory,
)

TEA = memory("tea", "green tea", created_at=1)
INK = memory("ink", "blue ink", created_at=3)
SUMMARY = "### Earlier\nThey spoke."
PAST = "What was said.\n\n### Past\n- User: Ahoy"


BLOCK = re.compile(rf"{OPEN_MARKER}\n.*?\n{CLOSE_MARKER}", re.DOTALL)


class Page:
    """A ``Notifier`` that writes down which sources it shows."""

    def __init__(self) -> None:
        self.sources: list[tuple[str, list[str], dict[str, Any]]] = []

    async def source(
        self, name: str, documents: list[str], metadata: list[dict[str, Any]]
    ) -> None:
        """Show a source."""
        self.sources.append((name, documents, metadata[0]))


@dataclass
class Turn(TurnHook):
    """A turn of a user who is given memories."""

    sources_of: Sources | None = None
    state: TurnState = field(default_factory=TurnState)
    notifier: Page = field(default_factory=Page)
    regenerated_message: Mapping[str, Any] = field(
        default_factory=dict[str, Any]
    )

    async def sources(self) -> Sources:
        """Where memories are."""
        assert self.sources_of
        return self.sources_of


class House:
    """Recall with ports that a test scripts, and one user's memories."""

    def __init__(self, *memories: Memory, turns: type[Turn] = Turn) -> None:
        self.turns = turns
        self.section: HistorySection | Exception = HistorySection()
        self.recalls_past = False
        self.gone = set[Quotation]()
        self.tasks = set[asyncio.Task[None]]()
        self.asked: list[PastQuestion] = []
        self.sources = Sources(
            "ada", ListedMemories(*memories), WordEmbedder(), ShelvedVectors()
        )
        beside: Any = self._asking, self
        self.indexes, self.entries = MemoryIndexes(), ListedEntries()
        self.chats = chat_states(self.entries)
        tables = self.chats, chat_notes(ListedEntries())
        self.recall = Recall(
            self.indexes, AnswerFormats(), *tables, self._behind, *beside
        )

    def turn(self, **fields: Any) -> Turn:
        """A turn of the user; what is no field of it is a valve."""
        names = fields.keys() & Turn.__dataclass_fields__.keys()
        own = {name: fields.pop(name) for name in names}
        own = {
            "chat_id": "c",
            "time_zones": ("", "", ""),
            "sources_of": self.sources,
            **own,
        }
        settings = hook_settings(**{"inlet_timeout_seconds": 60, **fields})
        return self.turns(settings, self.sources.embedder, **own)

    async def asks(
        self, turn: Turn, *texts: str, **body: Any
    ) -> dict[str, Any]:
        """The request that is sent for messages of the user."""
        messages = [{"role": "system", "content": "Be kind."}]
        messages += [
            {"role": "user", "content": text}
            for text in texts or ("green tea",)
        ]
        return await self.sends(turn, {"messages": messages, **body})

    async def sends(self, turn: Turn, body: dict[str, Any]) -> dict[str, Any]:
        """The request that is sent, and what is done behind it."""
        turn.given = self.given(turn.chat_id, turn.user_id)
        hook = cast(Hook, turn)
        changed = await self.recall.recalled(
            hook, await self.recall.window(hook, plain_window(hook, body))
        )
        await asyncio.gather(*self.tasks)
        return changed

    def given(self, chat_id: str, user_id: str = "ada") -> object:
        """What the host has read of what a chat was given; nothing where it can't."""
        if self.entries.unavailable:
            return None
        kept = self.entries.rows.get(("chat", user_id, chat_id))
        return kept.body if kept else {}

    async def block(self, turn: Turn, *texts: str) -> str:
        """All blocks of a request, in their order."""
        changed = await self.asks(turn, *texts)
        contents = [message["content"] for message in changed["messages"]]
        return "\n\n".join(BLOCK.findall("\n".join(contents)))

    @asynccontextmanager
    async def _asking(
        self, hook: Hook, *_: object
    ) -> AsyncGenerator[Complete | None]:
        async def complete() -> str:
            hook.state["warnings"] = ["Beware."]
            return ""

        yield complete if hook.settings.enable_preprocessing else None

    def recalls(self, _: Hook) -> bool:
        """Whether a turn is given any of the past."""
        return self.recalls_past

    async def standing(
        self, _: Hook, quoted: Collection[Quotation]
    ) -> frozenset[Quotation]:
        """Those of quoted messages that are not gone."""
        return frozenset(quoted) - self.gone

    async def recalled(
        self, _: Hook, asked: PastQuestion, __: Embedder
    ) -> HistorySection:
        """What is found of it."""
        self.asked.append(asked)
        if isinstance(self.section, Exception):
            raise self.section
        return self.section

    def _behind(
        self, work: Coroutine[Any, Any, None], _: str, *, gently: bool = False
    ) -> None:
        self.tasks.add(asyncio.create_task(work))


async def test_what_fits() -> None:
    """What fits goes in, and later hooks and the page are told of it."""
    house = House(TEA, INK)
    turn = house.turn(
        show_sources=True,
    )
    block = await house.block(turn)
    assert "“green tea”" in block
    assert "ink" not in block
    assert (turn.state.get("recalled"), turn.state.get("injected")) == (
        "1 memory recalled",
        ["tea"],
    )
    [(name, documents, meta)] = turn.notifier.sources
    assert (name, meta["source"]) == ("green tea", "green tea")
    assert re.fullmatch(r"green tea\n\n\d{4}-\d\d-\d\d", documents[0])
    assert meta["name"] == f"green tea ({round(meta['score'] * 100)} %)"
    house.recall.forget("ada")
    await house.block(house.turn())
    assert cast(ListedMemories, house.sources.store).reads == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"told_kind": "channel"},
        {"known_kind": "shared"},
        {"show_memories": False},
    ],
    ids=lambda one: next(iter(one)),
)
async def test_nobody_to_recall_for(
    fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where other people read the answer, or nobody wants it, no memory goes in."""
    house = House(TEA)
    turn = house.turn(**fields)
    assert await house.block(turn) == ""
    assert turn.state == {}

    async def summed_up(
        _: Hook, plain: RequestWindow, __: object
    ) -> RequestWindow:
        return replace(plain, summary=SUMMARY)

    monkeypatch.setattr("adaptive.recall.recall.request_window", summed_up)
    assert await house.block(
        house.turn(**fields, enable_preprocessing=True)
    ) == (f"{OPEN_MARKER}\n{SUMMARY}\n\nBeware.\n{CLOSE_MARKER}")


async def test_behind_the_hosts_tasks() -> None:
    """What is added waits for the hook behind the host's tasks, and former blocks go at once."""
    house, former = (
        House(TEA),
        f"Be kind.\n\n{OPEN_MARKER}\nold\n{CLOSE_MARKER}",
    )
    turn = house.turn(adds_behind_tasks=True, enable_preprocessing=True)
    messages = [
        {"role": "system", "content": former},
        {"role": "user", "content": "green tea"},
    ]
    changed = await house.sends(turn, {"messages": messages})
    assert changed["messages"][0]["content"] == "Be kind."
    assert turn.state.get("recalled") == "1 memory recalled"
    metadata = {"user_id": "ada", "adaptive_memory": turn.state}
    system, said = house.recall.blocks.added(changed, metadata)["messages"]
    assert "“green tea”" in system["content"]
    assert "Beware." in said["content"]


async def test_a_task_would_read_it() -> None:
    """Where a task of the host would read them, no memories come, and the line says so."""
    house = House(TEA)
    house.recalls_past, house.section = True, HistorySection(PAST)
    turn = house.turn(reading_task="web search")
    assert await house.block(turn) == ""
    assert turn.state == {
        "recalled": "No memories recalled: another task of this Open WebUI would read them"
    }
    assert house.asked == []


@pytest.mark.parametrize(
    ("asked", "comes"),
    [
        ("Forget that I like green tea.", ()),
        ("Please forget my green tea. Which ink is blue?", ("blue ink",)),
        ("Don't forget my green tea.", ("green tea",)),
        ("Delete everything you know about me", ()),
        ("green tea", ("green tea",)),
    ],
)
async def test_what_is_to_be_forgotten(
    asked: str, comes: tuple[str, ...]
) -> None:
    """What a message asks to forget does not come with it, though it stood there before."""
    house = House(TEA, INK)
    await house.block(house.turn(), "Which green tea, and which blue ink?")
    block = await house.block(
        house.turn(), "Which green tea, and which blue ink?", asked
    )
    shown = {one for one in ("green tea", "blue ink") if f"“{one}”" in block}
    assert ("green tea" in shown) is ("green tea" in comes)
    assert shown >= set(comes)


AHOY = PastMessage(id="m", chat_id="boat", role="user", text="Ahoy", said_at=1)
SECTION = HistorySection(PAST, [AHOY], note="1 past message recalled")


async def test_past_conversation() -> None:
    """Past conversation stands below the memories or alone, and its embedder is the search's."""
    house = House(TEA)
    house.recalls_past, house.section = True, SECTION
    turn = house.turn()
    block = await house.block(turn)
    assert block.endswith(
        f"- “green tea”\n{CLOSE_MARKER}\n\n{OPEN_MARKER}\n{PAST}\n{CLOSE_MARKER}"
    )
    assert (
        turn.state.get("recalled")
        == "1 memory recalled (1 past message recalled)"
    )
    assert (house.asked[0].text, house.asked[0].first) == ("green tea", True)
    assert (await house.block(house.turn(chat_id="d"), "sort")).startswith(
        f"{OPEN_MARKER}\nWhat was said."
    )


async def test_past_stands_where_it_came() -> None:
    """What came of the past stays with its message, is asked for no more, and goes with its chat."""
    house = House(TEA)
    past: dict[str, Any] = {"history_recall_default": "all"}
    house.recalls_past, house.section = True, SECTION
    first = await house.block(house.turn(**past), "Hi")
    assert PAST in first
    house.section = HistorySection()
    for texts in (["Hi"], ["Hi", "sort"]):
        assert await house.block(house.turn(**past), *texts) == first
    # An answer that is made anew is given what it was.
    assert [[*asked.shown] for asked in house.asked] == [[], [AHOY.key]]
    hidden = house.turn(**past, hidden=frozenset({"health"}))
    assert PAST not in await house.block(hidden, "Hi", "sort")
    house.gone.add(AHOY.quotation)
    assert PAST not in await house.block(house.turn(**past), "Hi", "sort")
    house.gone.clear()
    house.recalls_past = False
    assert PAST not in await house.block(house.turn(**past), "Hi", "sort")


async def test_past_fails(caplog: pytest.LogCaptureFixture) -> None:
    """A fault in the past leaves memories alone."""
    house = House(TEA)
    house.recalls_past, house.section = True, RuntimeError("a bug")
    turn = house.turn()
    assert "green tea" in await house.block(turn)
    assert "past conversation left out: an unexpected error" in turn.state.get(
        "recalled", ""
    )
    assert "a bug" in caplog.text


async def test_what_is_asked() -> None:
    """The newest message with the one before it; where an answer is made anew, its own message."""
    house = House(TEA)
    house.recalls_past = True
    anew = house.turn(
        regenerated_message={"content": "What is my dog called?"}
    )
    await house.asks(anew, "make it shorter")
    await house.asks(house.turn(told_kind="api"), "Hi", "And then?")
    assert [(one.text, one.previous, one.first) for one in house.asked] == [
        ("What is my dog called?", "", True),
        ("And then?", "Hi", False),
    ]


async def test_memories_are_away() -> None:
    """Where memories can't be read, recall fails."""
    house = House(TEA)
    turn = house.turn()

    async def away(*_: object) -> None:
        raise HostError("the database is away")

    object.__setattr__(house.sources.store, "read", away)
    with pytest.raises(HostError):
        await house.block(turn)


@pytest.mark.parametrize(
    ("valve", "banks", "memory_is_on"),
    [
        ("replace", [], False),
        ("keep", [], True),
        ("keep", ["health"], False),
    ],
)
async def test_native_memory(
    valve: str, banks: list[str], memory_is_on: bool
) -> None:
    """The host's own memory is off for the turn, in a copy, or left on beside ours."""
    house, features = House(TEA), {"memory": True, "web": True}
    turn = house.turn(native_memory=valve, hidden=frozenset(banks))
    changed = await house.asks(turn, features=features)
    assert changed["features"] == {"memory": memory_is_on, "web": True}
    assert features == {"memory": True, "web": True}
    assert "green tea”" in changed["messages"][0]["content"]
    apart = Place(choices={"folder=sea": "here"})
    turn = house.turn(native_memory=valve, place=apart)
    changed = await house.asks(turn, features=features)
    assert changed["features"]["memory"] is False
    # Who is shown nothing by us is shown nothing that the host would not show either.
    turn = house.turn(
        native_memory=valve, hidden=frozenset(banks), show_memories=False
    )
    changed = await house.asks(turn, features=features)
    assert changed["features"]["memory"] is memory_is_on


async def test_without_memories() -> None:
    """Where recall fails, the request is fitted and warned all the same, by what is known."""
    house = House(TEA)
    messages = [
        {"role": "user", "content": "word " * 2000},
        {"role": "user", "content": "Hi"},
    ]
    turn = house.turn(max_context_tokens=1000)
    hook, body = cast(Hook, turn), {"messages": messages}
    assert (
        house.recall.sent(hook, plain_window(hook, body))["messages"]
        == messages[1:]
    )
    assert (
        house.recall.sent(hook, RequestWindow(body, messages, memory_tokens=0))
        == body
    )
    turn.state["warnings"] = ["Beware."]
    window = RequestWindow(body, messages, memory_tokens=0, summary=SUMMARY)
    sent = house.recall.sent(hook, window)["messages"]
    assert SUMMARY in sent[-1]["content"]
    assert "Beware." in sent[1]["content"]
