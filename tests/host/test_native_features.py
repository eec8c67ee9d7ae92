"""Which of the host's own tasks would read what an inlet puts into a prompt."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from adaptive.core.model import ConversationKind
from adaptive.host import application
from adaptive.host.application import NativeFeatures, has_request_hook
from tests.host.test_application import running_request
from tests.rates import over

FILES = {"files": [{"id": "f"}]}
TOOLS = {"tool_ids": ["clock"]}
IMAGES = {"files": [{"type": "image"}]}
SEARCH = {"features": {"web_search": True, "image_generation": False}}
PICTURE = {"features": {"image_generation": True}}


@dataclass(frozen=True)
class Case:
    """A request, what is known of the turn and its host, and the task that would read it."""

    task: str
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    hook: bool = False
    kind: ConversationKind = "saved"
    calling: str = "default"
    task_model: str = "small"
    suggests: bool = False
    servers: tuple[str, ...] = ()


CASES = [
    Case("web search", SEARCH),
    Case("web search", SEARCH, calling="native"),
    Case("web search", {**SEARCH, **FILES}, task_model=""),
    Case("image generation", PICTURE),
    Case("search in files", FILES),
    Case("search in files", FILES, task_model=""),
    Case("search in files", FILES, task_model="chat"),
    Case("search in files", FILES, task_model="gone"),
    Case("search in files", IMAGES),
    Case("", IMAGES, task_model=""),
    Case("choice of tools", TOOLS),
    Case("choice of tools", TOOLS, calling="legacy"),
    Case("choice of tools", servers=("http://tools",)),
    Case("", TOOLS, calling="native"),
    Case("", {"features": {"web_search": False}, "files": None}),
    Case("", SEARCH, hook=True),
    Case("", {**FILES, **TOOLS}, hook=True),
    Case(
        "suggestions of what to ask next",
        kind="temporary",
        suggests=True,
        hook=True,
    ),
    Case("suggestions of what to ask next", kind="temporary", suggests=True),
    Case("", kind="temporary", suggests=True, hook=True, task_model=""),
    Case("", kind="temporary", hook=True),
    Case("", suggests=True),
]


@over("case", CASES)
async def test_task(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that search or draw count always, others where a model of their own would read."""
    monkeypatch.setattr(application, "has_request_hook", lambda: case.hook)
    request = running_request()
    request.app.state.MODELS = {"chat": {}, "small": {}}
    request.app.state.config = SimpleNamespace(
        TASK_MODEL_EXTERNAL=case.task_model,
        ENABLE_FOLLOW_UP_GENERATION=case.suggests,
    )
    told = {
        "params": {"function_calling": case.calling},
        "tool_servers": [*case.servers],
    }
    native = NativeFeatures(
        request=request,
        user={},
        metadata=told,
        chat_model={"id": "chat"},
        kind=case.kind,
    )
    assert await native.task_that_reads(case.body) == case.task


def test_no_host() -> None:
    """Where there is no host, nothing is asked once more."""
    assert not has_request_hook()
