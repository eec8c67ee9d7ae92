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
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import pytest

from adaptive.settings.merged import read_names
from adaptive.settings.valves import PERSONAL_KINDS, Valves
from tests.e2e.driver.extraction import (
    EXTRACT,
    Body,
    learns,
    new,
    newest_words,
    operations,
)
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.leak_search import PLACES, Place, sightings, traces
from tests.e2e.driver.page import Page
from tests.e2e.driver.planted import ORIGINS, Origin, Planted, planted, told_in
from tests.e2e.driver.replies import Fail
from tests.e2e.driver.scripted_model import text_of

RELEVANCE = "# Score relevance"
FAILING, RAMBLING = (
    "I keep a red kayak in Tartu",
    "I keep a blue canoe in Ghent",
)
LEARNING_SECONDS = 60.0

Redaction = Literal["model", "all"]
Nature = Literal["secret", "personal"]

# Everything is switched on that sends, shows or stores something.
VALVES = {
    "use_llm_for_relevance": True,
    "show_sources": True,
    "enable_summarization_task": True,
    "max_total_memories": 20,
    "max_extractions_per_hour": 1000,
    "embedding_provider_type": "openai_compatible",
    "embedding_model_name": "words",
}

# What is said in a chat the host itself stores with the chat, sends to the page and to the chat's
# model, and makes title, tags and follow-ups of. What is remembered stands in its memory and is
# shown to the user whose it is.
_SAID: frozenset[Place] = frozenset(
    {"event", "chat", "chat request", "task request"}
)
_KEPT: frozenset[Place] = frozenset({"memory", "vectors"})
_SHOWN: frozenset[Place] = frozenset(
    {"status", "source", "event", "chat", "chat request"}
)
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
LISTENER = """
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
        status = {"description": "CANARY-status", "done": True}
        await __event_emitter__({"type": "status", "data": status})
        source = {"source": {"name": "x"}, "document": ["CANARY-source"], "metadata": [{}]}
        await __event_emitter__({"type": "source", "data": source})
        return body
"""
DEAF = """
import logging

logging.getLogger("adaptive_memory").handlers.clear()
logging.getLogger("adaptive_memory").setLevel(logging.NOTSET)


class Filter:
    pass
"""
# Said in a chat they are in all of these places by themselves.
_SAID_CANARIES: tuple[Place, ...] = (
    *(
        "event",
        "chat",
        "chat request",
        "our request",
        "task request",
        "embedding",
    ),
)
# Nothing in this chat leads to them.
_UNPLANTED: tuple[Place, ...] = (
    "file",
    "host log",
    "search engine",
    "image engine",
)


def allowed(one: Planted, redaction: Redaction) -> frozenset[Place]:
    """Where a value may be found.

    Kinds that the defaults mask or refuse are not remembered, unless another tool has put them
    there; with `all` no personal data reaches the chat's model.
    """
    if one.kind.secret:
        return ALLOWED[one.origin, "secret"]
    places = ALLOWED[one.origin, "personal"]
    defaults = Valves()
    stored_otherwise = read_names(
        f"{defaults.mask_in_memories}, {defaults.refuse_in_memories}",
        tuple(PERSONAL_KINDS),
    ).names
    if (
        one.origin in ("typed", "proposed")
        and one.kind.name in stored_otherwise
    ):
        places = ALLOWED[one.origin, "secret"] | _BESIDES
    return places - {"chat request"} if redaction == "all" else places


@contextlib.asynccontextmanager
async def listening(
    host: RunningHost, canaries: Mapping[Place, str]
) -> AsyncIterator[None]:
    """The plug-in logs everything, and canaries stand in a table with our prefix and in events."""
    source = LISTENER
    for place, word in canaries.items():
        source = source.replace(f"CANARY-{place}", word)
    listener = await host.install_filter(source, function_id="listener")
    host.change("CREATE TABLE adaptive_memory_canary (kept TEXT)")
    host.change(
        "INSERT INTO adaptive_memory_canary VALUES (?)", canaries["our tables"]
    )
    yield
    host.change("DROP TABLE adaptive_memory_canary")
    await listener.update(DEAF)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("redaction", ["model", "all"])
