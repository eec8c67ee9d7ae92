"""5,000 users of 500 memories, 200 of them active, on four workers, PostgreSQL, pgvector and Redis.

Four processes of Open WebUI, with the pools of connections that it has by default, serve 200 users
of 5,000. All have 500 memories with vectors, the first 1,000 of them 2,000 past messages as well;
half of the active users have their past recalled, and an index of it.

First the workers serve the users without the plug-in, with the host's own memory and without, for
their memory of then. Then, one turn at a time, it is counted what a user's first turn in a worker,
the next one in another chat, and the one behind it ask of the database, of the vector database and
of the embedding model. Then all users talk at any worker, at a rate that leaves the processors
idle most of the time; each chat is answered with the plug-in, the host's memory, or nothing. Last
each user comes to each worker, which holds then what it will ever hold of them; one is restarted.

A turn is *cold* where its worker has not served its user before. A third of all messages tell a
fact that is learned. Times are milliseconds until the model is asked, and ``added`` are differences
to the turns with nothing, of medians and of 95th percentiles. Processor's times are those of all
threads of a worker; what the database takes is told apart.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.figures import Spread, say, spread, write_results
from benchmarks.host import FILTER, HOST_MEMORY, NOTHING, PLUGIN
from benchmarks.locomo import DEFAULT_DATA
from benchmarks.scale_crowd import (
    ACTIVE,
    TURNS_A_SECOND,
    USERS,
    WARM_UP_SECONDS,
    WORKERS,
    Crowd,
    Person,
    TurnTaken,
    crowd_of_servers,
)
from benchmarks.scale_data import sizes

BEFORE_SECONDS = 75.0
LOAD_SECONDS = 330.0
# Of each kind, one at a time.
QUIET_USERS = 14
QUIET_SECONDS = 1.2
# Lessons of turns before, which begin two seconds behind them, are over by then.
LESSON_SECONDS = 4.0
VARIANTS = (NOTHING, HOST_MEMORY, FILTER)
KINDS = ("cold", "warm", "next of its chat")
COUNTED = ("statements", "vector_calls", "texts")
_TICKS = os.sysconf("SC_CLK_TCK")


async def measure(folder: Path) -> dict[str, Any]:
    """Run it all and return its figures."""
    async with crowd_of_servers(folder) as (crowd, filled):
        figures: dict[str, Any] = {
            "open_webui": crowd.host.version,
            "users": USERS,
            "active": ACTIVE,
            "workers": WORKERS,
            "turns_a_second": TURNS_A_SECOND,
            "filled": filled,
        }
        say("without the plug-in")
        await crowd.talk(BEFORE_SECONDS, (NOTHING, HOST_MEMORY))
        before = await crowd.resident()
        figures["resident_mib"] = {"without the plug-in": before}
        await _install(crowd)
        say("one turn at a time")
        figures["one_at_a_time"] = await _one_at_a_time(crowd)
        write_results("scale", figures)
        say("all at any worker")
        figures["under_load"] = await _under_load(crowd)
        say(f"  {figures['under_load']}")
        write_results("scale", figures)
        figures["resident_mib"]["after the load"] = await crowd.resident()
        await _everybody_everywhere(crowd)
        after = await crowd.resident()
        figures["resident_mib"]["all users at all workers"] = after
        figures["resident_mib"]["added"] = [
            late - early for early, late in zip(before, after, strict=True)
        ]
        say(f"  {figures['resident_mib']}")
        write_results("scale", figures)
        say("after a restart")
        figures["after_a_restart"] = await _restarted(crowd)
        figures["sizes"] = await asyncio.to_thread(sizes, crowd.services)
        return figures


async def _install(crowd: Crowd) -> None:
    """Install the plug-in as it is by default, and let half of the users recall their past."""
    installed = await crowd.host.install_filter(PLUGIN, make_global=False)
    for number, person in enumerate(crowd.people):
        person.page.url = crowd.servers[number % WORKERS].url
        if person.recalls:
            valves = {"history_recall": "all"}
            await installed.set_user_valves(person.page, valves)
    for server in crowd.servers:
        crowd.host.admin.url = server.url
        await crowd.host.admin.request("GET", "/api/models")
    crowd.host.admin.url = crowd.host.url
    await asyncio.sleep(WARM_UP_SECONDS)


async def _counted_turn(
    crowd: Crowd, person: Person, worker: int
) -> dict[str, Any]:
    """What one turn of a person takes, where nobody else talks."""
    await asyncio.sleep(LESSON_SECONDS)
    before = await crowd.metered(worker)
    turn = await crowd.turn(person, worker)
    await asyncio.sleep(QUIET_SECONDS)
    after = await crowd.metered(worker)
    return {
        "turn": turn,
        "processor_ms": 1000 * (after["processor"] - before["processor"]),
        "of_host": after["of_host"],
        "inlets": after["inlets"],
        "asked": after["asked"],
    }


async def _one_at_a_time(crowd: Crowd) -> dict[str, Any]:
    """By variant, kind, and whether the past is recalled: what a turn takes; medians."""
    taken: dict[str, list[dict[str, Any]]] = defaultdict(list)
    some = [
        [one for one in crowd.people if one.recalls is recalls][:QUIET_USERS]
        for recalls in (False, True)
    ]
    for person in (one for pair in zip(*some, strict=True) for one in pair):
        for variant in crowd.chance.sample(VARIANTS, len(VARIANTS)):
            person.variant = variant
            for kind in KINDS:
                if kind != "next of its chat":
                    person.chat = None
                if kind == "cold" and variant is not FILTER:
                    continue
                counted = await _counted_turn(crowd, person, 0)
                if counted["turn"].kind == kind:
                    taken[_kind_of(counted["turn"])].append(counted)
    return {kind: _summed_up(turns) for kind, turns in sorted(taken.items())}


def _kind_of(turn: TurnTaken) -> str:
    recalls = ", past recalled" if turn.recalls else ""
    recalls = recalls if turn.variant == FILTER.name else ""
    return f"{turn.variant}, {turn.kind}{recalls}"


def _summed_up(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians of turns of a kind, and what was asked most often in one of them."""
    figures: dict[str, Any] = {
        "before_model_ms": spread([one["turn"].before_model for one in turns]),
        "processor_ms": spread([one["processor_ms"] for one in turns]),
        "host_statements": spread([one["of_host"] for one in turns]),
        "stages_ms": _stages(
            [line for one in turns for line in one["inlets"]]
        ),
    }
    for when, is_before in (("before", True), ("behind", False)):
        asked = [
            [
                (kind, what)
                for at, kind, what in one["asked"]
                if (at < one["turn"].asked_at) is is_before
            ]
            for one in turns
        ]
        figures[when] = {
            kind: spread([sum(one[0] == kind for one in few) for few in asked])
            for kind in COUNTED
        }
        counted = Counter(one for few in asked for one in few)
        figures[f"asked {when}"] = {
            " ".join(one): round(count / len(turns), 2)
            for one, count in counted.most_common()
        }
    return figures


