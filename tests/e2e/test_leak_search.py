"""The leak search itself: whatever is planted in a request is seen, and where."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.e2e.driver.leak_search import Place, request_traces, sightings
from tests.e2e.driver.scripted_model import Body, ModelRequest, ScriptedModel

NEEDLE = "Quillandra"
TITLE_PROMPT = """### Task:
Generate a concise title summarizing the chat history.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: """


def said(words: str, system: str = "") -> Body:
    """A request with one message of the user."""
    messages = [{"role": "system", "content": system}] if system else []
    return {
        "model": "any",
        "messages": [*messages, {"role": "user", "content": words}],
    }


@dataclass(frozen=True)
class Case:
    """A request with the needle in it, and where it is to be seen."""

    list_name: str
    body: Body
    place: Place
    where: str


CASES = [
    Case(
        "requests",
        said("Hello", f"A lute: {NEEDLE}"),
        "chat request",
        "chat to any",
    ),
    Case(
        "requests",
        said(f"quill {NEEDLE.upper()}"),
        "chat request",
        "chat to any",
    ),
    Case(
        *(
            "requests",
            said(NEEDLE, "# Extract memories\nRules"),
            "our request",
        ),
        "# Extract memories to any",
    ),
    Case(
        "requests", said(TITLE_PROMPT + NEEDLE), "task request", "title to any"
    ),
    Case(
        *("requests", said(NEEDLE, "Available Tools: []"), "task request"),
        "choice of tools to any",
    ),
    Case("embedding_requests", {"input": ["a", NEEDLE]}, "embedding", "/any"),
    Case("search_requests", {"query": NEEDLE}, "search engine", "/any"),
    Case("image_requests", {"prompt": NEEDLE}, "image engine", "/any"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.where)
def test_a_planted_request_is_reported(case: Case) -> None:
    """One request among harmless ones is reported with its place, its kind and its model."""
    model = ScriptedModel()
    for body in (said("Hello"), case.body, said(TITLE_PROMPT + "Hello")):
        requests = getattr(model, case.list_name)
        requests.append(ModelRequest("/any", body, {}))
    seen = sightings({"lute": NEEDLE}, request_traces(model))
    assert seen == {("lute", case.place): {case.where}}
