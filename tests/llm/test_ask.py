"""One question to a model: formats, retries and the deadline over all of it."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.core.errors import ModelBusy, ModelRejected
from adaptive.core.http import RetryPolicy
from adaptive.core.model import Completion, CompletionRequest
from adaptive.llm.ask import AnswerFormats, ask
from tests.fakes import ScriptedModel

REQUEST = CompletionRequest("system", "user", "name", {"type": "object"})
POLICY = RetryPolicy(retries=2, first_pause=0)


async def question(model: ScriptedModel, formats: AnswerFormats | None = None) -> Completion:
    """Ask with time enough."""
    return await ask(model, REQUEST, formats or AnswerFormats(), POLICY, timeout=30)


async def test_strictest_format_first() -> None:
    """A model that takes a schema is asked once, with the schema."""
    model = ScriptedModel("yes")
    assert await question(model) == Completion("yes")
    assert model.formats == ["json_schema"]
    assert model.requests == [REQUEST]


@pytest.mark.parametrize("status", [400, 404, 415, 422, 501])
async def test_fallback(status: int) -> None:
    """A model that refuses a format is asked in the next one."""
    model = ScriptedModel(ModelRejected("?", status), ModelRejected("?", status), "yes")
    assert await question(model) == Completion("yes")
    assert model.formats == ["json_schema", "json_object", "text"]


@pytest.mark.parametrize("status", [0, 401, 402, 403, 413, 451])
async def test_refusal_for_another_reason(status: int) -> None:
    """A refusal that no format would change is raised at once."""
    model = ScriptedModel(ModelRejected("no credits", status))
    with pytest.raises(ModelRejected, match="no credits"):
        await question(model)
    assert model.formats == ["json_schema"]


async def test_format_is_remembered() -> None:
    """The next question begins with the format that worked."""
    model = ScriptedModel(ModelRejected("?", 400), "yes", "yes again")
    formats = AnswerFormats()
    await question(model, formats)
    await question(model, formats)
    assert model.formats == ["json_schema", "json_object", "json_object"]


async def test_busy_to_the_end() -> None:
    """When it stays busy, that is the reason, and nothing is remembered."""
    model = ScriptedModel(*[ModelBusy("HTTP 503")] * 3)
    formats = AnswerFormats()
    with pytest.raises(ModelBusy, match="HTTP 503"):
        await question(model, formats)
    assert formats.for_model(model.key)[0] == "json_schema"


async def test_deadline() -> None:
    """A model that hangs is given up after the deadline, and the reason names it."""
    model = ScriptedModel("never")
    model.gate.clear()
    with pytest.raises(ModelBusy, match=r"did not answer within 0\.05 s"):
        await ask(model, REQUEST, AnswerFormats(), POLICY, timeout=0.05)
    assert model.running == 0


async def test_cancellation_passes() -> None:
    """A cancellation from outside is no time-out and no failure: it passes."""
    model = ScriptedModel("never")
    model.gate.clear()
    task = asyncio.create_task(question(model))
    while not model.running:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
