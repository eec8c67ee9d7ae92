"""What a turn costs with all that stands before and after the answer off, and what it cost before.

Two builds of the plug-in are installed on one server beside each other: the one of now, and the one
of the last commit before pre-processing, post-processing and past conversation came. The build of
now stands there twice, as it is installed and with everything off that can be. For one user with
1,000 memories the turns come in rounds: in each, one turn of every variant in a shuffled order, so
that whatever else the machine does falls on all of them alike.

The added time is measured as in ``latency``: until the chat model receives the request, and from
the page's `done` to the host's `chat:active = false`; what a turn without any filter takes is taken
off. Beside it stands the processor's time that the server's process took, all threads together,
until then and from then until the next turn: it hardly depends on what else the machine does.
Ratios are those of medians; intervals come of drawing whole rounds again, with replacement.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    FILTER,
    NOTHING,
    PLUGIN,
    THINGS,
    VERBS,
    Variant,
    complete_index,
    measured_host,
    model_entry,
    processor_ms,
    store_memories,
    store_vectors,
    timed_turn,
)
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page

# "Compile the screens' patterns once, off the event loop; start two workers in one place"
COMMIT_BEFORE = "9f7a0c2"
MEMORIES = 1000
ROUNDS = 64
# The plug-in compiles its patterns in the first seconds, and reads all memories once.
WARM_UP_SECONDS = 20
SETTLING_ROUNDS = 4
REST_SECONDS = 0.35
DRAWS = 4000
INSTALLED = Variant("as installed", FILTER.model, native=True)
BEFORE = Variant("before", "remembered-before", native=True)
OFF = Variant("everything off", "remembering-off", native=True)
VARIANTS = (NOTHING, BEFORE, INSTALLED, OFF)
# What of this is on in a plug-in as it is installed; the rest is off by default.
NOTHING_ON = {
    "history_recall": "off",
    "clean_answers": False,
}

Times = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MeasuredTurn:
    """Milliseconds of one turn by the clock, and of the server's process on any processor."""

    before_model: float
    after_answer: float
    processor_before_model: float
    processor_afterwards: float
    entries: int


class HistoryMissingError(Exception):
    """The build to compare with can't be read, as the commit that holds it is not here."""


