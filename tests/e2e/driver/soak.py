"""A long run: users tell facts, on one host or on two workers, which may be killed meanwhile.

Two workers are two processes of the host with one PostgreSQL database (pgvector too) and one Redis,
as two replicas behind a balancer are. Each user's messages go to them in turns, while the page's
socket stays with one: so what a worker has learned is asked for at the other one, both learn from
the same user, and half of all answers reach their page through Redis.

Between two kills a few turns are begun; the kill comes at a random moment of the next five seconds,
so that it hits answers, learning and writing alike. A message whose answer was cut off is said
again after the restart. A fact is owed from the moment when the page saw the end of its turn, which
the host sends after the outlet, or when the model's answer with it was sent: a kill between answer
and outlet hits before any filter has seen the turn.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import aiohttp

from demo.environment import HostEnvironment
from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.extraction import EXTRACT
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.ledger import Ledger, mixed_requests
from tests.e2e.driver.made_up_lives import (
    HARMLESS,
    Saying,
    extraction_reply,
    made_up_sayings,
)
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Body, Hang, Say
from tests.e2e.driver.services import Query, running_services, running_workers
from tests.e2e.driver.turn import RunningTurn

MEMORIES = "SELECT user_id, content FROM memory"
WAITING = "SELECT count(*) AS turns FROM adaptive_memory_entries WHERE kind = 'waiting'"
# Nobody tells an assistant a fact every other second for an hour.
UNCAPPED = {"max_extractions_per_hour": 1000}
TURNS_PER_CHAT = 5
# A lease of a worker that was killed ends after half a minute, and a turn that failed twice waits
# a minute and a half.
PATIENCE_SECONDS = 60.0
MOST_RETURNS = 3
# A doubled fact comes with the work that goes on after everything is there.
_QUIET_SECONDS = 2.0
_KILL_WITHIN_SECONDS = 5.0
_EXTRACTION_SECONDS = 0.8
_WORD_SECONDS = 0.08
_OF_A_KILL = (asyncio.CancelledError, aiohttp.ClientError)


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """How long a run is; ``pause_seconds`` is the mean of what a user waits between messages."""

    database: Literal["sqlite", "postgresql"]
    users: int
    turns: int
    seed: int
    workers: Literal[1, 2] = 1
    kills: int = 0
    pause_seconds: float = 0.5


@dataclass(slots=True)
class _User:
    """One user: the page, what is still to be said, oldest first, and the chat that is open."""

    page: Page
    to_say: list[Saying]
    said: int = 0
    chat: Conversation | None = None
    running: RunningTurn | None = None


@asynccontextmanager
async def running_hosts(
    plan: SoakPlan, environment: HostEnvironment, folder: Path
) -> AsyncIterator[tuple[RunningHost, list[str], Query]]:
    """The host, the addresses of all its workers, and what reads its database."""
    if plan.database == "sqlite":
        async with RunningHost.running_on(
            environment, folder / "open-webui"
        ) as host:
            yield host, [host.url], host.query
        return
    async with running_services(redis=plan.workers > 1) as services:
        if plan.workers > 1:
            async with running_workers(environment, services, folder, {}) as (
                host,
                second,
            ):
                yield host, [host.url, second.url], services.rows
            return
        variables = services.variables(environment)
        async with RunningHost.running_on(
            environment, folder / "open-webui", variables
        ) as host:
            yield host, [host.url], services.rows


async def soak_run(
    plan: SoakPlan, environment: HostEnvironment, plugin: Path, folder: Path
) -> dict[str, Any]:
    """Carry out the plan and stop; what came of it, in which ``wrong`` holds all that is wrong."""
    async with running_hosts(plan, environment, folder) as (host, urls, query):
        await host.install_filter(plugin, valves=UNCAPPED)
        run = SoakRun(plan, host, urls, query)
        await run.prepare()
        for moment in run.kill_moments():
            await run.live_and_die(moment)
        return {"open_webui": environment.version, **await run.live_on()}


class SoakRun:
    """One run. ``query`` reads the hosts' database."""

    def __init__(
        self, plan: SoakPlan, host: RunningHost, urls: list[str], query: Query
    ) -> None:
        self.plan, self.host, self.urls, self.query = plan, host, urls, query
        self.chance = random.Random(plan.seed)
        self.users: list[_User] = []
        self.ledger = Ledger({})
        self._started = time.monotonic()
        # How many of the model's requests an earlier life of the server has sent.
        self._read = 0

    async def prepare(self) -> None:
        """Script the model, and sign the users in, by turns on each worker."""
        host, plan = self.host, self.plan
        if plan.kills:
            answer = "Yes, I understand."
            host.model.when_chatting(
                lambda _: Say(answer, self.chance.uniform(0, _WORD_SECONDS))
            )
        host.model.when_title(EXTRACT, self._extraction)
        for number in range(plan.users):
            page = await host.user(
                f"soaked{number}", self.urls[number % len(self.urls)]
            )
            count = plan.turns // plan.users + (
                number < plan.turns % plan.users
            )
            self.users.append(
                _User(page, made_up_sayings(number, count, plan.seed))
            )
        self.ledger = Ledger(
            {at: user.page.user_id for at, user in enumerate(self.users)}
        )

    def _extraction(self, body: Body) -> Hang:
        said = Say(json.dumps(extraction_reply(body)))
        return Hang(self.chance.uniform(0, _EXTRACTION_SECONDS), then=said)

    def kill_moments(self) -> list[float]:
        """Seconds after which the kills come, one at random in each of as many equal spans."""
        span = _KILL_WITHIN_SECONDS / max(1, self.plan.kills)
        moments = [
            (at + self.chance.random()) * span for at in range(self.plan.kills)
        ]
        self.chance.shuffle(moments)
        return moments

    async def live_and_die(self, moment: float) -> None:
        """Let some users talk, kill the server meanwhile, and start it again."""
        turns = max(1, self.plan.turns // self.plan.kills)
        talkers = [user for user in self.users if user.to_say]
        chosen = self.chance.sample(talkers, min(turns, len(talkers)))
        lanes = [asyncio.create_task(self._say(user, 1)) for user in chosen]
        await asyncio.sleep(moment)
        for lane in lanes:
            if lane.done():
                lane.result()
        # Between two steps of the event loop, so that what was sent is known exactly.
        self._read_requests()
        self.host.server.kill()
        for lane in lanes:
            lane.cancel()
        for ended in await asyncio.gather(*lanes, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(
                ended, _OF_A_KILL
            ):
                raise ended
        for user in self.users:
            if user.running and user.running.shown().done:
                user.to_say.pop(
                    0
                )  # the user does not say again what was answered
            # The page would load the chat from the host, which may not have stored all of it.
            user.running = user.chat = None
        pages = [self.host.admin, *(user.page for user in self.users)]
        for page in pages:
            await page.disconnect()
        self.host.server.spawn()
        await self.host.server.wait_until_healthy()
        for page in pages:
            await page.reload()

    async def live_on(self) -> dict[str, Any]:
        """Let the users say what they have left, and see what has become of it all."""
        await asyncio.gather(
            *(self._say(user, len(user.to_say)) for user in self.users)
        )
        returns = 0
        while (self.plan.kills and not returns) or (
            not await self._all_there() and returns < MOST_RETURNS
        ):
            # Waiting turns of a user are taken up when the user is served.
            for user in self.users:
                turn = await user.page.new_chat().send(HARMLESS)
                assert turn.error is None, turn
            returns += 1
        await asyncio.sleep(_QUIET_SECONDS)
        self._read_requests()
        memories = await self._memories()
        wrong = self.ledger.compare(memories)
        if mixed := mixed_requests(self.host.model.requests):
            wrong["mixed requests"] = mixed
        return {
            **asdict(self.plan),
            "facts_owed": self.ledger.expected,
            "facts_stored": len(memories),
            "extraction_requests": len(
                self.host.model.requests_titled(EXTRACT)
            ),
            "returns_until_settled": returns,
            "wrong": wrong,
            "seconds": round(time.monotonic() - self._started, 1),
        }

    async def _say(self, user: _User, times: int) -> None:
        """Say the next messages, each when the turn with the last one is over."""
        for _ in range(times):
            await asyncio.sleep(
                self.chance.expovariate(1 / self.plan.pause_seconds)
            )
            if user.said % TURNS_PER_CHAT == 0:
                user.chat = None
            user.page.url = self.urls[
                (user.said + self.users.index(user)) % len(self.urls)
            ]
            user.chat = user.chat or user.page.new_chat()
            user.said += 1
            self.ledger.tell(user.to_say[0])
            user.running = await user.chat.start(user.to_say[0].words)
            ended = await user.running.finish()
            assert (ended.error, ended.done) == (None, True), ended
            self.ledger.owe(user.to_say.pop(0))
            user.running = None

    def _read_requests(self) -> None:
        """Owe what the model has answered in this life of the server."""
        requests = self.host.model.requests
        for request in requests[self._read :]:
            if request.answered_at is not None and not request.client_left:
                self.ledger.owe_extracted(request)
        self._read = len(requests)

    async def _memories(self) -> list[dict[str, Any]]:
        ours = set(self.ledger.people.values())
        rows = await asyncio.to_thread(self.query, MEMORIES)
        return [row for row in rows if row["user_id"] in ours]

    async def _all_there(self) -> bool:
        """Wait until nothing is lost and no turn waits."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            wrong = self.ledger.compare(await self._memories())
            waiting = (await asyncio.to_thread(self.query, WAITING))[0][
                "turns"
            ]
            if not (wrong.keys() & {"lost", "outdated"} or waiting):
                return True
            await asyncio.sleep(0.5)
        return False
