"""What our own calls send: no secrets, and where wanted placeholders for personal data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.core.model import Utterance, with_detail
from adaptive.core.providers import (
    Completer,
    Completion,
    CompletionRequest,
    ModelBusy,
)
from adaptive.learn.extraction import extraction_request
from adaptive.learn.proposals import ExtractionSource
from adaptive.privacy.redaction import (
    RedactingCompleter,
    Redaction,
    redacted_request,
    sent_without_secrets,
)
from adaptive.privacy.secrets import SECRET_MARK
from tests.fakes import (
    ScriptedModel,
    WordEmbedder,
    hook_settings,
    memory,
    turn,
)
from tests.rates import over

NOW = datetime(2026, 11, 21, 9, 5, tzinfo=UTC)
MAIL = "ana.k@example.org"
OTHER = "bo@example.org"
ADDRESS = "192.168.1.20"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
UUID = "12345678-4111-4111-8111-411111111111"


def request(user: str, system: str = "# Title") -> CompletionRequest:
    """A question with this user part."""
    return CompletionRequest(system, user, "answer", {"type": "object"})


def reply(content: str) -> str:
    """An extraction's reply with one new fact."""
    return json.dumps(
        {"operations": [{"operation": "NEW", "content": content}]}
    )


async def asked(
    completer: Completer, question: CompletionRequest, times: int = 1
) -> list[Completion]:
    """The answers to a question that is put several times."""
    return [
        await completer.complete(question, "json_schema") for _ in range(times)
    ]


async def test_secrets_never_go_out() -> None:
    """Whatever is set, a secret is replaced for good: in words, memories and earlier turns."""
    for personal_data in (False, True):
        model = ScriptedModel(reply(f"User's token is {SECRET_MARK}."))
        completer = RedactingCompleter(model, personal_data)
        said = turn(
            f"My token is {TOKEN}.",
            Utterance("user", f"It was {TOKEN} before."),
        )
        old = memory(UUID, f"User's token is {TOKEN}.")
        question = extraction_request(
            said, ExtractionSource([said.words], [old]), hook_settings(), NOW
        )
        (answer,) = await asked(completer, question)
        (sent,) = model.requests
        assert TOKEN not in f"{sent}"
        assert f"{sent}".count(SECRET_MARK) == 4
        assert sent.system == question.system
        assert answer.text == reply(f"User's token is {SECRET_MARK}.")


async def test_placeholders_go_out_and_values_come_back() -> None:
    """The same value has one placeholder in the call; in the reply the value stands again."""
    model = ScriptedModel(
        Completion(reply("User's e-mail is [EMAIL_1]."), cut=True)
    )
    completer = RedactingCompleter(model, personal_data=True)
    (answer,) = await asked(
        completer, request(f"I am {MAIL}.\n- {MAIL} and bob@example.org")
    )
    assert (
        model.requests[0].user == "I am [EMAIL_1].\n- [EMAIL_1] and [EMAIL_2]"
    )
    assert answer == Completion(reply(f"User's e-mail is {MAIL}."), cut=True)
    assert completer.key == model.key


@pytest.mark.parametrize(
    ("personal_data", "told"),
    [
        (False, f"it failed (no {SECRET_MARK} for {MAIL})"),
        (True, "it failed"),
    ],
)
async def test_failures_tell_no_more(personal_data: bool, told: str) -> None:
    """A provider is quoted without secrets, and not at all where personal data is replaced."""
    busy = ModelBusy("it failed", 0, 3.0, detail=f"no {TOKEN} for {MAIL}")
    completer = RedactingCompleter(ScriptedModel(busy), personal_data)
    with pytest.raises(ModelBusy) as failure:
        await asked(completer, request(f"My address is {MAIL}."))
    assert with_detail(failure.value) == told
    assert failure.value.retry_after == 3.0


def test_built_in_prompts_stay() -> None:
    """No prompt of ours is taken for a secret or for personal data."""
    for path in sorted((Path(__file__).parents[2] / "prompts").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        assert redacted_request(request("", text), Redaction()).system == text


async def test_no_secret_is_sent() -> None:
    """Texts go out without their secrets, and each has its vector."""
    service = WordEmbedder()
    made = await sent_without_secrets(
        [f"My token is {TOKEN}", "I like tea"],
        partial(service.embed, query=True),
    )
    assert service.queries == [[f"My token is {SECRET_MARK}", "I like tea"]]
    assert len(made) == 2


REPLIES = [
    ("to [EMAIL_1].", f"to {MAIL}."),
    ("to [Email_1]", f"to {MAIL}"),
    ("to EMAIL_1,", f"to {MAIL},"),
    (r"to \[EMAIL_1\]", f"to {MAIL}"),
    ("to [EMAIL 1]", f"to {MAIL}"),
    ("【EMAIL_1】まで", f"{MAIL}まで"),
    ("[EMAIL_1](mailto:[EMAIL_1])", f"{MAIL}(mailto:{MAIL})"),
    ("MY_EMAIL_1 EMAIL_1st", "MY_EMAIL_1 EMAIL_1st"),
    ("email_1 = 3", "email_1 = 3"),
    (r"C:\[EMAIL_1]", rf"C:\{MAIL}"),
]


@over("reply, restored", REPLIES)
def test_restores(reply: str, restored: str) -> None:
    """A reply gets its values back however the model wrote the placeholder."""
    redaction = Redaction()
    redaction.redact(MAIL)
    assert redaction.restore(reply) == restored


PIECES = st.sampled_from(
    [
        MAIL,
        OTHER,
        ADDRESS,
        "[EMAIL_1]",
        "EMAIL_2",
        "\\",
        "[",
        "]",
        "_",
        "[IP_",
        "x",
    ]
)
TEXTS = st.lists(
    st.lists(PIECES | st.text(max_size=4), max_size=8).map("".join), max_size=4
)


@given(TEXTS)
def test_round_trip(texts: Sequence[str]) -> None:
    """What goes out comes back as it was, look-alikes and all."""
    redaction = Redaction()
    out = redaction.redact_all(texts)
    assert [redaction.restore(text) for text in out] == list(texts)


def test_known_value_without_context() -> None:
    """A value that was recognised by its context once is replaced without context as well."""
    redaction = Redaction()
    out = redaction.redact_all(
        ["AB1234567?", "Yes, passport no. AB1234567, unlike XAB1234567."]
    )
    assert out == [
        "[PASSPORT_1]?",
        "Yes, passport no. [PASSPORT_1], unlike XAB1234567.",
    ]
