"""What our own calls send: no secrets, and where wanted placeholders for personal data."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.errors import EmbeddingError, ModelBusy
from adaptive.learn.extraction import extraction_request
from adaptive.learn.summary import summary_request
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.model import Completion, CompletionRequest, Memory, Utterance
from adaptive.ports import Completer, Vectors
from adaptive.privacy.personal_data import Finding
from adaptive.privacy.redacting_completer import (
    RedactingCompleter,
    SecretlessEmbedder,
    redacted_request,
)
from adaptive.privacy.redaction import Redaction
from adaptive.privacy.secrets import SECRET_MARK
from adaptive.retry import RetryPolicy
from tests.fakes import ScriptedModel, hook_settings, memory, turn
from tests.privacy.made_up_secrets import made_up_secrets

NOW = datetime(2026, 11, 21, 9, 5, tzinfo=UTC)
MAIL = "ana.k@example.org"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
IDS = ("4111-1111", "3704-0044")
UUID = "12345678-4111-4111-8111-411111111111"


def request(user: str, system: str = "# Title") -> CompletionRequest:
    """A question with this user part."""
    return CompletionRequest(system, user, "answer", {"type": "object"})


def reply(content: str) -> str:
    """An extraction's reply with one new fact."""
    return json.dumps({"operations": [{"operation": "NEW", "content": content}]})


async def asked(
    completer: Completer, question: CompletionRequest, times: int = 1
) -> list[Completion]:
    """The answers to a question that is put several times."""
    return [await completer.complete(question, "json_schema") for _ in range(times)]


async def test_secrets_never_go_out() -> None:
    """Whatever is set, a secret is replaced for good: in words, memories and earlier turns."""
    for personal_data in (False, True):
        model = ScriptedModel(reply(f"User's token is {SECRET_MARK}."))
        completer = RedactingCompleter(model, personal_data)
        said = turn(f"My token is {TOKEN}.", Utterance("user", f"It was {TOKEN} before."))
        old = memory(UUID, f"User's token is {TOKEN}.")
        question = extraction_request(said, [old], hook_settings(), NOW)
        (answer,) = await asked(completer, question)
        (sent,) = model.requests
        assert TOKEN not in f"{sent}"
        assert sent.user.count(SECRET_MARK) == 3
        assert sent.system == question.system
        assert answer.text == reply(f"User's token is {SECRET_MARK}.")


def test_every_made_up_secret_is_left_out() -> None:
    """The values of the whole set of secrets are gone from the user part and from the system's."""
    left = [
        sample.text
        for sample in made_up_secrets()[::7]
        for sent in [redacted_request(request(sample.text, sample.text), None)]
        if sample.secret in f"{sent.user}{sent.system}"
    ]
    assert left == []


async def test_personal_data_stays_unless_chosen() -> None:
    """By default the learning model sees personal data, and its reply is not touched."""
    model = ScriptedModel(reply("[EMAIL_1]"))
    (answer,) = await asked(RedactingCompleter(model), request(f"Write to {MAIL}"))
    assert model.requests[0].user == f"Write to {MAIL}"
    assert answer.text == reply("[EMAIL_1]")


async def test_placeholders_go_out_and_values_come_back() -> None:
    """The same value has one placeholder in the call; in the reply the value stands again."""
    model = ScriptedModel(Completion(reply("User's e-mail is [EMAIL_1]."), cut=True))
    completer = RedactingCompleter(model, personal_data=True)
    (answer,) = await asked(completer, request(f"I am {MAIL}.\n- {MAIL} and bob@example.org"))
    assert model.requests[0].user == "I am [EMAIL_1].\n- [EMAIL_1] and [EMAIL_2]"
    assert answer == Completion(reply(f"User's e-mail is {MAIL}."), cut=True)
    assert completer.key == model.key


