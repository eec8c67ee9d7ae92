"""A host that is killed again and again while users tell it facts, and what it knows in the end.

Between two kills a few turns are begun, spread over a second and a half; the kill comes at a random
moment of the next five seconds, so that it hits answers, the wait before learning, the model's work
and the writing alike. A message whose answer was cut off is said again after the restart, as a user
does. At the end each user comes back once with a message that holds no fact.

A fact is owed from the moment when the page saw the end of its turn (``chat:active`` false, which
the host sends after the outlet), or when the model's answer with it was sent. In between the host
calls the answer complete, and then runs the outlet (0.12.4: utils/middleware.py, ``done`` before
``outlet_filter_handler``): a kill in these milliseconds hits before any filter has seen the turn.
The user does not say such a message again; how many there were, and learned, is counted apart.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import aiohttp

from demo.environment import HostEnvironment
from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.host import RunningHost, WatchLog
from tests.e2e.driver.ledger import Ledger, mixed_requests
from tests.e2e.driver.made_up_lives import (
    EXTRACT,
    Saying,
    extracted_facts,
    extraction_reply,
    made_up_sayings,
)
from tests.e2e.driver.openai_protocol import Body
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Hang, Say, Slow
from tests.e2e.driver.services import Query, running_services
from tests.e2e.driver.settling import MEMORIES, UNCAPPED, Settled, settled
from tests.e2e.driver.turn import RunningTurn

USERS = 5
# Turns of one stretch between two kills begin within so many seconds, and the kill comes within so
# many; learning begins two seconds after an answer (valve `extraction_debounce_seconds`).
_BEGINNINGS_SECONDS = 1.5
_KILL_WITHIN_SECONDS = 5.0
_EXTRACTION_SECONDS = 0.8
_WORD_SECONDS = 0.08
# So long after the model's answer the plug-in compares and writes.
_WRITING_SECONDS = 0.3

_OF_A_KILL = (asyncio.CancelledError, aiohttp.ClientError)

Database = Literal["sqlite", "postgresql"]
DATABASES: tuple[Database, ...] = ("sqlite", "postgresql")


@dataclass(slots=True)
class User:
    """One user: the page, what is still to be said, oldest first, and the chat that is open."""

    page: Page
    to_say: list[Saying]
    chat: Conversation | None = None
    said: Saying | None = None
    running: RunningTurn | None = None


@dataclass(frozen=True, slots=True)
class KillPlan:
    """How long a run is: so many turns, the server being killed so often among them."""

    database: Database
    turns: int
    kills: int
    seed: int


@dataclass(slots=True)
class KillReport:
    """What a run did and found.

    ``moments`` counts what the kills hit, some several things; ``unseen_outlets`` the messages that
    were answered and that no filter could see, of which ``unseen_learned`` are known all the same.
    """

    plan: KillPlan
    open_webui: str
    kills: int = 0
    cut_off: int = 0
    unseen_outlets: int = 0
    unseen_learned: int = 0
    moments: Counter[str] = field(default_factory=Counter[str])
    extraction_requests: int = 0
    facts: int = 0
    mixed_requests: tuple[str, ...] = ()
    settled: Settled | None = None
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        return bool(self.settled and self.settled.findings.clean and not self.mixed_requests)

    def figures(self) -> dict[str, Any]:
        """For a file of results."""
        assert self.settled is not None
        return {
            "open_webui": self.open_webui,
            **asdict(self.plan),
            "users": USERS,
            "kills_during": dict(sorted(self.moments.items())),
            "answers_cut_off_and_asked_for_again": self.cut_off,
            "killed_between_answer_and_outlet": self.unseen_outlets,
            "of_these_learned": self.unseen_learned,
            "facts_owed": self.facts,
            "facts_stored": self.settled.memories,
            **self.settled.findings.figures(),
            "mixed_requests": list(self.mixed_requests),
            "turns_left_waiting": self.settled.waiting,
            "extraction_requests": self.extraction_requests,
            "returns_until_settled": self.settled.returns,
            "settling_seconds": self.settled.seconds,
            "seconds": round(self.seconds, 1),
        }

    def __str__(self) -> str:
        """All that is wrong, for a failed assertion."""
        findings = self.settled.findings if self.settled else "the run did not come to its end"
        return f"{findings}\n{json.dumps(self.figures())}"


async def kill_run(
    plan: KillPlan,
    environment: HostEnvironment,
    plugin: Path,
    folder: Path,
    watch_log: WatchLog,
) -> KillReport:
    """Start a host, carry out the plan, and stop it; all files are in ``folder``."""
    report = KillReport(plan, environment.version)
    async with AsyncExitStack() as stack:
        variables: dict[str, str] = {}
        query: Query | None = None
        if plan.database == "postgresql":
            started = running_services(postgres=True)
            services = await stack.enter_async_context(started)
            variables, query = services.variables(environment), services.rows
        host = await RunningHost.start(environment, folder / "open-webui", variables)
        stack.push_async_callback(host.stop)
        stack.enter_context(watch_log(host))
        run = KillRun(host, query or host.query, report)
        await run.prepare(plugin)
        await run.live_and_die()
        await run.live_on()
    return report


class KillRun:
    """One run on one host. ``query`` reads the host's database."""

    def __init__(self, host: RunningHost, query: Query, report: KillReport) -> None:
        self.host, self.query, self.report, self.plan = host, query, report, report.plan
        self.chance = random.Random(self.plan.seed)
        self.users: list[User] = []
        self.ledger = Ledger({})
        self._started = time.monotonic()
        self._unseen: list[Saying] = []
        # How many of the model's requests an earlier life of the server has sent.
        self._read = 0

    async def prepare(self, plugin: Path) -> None:
        """Install the plug-in, script the model, and sign the users in."""
        model, plan = self.host.model, self.plan
        await self.host.install_filter(plugin, valves=UNCAPPED)
        model.when_chatting(
            lambda _: Slow("Yes, I understand.", self.chance.uniform(0, _WORD_SECONDS))
        )
        model.when_title(EXTRACT, self._extraction)
        for number in range(USERS):
            page = await self.host.user(f"killed{number}")
            count = plan.turns // USERS + (number < plan.turns % USERS)
            self.users.append(User(page, made_up_sayings(number, count, plan.seed)))
        self.ledger = Ledger({at: user.page.user_id for at, user in enumerate(self.users)})

    async def live_and_die(self) -> None:
        """Let the users talk, and kill the server, as often as planned."""
        turns = max(1, self.plan.turns // self.plan.kills)
        for moment in self._kill_moments():
            lanes = [asyncio.create_task(lane) for lane in self._stretch(turns)]
            await asyncio.sleep(moment)
            await self._kill(lanes)
            await self._restart()

    async def live_on(self) -> None:
        """Let the users say what they have left, come back, and see what has become of it all."""
        await asyncio.gather(*(self._say(user, len(user.to_say)) for user in self.users))
        pages = [user.page for user in self.users]
        report, model = self.report, self.host.model
        report.settled = await settled(self.ledger, pages, self.query, returns=1)
        self._read_requests()
        contents = " ".join(row["content"] for row in self.query(MEMORIES))
        report.unseen_learned = sum(
            all(fact.told in contents for fact in saying.facts) for saying in self._unseen
        )
        report.facts = self.ledger.expected
        report.mixed_requests = tuple(mixed_requests(model.requests))
        report.extraction_requests = len(model.requests_titled(EXTRACT))
        report.seconds = time.monotonic() - self._started

    def _kill_moments(self) -> list[float]:
        """Seconds after which the kills come, one at random in each of as many equal spans.

        So few kills too hit early and late; the order of the spans is random.
        """
        span = _KILL_WITHIN_SECONDS / self.plan.kills
        moments = [(at + self.chance.random()) * span for at in range(self.plan.kills)]
        self.chance.shuffle(moments)
        return moments

    # The users

    def _stretch(self, turns: int) -> list[Coroutine[Any, Any, None]]:
        """The turns until the next kill: who talks, when they begin, and how often in a row."""
        talkers = [at for at, user in enumerate(self.users) for _ in user.to_say]
        chosen = Counter(self.chance.sample(talkers, min(turns, len(talkers))))
        return [
            self._say(self.users[at], times, self.chance.uniform(0, _BEGINNINGS_SECONDS))
            for at, times in chosen.items()
        ]

    async def _say(self, user: User, times: int, pause: float = 0.0) -> None:
        """Say the next messages in one chat, each when the answer to the last one is complete."""
        await asyncio.sleep(pause)
        for _ in range(times):
            user.chat = user.chat or user.page.new_chat()
            user.said, user.running = user.to_say[0], None
            self.ledger.tell(user.said)
            user.running = await user.chat.start(user.said.words)
            ended = await user.running.finish()
            assert ended.error is None, ended
            assert ended.done, ended
            self.ledger.owe(user.said)
            user.to_say.pop(0)
            user.said = user.running = None

    # The model

    def _extraction(self, body: Body) -> Hang:
        said = Say(json.dumps(extraction_reply(body)))
        return Hang(self.chance.uniform(0, _EXTRACTION_SECONDS), then=said)

    # The server

    async def _kill(self, lanes: list[asyncio.Task[None]]) -> None:
        """Kill it between two steps of the event loop, so that what was sent is known exactly."""
        for lane in lanes:
            if lane.done():
                lane.result()
        self.report.moments.update(self._moments())
        self._read_requests()
        self.host.server.kill()
        self.report.kills += 1
        for lane in lanes:
            lane.cancel()
        for ended in await asyncio.gather(*lanes, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, _OF_A_KILL):
                raise ended
        for user in self.users:
            self._look_at_answer(user)

    def _look_at_answer(self, user: User) -> None:
        """A message that the kill has caught will be said again, unless its answer was complete."""
        if user.said is not None:
            if user.running and user.running.shown().done:
                self._unseen.append(user.said)
                self.report.unseen_outlets += 1
                user.to_say.pop(0)
            else:
                self.report.cut_off += 1
            # The page would load the chat from the host, which may not have stored all of it.
            user.said = user.running = user.chat = None

    async def _restart(self) -> None:
        pages = [self.host.admin, *(user.page for user in self.users)]
        for page in pages:
            await page.disconnect()
        self.host.server.spawn()
        await self.host.server.wait_until_healthy()
        for page in pages:
            await page.reload()

    def _read_requests(self) -> None:
        """Owe what the model has answered in this life of the server."""
        requests = self.host.model.requests
        for request in requests[self._read :]:
            if request.answered_at is not None and not request.client_left:
                self.ledger.owe_extracted(request)
        self._read = len(requests)

    def _moments(self) -> set[str]:
        """What is going on right now."""
        now = time.perf_counter()
        extractions = [one for one in self.host.model.requests if one.title == EXTRACT]
        alive = [one for one in self.host.model.requests[self._read :] if one.title == EXTRACT]
        asked = {told for one in extractions for told in extracted_facts(one.body)}
        answered = [one.answered_at for one in alive if one.answered_at is not None]
        going_on = {
            "an answer": any(user.said for user in self.users),
            "the wait before learning": bool(self.ledger.owed - asked),
            "extraction": len(answered) < len(alive),
            "writing": any(now - at < _WRITING_SECONDS for at in answered),
        }
        return {moment for moment, is_on in going_on.items() if is_on} or {"nothing"}
