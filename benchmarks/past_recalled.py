"""What recalling past conversation costs: a user's first turn after a restart, and an idle one.

On one real Open WebUI with SQLite and Chroma, a user for each variant, in rounds of one turn of
each in a shuffled order: a filter that does nothing and is as long as the plug-in, the plug-in
without and with past conversation. Figures are milliseconds of the processor that the server's
process took for the whole turn until all behind it has come to its end, and of these those until
the model was asked.

``first`` are turns that tell a fact, each after the filter's code was saved anew, which is a restart
to the plug-in. ``nothing_new`` are turns in a process that knows all already, which teach nothing;
what past conversation adds to them is looking for what belongs to them, and keeping the index.
"""

from __future__ import annotations

import asyncio
import random
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    EMPTY_FILTER,
    PLUGIN,
    THINGS,
    VERBS,
    Variant,
    measured_host,
    model_entry,
    processor_ms,
    store_memories,
    store_vectors,
)
from tests.e2e.driver.extraction import CHECK, EXTRACT
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.made_up_lives import extraction_reply, made_up_sayings
from tests.e2e.driver.page import Page
from tests.e2e.driver.past_chats import bring_along, past_chats
from tests.e2e.driver.soak import UNCAPPED
from tests.e2e.driver.waiting import until

MEMORIES = 300
MESSAGES = 300  # that a user has sent; each has an answer
MESSAGES_OF_CHAT = 15
FIRST_ROUNDS = 7
ROUNDS = 12
# The host loads what was saved, and the plug-in makes itself ready, before the turn;
READY_SECONDS = 3.0
# then the lesson, and the index, behind it.
REST_SECONDS = 3.5
LONG = Variant("empty filter, as long", "past-long", native=True)
OFF = Variant("filter", "past-off", native=True)
ON = Variant("filter, past recalled", "past-on", native=True)
NOTED = "SELECT count(*) AS found FROM adaptive_memory_entries WHERE user_id = ? AND kind = 'history'"

# Of each variant the milliseconds of the whole turn, and of those before the model.
Turns = dict[str, list[tuple[float, float]]]


async def measure(builds: Mapping[Variant, str]) -> dict[str, Any]:
    """Run all rounds with the filters of these texts and return their figures."""
    facts = [one.words for one in made_up_sayings(0, 200, 6)]
    order = random.Random(6)
    async with measured_host() as host:
        host.model.when_title(EXTRACT, extraction_reply)
        host.model.when_title(CHECK, {"outdated": []})
        asked: list[float] = []

        def note(_: object) -> bool:
            """Keep when the model is asked, by the server's processor time."""
            asked.append(processor_ms(host))
            return False  # somebody else answers

        host.model.when(note, "")
        filters: dict[Variant, InstalledFilter] = {}
        pages: dict[Variant, Page] = {}
        for number, (variant, text) in enumerate(builds.items()):
            filters[variant] = await _installed(host, variant, text)
            pages[variant] = await _person(
                host, filters[variant], variant, number
            )
        taken: dict[str, Turns] = {
            "first": defaultdict(list),
            "nothing_new": defaultdict(list),
        }
        for number in range(-1, FIRST_ROUNDS):
            for variant in order.sample([*builds], len(builds)):
                await filters[variant].update(f"{builds[variant]}\n# {number}")
                await pages[variant].request("GET", "/api/models")
                await asyncio.sleep(READY_SECONDS)
                turn = await _turn(
                    host, pages[variant], variant, facts.pop(), asked
                )
                if number >= 0:
                    taken["first"][variant.name].append(turn)
        for number in range(-2, ROUNDS):
            for variant in order.sample([*builds], len(builds)):
                words = f"Who {VERBS[number % 8]} a {THINGS[number % 7]} for {2000 + number} euros?"
                turn = await _turn(host, pages[variant], variant, words, asked)
                if number >= 0:
                    taken["nothing_new"][variant.name].append(turn)
        return {
            "open_webui": host.version,
            "memories": MEMORIES,
            "past_messages": 2 * MESSAGES,
            **{kind: _summary(turns) for kind, turns in taken.items()},
        }


async def _installed(
    host: RunningHost, variant: Variant, text: str
) -> InstalledFilter:
    """The filter of a variant, and the entry of the model that it serves."""
    function_id = variant.model.replace("-", "_")
    reach = "off" if variant is OFF else "all"
    installed = await host.install_filter(
        text,
        function_id=function_id,
        make_global=False,
        valves=None
        if variant is LONG
        else {**UNCAPPED, "history_recall_default": reach},
    )
    entry = model_entry(variant.model, [function_id])
    await host.admin.request("POST", "/api/v1/models/create", entry)
    await host.admin.request("GET", "/api/models")
    return installed


async def _person(
    host: RunningHost,
    installed: InstalledFilter,
    variant: Variant,
    number: int,
) -> Page:
    """A user with memories and past chats, which are indexed where they are recalled."""
    page = await host.user(variant.model)
    # Rows are numbered by how many there are.
    store_memories(host, page, MEMORIES + number)
    store_vectors(host, page)
    sayings = made_up_sayings(0, MESSAGES, 17)
    await bring_along(page, past_chats(sayings, MESSAGES_OF_CHAT))
    if variant not in (LONG, OFF):
        await installed.set_user_valves(page, {"index_past_chats": True})
    await page.new_chat(model=variant.model).send("Who has a boat?")
    if variant not in (LONG, OFF):
        await until(
            lambda: (
                host.query(NOTED, page.user_id)[0]["found"]
                > MESSAGES // MESSAGES_OF_CHAT
            ),
            300,
            "all past chats in the index",
        )
    return page


async def _turn(
    host: RunningHost,
    page: Page,
    variant: Variant,
    words: str,
    asked: list[float],
) -> tuple[float, float]:
    """The first turn of a new chat, and a rest in which all behind it comes to its end.

    ``asked`` is filled with the processor's time of each request that the model gets.
    """
    asked.clear()
    began = processor_ms(host)
    chat = page.new_chat(model=variant.model)
    running = await chat.start(words, features={"memory": variant.native})
    await running.finish()
    await asyncio.sleep(REST_SECONDS)
    return processor_ms(host) - began, asked[0] - began


def _summary(turns: Turns) -> dict[str, Any]:
    """The times of each variant, and what each adds to the first one, round by round."""
    figures: dict[str, Any] = {}
    for name, of_variant in turns.items():
        figures[name] = {
            "turn": spread([whole for whole, _ in of_variant]),
            "before_model": spread([before for _, before in of_variant]),
            "added_to_empty": _added(of_variant, turns[LONG.name]),
            "added_to_filter": _added(of_variant, turns[OFF.name]),
        }
        say(f"  {name}: {figures[name]}")
    return figures


def _added(
    turns: Sequence[tuple[float, float]], others: Sequence[tuple[float, float]]
) -> float:
    """How much more the whole turns took than others of the same rounds, median."""
    more = [
        one[0] - other[0] for one, other in zip(turns, others, strict=True)
    ]
    return round(statistics.median(more), 1)


def main() -> None:
    """Measure and write ``results/past_recalled.json``."""
    plugin = PLUGIN.read_text(encoding="utf-8")
    comments = "\n".join(f"# {line}" for line in plugin.split("\n"))
    empty = f"{EMPTY_FILTER}\n{comments}"[: len(plugin)]
    builds = {LONG: empty, OFF: plugin, ON: plugin}
    figures = asyncio.run(measure(builds))
    say(f"written: {write_results('past_recalled', figures)}")


if __name__ == "__main__":
    main()
