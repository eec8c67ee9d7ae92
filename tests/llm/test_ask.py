"""One question to a model: formats, retries and the deadline over all of it."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.errors import ModelBusy, ModelRejected, ReplyUnusable
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.model import Completion, CompletionRequest
from adaptive.retry import RetryPolicy
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


async def test_refused_in_every_format() -> None:
    """When the last format is refused too, that refusal is the reason."""
    model = ScriptedModel(*(ModelRejected(f"no {n}", 400) for n in (1, 2, 3)))
    with pytest.raises(ModelRejected, match="no 3"):
        await question(model)


async def test_format_is_remembered() -> None:
    """The next question begins with the format that worked."""
    model = ScriptedModel(ModelRejected("?", 400), "yes", "yes again")
    formats = AnswerFormats()
    await question(model, formats)
    await question(model, formats)
    assert model.formats == ["json_schema", "json_object", "json_object"]


async def test_each_model_has_its_format() -> None:
    """What one model refuses says nothing about another."""
    formats = AnswerFormats()
    plain = ScriptedModel(ModelRejected("?", 400), ModelRejected("?", 400), "a", key="plain")
    strict = ScriptedModel("b", key="strict")
    await question(plain, formats)
    await question(strict, formats)
    assert strict.formats == ["json_schema"]
    assert formats.for_model("plain") == ("text",)


async def test_remembered_format_can_fall_back_further() -> None:
    """A remembered format that is refused one day gives way to the next, for good."""
    model = ScriptedModel(ModelRejected("?", 400), "a", ModelRejected("?", 400), "b")
    formats = AnswerFormats()
    await question(model, formats)
    assert await question(model, formats) == Completion("b")
    assert formats.for_model(model.key) == ("text",)


def test_memory_of_formats_is_bounded() -> None:
    """Of many models the longest unused are forgotten and begin anew."""
    formats = AnswerFormats()
    for number in range(300):
        formats.works("kept", "text")
        formats.works(f"model-{number}", "text")
    assert formats.for_model("kept") == ("text",)
    assert formats.for_model("model-299") == ("text",)
    assert formats.for_model("model-0") == ("json_schema", "json_object", "text")


async def test_busy_is_tried_again_in_the_same_format() -> None:
    """A busy model is no reason to ask for less."""
    model = ScriptedModel(ModelBusy("b"), ModelBusy("b"), "yes")
    assert await question(model) == Completion("yes")
    assert model.formats == ["json_schema"] * 3


async def test_busy_to_the_end() -> None:
    """When it stays busy, that is the reason, and nothing is remembered."""
    model = ScriptedModel(*[ModelBusy("HTTP 503")] * 3)
    formats = AnswerFormats()
    with pytest.raises(ModelBusy, match="HTTP 503"):
        await question(model, formats)
    assert formats.for_model(model.key)[0] == "json_schema"


async def test_unusable_reply_is_raised() -> None:
    """An answer without text is not asked for again."""
    model = ScriptedModel(ReplyUnusable("no text"))
    with pytest.raises(ReplyUnusable):
        await question(model)
    assert len(model.requests) == 1


async def test_deadline() -> None:
    """A model that hangs is given up after the deadline, and the reason names it."""
    model = ScriptedModel("never")
    model.gate.clear()
    with pytest.raises(ModelBusy, match=r"did not answer within 0\.05 s"):
        await ask(model, REQUEST, AnswerFormats(), POLICY, timeout=0.05)
    assert model.running == 0


async def test_deadline_covers_pauses() -> None:
    """A provider that asks to wait for longer than the deadline is not waited for."""
    model = ScriptedModel(ModelBusy("b", retry_after=3600), "never")
    with pytest.raises(ModelBusy, match="did not answer within"):
        await ask(model, REQUEST, AnswerFormats(), POLICY, timeout=0.05)
    assert len(model.requests) == 1


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