async def test_same_request_has_the_same_placeholders() -> None:
    """Asked again, also with a note behind it, the model sees what it saw before."""
    model = ScriptedModel(ModelBusy("b"), reply("[EMAIL_1]"), reply("[EMAIL_2]"))
    completer = RedactingCompleter(model, personal_data=True)
    words = f"bob@example.org wrote to {MAIL}."
    policy, formats = RetryPolicy(1, 0), AnswerFormats()
    first = await ask(completer, request(words), formats, policy, 5)
    second = await ask(completer, request(f"{words}\n\n## Again"), formats, policy, 5)
    assert [one.user.partition("\n")[0] for one in model.requests] == [
        "[EMAIL_1] wrote to [EMAIL_2]."
    ] * 3
    assert (first.text, second.text) == (reply("bob@example.org"), reply(MAIL))


async def test_calls_do_not_share_placeholders() -> None:
    """What one call has replaced is nothing to the next one."""
    model = ScriptedModel(reply("[EMAIL_1]"), reply("[EMAIL_1]"))
    completer = RedactingCompleter(model, personal_data=True)
    await asked(completer, request(f"I am {MAIL}."))
    (answer,) = await asked(completer, request("I like tea."))
    assert answer.text == reply("[EMAIL_1]")


@pytest.mark.parametrize(
    ("personal_data", "told"),
    [
        (False, f"the model answered HTTP 500: 'no {SECRET_MARK} for {MAIL}'"),
        (True, "the model answered HTTP 500"),
    ],
)
async def test_failures_tell_no_more(personal_data: bool, told: str) -> None:
    """A provider is quoted without secrets, and not at all where personal data is replaced."""
    busy = ModelBusy(f"the model answered HTTP 500: 'no {TOKEN} for {MAIL}'", 3.0)
    completer = RedactingCompleter(ScriptedModel(busy), personal_data)
    with pytest.raises(ModelBusy) as failure:
        await asked(completer, request(f"My address is {MAIL}."))
    assert str(failure.value) == told
    assert failure.value.retry_after == 3.0


async def test_long_requests() -> None:
    """A long message is redacted like a short one."""
    model = ScriptedModel(reply("[EMAIL_1]"))
    words = "I like tea. " * 1000 + MAIL + TOKEN.join("  ")
    (answer,) = await asked(RedactingCompleter(model, personal_data=True), request(words))
    assert model.requests[0].user == "I like tea. " * 1000 + f"[EMAIL_1] {SECRET_MARK} "
    assert answer.text == reply(MAIL)


@given(
    st.uuids(version=4),
    st.datetimes(min_value=datetime(2020, 1, 1), max_value=datetime(2040, 1, 1)),
)
@settings(deadline=None, max_examples=50)
def test_ids_and_dates_survive(id: object, now: datetime) -> None:
    """Ids of offered memories and the message's date stand as they were."""
    said = turn("I was born on 3 May 1990, and my daughter today.")
    offered = [memory(str(id), f"User's phone number is {str(id)[:8]}, e-mail {MAIL}.")]
    question = extraction_request(said, offered, hook_settings(), now.replace(tzinfo=UTC))
    sent = redacted_request(question, Redaction())
    assert f"- id={id} | User's " in sent.user
    assert MAIL not in sent.user
    assert "3 May 1990" not in sent.user
    assert sent.system == question.system


def test_date_of_birth_that_is_today() -> None:
    """A date that is personal data in the user's words is none in the prompt."""
    question = extraction_request(
        turn("My daughter's date of birth is 21 November 2026."), [], hook_settings(), NOW
    )
    sent = redacted_request(question, Redaction())
    assert sent.user.endswith("date of birth is [BIRTH_DATE_1].")
    assert "It is Saturday, 21 November 2026, 09:05" in sent.system


