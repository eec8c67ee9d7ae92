"""One question to a model: formats, retries and the deadline over all of it."""

from __future__ import annotations

import pytest

from adaptive.core.providers import (
    Completion,
    CompletionRequest,
    ModelBusy,
    ModelError,
    ModelRejected,
)
from adaptive.llm.ask import AnswerFormats, ask
from tests.fakes import ScriptedModel

REQUEST = CompletionRequest("system", "user", "name", {"type": "object"})
pytestmark = pytest.mark.usefixtures("no_pauses")


async def question(
    model: ScriptedModel, formats: AnswerFormats | None = None
) -> Completion:
    """Ask with time enough."""
    formats = AnswerFormats() if formats is None else formats
    return await ask(model, REQUEST, formats, timeout=30, retries=2)


@pytest.mark.parametrize("status", [400, 404, 415, 422, 501])
async def test_formats(status: int) -> None:
    """The strictest format comes first, then the next; the one that worked begins the next call."""
    model = ScriptedModel(
        ModelRejected("?", status), "yes", ModelRejected("?", status), "again"
    )
    formats = AnswerFormats()
    assert await question(model, formats) == Completion("yes")
    assert await question(model, formats) == Completion("again")
    assert model.formats == [
        "json_schema",
        "json_object",
        "json_object",
        "text",
    ]
    assert model.requests == [REQUEST] * 4


@pytest.mark.parametrize("status", [0, 401, 402, 403, 413, 451])
async def test_refusal_for_another_reason(status: int) -> None:
    """A refusal that no format would change is raised at once."""
    model = ScriptedModel(ModelRejected("no credits", status))
    with pytest.raises(ModelRejected, match="no credits"):
        await question(model)
    assert model.formats == ["json_schema"]


@pytest.mark.parametrize(
    "trouble", [ModelRejected("no model", 404), ModelBusy("HTTP 503")]
)
async def test_trouble_to_the_end(trouble: ModelError) -> None:
    """Refused in the last format, too, or busy again and again, is the reason; nothing is kept."""
    model, formats = ScriptedModel(*[trouble] * 3), AnswerFormats()
    with pytest.raises(type(trouble), match=str(trouble)):
        await question(model, formats)
    assert formats == {}


async def test_deadline() -> None:
    """A model that hangs is given up after the deadline, and the reason names it."""
    model = ScriptedModel("never")
    model.gate.clear()
    with pytest.raises(ModelBusy, match=r"did not answer within 0\.05 s"):
        await ask(model, REQUEST, AnswerFormats(), timeout=0.05)
    assert model.running == 0
