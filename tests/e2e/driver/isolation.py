"""Two users who do the same at the same time on two workers, and whether anything crosses.

Each user has several chats open at once, and one thing after the other is done in each; the same
chats of both do the same, with equal words but for the names in them. Each thing is done at one of
the two workers by chance. After each, everything that has come up anywhere is looked at (see
``crossing``).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adaptive.privacy.sealing import Sealer
from benchmarks.figures import Spread, spread
from demo.environment import HostEnvironment
from demo.server import HostServer
from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.crossing import FORWARD_USERS, Watch
from tests.e2e.driver.host import RunningHost, WatchLog
from tests.e2e.driver.made_up_lives import EXTRACT
from tests.e2e.driver.page import Page, RefusedError
from tests.e2e.driver.scripted_model import CHAT_MODEL, SECOND_MODEL
from tests.e2e.driver.services import Services, running_services
from tests.e2e.driver.turn import Turn
from tests.e2e.driver.twin_lives import (
    PLACES,
    QUESTIONS,
    THINGS,
    USERS,
    GossipingModel,
    Names,
    named_fact,
    told_fact,
)
from tests.e2e.driver.workers import running_workers

RELEVANCE = "# Score relevance"
# All that is kept of one user for another message is in use: scores, blocks, archive, summaries.
VALVES: dict[str, Any] = {
    "use_llm_for_relevance": True,
    "show_sources": True,
    "pruning_strategy": "least_recalled",
    "max_extractions_per_hour": 10_000,
    "extraction_debounce_seconds": 0.5,
    "inject_in_temporary_chats": True,
    "learn_from_api_calls": True,
}
# A user's row may be gone when the request to change it arrives: another chat has forgotten it.
# With pgvector the host answers 500 where two workers write the first vector of a row at once: its
# upsert looks, then inserts (host: retrieval/vector/dbs/pgvector.py, 0.12.4). The row is written.
_GONE_OR_RACED = (400, 401, 404, 500)
_MESSAGES_PER_CHAT = 8
_MOST_TOLD = 40
# What is still being learned when the last operation is over.
_SETTLING_SECONDS = 5.0
_ERASING = "Forget everything you know about me."


@dataclass(frozen=True, slots=True)
class IsolationPlan:
    """How long a run is; ``chats`` are those that each user has open at once.

    ``most_memories`` are few enough that memories of both users get archived in such a run.
    """

    operations: int
    chats: int
    seed: int
    most_memories: int


@dataclass(slots=True)
class IsolationReport:
    """What a run did and found."""

    plan: IsolationPlan
    open_webui: str
    operations: Counter[str] = field(default_factory=Counter[str])
    milliseconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    watch: Watch | None = None
    memories_left: int = 0
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether nothing crossed, and the watch has seen both users' own names everywhere."""
        return bool(self.watch) and not self.watch.crossings and not self.blind

    @property
    def blind(self) -> list[str]:
        """Places where some user's own names should have been seen and were not."""
        assert self.watch is not None
        seen = self.watch.seen
        return [place for place in _SEEN_IN if len(seen.get(place, ())) < USERS]

    def figures(self) -> dict[str, Any]:
        """For a file of results; times in milliseconds."""
        assert self.watch is not None
        times: dict[str, Spread] = {
            name: spread(sample) for name, sample in self.milliseconds.items() if len(sample) > 1
        }
        return {
            "open_webui": self.open_webui,
            "database": "postgresql",
            "workers": 2,
            "users": USERS,
            **asdict(self.plan),
            "done": dict(sorted(self.operations.items())),
            "looked_at": dict(sorted(self.watch.looked_at.items())),
            "crossings": self.watch.crossings,
            "not_seen_at_their_own": self.blind,
            "memories_left": self.memories_left,
            "milliseconds": times,
            "seconds": round(self.seconds, 1),
        }

    def __str__(self) -> str:
        """All that is wrong, for a failed assertion; with the seed the run can be repeated."""
        crossings = self.watch.crossings if self.watch else ["the run did not come to its end"]
        told = "\n".join(crossings[:_MOST_TOLD])
        return f"seed {self.plan.seed}: {len(crossings)} crossings; blind in {self.blind}\n{told}"


