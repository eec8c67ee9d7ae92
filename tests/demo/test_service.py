"""The stand-in over real HTTP, as Open WebUI speaks to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest

from adaptive.core.model import Memory, Provenance, Turn
from adaptive.core.providers import Completion, CompletionRequest
from adaptive.learn.extraction import extraction_request
from adaptive.learn.grounding import screened
from adaptive.learn.proposals import (
    ExtractionSource,
    message_lines,
    read_proposals,
)
from adaptive.learn.summaries import (
    MemorySummary,
    is_faithful,
    summary_request,
)
from adaptive.settings.merged import Settings
from adaptive.settings.valves import UserValves, Valves
from demo.standin.answers import DISCLOSURE
from demo.standin.service import MODEL, ROLES, completion, serving_stand_in

BLOCK = "<adaptive_memory>\n- \u201cUser's dog is called Biscuit.\u201d\n</adaptive_memory>"
REMEMBERED = f"From what I remember about you: User's dog is called Biscuit.\n\n{DISCLOSURE}"
QUESTION = [
    {"role": "system", "content": BLOCK},
    {
        "role": "user",
        "content": [{"type": "text", "text": "What is my dog called?"}],
    },
]


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with serving_stand_in() as address:
        yield address


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def test_it_offers_one_model(
    http: aiohttp.ClientSession, url: str
) -> None:
    """The list of models names the stand-in alone, and says that it is not a real one."""
    async with http.get(f"{url}/models") as response:
        (model,) = (await response.json())["data"]
    assert model["id"] == MODEL
    assert "not a real model" in model["name"]


async def test_it_answers_in_one_piece(
    http: aiohttp.ClientSession, url: str
) -> None:
    """A request that does not stream gets the whole answer with its usage."""
    body = {"model": MODEL, "messages": QUESTION}
    async with http.post(f"{url}/chat/completions", json=body) as response:
        completion = await response.json()
    assert completion["choices"][0]["message"] == {
        "role": "assistant",
        "content": REMEMBERED,
    }
    assert completion["choices"][0]["finish_reason"] == "stop"
    assert completion["usage"]["total_tokens"] > 0


async def test_it_streams_the_same_answer(
    http: aiohttp.ClientSession, url: str
) -> None:
    """A streamed answer arrives in pieces that make up the whole, and ends as OpenAI's does."""
    body = {"model": MODEL, "messages": QUESTION, "stream": True}
    async with http.post(f"{url}/chat/completions", json=body) as response:
        assert response.content_type == "text/event-stream"
        events = (await response.text()).strip().split("\n\n")
    assert events.pop() == "data: [DONE]"
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    pieces = [
        chunk["choices"][0]["delta"].get("content", "") for chunk in chunks
    ]
    assert len(pieces) > 5
    assert "".join(pieces) == REMEMBERED
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_every_prompt_of_the_plug_in_has_its_role() -> None:
    """Each internal call gets an object that can be parsed, and none is taken for a chat."""
    prompts = Path(__file__).parents[2] / "prompts"
    titles = {
        file.read_text().partition("\n")[0] for file in prompts.glob("*.md")
    }
    assert titles == set(ROLES)
    for title in titles:
        assert isinstance(json.loads(completion(_asked(title, "x"))), dict)


def test_what_it_finds_is_grounded() -> None:
    """Each fact of the stand-in passes what the plug-in asks of any model's, and proves itself."""
    words = "I like jazz. My dog is called Biscuit, and I moved to Lisbon last week."
    turn = Turn("u", "saved", words, (), Provenance("c", "m", 0))
    settings = Settings.merge(Valves(), UserValves())
    home = Memory("home", "User lives in Porto.", 0, 0)
    source = ExtractionSource(message_lines(words), [home])
    request = extraction_request(
        turn, source, settings, datetime(2026, 11, 22, tzinfo=UTC)
    )
    found = read_proposals(_completed(request), source, settings)
    assert [(one.kind, one.draft.content) for one in found] == [
        ("NEW", "User likes jazz."),
        ("NEW", "User's dog is called Biscuit."),
        ("UPDATE", "User lives in Lisbon."),
    ]
    assert all(one.is_open for one in screened(found, turn, [home], settings))


def test_a_summary_of_memories_may_take_their_place() -> None:
    """The stand-in's summary passes what the plug-in asks of one, so that upkeep can be tried."""
    said = (
        "User likes jazz.",
        "User likes green tea.",
        "User likes long walks.",
    )
    cluster = tuple(
        Memory(str(at), text, 0, 0) for at, text in enumerate(said)
    )
    reply = _completed(summary_request(cluster)).text
    summary = MemorySummary.model_validate_json(reply).summary
    assert is_faithful(summary, cluster)
    assert summary == "User likes jazz. Likes green tea. Likes long walks."


def test_memories_are_judged() -> None:
    """With ``use_llm_for_relevance`` the demo tells memories that fit from those that do not."""
    said = "## Memories\n- id=a | User likes jazz.\n- id=b | User's dog is called Biscuit."
    asked = f"{said}\n\n## Message of the user\nWhat is my dog called?"
    scored = json.loads(completion(_asked("# Score relevance", asked)))[
        "scores"
    ]
    assert scored == [{"id": "a", "score": 0.0}, {"id": "b", "score": 1.0}]


def _completed(request: CompletionRequest) -> Completion:
    asked = _asked(request.system, request.user)
    asked[1:1] = [
        {"role": "user" if at % 2 == 0 else "assistant", "content": text}
        for at, text in enumerate(request.earlier)
    ]
    return Completion(completion(asked))


def _asked(system: str, user: str) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": user},
    ]


@pytest.mark.parametrize(
    "body", [b"no json", b"[]", b"{}", b'{"messages": [1]}']
)
async def test_a_broken_request_is_refused(
    http: aiohttp.ClientSession, url: str, body: bytes
) -> None:
    """What is no chat completion request gets OpenAI's form of an error."""
    async with http.post(f"{url}/chat/completions", data=body) as response:
        assert response.status == 400
        assert "message" in (await response.json())["error"]
