"""The stand-in's answers to the host's own tasks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from demo.standin.service import completion
from demo.standin.tasks import HostTask, host_task

CHAT = "USER: Hello!\nASSISTANT: Hi.\nUSER: Which boats sail to the Azores?\nASSISTANT: "


@dataclass(frozen=True)
class Case:
    """How a task's prompt writes down the answer's form, and what is answered."""

    task: HostTask
    form: str
    answer: dict[str, Any]


CASES = [
    Case(
        task="title",
        form='JSON format: { "title": "your concise title here" }',
        answer={"title": "Which boats sail to the Azores"},
    ),
    Case(
        task="tags",
        form='JSON format: { "tags": ["tag1", "tag2", "tag3"] }',
        answer={"tags": ["General"]},
    ),
    Case(
        task="queries",
        form='respond in the format: { "queries": ["query1", "query2"] }, ensuring',
        answer={"queries": ["Which boats sail to the Azores?"]},
    ),
    Case(
        task="image prompt",
        form='{\n    "prompt": "Your detailed description here."\n}',
        answer={"prompt": "Which boats sail to the Azores?"},
    ),
]


def prompt(form: str) -> str:
    """A task's prompt as the host writes it."""
    return f"### Task:\nDo it.\n### Output:\n{form}\n### Chat History:\n<chat_history>\n{CHAT}\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.task)
def test_tasks_are_told_apart_and_answered(case: Case) -> None:
    """Each task is known by the form that it asks for, and gets an answer in that form."""
    assert host_task("", prompt(case.form)) == case.task
    answer = completion([{"role": "user", "content": prompt(case.form)}])
    assert json.loads(answer) == case.answer


@pytest.mark.parametrize(
    "message",
    [
        "### Task:\nName a boat.",
        CHAT,
        f"Write a prompt like {prompt(CASES[0].form)}",
    ],
)
def test_messages_are_no_tasks(message: str) -> None:
    """What a user writes about tasks is a message."""
    assert host_task("", message) is None
