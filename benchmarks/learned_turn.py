"""What a turn costs that the plug-in learns from, where nobody else wants anything of the server.

Open WebUI on PostgreSQL and Redis, as it runs for many users; one user at a time says something in
a new chat, in rounds of one turn of each variant in a shuffled order: nothing, the host's own
memory, a filter that does nothing, one that does nothing and whose text is as long as the
plug-in's, and the plug-in, which is told a fact. The host reads a filter's whole text from its
database for each of its hooks (``utils/filter.py``, ``resolve_filter_pipeline``), which the fourth
variant tells apart from what the plug-in does.

Times are milliseconds by the clock until the model receives the request, from there until the
answer stands on the page, and from there until the host calls the chat idle. The processor's time
is that of the server's process: ``turn`` until shortly after the turn, ``behind`` from then until
the lesson is over; what the database's processes take is not in it. ``statements_behind`` are those
after the turn was queued, what the host does for the model call, vectors and status line included.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    EMPTY,
    EMPTY_FILTER,
    FILTER,
    HOST_MEMORY,
    NOTHING,
    PLUGIN,
    THINGS,
    VERBS,
    Variant,
    model_entry,
    processor_ms,
    request_saying,
)
from demo.environment import (
    NEWEST,
    HostEnvironment,
    host_environment,
    with_postgres_drivers,
)
from tests.e2e.driver.extraction import EXTRACT
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.made_up_lives import extraction_reply, made_up_sayings
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import CHAT_MODEL
from tests.e2e.driver.services import running_services
from tests.e2e.driver.soak import UNCAPPED

ROUNDS = 24
SETTLING_ROUNDS = 4
# The answer's last work of the host; then the lesson, and the states of chats behind it.
TURN_REST_SECONDS = 0.25
LESSON_SECONDS = 2.5
REST_SECONDS = 0.5
LONG = Variant("empty filter, as long", "long", native=True)
DOING_NOTHING = Variant(EMPTY.name, EMPTY.model, native=True)
VARIANTS = (NOTHING, HOST_MEMORY, DOING_NOTHING, LONG, FILTER)
# An Action function: statements of the plug-in, or of the host for it, since a turn was queued.
COUNTER = '''"""
title: Counter
"""
import sys
import greenlet
from sqlalchemy import event
from sqlalchemy.engine import Engine

FOUND = []

def note(connection, cursor, statement, parameters, context, executemany):
    # SQLAlchemy's own frames stand in a greenlet, those of whoever waits for it in its parent.
    parent = greenlet.getcurrent().parent
    frame = parent.gr_frame if parent is not None else None
    frame = frame or sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("function_"):
            FOUND.append(f"{statement} {parameters}")
            return
        frame = frame.f_back

event.listen(Engine, "before_cursor_execute", note)

class Action:
    async def action(self, body):
        found, FOUND[:] = [*FOUND], []
        queued = [
            at
            for at, one in enumerate(found)
            if "INTO adaptive_memory_entries" in one and "'waiting'" in one
        ]
        return {"statements": len(found) - queued[0] - 1 if queued else 0}
'''


@dataclass(frozen=True, slots=True)
class LearnedTurn:
    """Milliseconds of one turn by the clock, and of the server's process; and statements."""

    before_model: float
    answer: float
    after_answer: float
    turn: float
    processor_turn: float
    processor_behind: float
    statements_behind: float


