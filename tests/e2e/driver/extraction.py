"""Scripting the model's part in learning: which facts it finds in which words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.e2e.driver.replies import Answer
from tests.e2e.driver.scripted_model import ScriptedModel, text_of, title

EXTRACT = "# Extract memories"
CHECK = "# Check what no longer holds"
NOTHING: dict[str, Any] = {"operations": []}
_NEWEST = re.compile(r"^Newest message, .*$", re.MULTILINE)
_LINE = re.compile(r"^\d+ (.*)$", re.MULTILINE)

Body = dict[str, Any]


def new(content: str, **fields: Any) -> dict[str, Any]:
    """An operation that adds a fact."""
    usual = {
        "tags": ["preference"],
        "memory_bank": "Personal",
        "confidence": 0.9,
    }
    return {"operation": "NEW", "content": content, **usual, **fields}


def update(memory_id: str, content: str, **fields: Any) -> dict[str, Any]:
    """An operation that corrects a fact."""
    return {
        "operation": "UPDATE",
        "id": memory_id,
        "content": content,
        **fields,
    }


def delete(memory_id: str, **fields: Any) -> dict[str, Any]:
    """An operation that forgets a fact."""
    return {"operation": "DELETE", "id": memory_id, **fields}


def operations(*items: dict[str, Any]) -> dict[str, Any]:
    """A whole reply of the extraction."""
    return {"operations": list(items)}


def newest_words(body: Body) -> str:
    """What an extraction request shows as the user's newest message, sentence by sentence."""
    newest = _NEWEST.split(text_of(body["messages"][-1]["content"]))[-1]
    return "\n".join(_LINE.findall(newest))


def known_memories(body: Body) -> str:
    """The memories that an extraction request shows, in the turn before the newest message."""
    turn = text_of(body["messages"][-3]["content"])
    return turn.partition("Known:\n")[2]


def is_extraction_of(words: str) -> Callable[[Body], bool]:
    """A predicate for extraction requests whose newest message holds these words."""
    return lambda body: (
        title(body) == EXTRACT
        and words in newest_words(body).replace("\n", " ")
    )


def learns(model: ScriptedModel, words: str, answer: Answer) -> None:
    """Let the model find this in messages that hold these words; other messages hold nothing.

    An operation that names no evidence gets the whole message for it, as a model would copy it.
    """
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        model.when(is_extraction_of(words), [proven(one) for one in answer])
    else:
        model.when(is_extraction_of(words), proven(answer))


def proven(answer: Answer) -> Answer:
    """An answer whose operations name the user's newest message as their evidence."""
    if not isinstance(answer, Mapping) and not callable(answer):
        return answer

    def with_evidence(body: Body) -> Answer:
        given = answer(body) if callable(answer) else answer
        if not isinstance(given, Mapping):
            return given
        proof = {
            "evidence": newest_words(body),
            "about": "user",
            "kind": "FACT",
        }
        return {
            **given,
            "operations": [{**proof, **one} for one in given["operations"]],
        }

    return with_evidence


def checks(model: ScriptedModel, *ended: dict[str, Any]) -> None:
    """Let the model say which memories no longer hold after any change."""
    model.when_title(CHECK, {"outdated": list(ended)})


def learns_nothing_else(model: ScriptedModel) -> None:
    """Let the model find no fact in any message that no later rule names."""
    model.when_title(EXTRACT, NOTHING)
