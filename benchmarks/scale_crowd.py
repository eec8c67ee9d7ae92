"""The servers of ``scale``, and the users who talk to them."""

from __future__ import annotations

import asyncio
import json
import os
import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adaptive.host.vector_database import history_collection
from benchmarks.figures import say
from benchmarks.host import (
    FILTER,
    FILTERS,
    NOTHING,
    PLUGIN,
    Variant,
    model_entry,
    request_saying,
)
from benchmarks.scale_data import (
    DIMENSION,
    ScaleData,
    fill,
    made_up_id,
    questions,
)
from demo.environment import NEWEST, host_environment, with_postgres_drivers
from demo.server import HostServer
from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.extraction import EXTRACT
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.made_up_lives import extraction_reply, made_up_sayings
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import CHAT_MODEL
from tests.e2e.driver.services import (
    Services,
    running_services,
    running_workers,
)

METER = Path(__file__).with_name("scale_meter.py")
# A smaller run, to try something: SCALE_USERS, SCALE_ACTIVE, SCALE_RATE.
USERS = int(os.environ.get("SCALE_USERS", "5000"))
ACTIVE = int(os.environ.get("SCALE_ACTIVE", "200"))
TURNS_A_SECOND = float(os.environ.get("SCALE_RATE", "1"))
WITH_PAST = 1_000
WORKERS = 4
TURNS_PER_CHAT = 5
FACTS = 1 / 3
WARM_UP_SECONDS = 20.0
# An admin who has such a model tells pgvector so (default: 1,536, filled up with zeros).
VARIABLES = {"PGVECTOR_INITIALIZE_MAX_VECTOR_LENGTH": str(DIMENSION)}


@dataclass(slots=True)
class Person:
    """An active user: the page, what is said in it, and which workers have served it."""

    page: Page
    recalls: bool
    facts: list[str]
    chat: Conversation | None = None
    variant: Variant = NOTHING
    said: int = 0
    is_busy: bool = False
    known_at: set[int] = field(default_factory=set[int])


@dataclass(frozen=True, slots=True)
class TurnTaken:
    """A turn: by which variant, of which kind, and milliseconds until the model was asked."""

    variant: str
    kind: str
    recalls: bool
    before_model: float
    asked_at: float


@dataclass(slots=True)
class Crowd:
    """The servers with everybody who talks to them."""

    host: RunningHost
    others: Sequence[HostServer]
    services: Services
    people: list[Person]
    questions: list[str]
    chance: random.Random = field(default_factory=lambda: random.Random(18))
    asked: int = 0

    @property
    def servers(self) -> list[HostServer]:
        return [self.host.server, *self.others]

    async def metered(self, worker: int) -> dict[str, Any]:
        """What a worker has counted since it was asked last."""
        admin = self.host.admin
        admin.url = self.servers[worker].url
        try:
            return await admin.request(
                "POST",
                "/api/chat/actions/meter",
                {
                    "model": CHAT_MODEL,
                    "chat_id": "",
                    "id": "",
                    "session_id": "",
                },
            )
        finally:
            admin.url = self.host.url

    async def resident(self) -> list[int]:
        """The mebibytes of each worker."""
        return [
            round((await self.metered(worker))["resident"])
            for worker in range(WORKERS)
        ]

    def words(self, person: Person, *, fact: bool) -> str:
        """What nobody has said before."""
        self.asked += 1
        if fact and person.facts:
            return person.facts.pop()
        question = self.questions[self.asked * 7 % len(self.questions)]
        return f"{question} Say it in {self.asked} words."

    async def turn(
        self, person: Person, worker: int, *, fact: bool = False
    ) -> TurnTaken:
        """One turn of a person's chat at a worker."""
        person.page.url = self.servers[worker].url
        if person.chat is None:
            person.chat = person.page.new_chat(model=person.variant.model)
            person.said = 0
        words = self.words(person, fact=fact)
        person.said += 1
        running = await person.chat.start(
            words, features={"memory": person.variant.native}
        )
        ended = await running.finish()
        assert ended.error is None, ended
        request = request_saying(self.host, words)
        kind = "next of its chat" if person.said > 1 else "warm"
        if person.variant is FILTER:
            if worker not in person.known_at:
                kind = "cold"
            person.known_at.add(worker)
        return TurnTaken(
            variant=person.variant.name,
            kind=kind,
            recalls=person.recalls,
            before_model=(request.at - running.started) * 1000,
            asked_at=request.at,
        )

    async def restart(self, servers: Sequence[HostServer]) -> None:
        """Stop servers, start them again, and load the pages anew."""
        pages = [self.host.admin, *(one.page for one in self.people)]
        for page in pages:
            await page.disconnect()
        for server in servers:
            await asyncio.to_thread(server.stop)
            server.spawn()
        for server in servers:
            await server.wait_until_healthy()
        for number, page in enumerate(pages):
            page.url = self.servers[number % WORKERS].url
            await page.reload()
        await asyncio.sleep(WARM_UP_SECONDS)

    async def talk(
        self, seconds: float, variants: Sequence[Variant]
    ) -> list[TurnTaken]:
        """The turns of all, who talk at any worker for so long."""
        turns: list[TurnTaken] = []
        lanes: set[asyncio.Task[None]] = set()

        async def lane(person: Person) -> None:
            """One turn."""
            try:
                if person.said >= TURNS_PER_CHAT:
                    person.chat = None
                if person.chat is None:
                    person.variant = self.chance.choice(variants)
                worker = self.chance.randrange(WORKERS)
                fact = self.chance.random() < FACTS
                turns.append(await self.turn(person, worker, fact=fact))
            finally:
                person.is_busy = False

        for person in self.people:
            person.chat = None
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            await asyncio.sleep(self.chance.expovariate(TURNS_A_SECOND))
            person = self.chance.choice(
                [person for person in self.people if not person.is_busy]
            )
            person.is_busy = True
            lanes.add(asyncio.create_task(lane(person)))
            self.host.model.requests[:-200] = []
        await asyncio.gather(*lanes)
        return turns


