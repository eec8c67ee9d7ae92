"""Two users who do the same at the same time on two workers, and whether anything crosses.

Each user has several chats open at once, and one thing after the other is done in each, at one of
the two workers by chance. Facts bear numbers of their users (see ``made_up_lives``). The model
repeats every fact that it is told and asks to change memories that it was not offered: what crosses
is carried as far as it can go. After each operation all that is new anywhere is looked at.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from adaptive.memory.tables import EntryKind
from adaptive.privacy.sealing import MARKED, Sealer
from demo.environment import HostEnvironment
from tests.e2e.driver.extraction import EXTRACT
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.made_up_lives import (
    Fact,
    extraction_reply,
    facts_in,
    made_up_fact,
    users_in,
)
from tests.e2e.driver.page import Memory, Page, RefusedError
from tests.e2e.driver.replies import Body
from tests.e2e.driver.scripted_model import (
    CHAT_MODEL,
    SECOND_MODEL,
    text_of,
    told_beside,
)
from tests.e2e.driver.services import (
    Services,
    running_services,
    running_workers,
)
from tests.e2e.driver.turn import Turn

USERS = 2
RELEVANCE = "# Score relevance"
# All that is kept of one user for another message is in use: scores, blocks, archive, summaries.
VALVES: dict[str, Any] = {
    "use_llm_for_relevance": True,
    "show_sources": True,
    "max_extractions_per_hour": 10_000,
    "extraction_debounce_seconds": 0.5,
    "inject_in_temporary_chats": True,
    "learn_from_api_calls": True,
}
QUESTIONS = (
    "What boats do I keep?",
    "Which guitar did I buy?",
    "Which things do I have in Porto?",
)
# Where the facts of both users come up in any run that is not very short.
_SEEN_IN = (
    *("request chat", f"request {EXTRACT}", f"request {RELEVANCE}"),
    *("event other", "event status", "event source"),
    *("memory", "document_chunk", "adaptive_memory_entries"),
)
# A user's row may be gone when the request to change it arrives: another chat has forgotten it.
# With pgvector the host answers 500 where two workers write the first vector of a row at once: its
# upsert looks, then inserts (host: retrieval/vector/dbs/pgvector.py, 0.12.4). The row is written.
_GONE_OR_RACED = (400, 401, 404, 500)
_MESSAGES_PER_CHAT = 16
# What is still being learned when the last operation is over.
_SETTLING_SECONDS = 5.0
_OFFERED = re.compile(r"^- id=(\d+)", re.MULTILINE)
# Share of operations after which the model hears of all ids of a user.
_IDS_TAKEN_UP = 0.2
_FORWARD_USERS = {"ENABLE_FORWARD_USER_INFO_HEADERS": "true"}
# What our table seals texts for (see adaptive/host/tables.py).
_PURPOSES = get_args(EntryKind)
_TABLES = (
    "SELECT table_name AS name, string_agg(column_name, ' ') AS columns"
    " FROM information_schema.columns WHERE table_schema = 'public'"
    r" AND (table_name LIKE 'adaptive\_memory\_%' OR table_name IN ('memory', 'document_chunk'))"
    " GROUP BY table_name ORDER BY table_name"
)
# The oldest transaction that still runs: what those before it have written is read by now.
_SNAPSHOT = (
    "SELECT 'snapshot' AS name, '' AS owner, jsonb_build_object('xid',"
    " txid_snapshot_xmin(txid_current_snapshot()) & 4294967295) AS told"
)


@dataclass(frozen=True, slots=True)
class IsolationPlan:
    """How long a run is; ``chats`` are those that each user has open at once.

    ``most_memories`` are few enough that memories of both users get archived in such a run.
    """

    operations: int
    chats: int
    seed: int
    most_memories: int


class Watch:
    """Looks for anything of one user that turns up at the other; ``crossings`` are what it found.

    Each request of the model is told by the host whose it is, each event by the page that got it,
    each row by its own user id. Rows are read by the transactions that wrote them (``xmin``), so
    that each version of each row is looked at once.
    """

    def __init__(
        self, pages: list[Page], host: RunningHost, services: Services
    ) -> None:
        self.crossings: list[str] = []
        # Users whose own facts were seen in a place: proof that the watch can see.
        self.seen: dict[str, set[int]] = {}
        self.xid = 0
        self._people = {
            page.user_id: number for number, page in enumerate(pages)
        }
        self._pages, self._model, self._services = pages, host.model, services
        self._sealer = Sealer(host.server.variables["WEBUI_SECRET_KEY"])
        self._requests = 0
        self._events = [0] * len(pages)
        self._lock = asyncio.Lock()

    async def look(self) -> None:
        """Look at all that is new."""
        async with self._lock:
            for request in self._model.requests[self._requests :]:
                person = self._people.get(
                    request.headers.get("X-OpenWebUI-User-Id", "")
                )
                place = (
                    request.title
                    if request.kind == "plug-in"
                    else request.kind
                )
                self._check(
                    f"request {place}", person, json.dumps(request.messages)
                )
                self._requests += 1
            for person, page in enumerate(self._pages):
                for event in page.events[self._events[person] :]:
                    kind = (
                        event.kind
                        if event.kind in ("status", "source")
                        else "other"
                    )
                    self._check(
                        f"event {kind}", person, json.dumps(event.data)
                    )
                    self._events[person] += 1
            await asyncio.to_thread(self._look_at_rows)

    def _look_at_rows(self) -> None:
        tables = self._services.rows(_TABLES)
        selects = [_SNAPSHOT, *(_new_rows(one, self.xid) for one in tables)]
        for row in self._services.rows(" UNION ALL ".join(selects)):
            name, owner = str(row["name"]), str(row["owner"])
            if name == "snapshot":
                self.xid = int(row["told"]["xid"])
                continue
            for column, value in row["told"].items():
                text = value if isinstance(value, str) else json.dumps(value)
                if text.startswith(MARKED):
                    text = self._opened(f"{name}.{column}", owner, text)
                self._check(name, self._people.get(owner), text)

    def _opened(self, place: str, owner: str, sealed: str) -> str:
        """A sealed text as its user's own keys open it."""
        for purpose in _PURPOSES:
            if (text := self._sealer.open(owner, purpose, sealed)) is not None:
                return text
        self.crossings.append(
            f"{place} of {owner} is not sealed with keys of this user"
        )
        return ""

    def _check(self, place: str, person: int | None, text: str) -> None:
        named = users_in(text)
        if person in named:
            self.seen.setdefault(place, set()).add(person)
        if person is not None and named - {person}:
            self.crossings.append(f"{place} of user {person}: {text[:400]}")


