"""Nothing leaks: planted secrets and personal data, looked for wherever a run leaves something.

A user types one value of each kind; the model proposes them, and others that nobody typed, as
memories; the assistant's answers quote some; another tool has put some into the user's memory;
some stand in the error of a failing model call and in replies that are no JSON. Each value is made
up for one origin, so that where it is found tells where it came from.

Canaries are planted in every place that is searched and must be found there: so the search can
fail.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import pytest
import pytest_asyncio

from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.secrets import find_secrets
from adaptive.privacy_valves import listed_kinds
from adaptive.valves import Valves
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.leak_search import PLACES, Place, Sighting, sightings, traces
from tests.e2e.driver.page import Page
from tests.e2e.driver.planted import ORIGINS, Origin, Planted, planted, told_in
from tests.e2e.driver.replies import Fail
from tests.e2e.driver.scripted_model import text_of
from tests.e2e.scenarios.extraction import (
    EXTRACT,
    Body,
    learns,
    new,
    newest_words,
    operations,
)

RELEVANCE = "# Score relevance"
SUMMARISE = "# Summarise memories"
FAILING, RAMBLING = "I keep a red kayak in Tartu", "I keep a blue canoe in Ghent"
LEARNING_SECONDS = 60.0

Redaction = Literal["model", "all"]
Nature = Literal["secret", "personal"]

# Everything is switched on that sends, shows or stores something.
VALVES = {
    "use_llm_for_relevance": True,
    "show_sources": True,
    "enable_summarization_task": True,
    "summarization_min_memory_age_days": 0,
    "summarization_min_cluster_size": 2,
    "max_total_memories": 40,
    "recent_messages_n": 20,
    "max_extractions_per_hour": 1000,
    "embedding_provider_type": "openai_compatible",
    "embedding_model_name": "words",
    "max_retries": 1,
    "retry_delay": 0,
}

# What is said in a chat the host itself stores with the chat, sends to the page and to the chat's
# model. What is remembered stands in its memory and is shown to the user whose it is.
_SAID: frozenset[Place] = frozenset({"event", "chat", "chat request"})
_KEPT: frozenset[Place] = frozenset({"memory", "vectors"})
_SHOWN: frozenset[Place] = frozenset({"status", "source", "event", "chat", "chat request"})
_NOWHERE: frozenset[Place] = frozenset()
# What a model replied stands in the log of whoever has chosen DEBUG; texts to be compared go to the
# embedding provider as they are.
_BESIDES: frozenset[Place] = frozenset({"debug log", "embedding"})

# Where a value may be found, by who put it into the run and what it is. Personal data is meant as
# with `pii_redaction` = `model` and as if its kind were kept; see ``allowed``.
ALLOWED: Mapping[tuple[Origin, Nature], frozenset[Place]] = {
    ("typed", "secret"): _SAID,
    ("typed", "personal"): _SAID | _KEPT | _SHOWN | _BESIDES,
    ("proposed", "secret"): _NOWHERE,
    ("proposed", "personal"): _KEPT | _SHOWN | _BESIDES,
    ("answered", "secret"): _SAID,
    ("answered", "personal"): _SAID,
    # The row itself is the other tool's; no secret of it may be shown or sent on.
    ("row", "secret"): _KEPT,
    ("row", "personal"): _KEPT | _SHOWN | _BESIDES,
    # The host logs what a provider answers by itself (host: events.py, 0.12.4).
    ("failed", "secret"): frozenset({"host log"}),
    ("failed", "personal"): frozenset({"host log"}),
    ("rubbish", "secret"): _NOWHERE,
    ("rubbish", "personal"): frozenset({"debug log"}),
}

# Speaks up on the loggers of the plug-in at the level at which everything of it is written to the
# server's log, and puts canaries where no chat puts any.
LISTENER = '''\
"""
title: Listener
"""
import logging
import sys

from pydantic import BaseModel

handler = logging.StreamHandler(sys.stderr)
handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
logger = logging.getLogger("adaptive_memory")
logger.addHandler(handler)
logger.setLevel(logging.DEBUG)


class Filter:
    class Valves(BaseModel):
        priority: int = 100

    def __init__(self):
        self.valves = self.Valves()

    async def inlet(self, body, __event_emitter__=None):
        logging.getLogger("adaptive_memory.recall").debug("CANARY-debug log")
        logging.getLogger("adaptive_memory.recall").info("CANARY-log")
        await __event_emitter__(
            {"type": "status", "data": {"description": "CANARY-status", "done": True}}
        )
        source = {"source": {"name": "x"}, "document": ["CANARY-source"], "metadata": [{}]}
        await __event_emitter__({"type": "source", "data": source})
        return body
'''
DEAF = '''\
"""
title: Listener
"""
import logging

logger = logging.getLogger("adaptive_memory")
logger.handlers.clear()
logger.setLevel(logging.NOTSET)


class Filter:
    pass
'''


@dataclass(frozen=True, slots=True)
class Run:
    """What was planted in a run, by name, and everything of it that was found."""

    values: Mapping[str, Planted]
    canaries: Mapping[Place, str]
    found: set[Sighting]
    titles: set[str]


def allowed(one: Planted, redaction: Redaction) -> frozenset[Place]:
    """Where a value may be found.

    Kinds that the defaults mask or refuse are not remembered, unless another tool has put them
    there; with `all` no personal data reaches the chat's model.
    """
    if one.kind.secret:
        return ALLOWED[one.origin, "secret"]
    places = ALLOWED[one.origin, "personal"]
    defaults = Valves()
    stored_otherwise = listed_kinds(f"{defaults.mask_in_memories}, {defaults.refuse_in_memories}")
    if one.origin in ("typed", "proposed") and one.kind.name in stored_otherwise:
        places = ALLOWED[one.origin, "secret"] | _BESIDES
    return places - {"chat request"} if redaction == "all" else places


def canary(place: Place, redaction: Redaction) -> str:
    """A word for one place that nothing takes for a secret."""
    return f"canary-{place.replace(' ', '')}-{redaction}"


_LISTENED: tuple[Place, ...] = ("log", "debug log", "status", "source")


@pytest_asyncio.fixture(loop_scope="session")
async def listener(host: RunningHost, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """The plug-in's loggers write everything to the server's log while a test runs."""
    words = {place: canary(place, request.param) for place in _LISTENED}
    source = LISTENER
    for place, word in words.items():
        source = source.replace(f"CANARY-{place}", word)
    installed = await host.install_filter(source, function_id="listener")
    yield
    await installed.update(DEAF)


@pytest.fixture
def canary_table(host: RunningHost, request: pytest.FixtureRequest) -> Iterable[None]:
    """A table with our prefix, in which a canary stands."""
    with contextlib.closing(sqlite3.connect(host.database, timeout=30)) as connection:
        connection.execute("CREATE TABLE adaptive_memory_canary (user_id TEXT, kept BLOB)")
        row = ("nobody", canary("our tables", request.param).encode())
        connection.execute("INSERT INTO adaptive_memory_canary VALUES (?, ?)", row)
        connection.commit()
        yield
        connection.execute("DROP TABLE adaptive_memory_canary")
        connection.commit()


def test_planted_values_are_known() -> None:
    """What is planted is what the plug-in claims to recognise, and each value is there once."""
    values = [
        one for mode in ("model", "all") for origin in ORIGINS for one in planted(mode, origin)
    ]
    for one in values:
        for text in (one.said, one.told):
            if one.kind.secret:
                assert find_secrets(text), one.name
            else:
                kinds = {found.kind for found in find_personal_data(text)}
                assert one.kind.name in kinds, (one.name, kinds)
    assert len({one.needle for one in values}) == len(values)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("redaction", "listener", "canary_table"),
    [("model", "model", "model"), ("all", "all", "all")],
    indirect=["listener", "canary_table"],
    ids=["model", "all"],
)
async def test_nothing_leaks(
    host: RunningHost,
    plugin: InstalledFilter,
    listener: None,
    canary_table: None,
    redaction: Redaction,
) -> None:
    """No planted value is found where it must not be, and every canary where it must be."""
    since = host.log_length()
    embedding = {"embedding_api_url": host.model.url}
    await plugin.set_valves({**VALVES, **embedding, "pii_redaction": redaction})
    run = await _run(host, redaction, since)
    assert {EXTRACT, RELEVANCE} <= run.titles, run.titles
    missed = [place for place, word in run.canaries.items() if not _is_found(run, word, place)]
    assert not missed, f"the search is blind to {missed}"
    leaks = [
        one
        for one in run.found
        if one.name in run.values and one.place not in allowed(run.values[one.name], redaction)
    ]
    assert not leaks, _listed(leaks)
    kept = {one.name for one in run.found if one.place == "memory"}
    # The e-mail address, said first, may have been pruned by then.
    assert {"phone (typed)", "address (typed)"} <= kept, kept


def _listed(leaks: Iterable[Sighting]) -> str:
    """Each value and place once, with one example of where there."""
    examples = {(one.name, one.place): str(one) for one in sorted(leaks, key=str, reverse=True)}
    return f"{len(examples)} leaks\n" + "\n".join(sorted(examples.values()))


def _is_found(run: Run, name: str, place: Place) -> bool:
    return any(one.name == name and one.place == place for one in run.found)


async def _run(host: RunningHost, redaction: Redaction, since: int) -> Run:
    """Let a user and a model say all that is planted, and search."""
    by_origin = {origin: planted(redaction, origin) for origin in ORIGINS}
    values = {one.name: one for several in by_origin.values() for one in several}
    canaries = {place: canary(place, redaction) for place in PLACES if place not in _UNPLANTED}
    page = await host.user("ann")
    _script(host, by_origin)
    for row in by_origin["row"]:
        await page.add_memory(row.told)
    said_canaries = " ".join(canaries[place] for place in _SAID_CANARIES)
    first = f"My boats are called {said_canaries}."
    await _say_all(page, [first, *(one.said for one in by_origin["typed"])])
    await host.rest(LEARNING_SECONDS)
    for words in (FAILING, RAMBLING):
        turn = await page.new_chat().send(words)
        await page.wait_for_status(turn, "it will be tried again", timeout=LEARNING_SECONDS)
    await _say_all(page, ["What do you know about my e-mail address?"])
    await host.rest(LEARNING_SECONDS)  # the failed ones are tried again by then
    for place in ("memory", "vectors"):  # last, since pruning may archive what is there before
        await page.add_memory(f"User likes the word {canaries[place]}.")
    await host.rest()
    needles = {name: one.needle for name, one in values.items()}
    needles |= {word: word for word in canaries.values()}
    found = await asyncio.to_thread(lambda: sightings(needles, traces(host, page, since)))
    return Run(values, canaries, found, {one.title for one in host.model.requests})


# Said in a chat they are in all of these places by themselves.
_SAID_CANARIES: tuple[Place, ...] = ("event", "chat", "chat request", "our request", "embedding")


async def _say_all(page: Page, sayings: Sequence[str]) -> None:
    """Say it in one chat, whose earlier messages learning is shown too."""
    chat = page.new_chat()
    for words in sayings:
        ended = await chat.send(words)
        assert ended.error is None, ended


def _script(host: RunningHost, by_origin: Mapping[Origin, Sequence[Planted]]) -> None:
    """Let the model leak as much as a model can."""
    model = host.model
    typed, proposed = by_origin["typed"], by_origin["proposed"]
    answered = {one.kind.name: one for one in by_origin["answered"]}
    errors = [Fail(500, chunk) for chunk in _chunks(by_origin["failed"])]
    rubbish = "Sure! I noted this:\n" + "\n".join(one.told for one in by_origin["rubbish"])

    def chat_answer(body: Body) -> str:
        words = str(body["messages"][-1].get("content"))
        quoted = [answered[one.kind.name] for one in told_in(typed, words)]
        return "\n".join(["Understood.", *(one.told for one in quoted)])

    def extraction(body: Body) -> dict[str, Any]:
        words = newest_words(body)
        named = {one.kind.name for one in told_in(typed, words)}
        items: list[dict[str, Any]] = []
        for one in (*typed, *proposed):
            if one.kind.name in named:
                items.append(new(one.told, tags=["identity"], importance=9))
                if one.origin == "proposed":
                    items += _odd_operations(one)
        # And what a decent model makes of words in which placeholders stand.
        items += [
            new(line.replace("My ", "User's ", 1), tags=["identity"])
            for line in words.splitlines()
            if line.startswith("My ")
        ]
        return operations(*items)

    model.when_chatting(chat_answer)
    model.when_title(EXTRACT, extraction)
    model.when_title(RELEVANCE, [rubbish, *errors, _all_relevant])
    model.when_title(SUMMARISE, [rubbish, *errors])
    learns(model, FAILING, errors)
    learns(model, RAMBLING, rubbish)


# Nothing that we do leads to them.
_UNPLANTED: tuple[Place, ...] = ("file", "host log")


def _chunks(values: Sequence[Planted]) -> list[str]:
    """Texts that begin with values, of each of which an error quotes 200 characters."""
    return [f"{one.needle} {other.told}" for one, other in pairwise([*values, values[0]])]


def _odd_operations(one: Planted) -> list[dict[str, Any]]:
    """Operations that hold a value where none belongs, so that a reason may quote it."""
    return [
        {"operation": "UPDATE", "id": one.told, "content": one.told},
        {"operation": "DELETE", "id": one.told},
        {"operation": one.told, "content": one.told},
        new("User likes green tea.", memory_bank=one.told, tags=[one.told]),
    ]


def _all_relevant(body: Body) -> dict[str, Any]:
    ids = re.findall(r"^- id=([\w-]+)", text_of(body["messages"][-1]["content"]), re.MULTILINE)
    return {"scores": [{"id": one, "score": 1.0} for one in ids]}