@asynccontextmanager
async def crowd_of_servers(
    folder: Path,
) -> AsyncIterator[tuple[Crowd, dict[str, int]]]:
    """Servers and users with all their data; the plug-in is there, and nobody uses it."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    with tempfile.TemporaryDirectory() as work:
        async with (
            running_services(redis=True) as services,
            running_workers(
                environment, services, Path(work), VARIABLES, WORKERS
            ) as (host, *others),
        ):
            say("making users")
            host.model.when_title(
                EXTRACT, lambda body: json.dumps(extraction_reply(body))
            )
            crowd = Crowd(host, others, services, [], questions(folder))
            for number in range(ACTIVE):
                url = crowd.servers[number % WORKERS].url
                sayings = made_up_sayings(number, 60, 18)
                crowd.people.append(
                    Person(
                        page=await host.user(f"scale{number}", url),
                        recalls=number % 2 == 1,
                        facts=[saying.words for saying in sayings],
                    )
                )
            say("making their data")
            data = await _data_of(crowd)
            filled = await asyncio.to_thread(fill, services, folder, data)
            # Nothing of the plug-in is in the workers' memory now.
            await crowd.restart(crowd.servers)
            await host.install_filter(
                METER, function_id="meter", make_global=False
            )
            yield crowd, filled


async def _data_of(crowd: Crowd) -> ScaleData:
    """Who is to have what, as the plug-in's own first rows tell its names."""
    host = crowd.host
    installed = await host.install_filter(PLUGIN, make_global=False)
    for name, filters in FILTERS.items():
        if "empty" not in filters:
            entry = model_entry(name, filters)
            await host.admin.request("POST", "/api/v1/models/create", entry)
    await host.admin.request("GET", "/api/models")
    await installed.set_user_valves(host.admin, {"history_recall": "all"})
    await host.admin.add_memory("User likes tea.")
    await host.admin.new_chat(model=FILTER.model).send("What do I drink?")
    until = time.monotonic() + 120
    units: list[dict[str, Any]] = []
    vectors: list[dict[str, Any]] = []
    while not (units and vectors):
        assert time.monotonic() < until, "the plug-in has embedded nothing"
        await asyncio.sleep(0.5)
        owner = host.admin.user_id
        units = crowd.services.rows(
            "SELECT vmetadata->>'embedder' AS name FROM document_chunk WHERE"
            f" collection_name = '{history_collection(owner)}' LIMIT 1"
        )
        vectors = crowd.services.rows(
            "SELECT embedder AS name FROM adaptive_memory_vector"
            f" WHERE user_id = '{owner}' LIMIT 1"
        )
    await installed.uninstall()
    active = [person.page.user_id for person in crowd.people]
    return ScaleData(
        users=[*active, *map(made_up_id, range(USERS - len(active)))],
        with_past=WITH_PAST,
        recalling={
            person.page.user_id: history_collection(person.page.user_id)
            for person in crowd.people
            if person.recalls
        },
        embedder=vectors[0]["name"],
        embedder_hash=units[0]["name"],
    )
