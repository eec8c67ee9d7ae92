"""The stand-in over real HTTP, as Open WebUI speaks to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from adaptive.core.model import Completion, CompletionRequest, Memory, Provenance, Turn
from adaptive.history.messages import PastMessage
from adaptive.history.section import history_summary_request
from adaptive.learn.extraction import extraction_request
from adaptive.learn.operations import read_extraction
from adaptive.learn.screening import screened
from adaptive.learn.summaries import read_summary, refusal_of, summary_request
from adaptive.settings.merged import Settings
from adaptive.settings.user_valves import UserValves
from adaptive.settings.valves import Valves
from demo.standin.answers import DISCLOSURE
from demo.standin.service import MODEL, ROLES, completion, serving_stand_in

BLOCK = "<adaptive_memory>\n- \u201cUser's dog is called Biscuit.\u201d\n</adaptive_memory>"
REMEMBERED = f"From what I remember about you: User's dog is called Biscuit.\n\n{DISCLOSURE}"
QUESTION = [
    {"role": "system", "content": BLOCK},
    {"role": "user", "content": "What is my dog called?"},
]


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with serving_stand_in() as address:
        yield address


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def reply_to(http: aiohttp.ClientSession, url: str, messages: list[dict[str, Any]]) -> str:
    body = {"model": MODEL, "messages": messages}
    async with http.post(f"{url}/chat/completions", json=body) as response:
        assert response.status == 200
        return (await response.json())["choices"][0]["message"]["content"]


async def test_it_offers_one_model(http: aiohttp.ClientSession, url: str) -> None:
    """The list of models names the stand-in alone, and says that it is not a real one."""
    async with http.get(f"{url}/models") as response:
        (model,) = (await response.json())["data"]
    assert model["id"] == MODEL
    assert "not a real model" in model["name"]


async def test_it_answers_in_one_piece(http: aiohttp.ClientSession, url: str) -> None:
    """A request that does not stream gets the whole answer with its usage."""
    body = {"model": MODEL, "messages": QUESTION}
    async with http.post(f"{url}/chat/completions", json=body) as response:
        completion = await response.json()
    assert completion["choices"][0]["message"] == {"role": "assistant", "content": REMEMBERED}
    assert completion["choices"][0]["finish_reason"] == "stop"
    assert completion["usage"]["total_tokens"] > 0


async def test_it_streams_the_same_answer(http: aiohttp.ClientSession, url: str) -> None:
    """A streamed answer arrives in pieces that make up the whole, and ends as OpenAI's does."""
    body = {"model": MODEL, "messages": QUESTION, "stream": True}
    async with http.post(f"{url}/chat/completions", json=body) as response:
        assert response.content_type == "text/event-stream"
        events = (await response.text()).strip().split("\n\n")
    assert events.pop() == "data: [DONE]"
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    pieces = [chunk["choices"][0]["delta"].get("content", "") for chunk in chunks]
    assert len(pieces) > 5
    assert "".join(pieces) == REMEMBERED
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


async def test_it_outlives_who_stops_listening(http: aiohttp.ClientSession, url: str) -> None:
    """A connection closed in the middle of an answer harms no later one."""
    body = {"model": MODEL, "messages": QUESTION, "stream": True}
    async with http.post(f"{url}/chat/completions", json=body) as response:
        await response.content.readline()
        response.close()
    assert await reply_to(http, url, QUESTION) == REMEMBERED


async def test_it_reads_content_in_parts(http: aiohttp.ClientSession, url: str) -> None:
    """Text beside an image is read as text."""
    parts = [
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "text", "text": "What is my dog called?"},
    ]
    messages = [QUESTION[0], {"role": "user", "content": parts}]
    assert await reply_to(http, url, messages) == REMEMBERED