def test_built_in_prompts_stay() -> None:
    """No prompt of ours is taken for a secret or for personal data."""
    for path in sorted((Path(__file__).parents[2] / "prompts").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        assert redacted_request(request("", text), Redaction()).system == text


def test_admins_words_in_a_prompt() -> None:
    """What an admin has put into a prompt holds no secret when it goes out, either."""
    valves = hook_settings(memory_keep=f"what the token {TOKEN} is for")
    question = extraction_request(turn("I like tea."), [], valves, NOW)
    assert TOKEN not in redacted_request(question, None).system


def test_summaries() -> None:
    """The memories of a summary go out redacted."""
    cluster = [memory("a", f"User's e-mail is {MAIL}."), memory("b", f"User's token is {TOKEN}.")]
    sent = redacted_request(summary_request(cluster, ""), Redaction())
    told = "## Memories\n- User's e-mail is [EMAIL_1].\n- User's token is"
    assert sent.user == f"{told} {SECRET_MARK}."


VALUES = st.text(min_size=1, max_size=12)


class Everything:
    """A finder of personal data that takes a given value for an e-mail address."""

    def __init__(self, value: str) -> None:
        self.value = value

    def __call__(self, text: str) -> list[Finding]:
        return [
            Finding("email", found.start(), found.end(), 1.0)
            for found in re.finditer(re.escape(self.value), text)
        ]


@settings(deadline=None)
@given(VALUES)
def test_values_are_escaped(value: str) -> None:
    """Quotes, backslashes and line breaks in a value don't break the reply's JSON."""
    redaction = Redaction(find=Everything(value))
    mark = redaction.redact(value)
    assert json.loads(redaction.restore(reply(f"It is {mark}!"), json_text=True)) == json.loads(
        reply(f"It is {value}!")
    )


@pytest.mark.parametrize("written", [r"\\[EMAIL_1\\]", r"\\[EMAIL_1]", "EMAIL_1", "[Email 1]"])
def test_as_models_write_placeholders(written: str) -> None:
    """Escaped, bare or in other letters: the reply stays JSON, and the value stands in it."""
    redaction = Redaction()
    redaction.redact(MAIL)
    restored = json.loads(redaction.restore(f'{{"content": "It is {written}"}}', json_text=True))
    assert MAIL in restored["content"]


def test_unknown_placeholder_stays() -> None:
    """A placeholder that the call has not given out stays as it is."""
    redaction = Redaction()
    redaction.redact(MAIL)
    answer = reply(r"\[PHONE_7\] [EMAIL_9]")
    assert redaction.restore(answer, json_text=True) == answer


def test_memories_with_other_ids() -> None:
    """An id that no host makes is text like any other."""
    offered = [Memory(f"4111-1111-{one}", f"Mail {MAIL}", 1, 1) for one in IDS]
    question = extraction_request(turn("I like tea."), offered, hook_settings(), NOW)
    assert redacted_request(question, Redaction()).user.count("[EMAIL_1]") == 2


class Service:
    """Counts letters; refuses whom it does not like, in their own words."""

    def __init__(self) -> None:
        self.received: list[str] = []

    async def name(self) -> str:
        """A name."""
        return "letters"

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """The number of letters."""
        self.received += texts
        if "refuse" in texts[0]:
            raise EmbeddingError(f"the service answered HTTP 400: 'not with {TOKEN}'")
        return np.array([[len(text), query] for text in texts], np.float32)


async def test_no_secret_is_sent() -> None:
    """Texts go out without their secrets, and each has its vector."""
    service = Service()
    embedder = SecretlessEmbedder(service)
    made = await embedder.embed([f"My token is {TOKEN}", "I like tea"], query=True)
    assert service.received == [f"My token is {SECRET_MARK}", "I like tea"]
    assert made.shape == (2, 2)
    assert await embedder.name() == "letters"


async def test_failure_tells_no_secret() -> None:
    """What a service answers is told without secrets."""
    with pytest.raises(EmbeddingError, match="HTTP 400") as failure:
        await SecretlessEmbedder(Service()).embed(["refuse"], query=False)
    assert TOKEN not in str(failure.value)