async def measure() -> dict[str, Any]:
    """Run the rounds and return their figures."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    taken: dict[str, list[LearnedTurn]] = defaultdict(list)
    async with (
        running_services(redis=True) as services,
        _running_host(environment, services.variables(environment)) as host,
    ):
        page = await host.user("owner")
        facts = [
            one.words
            for one in made_up_sayings(0, ROUNDS + SETTLING_ROUNDS, 6)
        ]
        order = random.Random(6)
        say(f"{ROUNDS} rounds of {len(VARIANTS)} turns")
        for number in range(-SETTLING_ROUNDS, ROUNDS):
            for variant in order.sample(VARIANTS, len(VARIANTS)):
                words = (
                    facts[number]
                    if variant is FILTER
                    else _question(variant, number)
                )
                turn = await _measured_turn(host, page, variant, words)
                if number >= 0:
                    taken[variant.name].append(turn)
        learned = len(await page.request("GET", "/api/v1/memories/"))
    figures = {
        name: {
            kind: spread([asdict(one)[kind] for one in turns])
            for kind in asdict(turns[0])
        }
        for name, turns in taken.items()
    }
    for name, kinds in figures.items():
        say(f"  {name}: { {kind: one.median for kind, one in kinds.items()} }")
    return {
        "open_webui": host.version,
        "database": "postgresql",
        "rounds": ROUNDS,
        "plugin_kilobytes": round(len(PLUGIN.read_bytes()) / 1000),
        "memories_learned": learned,
        "milliseconds": figures,
    }


@asynccontextmanager
async def _running_host(
    environment: HostEnvironment, variables: Mapping[str, str]
) -> AsyncIterator[RunningHost]:
    """A server with all variants."""
    with tempfile.TemporaryDirectory() as folder:
        say("starting Open WebUI")
        host = await RunningHost.start(environment, Path(folder), variables)
        try:
            await install_variants(host)
            counter: dict[str, Any] = {
                "id": "counter",
                "name": "Counter",
                "content": COUNTER,
            }
            counter["meta"] = {"description": "counter", "manifest": {}}
            await host.admin.request(
                "POST", "/api/v1/functions/create", counter
            )
            await host.admin.request(
                "POST", "/api/v1/functions/id/counter/toggle"
            )
            yield host
        finally:
            await host.stop()


async def install_variants(host: RunningHost) -> None:
    """Install the filters, each serving its entry of the model, and let the model find facts."""
    plugin = PLUGIN.read_text(encoding="utf-8")
    comments = "\n".join(f"# {line}" for line in plugin.split("\n"))
    filters = {
        DOING_NOTHING.model: EMPTY_FILTER,
        LONG.model: f"{EMPTY_FILTER}\n{comments}"[: len(plugin)],
        FILTER.model: plugin,
    }
    for model, text in filters.items():
        valves = UNCAPPED if model == FILTER.model else None
        await host.install_filter(
            text, function_id=model, make_global=False, valves=valves
        )
    for model in {variant.model for variant in VARIANTS}:
        entry = model_entry(model, [model] if model in filters else [])
        await host.admin.request("POST", "/api/v1/models/create", entry)
    await host.admin.request("GET", "/api/models")
    host.model.when_title(EXTRACT, extraction_reply)


async def _measured_turn(
    host: RunningHost, page: Page, variant: Variant, words: str
) -> LearnedTurn:
    """The first turn of a new chat, and a rest in which all behind it comes to its end."""
    began = processor_ms(host)
    chat = page.new_chat(model=variant.model)
    running = await chat.start(words, features={"memory": variant.native})
    turn = await running.finish()
    await asyncio.sleep(TURN_REST_SECONDS)
    ended = processor_ms(host)
    await asyncio.sleep(LESSON_SECONDS if variant is FILTER else REST_SECONDS)
    over_at = processor_ms(host)
    question = {"model": CHAT_MODEL, "chat_id": "", "id": "", "session_id": ""}
    counted = await host.admin.request(
        "POST", "/api/chat/actions/counter", question
    )
    asked = (request_saying(host, words).at - running.started) * 1000
    answered, over = turn.answered or 0.0, turn.active_false or 0.0
    return LearnedTurn(
        before_model=asked,
        answer=answered - asked,
        after_answer=over - answered,
        turn=over,
        processor_turn=ended - began,
        processor_behind=over_at - ended,
        statements_behind=counted["statements"],
    )


def _question(variant: Variant, number: int) -> str:
    """A question like a user's, which no other turn has asked."""
    thing, verb = THINGS[number % 8], VERBS[number // 8 % 8]
    euros = 1000 + VARIANTS.index(variant) * 1000 + number
    return f"Who {verb} a {thing} for {euros} euros, and when was that?"


def main() -> None:
    """Measure and write ``results/learned_turn.json``."""
    say(f"written: {write_results('learned_turn', asyncio.run(measure()))}")


if __name__ == "__main__":
    main()