def _new_rows(table: Mapping[str, str], since: int) -> str:
    """A query for the rows of a table that transactions from ``since`` on have written."""
    name, owner, ours = table["name"], "user_id", "true"
    if name == "document_chunk":
        owner = "replace(collection_name, 'user-memory-', '')"
        ours = "collection_name LIKE 'user-memory-%'"
    # A vector says nothing that a fact could stand in, and is long.
    told = (
        "to_jsonb(t) - 'vector'"
        if "vector" in table["columns"].split()
        else "to_jsonb(t)"
    )
    return (
        f"SELECT '{name}' AS name, {owner} AS owner, {told} AS told FROM {name} AS t"
        f" WHERE {ours} AND t.xmin::text::bigint >= {since}"
    )


class GossipingModel:
    """The model of both users. It keeps nothing but ids of memories that it should not know."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._ids: dict[str, None] = {}

    def learn_ids(self, memories: Sequence[Memory]) -> None:
        """Take up the ids of somebody's memories."""
        self._ids |= dict.fromkeys(one.id for one in memories)

    def chat(self, body: Body) -> str:
        """Repeat every fact that the model is told."""
        return " ".join(
            [
                "Understood.",
                *(told for _, told in facts_in(told_beside(body))),
            ]
        )

    def extraction(self, body: Body) -> dict[str, Any]:
        """What the newest words tell, and changes of memories that are anybody's."""
        reply = extraction_reply(body)
        facts = [one["content"] for one in reply["operations"]] or [
            "User likes green tea."
        ]
        for memory_id in self._any_ids():
            update = {
                "operation": "UPDATE",
                "id": memory_id,
                "content": facts[0],
            }
            reply["operations"].append(update)
        return reply

    def relevance(self, body: Body) -> dict[str, Any]:
        """Everything offered matters, and what was not offered too."""
        offered = _OFFERED.findall(text_of(body["messages"][-1]["content"]))
        named = (*offered, *self._any_ids())
        return {"scores": [{"id": one, "score": 1.0} for one in named]}

    def _any_ids(self) -> list[str]:
        """Ids of a few memories of whomever."""
        newest = [*self._ids][-200:]
        return self._chance.sample(newest, min(3, len(newest)))