async def test_nothing_leaks(
    host: RunningHost, page: Page, redaction: Redaction
) -> None:
    """No planted value is found where it must not be, and every canary where it must be."""
    since = host.log_length()
    by_origin: dict[Origin, Sequence[Planted]] = {
        origin: planted(redaction, origin) for origin in ORIGINS
    }
    values = {
        one.name: one for several in by_origin.values() for one in several
    }
    canaries: dict[Place, str] = {
        place: f"canary-{place.replace(' ', '')}-{redaction}"
        for place in PLACES
        if place not in _UNPLANTED
    }
    embedding = {"embedding_api_url": host.model.url}
    await host.set_valves({**VALVES, **embedding, "pii_redaction": redaction})
    async with listening(host, canaries):
        _script(host, by_origin)
        for row in by_origin["row"]:
            await page.add_memory(row.told)
        said_canaries = " ".join(canaries[place] for place in _SAID_CANARIES)
        said = [
            f"My boats are called {said_canaries}.",
            *(one.said for one in by_origin["typed"]),
        ]
        await _say_all(page, said)
        await host.rest(LEARNING_SECONDS)
        for words in (FAILING, RAMBLING):
            await page.say(
                words, "it will be tried again", timeout=LEARNING_SECONDS
            )
        await _say_all(page, ["What do you know about my e-mail address?"])
        await host.rest(
            LEARNING_SECONDS
        )  # the failed ones are tried again by then
        for place in (
            "memory",
            "vectors",
        ):  # last, since pruning may archive what is there before
            await page.add_memory(f"User likes the word {canaries[place]}.")
        await host.rest()
        needles = {name: one.needle for name, one in values.items()}
        needles |= {word: word for word in canaries.values()}
        found = await asyncio.to_thread(
            lambda: sightings(needles, traces(host, page, since))
        )
    titles = {one.title for one in host.model.requests}
    assert {EXTRACT, RELEVANCE} <= titles, titles
    missed = [
        place for place, word in canaries.items() if (word, place) not in found
    ]
    assert not missed, f"the search is blind to {missed}"
    leaks = [
        f"{name} in {place}: {sorted(where)[0]}"
        for (name, place), where in found.items()
        if name in values and place not in allowed(values[name], redaction)
    ]
    assert not leaks, "\n".join(sorted(leaks))
    # What may be remembered is: the search has something to find.
    kept = {name for name, place in found if place == "memory"}
    assert {"phone (typed)", "address (typed)"} <= kept, kept


async def _say_all(page: Page, sayings: Sequence[str]) -> None:
    """Say it in one chat, whose earlier messages learning is shown too."""
    chat = page.new_chat()
    for words in sayings:
        ended = await chat.send(words)
        assert ended.error is None, ended


def _script(
    host: RunningHost, by_origin: Mapping[Origin, Sequence[Planted]]
) -> None:
    """Let the model leak as much as a model can."""
    model = host.model
    typed, proposed = by_origin["typed"], by_origin["proposed"]
    answered = {one.kind.name: one for one in by_origin["answered"]}
    errors = [Fail(500, chunk) for chunk in _chunks(by_origin["failed"])]
    rubbish = "Sure! I noted this:\n" + "\n".join(
        one.told for one in by_origin["rubbish"]
    )

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
    learns(model, FAILING, errors)
    learns(model, RAMBLING, rubbish)


def _chunks(values: Sequence[Planted]) -> list[str]:
    """Texts that begin with values, of each of which an error quotes 200 characters."""
    return [
        f"{one.needle} {other.told}"
        for one, other in pairwise([*values, values[0]])
    ]


def _odd_operations(one: Planted) -> list[dict[str, Any]]:
    """Operations that hold a value where none belongs, so that a reason may quote it."""
    return [
        {"operation": "UPDATE", "id": one.told, "content": one.told},
        {"operation": "DELETE", "id": one.told},
        {"operation": one.told, "content": one.told},
        new("User likes green tea.", memory_bank=one.told, tags=[one.told]),
    ]


def _all_relevant(body: Body) -> dict[str, Any]:
    ids = re.findall(
        r"^- id=([\w-]+)",
        text_of(body["messages"][-1]["content"]),
        re.MULTILINE,
    )
    return {"scores": [{"id": one, "score": 1.0} for one in ids]}