def _stages(lines: list[dict[str, Any]]) -> dict[str, Spread]:
    """How long the stages of inlets took."""
    stages: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        for name, milliseconds in line["ms"].items():
            stages[name].append(milliseconds)
    return {
        name: spread(taken) for name, taken in stages.items() if len(taken) > 1
    }


async def _under_load(crowd: Crowd) -> dict[str, Any]:
    """How long the model is waited for, and what the processors do meanwhile."""
    for worker in range(WORKERS):
        await crowd.metered(worker)
    before = _processors(crowd), time.monotonic()
    turns = await crowd.talk(LOAD_SECONDS, VARIANTS)
    seconds = time.monotonic() - before[1]
    busy = {
        name: round((late - before[0][name]) / seconds, 2)
        for name, late in _processors(crowd).items()
    }
    times: dict[str, list[float]] = defaultdict(list)
    for turn in turns:
        names = [turn.variant]
        if turn.variant == FILTER.name:
            kind = "cold" if turn.kind == "cold" else "warm"
            past = "past recalled" if turn.recalls else "memories alone"
            names = [f"filter, {kind}", f"filter, {kind}, {past}"]
        for name in names:
            times[name].append(turn.before_model)
    spreads = {
        name: spread(one)
        for name, one in sorted(times.items())
        if len(one) > 1
    }
    base = spreads[NOTHING.name]
    inlets = [
        line
        for worker in range(WORKERS)
        for line in (await crowd.metered(worker))["inlets"]
    ]
    return {
        "turns": len(turns),
        "cores_busy": busy,
        "before_model_ms": spreads,
        "added_ms": {
            name: {
                "median": round(one.median - base.median, 1),
                "p95": round(one.p95 - base.p95, 1),
            }
            for name, one in spreads.items()
        },
        "stages_ms": _stages(inlets),
    }