class _Lane:
    """One chat of a user, and what is done in it."""

    def __init__(
        self, page: Page, facts: Callable[[], Fact], chance: random.Random
    ) -> None:
        self.page, self._facts, self._chance = page, facts, chance
        self._chat = page.new_chat()

    async def send(self, words: str) -> None:
        """Say something in the open chat."""
        if len(self._chat.messages) >= _MESSAGES_PER_CHAT:
            self._chat = self.page.new_chat()
        _complete(await self._chat.send(words))

    async def say_fact(self) -> None:
        """Tell something that nobody else could tell."""
        await self.send(f"By the way, {self._facts().said}.")

    async def ask(self) -> None:
        """Ask what the other user asks in the very same words."""
        await self.send(self._chance.choice(QUESTIONS))

    async def erase(self) -> None:
        """Ask to forget everything, and confirm it."""
        await self.send("Forget everything you know about me.")

    async def again(self) -> None:
        """Let the last answer be given again, or edit the last message and send it again."""
        if not self._chat.messages:
            await self.ask()
        if self._chance.random() < 0.5:
            _complete(await self._chat.regenerate())
        else:
            _complete(
                await self._chat.edit_last(
                    f"By the way, {self._facts().said}."
                )
            )

    async def two_models(self) -> None:
        """Ask two models at once, in a chat of its own."""
        chat = self.page.new_chat()
        for turn in await chat.send_to_models(
            QUESTIONS[0], [CHAT_MODEL, SECOND_MODEL]
        ):
            _complete(turn)

    async def api_call(self) -> None:
        """Ask over the API."""
        answer = await self.page.complete(self._chance.choice(QUESTIONS))
        assert answer.status == 200, answer

    async def other_chat(self) -> None:
        """Open another chat, deleting the one that is open."""
        former, self._chat = self._chat, self.page.new_chat()
        if former.id:
            await self.page.request("DELETE", f"/api/v1/chats/{former.id}")

    async def by_hand(self) -> None:
        """Add, change or delete a memory under Settings."""
        memories = await self.page.memories()
        draw, told = self._chance.random(), self._facts().told
        if draw < 0.4 or not memories:
            await self.page.add_memory(told)
        elif draw < 0.8:
            await self.page.update_memory(
                self._chance.choice(memories).id, told
            )
        else:
            await self.page.delete_memory(self._chance.choice(memories).id)


def _complete(turn: Turn) -> None:
    assert (turn.error, turn.done) == (None, True), turn


# What is done in a lane, and how often.
OPERATIONS: Mapping[Callable[[_Lane], Awaitable[None]], int] = {
    _Lane.say_fact: 26,
    _Lane.ask: 18,
    _Lane.erase: 2,
    _Lane.again: 9,
    _Lane.two_models: 2,
    _Lane.api_call: 6,
    _Lane.other_chat: 6,
    _Lane.by_hand: 22,
}


async def isolation_run(
    plan: IsolationPlan,
    environment: HostEnvironment,
    plugin: Path,
    folder: Path,
) -> dict[str, Any]:
    """Carry out the plan on two workers; what came of it, in which ``wrong`` is all that is wrong.

    Wrong are crossings, and places where some user's own facts should have been seen and were not.
    """
    started = time.monotonic()
    async with (
        running_services(redis=True) as services,
        running_workers(environment, services, folder, _FORWARD_USERS) as (
            host,
            second,
        ),
    ):
        urls = (host.url, second.url)
        valves = {**VALVES, "max_total_memories": plan.most_memories}
        await host.install_filter(plugin, valves=valves)
        model = GossipingModel(random.Random(f"{plan.seed} model"))
        host.model.when_chatting(model.chat)
        host.model.when_title(EXTRACT, model.extraction)
        host.model.when_title(RELEVANCE, model.relevance)
        pages = [
            await host.user("Sam", urls[number % 2]) for number in range(USERS)
        ]
        for page in pages:
            page.answers |= {"input": _confirming, "confirmation": True}
        watch = Watch(pages, host, services)
        done: Counter[str] = Counter()
        chance = random.Random(plan.seed)
        left = itertools.repeat(None, plan.operations)

        async def go_on(lane: _Lane) -> None:
            for _ in left:
                (operation,) = chance.choices(
                    [*OPERATIONS], [*OPERATIONS.values()]
                )
                kind = operation.__name__
                # Pages speak with one worker for as long as a request takes; sockets stay.
                lane.page.url = chance.choice(urls)
                try:
                    await operation(lane)
                except RefusedError as refusal:
                    if (
                        refusal.status not in _GONE_OR_RACED
                        or "memor" not in str(refusal)
                    ):
                        raise
                    done[f"{kind} refused with {refusal.status}"] += 1
                done[kind] += 1
                if chance.random() < _IDS_TAKEN_UP:
                    model.learn_ids(await lane.page.memories())
                await watch.look()
                if watch.crossings:
                    return

        async with asyncio.TaskGroup() as group:
            for user, page in enumerate(pages):
                facts = _facts_of(user, chance)
                for _ in range(plan.chats):
                    group.create_task(go_on(_Lane(page, facts, chance)))
        await asyncio.sleep(_SETTLING_SECONDS)
        watch.xid = 0  # every row as it stands
        await watch.look()
    blind = [
        f"blind in {place}"
        for place in _SEEN_IN
        if len(watch.seen.get(place, ())) < USERS
    ]
    return {
        "open_webui": environment.version,
        **asdict(plan),
        "done": dict(sorted(done.items())),
        "wrong": [*watch.crossings[:40], *blind],
        "seconds": round(time.monotonic() - started, 1),
    }


def _facts_of(user: int, chance: random.Random) -> Callable[[], Fact]:
    numbers = itertools.count()
    return lambda: made_up_fact(user, next(numbers), chance)


def _confirming(question: Mapping[str, Any]) -> str:
    """The word that a question asks for before something is deleted."""
    return "erase" if '"erase"' in str(question) else "all"
