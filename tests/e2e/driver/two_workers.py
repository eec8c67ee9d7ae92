"""Many users at once on two workers, and whether their memories hold what each of them has told.

The workers are two processes of the host with one PostgreSQL database (pgvector too) and one
Redis, as two replicas behind a balancer are, and not one server with ``UVICORN_WORKERS=2``: there
the kernel hands a connection to whichever worker is idle, which is mostly the same one. Here each
user's messages go to the two in turns, while the page's socket stays with one of them: so what a
worker has learned is asked for at the other one, both learn from the same user, and half of all
answers reach their page through Redis.

The time from a message to the end of its turn is taken with the filter switched off too, and with
one that does nothing in its place, for which the host does the work that it does for any filter
(reading the functions, reading the chat for the outlet, telling the page of it). Half of each is
taken before and half after, so that a machine that becomes slower counts for all.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.figures import spread
from demo.environment import HostEnvironment
from demo.server import HostServer
from tests.e2e.driver.host import InstalledFilter, RunningHost, WatchLog
from tests.e2e.driver.ledger import Ledger, mixed_requests
from tests.e2e.driver.made_up_lives import (
    EXTRACT,
    HARMLESS,
    Saying,
    extraction_reply,
    made_up_sayings,
)
from tests.e2e.driver.page import Page
from tests.e2e.driver.services import Services, running_services
from tests.e2e.driver.settling import UNCAPPED, Settled, settled
from tests.e2e.driver.turn import Timings
from tests.e2e.driver.workers import running_workers

TURNS_PER_CHAT = 5
DOING_NOTHING = """
class Filter:
    async def inlet(self, body):
        return body

    async def outlet(self, body):
        return body