# Where the names of both users come up in any run that is not very short.
_SEEN_IN = (
    *("request chat", f"request {EXTRACT}", f"request {RELEVANCE}"),
    *("event other", "event status", "event source"),
    *("memory", "document_chunk", "adaptive_memory_audit", "adaptive_memory_archive"),
)


async def isolation_run(
    plan: IsolationPlan,
    environment: HostEnvironment,
    plugin: Path,
    folder: Path,
    watch_log: WatchLog,
) -> IsolationReport:
    """Start two workers, carry out the plan, and stop them; all logs are in ``folder``."""
    report = IsolationReport(plan, environment.version)
    async with (
        running_services(postgres=True, redis=True) as services,
        running_workers(environment, services, folder, FORWARD_USERS) as (host, second),
    ):
        with watch_log(host):
            run = _Run(host, second, services, report)
            try:
                await run.prepare(plugin)
                await run.carry_out()
            finally:
                await run.close()
    return report


class _Run:
    """One run on two workers."""

    def __init__(
        self, host: RunningHost, second: HostServer, services: Services, report: IsolationReport
    ) -> None:
        self.host, self.services, self.report = host, services, report
        self.urls = (host.url, second.url)
        self.pages: list[Page] = []
        # All temporary chats of a page bear the same id, so one is open at a time.
        self.temporary = [asyncio.Lock() for _ in range(USERS)]
        self._started = time.monotonic()

    async def prepare(self, plugin: Path) -> None:
        """Install the plug-in, script the model, and sign one user in on each worker."""
        host, seed = self.host, self.report.plan.seed
        most = {"max_total_memories": self.report.plan.most_memories}
        await host.install_filter(plugin, valves=VALVES | most)
        model = GossipingModel(random.Random(f"{seed} model"))
        host.model.when_chatting(model.chat)
        host.model.when_title(EXTRACT, model.extraction)
        host.model.when_title(RELEVANCE, model.relevance)
        for number in range(USERS):
            email = f"twin-{number}@example.com"
            await host.admin.add_user("Sam", email)
            page = await Page.sign_in(self.urls[number % 2], email)
            await page.request("GET", "/api/models")
            page.answers |= {"input": _confirming, "confirmation": True}
            self.pages.append(page)
        people = {page.user_id: number for number, page in enumerate(self.pages)}
        sealer = Sealer(host.server.variables["WEBUI_SECRET_KEY"])
        self.report.watch = Watch(people, self.pages, host.model, self.services, sealer)

    async def carry_out(self) -> None:
        """Let both users do all that is planned, then look at everything once more."""
        plan, watch = self.report.plan, self.report.watch
        assert watch is not None
        names = [Names(user) for user in range(USERS)]
        count = plan.chats * USERS
        lanes = [
            _Lane(self, user, names[user], random.Random(f"{plan.seed} {chat}"))
            for chat in range(plan.chats)
            for user in range(USERS)
        ]
        shares = [plan.operations // count + (at < plan.operations % count) for at in range(count)]
        async with asyncio.TaskGroup() as group:
            for lane, share in zip(lanes, shares, strict=True):
                group.create_task(lane.do(share))
        await asyncio.sleep(_SETTLING_SECONDS)
        await watch.look_at_all()
        self.report.memories_left = sum([len(await page.memories()) for page in self.pages])
        self.report.seconds = time.monotonic() - self._started

    async def close(self) -> None:
        """Close all pages."""
        for page in self.pages:
            await page.close()


class _Lane:
    """One chat of a user, and what is done in it; the same chance makes the same lane."""

    def __init__(self, run: _Run, user: int, names: Names, chance: random.Random) -> None:
        self._run, self._names, self._chance = run, names, chance
        self._user, self._page = user, run.pages[user]
        self._chat = self._page.new_chat()

    async def do(self, operations: int) -> None:
        """Do so many things, looking at everything after each."""
        report = self._run.report
        assert report.watch is not None
        for _ in range(operations):
            (kind,) = self._chance.choices(list(_OPERATIONS), list(_WEIGHTS))
            # Pages speak with one worker for as long as a request takes; the sockets stay.
            self._page.url = self._chance.choice(self._run.urls)
            started = time.perf_counter()
            try:
                await _OPERATIONS[kind](self)
            except RefusedError as refusal:
                if refusal.status not in _GONE_OR_RACED or "memor" not in str(refusal):
                    raise
                report.operations[f"{kind} refused with {refusal.status}"] += 1
            report.milliseconds.setdefault(kind, []).append((time.perf_counter() - started) * 1000)
            report.operations[kind] += 1
            await report.watch.look()
            if report.watch.crossings:
                return

    async def _send(self, words: str) -> Turn:
        if len(self._chat.messages) >= 2 * _MESSAGES_PER_CHAT:
            self._chat = self._page.new_chat()
        return _complete(await self._chat.send(words))

    async def say_fact(self) -> None:
        """Tell something that nobody else could tell."""
        await self._send(named_fact(self._chance, self._names.next()))

    async def say_home(self) -> None:
        """Tell what the other user tells in the very same words."""
        await self._send(f"I live in {self._chance.choice(PLACES)}.")

    async def ask(self) -> None:
        """Ask what the other user asks in the very same words."""
        await self._send(self._chance.choice(QUESTIONS))

    async def forget(self) -> None:
        """Ask to forget something."""
        await self._send(f"Forget what my {self._chance.choice(THINGS)} is called.")

    async def erase(self) -> None:
        """Ask to forget everything, and confirm it."""
        await self._send(_ERASING)

    async def regenerate(self) -> None:
        """Let the last answer be given again."""
        if not self._chat.messages:
            await self.ask()
        _complete(await self._chat.regenerate())

    async def edit_message(self) -> None:
        """Edit the last message and send it again."""
        if not self._chat.messages:
            await self.ask()
        _complete(await self._chat.edit_last(named_fact(self._chance, self._names.next())))

    async def two_models(self) -> None:
        """Ask two models at once, in a chat of its own."""
        chat = self._page.new_chat()
        words = self._chance.choice(QUESTIONS)
        for turn in await chat.send_to_models(words, [CHAT_MODEL, SECOND_MODEL]):
            _complete(turn)

    async def temporary(self) -> None:
        """Say a fact and ask in a temporary chat."""
        words = named_fact(self._chance, self._names.next())
        async with self._run.temporary[self._user]:
            _complete(await self._page.temporary_chat().send(words))

    async def api_call(self) -> None:
        """Ask over the API."""
        answer = await self._page.complete(self._chance.choice(QUESTIONS))
        assert answer.status == 200, answer

    async def new_chat(self) -> None:
        """Open another chat."""
        self._chat = self._page.new_chat()
        await self.ask()

    async def delete_chat(self) -> None:
        """Delete the chat that is open."""
        chat: Conversation = self._chat
        self._chat = self._page.new_chat()
        if chat.id:
            await self._page.request("DELETE", f"/api/v1/chats/{chat.id}")

    async def add_by_hand(self) -> None:
        """Write a memory under Settings."""
        await self._page.add_memory(told_fact(self._chance, self._names.next()))

    async def edit_by_hand(self) -> None:
        """Change a memory under Settings."""
        if memories := await self._page.memories():
            told = told_fact(self._chance, self._names.next())
            await self._page.update_memory(self._chance.choice(memories).id, told)

    async def delete_by_hand(self) -> None:
        """Delete a memory under Settings."""
        if memories := await self._page.memories():
            await self._page.delete_memory(self._chance.choice(memories).id)


def _confirming(question: Mapping[str, Any]) -> str:
    """The word that a question asks for before something is deleted."""
    return "erase" if '"erase"' in str(question) else "all"


def _complete(turn: Turn) -> Turn:
    """A turn that came to its end."""
    assert turn.error is None, turn
    assert turn.done, turn
    return turn


_SHARES: Mapping[Callable[[_Lane], Awaitable[None]], int] = {
    _Lane.say_fact: 22,
    _Lane.say_home: 6,
    _Lane.ask: 16,
    _Lane.forget: 3,
    _Lane.erase: 2,
    _Lane.regenerate: 5,
    _Lane.edit_message: 4,
    _Lane.two_models: 2,
    _Lane.temporary: 4,
    _Lane.api_call: 6,
    _Lane.new_chat: 5,
    _Lane.delete_chat: 3,
    _Lane.add_by_hand: 8,
    _Lane.edit_by_hand: 10,
    _Lane.delete_by_hand: 5,
}
_OPERATIONS: Mapping[str, Callable[[_Lane], Awaitable[None]]] = {
    operation.__name__: operation for operation in _SHARES
}
_WEIGHTS = tuple(_SHARES.values())