async def _everybody_everywhere(crowd: Crowd) -> None:
    """Have each user served by each worker, so that it holds what it will ever hold."""

    async def lane(worker: int) -> None:
        """Ask at one worker for all whom it does not know, by their tokens."""
        url = f"{crowd.servers[worker].url}/api/chat/completions"
        for person in crowd.people:
            if worker in person.known_at:
                continue
            words = crowd.words(person, fact=False)
            body = {
                "model": FILTER.model,
                "messages": [{"role": "user", "content": words}],
            }
            headers = {"Authorization": f"Bearer {person.page.token}"}
            async with (
                aiohttp.ClientSession() as http,
                http.post(url, json=body, headers=headers) as response,
            ):
                await response.text()
            person.known_at.add(worker)

    await asyncio.gather(*map(lane, range(WORKERS)))
    crowd.host.model.requests.clear()


async def _restarted(crowd: Crowd) -> dict[str, Any]:
    """The first turns of users with a past in a worker that has just started."""
    worker = WORKERS - 1
    await crowd.restart([crowd.servers[worker]])
    turns: list[dict[str, Any]] = []
    for person in [one for one in crowd.people if one.recalls][:QUIET_USERS]:
        person.known_at.discard(worker)
        person.chat, person.variant = None, FILTER
        turns.append(await _counted_turn(crowd, person, worker))
    first, *others = turns
    return {
        "the very first": _summed_up([first, first]),
        "others": _summed_up(others),
    }


def _processors(crowd: Crowd) -> dict[str, float]:
    """Seconds that processors have worked so far: for the workers, the database, and anybody."""
    anybody = Path("/proc/stat").read_text(encoding="ascii").split()[1:9]
    user, nice, system, _, _, *interrupts = map(int, anybody)
    [asked] = crowd.services.rows(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
    )
    postmaster = _fields(asked["pid"])[1]
    workers: list[int] = []
    for server in crowd.servers:
        assert server._process is not None
        workers.append(server._process.pid)
    return {
        "workers": sum(map(_seconds, workers)),
        "database": _family(postmaster),
        "anybody": (user + nice + system + sum(interrupts)) / _TICKS,
    }


def _fields(process: int | str) -> list[str]:
    """What the system tells of a process, from its state on (Linux: man 5 proc_pid_stat)."""
    status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    return status.rpartition(")")[2].split()


def _seconds(process: int | str) -> float:
    """The processor's time of a process, and of those that it has begun and that have ended."""
    return sum(map(int, _fields(process)[11:15])) / _TICKS


def _family(parent: str) -> float:
    """The processor's time of a process and of those that it has begun."""
    seconds = _seconds(parent)
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if _fields(path.name)[1] == parent:
                seconds += _seconds(path.name)
    return seconds


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/scale.json``."""
    figures = asyncio.run(measure(folder))
    say(f"written: {write_results('scale', figures)}")


if __name__ == "__main__":
    main()