"""


@dataclass(frozen=True, slots=True)
class WorkersPlan:
    """How long a run is: so many turns of so many users, and so many more without the filter.

    ``turns_with_idle_filter`` are with a filter that does nothing in its place.

    ``pause_seconds`` is the mean of what a user waits between two messages.
    """

    users: int
    turns: int
    turns_without_filter: int
    turns_with_idle_filter: int
    pause_seconds: float
    seed: int


@dataclass(slots=True)
class WorkersReport:
    """What a run found; times of complete turns are apart for filter on, off, and doing nothing."""

    plan: WorkersPlan
    open_webui: str
    on: list[Timings] = field(default_factory=list[Timings])
    off: list[Timings] = field(default_factory=list[Timings])
    idle: list[Timings] = field(default_factory=list[Timings])
    extraction_requests: int = 0
    facts: int = 0
    mixed_requests: tuple[str, ...] = ()
    settled: Settled | None = None
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        return bool(self.settled and self.settled.findings.clean and not self.mixed_requests)

    def figures(self) -> dict[str, Any]:
        """For a file of results; times in milliseconds."""
        assert self.settled is not None
        on, off, idle = (_times(timings) for timings in (self.on, self.off, self.idle))
        medians = [statistics.median(times["turn"]) for times in (on, off, idle)]
        return {
            "open_webui": self.open_webui,
            "database": "postgresql",
            "workers": 2,
            **asdict(self.plan),
            "facts_owed": self.facts,
            "facts_stored": self.settled.memories,
            **self.settled.findings.figures(),
            "mixed_requests": list(self.mixed_requests),
            "turns_left_waiting": self.settled.waiting,
            "extraction_requests": self.extraction_requests,
            "returns_until_settled": self.settled.returns,
            "settling_seconds": self.settled.seconds,
            "filter_on_ms": {name: spread(times) for name, times in on.items()},
            "filter_off_ms": {name: spread(times) for name, times in off.items()},
            "filter_doing_nothing_ms": {name: spread(times) for name, times in idle.items()},
            "turn_on_to_off_ratio": round(medians[0] / medians[1], 3),
            "turn_on_to_doing_nothing_ratio": round(medians[0] / medians[2], 3),
            "seconds": round(self.seconds, 1),
        }

    def __str__(self) -> str:
        """All that is wrong, for a failed assertion."""
        findings = self.settled.findings if self.settled else "the run did not come to its end"
        return f"{findings}\n{json.dumps(self.figures(), default=asdict)}"


def _times(timings: Sequence[Timings]) -> dict[str, list[float]]:
    """From the message to the end of the turn, and from the answer to there."""
    ended = [(one.active_false or 0.0, one.answered or 0.0) for one in timings]
    return {
        "turn": [end for end, _ in ended],
        "after_answer": [end - answered for end, answered in ended],
    }


async def two_workers_run(
    plan: WorkersPlan,
    environment: HostEnvironment,
    plugin: Path,
    folder: Path,
    watch_log: WatchLog,
) -> WorkersReport:
    """Start two workers, carry out the plan, and stop them; all logs are in ``folder``."""
    report = WorkersReport(plan, environment.version)
    async with (
        running_services(postgres=True, redis=True) as services,
        running_workers(environment, services, folder, {}) as (host, second),
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
        self, host: RunningHost, second: HostServer, services: Services, report: WorkersReport
    ) -> None:
        self.host, self.services = host, services
        self.urls = (host.url, second.url)
        self.report, self.plan = report, report.plan
        self.pages: list[Page] = []
        self.sayings: list[list[Saying]] = []
        self.ledger = Ledger({})
        self._filters: dict[str, InstalledFilter] = {}
        self._chance = random.Random(self.plan.seed)
        self._started = time.monotonic()

    async def prepare(self, plugin: Path) -> None:
        """Install the plug-in, script the model, and sign half of the users in on each worker."""
        plan = self.plan
        install = self.host.install_filter
        self._filters["ours"] = await install(plugin, valves=UNCAPPED)
        self._filters["idle"] = await install(DOING_NOTHING, function_id="doing_nothing")
        await self._toggle("idle")
        self.host.model.when_title(EXTRACT, extraction_reply)
        for number in range(plan.users):
            email = f"worker-user-{number}@example.com"
            await self.host.admin.add_user(f"User {number}", email)
            page = await Page.sign_in(self.urls[number % 2], email)
            await page.request("GET", "/api/models")
            self.pages.append(page)
            count = plan.turns // plan.users + (number < plan.turns % plan.users)
            self.sayings.append(made_up_sayings(number, count, plan.seed))
        self.ledger = Ledger({at: page.user_id for at, page in enumerate(self.pages)})

    async def close(self) -> None:
        """Close all pages."""
        for page in self.pages:
            await page.close()

    async def carry_out(self) -> None:
        """Half of the turns without the filter, those with it, and the other half."""
        report, model = self.report, self.host.model
        await self._toggle("ours")
        await self._half_without(0)
        assert not model.requests_titled(EXTRACT), "the filter is not switched off"
        await self._toggle("ours")
        await asyncio.gather(*(self._tell(user) for user in range(self.plan.users)))
        report.settled = await settled(self.ledger, self.pages, self.services.rows)
        report.extraction_requests = len(model.requests_titled(EXTRACT))
        await self._toggle("ours")
        await self._half_without(1)
        report.facts = self.ledger.expected
        report.mixed_requests = tuple(mixed_requests(model.requests))
        report.seconds = time.monotonic() - self._started

    async def _toggle(self, name: str) -> None:
        """Switch a filter off, or on again."""
        path = f"/api/v1/functions/id/{self._filters[name].id}/toggle"
        await self.host.admin.request("POST", path)

    async def _half_without(self, half: int) -> None:
        """The first half, or the second, of the turns that nothing is learned from."""
        plan, report = self.plan, self.report
        await self._chatting((plan.turns_without_filter + half) // 2, report.off)
        await self._toggle("idle")
        await self._chatting((plan.turns_with_idle_filter + half) // 2, report.idle)
        await self._toggle("idle")

    async def _chatting(self, turns: int, timings: list[Timings]) -> None:
        share, more = divmod(turns, self.plan.users)
        await asyncio.gather(
            *(
                self._chatter(user, share + (user < more), timings)
                for user in range(self.plan.users)
            )
        )

    async def _chatter(self, user: int, turns: int, timings: list[Timings]) -> None:
        """Say something that holds no fact."""
        words = [self._chance.choice(HARMLESS) for _ in range(turns)]
        async for _, taken in self._chat(user, words):
            timings.append(taken)

    async def _tell(self, user: int) -> None:
        """Tell all that this user has to tell."""
        sayings = self.sayings[user]
        for saying in sayings:
            self.ledger.tell(saying)
        async for at, timings in self._chat(user, [saying.words for saying in sayings]):
            self.ledger.owe(sayings[at])
            self.report.on.append(timings)

    async def _chat(self, user: int, said: Sequence[str]) -> AsyncIterator[tuple[int, Timings]]:
        """Say one thing after the other, to the workers in turns, in chats of five turns."""
        page = self.pages[user]
        chat = page.new_chat()
        for at, words in enumerate(said):
            await asyncio.sleep(self._chance.expovariate(1 / self.plan.pause_seconds))
            if at and at % TURNS_PER_CHAT == 0:
                chat = page.new_chat()
            page.url = self.urls[(user + at) % 2]
            ended = await chat.send(words)
            assert ended.content == "Understood.", ended
            assert ended.error is None, ended
            yield at, ended.timings
