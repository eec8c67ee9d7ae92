"""One question to a model: formats, retries and the deadline over all of it."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.core.providers import (
    Completion,
    CompletionRequest,
    ModelBusy,
    ModelError,
    ModelRejected,
    ReplyUnusable,
)
from adaptive.core.runtime import USER_ID
from adaptive.llm.ask import AnswerFormats, ask
from tests.fakes import ScriptedModel

DAY = 24 * 3600
REQUEST = CompletionRequest("system", "user", "name", {"type": "object"})
LINES = CompletionRequest("system", "user", "lines")
pytestmark = pytest.mark.usefixtures("no_pauses")


class Clock:
    """A clock that a test sets."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def a_yes(completion: Completion) -> str:
    """Reads an answer that begins with yes."""
    if not completion.text.startswith("yes"):
        raise ReplyUnusable("no yes")
    return completion.text


async def question(
    model: ScriptedModel,
    formats: AnswerFormats | None = None,
    request: CompletionRequest = REQUEST,
) -> str:
    """Ask with time enough."""
    return await ask(
        completer=model,
        request=request,
        formats=formats or AnswerFormats(),
        timeout=30,
        read=a_yes,
        retries=2,
    )


@pytest.mark.parametrize(
    "trouble",
    [
        *(ModelRejected("?", status) for status in (400, 404, 415, 422, 501)),
        *(ModelBusy("?", status=status) for status in (500, 502)),
        "no",
    ],
    ids=str,
)
async def test_formats(trouble: ModelError | str) -> None:
    """The strictest format comes first, then the next; the one that worked begins the next call.

    After a day the strictest one is tried again.
    """
    model = ScriptedModel(trouble, "yes", trouble, "yes, again", "yes, too")
    clock = Clock()
    formats = AnswerFormats(clock)
    assert await question(model, formats) == "yes"
    clock.seconds = DAY - 1
    assert await question(model, formats) == "yes, again"
    clock.seconds = 3 * DAY
    assert await question(model, formats) == "yes, too"
    assert model.formats == [
        "json_schema",
        "json_object",
        "json_object",
        "text",
        "json_schema",
    ]
    assert model.requests == [REQUEST] * 5


async def test_answer_that_is_no_json() -> None:
    """Plain text is asked for with a limit, then without; other questions keep their format."""
    model = ScriptedModel(
        ModelRejected("max_tokens?", 400), "yes", "yes", "yes"
    )
    formats = AnswerFormats()
    await question(model, formats, LINES)
    await question(model, formats)
    await question(model, formats, LINES)
    assert model.formats == ["limited_text", "text", "json_schema", "text"]


@pytest.mark.parametrize("status", [0, 401, 402, 403, 413, 451])
async def test_refusal_for_another_reason(status: int) -> None:
    """A refusal that no format would change is raised at once."""
    model = ScriptedModel(ModelRejected("no credits", status))
    with pytest.raises(ModelRejected, match="no credits"):
        await question(model)
    assert model.formats == ["json_schema"]


@pytest.mark.parametrize(
    "trouble",
    [
        ModelRejected("no model", 404),
        ModelBusy("HTTP 503", status=503),
        ModelBusy("HTTP 429", status=429),
        ModelBusy("no connection"),
    ],
    ids=str,
)
async def test_trouble_to_the_end(trouble: ModelError) -> None:
    """Refused in the last format, too, or busy again and again, is the reason; nothing is kept."""
    model, formats = ScriptedModel(*[trouble] * 3, "yes"), AnswerFormats()
    with pytest.raises(type(trouble), match=str(trouble)):
        await question(model, formats)
    await question(model, formats)
    assert model.formats[-1] == "json_schema"


@pytest.mark.parametrize(
    ("failures", "retries", "pauses"),
    [
        ((None, None), 2, [1, 2]),
        ((None, None, None), 2, [1, 2]),
        ((60.0,), 1, [60]),
        ((0.1,), 1, [1]),
    ],
    ids=["doubling", "busy to the end", "more", "less"],
)
async def test_pauses(
    failures: tuple[float | None, ...],
    retries: int,
    pauses: list[float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pauses between tries of a busy model double, or are as long as its provider asks for."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("adaptive.llm.ask._FIRST_PAUSE_SECONDS", 1)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    busy = [ModelBusy("busy", 429, pause) for pause in failures]
    asking = ask(
        ScriptedModel(*busy, "yes"),
        REQUEST,
        AnswerFormats(),
        30,
        a_yes,
        retries,
    )
    if len(failures) > retries:
        with pytest.raises(ModelBusy):
            await asking
    else:
        assert await asking == "yes"
    assert [pause for pause in slept if pause] == pauses


async def test_quota() -> None:
    """A pause too long to wait is asked for once, and kept by all questions to that model."""
    clock = Clock()
    formats = AnswerFormats(clock)
    model = ScriptedModel(ModelBusy("HTTP 429", 429, 7200.0), "yes")
    for waited in (0, 7000):
        clock.seconds = waited
        with pytest.raises(ModelBusy, match="quota is spent") as spent:
            await question(model, formats)
        assert spent.value.retry_after == 7200 - waited
    assert len(model.requests) == 1
    assert await question(ScriptedModel("yes", key="other"), formats) == "yes"
    clock.seconds = 7201
    assert await question(model, formats) == "yes"
    assert model.formats == ["json_schema"] * 2


async def test_deadline() -> None:
    """A model that hangs is given up after the deadline, and the detail names it."""
    model = ScriptedModel("never")
    model.gate.clear()
    with pytest.raises(ModelBusy, match="does not answer") as busy:
        await ask(model, REQUEST, AnswerFormats(), 0.05, a_yes)
    assert busy.value.detail == "no answer within 0.05 s"
    assert model.running == 0


async def test_what_was_spent() -> None:
    """Each call counts for the user whose turn it is: one that fails, and one that is closed, too."""
    formats = AnswerFormats()
    model = ScriptedModel(ModelBusy("no"), Completion("x", tokens=(70, 8)))
    request = CompletionRequest("s", "u", "memory_operations", {})
    whose = USER_ID.set("ada")
    await ask(model, request, formats, 30, lambda one: one, retries=1)
    model.gate.clear()
    with pytest.raises(ModelBusy):
        await ask(model, request, formats, 0.05, lambda one: one)
    USER_ID.reset(whose)
    assert formats.spent.keys() == {"ada"}
    spent = formats.spent["ada"]
    assert (spent["calls"], spent["tokens_in"], spent["tokens_out"]) == (
        3,
        70,
        8,
    )
    assert spent["milliseconds"] >= 50