def build_before() -> str:
    """The plug-in of the commit before.

    Raises:
        HistoryMissingError: there is no git, or this copy comes without its history.
    """
    wanted = f"{COMMIT_BEFORE}:{PLUGIN.name}"
    try:
        shown = subprocess.run(
            ["git", "show", wanted],
            cwd=PLUGIN.parent,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        message = "everything_off compares with a former build, and reads that with git"
        raise HistoryMissingError(message) from error
    if shown.returncode:
        message = (
            f"everything_off compares with {wanted}, which is not here: it needs a clone with its"
            f" whole history (git says: {shown.stderr.strip()[:200]})"
        )
        raise HistoryMissingError(message)
    return shown.stdout


async def measure(before: str) -> dict[str, Any]:
    """Run the comparison and return its figures."""
    async with measured_host() as host:
        for variant, source, valves in (
            (BEFORE, before, {}),
            (OFF, PLUGIN, NOTHING_ON),
        ):
            await _install(host, variant, source, valves)
        page = await host.user("owner")
        store_memories(host, page, MEMORIES)
        store_vectors(host, page)
        await complete_index(host, page, MEMORIES)
        for variant in VARIANTS:
            await page.complete("Who has a boat?", model=variant.model)
        await asyncio.sleep(WARM_UP_SECONDS)
        taken: dict[str, list[MeasuredTurn]] = defaultdict(list)
        asked: list[float] = []

        def note(_: object) -> bool:
            """Keep when the model is asked, by the server's processor time."""
            asked.append(processor_ms(host))
            return False  # somebody else answers

        host.model.when(note, "")
        order = random.Random(6)
        say(f"{MEMORIES} memories: {ROUNDS} rounds of {len(VARIANTS)} turns")
        for number in range(-SETTLING_ROUNDS, ROUNDS):
            for variant in order.sample(VARIANTS, len(VARIANTS)):
                turn = await _measured_turn(
                    host, page, variant, _question(variant, number), asked
                )
                if number >= 0:
                    taken[variant.name].append(turn)
        say(f"  load of the machine: {os.getloadavg()[0]:.1f}")
        return {
            "open_webui": host.version,
            "before": COMMIT_BEFORE,
            "memories": MEMORIES,
            "rounds": ROUNDS,
            **_summary(taken),
        }


async def _measured_turn(
    host: RunningHost,
    page: Page,
    variant: Variant,
    words: str,
    asked: list[float],
) -> MeasuredTurn:
    """One turn, and a rest in which what it leaves to be done comes to its end.

    ``asked`` is filled with the processor's time of each request that the model gets.
    """
    asked.clear()
    began = processor_ms(host)
    times = await timed_turn(host, page, variant, words)
    await asyncio.sleep(REST_SECONDS)
    ended = processor_ms(host)
    return MeasuredTurn(
        times.before_model,
        times.after_answer,
        asked[0] - began,
        ended - asked[0],
        times.entries,
    )


async def _install(
    host: RunningHost,
    variant: Variant,
    source: Path | str,
    valves: Mapping[str, Any],
) -> None:
    """A filter of its own for a variant, and the entry of the model that it serves."""
    function_id = variant.model.replace("-", "_")
    installed = await host.install_filter(
        source, function_id=function_id, make_global=False
    )
    if valves:
        path = f"/api/v1/functions/id/{installed.id}/valves/update"
        await host.admin.request("POST", path, dict(valves))
    entry = model_entry(variant.model, [function_id])
    await host.admin.request("POST", "/api/v1/models/create", entry)
    await host.admin.request("GET", "/api/models")


def _question(variant: Variant, number: int) -> str:
    """A question like a user's, which no other turn has asked; such a question teaches nothing."""
    thing, verb = THINGS[number % 8], VERBS[number // 8 % 8]
    euros = 1000 + VARIANTS.index(variant) * 1000 + number
    return f"Who {verb} a {thing} for {euros} euros, and when was that?"


def _summary(taken: Mapping[str, Sequence[MeasuredTurn]]) -> dict[str, Any]:
    """The times of each variant, and how those of now compare with that of before."""
    figures: dict[str, Any] = {
        "entries": {
            name: round(sum(one.entries for one in turns) / len(turns), 2)
            for name, turns in taken.items()
        }
    }
    for kind in (
        "before_model",
        "after_answer",
        "processor_before_model",
        "processor_afterwards",
    ):
        times = {
            name: np.array([getattr(one, kind) for one in turns])
            for name, turns in taken.items()
        }
        figures[f"{kind}_ms"] = _compared(times)
        say(f"  {kind}: {figures[f'{kind}_ms']}")
    return figures


def _compared(times: Mapping[str, Times]) -> dict[str, Any]:
    """One kind of time in milliseconds: medians, what is added, and the ratio of what is added."""
    draws = np.random.default_rng(6).integers(0, ROUNDS, (DRAWS, ROUNDS))
    drawn = {
        name: np.median(one[draws], axis=1) for name, one in times.items()
    }
    median = {name: float(np.median(one)) for name, one in times.items()}
    base = median[NOTHING.name]
    compared: dict[str, Any] = {
        "turns": {name: spread(one.tolist()) for name, one in times.items()},
        "added": {
            name: round(one - base, 2)
            for name, one in median.items()
            if name != NOTHING.name
        },
    }
    added_before = median[BEFORE.name] - base
    for name in (INSTALLED.name, OFF.name):
        ratios = (drawn[name] - drawn[NOTHING.name]) / (
            drawn[BEFORE.name] - drawn[NOTHING.name]
        )
        paired = times[name] - times[BEFORE.name]
        compared[f"{name} to before"] = {
            "ratio": round((median[name] - base) / added_before, 3),
            "ratio_95": _interval(ratios),
            "difference": round(float(np.median(paired)), 2),
            "difference_95": _interval(np.median(paired[draws], axis=1)),
        }
    return compared


def _interval(drawn: Times) -> list[float]:
    """The middle 95 percent."""
    return [round(float(one), 3) for one in np.percentile(drawn, [2.5, 97.5])]


def main() -> None:
    """Measure and write ``results/everything_off.json``; without the history only say so."""
    try:
        before = build_before()
    except HistoryMissingError as error:
        say(f"not measured: {error}")
        return
    say(
        f"written: {write_results('everything_off', asyncio.run(measure(before)))}"
    )


if __name__ == "__main__":
    main()