async def test_it_plays_the_extraction(http: aiohttp.ClientSession, url: str) -> None:
    """A request under the extraction prompt gets operations as JSON, not a chat answer."""
    messages = [
        {"role": "system", "content": "# Extract memories\n\nReply with JSON."},
        {"role": "user", "content": "## Newest message of the user\nI'm allergic to peanuts"},
    ]
    assert json.loads(await reply_to(http, url, messages)) == {
        "operations": [
            {
                "operation": "NEW",
                "content": "User is allergic to peanuts.",
                "evidence": "I'm allergic to peanuts",
                "about": "user",
                "kind": "FACT",
                "until": None,
                "tags": ["identity"],
                "memory_bank": "Personal",
                "confidence": 0.95,
                "importance": 8,
            }
        ]
    }


@pytest.mark.parametrize("title", ROLES)
async def test_every_internal_call_gets_a_json_object(
    http: aiohttp.ClientSession, url: str, title: str
) -> None:
    """Each prompt that asks for an object gets one that can be parsed."""
    messages = [{"role": "system", "content": f"{title}\n\n..."}, {"role": "user", "content": "x"}]
    assert isinstance(json.loads(await reply_to(http, url, messages)), dict)


def test_every_prompt_of_the_plug_in_has_its_role() -> None:
    """No internal call is taken for a chat, which it would get an answer in prose to."""
    prompts = Path(__file__).parents[2] / "prompts"
    titles = {file.read_text().partition("\n")[0] for file in prompts.glob("*.md")}
    assert titles == set(ROLES)


def test_what_it_finds_is_grounded() -> None:
    """Each fact of the stand-in passes what the plug-in asks of any model's, and proves itself."""
    words = "I like jazz. My dog is called Biscuit, and I moved to Lisbon last week."
    turn = Turn("u", "saved", words, (), Provenance("c", "m", 0))
    settings = Settings.merge(Valves(), UserValves())
    home = Memory("home", "User lives in Porto.", 0, 0)
    request = extraction_request(turn, [home], settings, datetime(2026, 11, 22, tzinfo=UTC))
    found = read_extraction(_completed(request), [home], settings)
    assert [(one.kind, one.draft.content) for one in found.operations] == [
        ("NEW", "User likes jazz."),
        ("NEW", "User's dog is called Biscuit."),
        ("UPDATE", "User lives in Lisbon."),
    ]
    assert screened(found, turn, {"home": home}, settings).refused == ()


def test_a_summary_of_memories_may_take_their_place() -> None:
    """The stand-in's summary passes what the plug-in asks of one, so that upkeep can be tried."""
    said = ("User likes jazz.", "User likes green tea.", "User likes long walks.")
    cluster = tuple(Memory(str(at), text, 0, 0) for at, text in enumerate(said))
    summary = read_summary(_completed(summary_request(cluster)).text)
    assert refusal_of(summary, cluster) == ""
    assert summary == "User likes jazz. Likes green tea. Likes long walks."


def test_a_topic_is_summed_up() -> None:
    """A finished topic gets a summary that can be read, so that past conversation can be tried."""
    said = PastMessage("m", "c", "user", "We talked about Lisbon.", 0)
    reply = _completed(history_summary_request([said], 140)).text
    assert "We talked about Lisbon." in json.loads(reply)["summary"]


def test_memories_are_judged() -> None:
    """With ``use_llm_for_relevance`` the demo tells memories that fit from those that do not."""
    said = "## Memories\n- id=a | User likes jazz.\n- id=b | User's dog is called Biscuit."
    messages = [
        {"role": "system", "content": "# Score relevance\n\n..."},
        {"role": "user", "content": f"{said}\n\n## Message of the user\nWhat is my dog called?"},
    ]
    scored = json.loads(completion(messages))["scores"]
    assert scored == [{"id": "a", "score": 0.0}, {"id": "b", "score": 1.0}]


def _completed(request: CompletionRequest) -> Completion:
    messages = [
        {"role": "system", "content": request.system},
        {"role": "user", "content": request.user},
    ]
    return Completion(completion(messages))


@pytest.mark.parametrize("body", [b"no json", b"[]", b"{}", b'{"messages": [1]}'])
async def test_a_broken_request_is_refused(
    http: aiohttp.ClientSession, url: str, body: bytes
) -> None:
    """What is no chat completion request gets OpenAI's form of an error."""
    async with http.post(f"{url}/chat/completions", data=body) as response:
        assert response.status == 400
        assert "message" in (await response.json())["error"]
