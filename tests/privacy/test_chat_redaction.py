"""What goes to a chat model holds placeholders, and nothing else of it has changed."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.chat_redaction import (
    characters_of,
    redacted_chat,
    restored_message,
    restored_output,
    withheld_messages,
)
from adaptive.privacy.placeholders import Redaction
from tests.rates import over

MAIL = "ana@example.org"
PHONE = "+49 30 901820123"
IMAGE = "https://images.example.org/a.png"


def user(text: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": text}


def tool_call(arguments: Any) -> dict[str, Any]:
    """An answer that asks for a tool."""
    function = {"name": "send", "arguments": arguments}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": function}]}


@dataclass(frozen=True)
class Case:
    """A message, and what goes out for it."""

    id: str
    message: dict[str, Any]
    out: dict[str, Any]


CASES = [
    Case("user", user(f"Write to {MAIL}."), user("Write to [EMAIL_1].")),
    Case(
        "system",
        {"role": "system", "content": f"<adaptive_memory>\n- {MAIL}\n</adaptive_memory>"},
        {"role": "system", "content": "<adaptive_memory>\n- [EMAIL_1]\n</adaptive_memory>"},
    ),
    Case(
        "parts",
        user(
            [
                {"type": "text", "text": MAIL},
                {"type": "image_url", "image_url": {"url": f"{IMAGE}?of={MAIL}"}},
            ]
        ),
        user(
            [
                {"type": "text", "text": "[EMAIL_1]"},
                {"type": "image_url", "image_url": {"url": f"{IMAGE}?of={MAIL}"}},
            ]
        ),
    ),
    Case("part of text alone", user([MAIL]), user(["[EMAIL_1]"])),
    Case(
        "tool",
        {"role": "tool", "tool_call_id": MAIL, "content": f'{{"to": "{MAIL}"}}'},
        {"role": "tool", "tool_call_id": MAIL, "content": '{"to": "[EMAIL_1]"}'},
    ),
    Case(
        "arguments",
        tool_call(json.dumps({"to": [MAIL], "n": 1, "card": 4111111111111111, "é": "ü"})),
        tool_call('{"to": ["[EMAIL_1]"], "n": 1, "card": "[CARD_1]", "é": "ü"}'),
    ),
    Case("parsed arguments", tool_call({"to": MAIL}), tool_call({"to": "[EMAIL_1]"})),
    Case("broken arguments", tool_call(f'{{"to": "{MAIL}'), tool_call('{"to": "[EMAIL_1]')),
    Case(
        "thoughts",
        {"role": "assistant", "content": None, "reasoning_content": f"It is {MAIL}."},
        {"role": "assistant", "content": None, "reasoning_content": "It is [EMAIL_1]."},
    ),
    Case("nothing said", {"role": "assistant"}, {"role": "assistant"}),
]


@over("case", CASES)
def test_message(case: Case) -> None:
    """Each text of a message goes out with placeholders; the message itself is not changed."""
    before = copy.deepcopy(case.message)
    assert redacted_chat([case.message], Redaction()) == [case.out]
    assert case.message == before


def test_arguments_without_finding_keep_their_form() -> None:
    """Arguments in which nothing is found are not written anew."""
    message = tool_call('{ "a":1,"b" : "c\\u00e9" }')
    assert redacted_chat([message], Redaction())[0] is message


def test_same_placeholders_from_turn_to_turn() -> None:
    """A longer history begins as the shorter one did, and equal values are equal throughout."""
    first = [user(f"I am {MAIL}."), {"role": "assistant", "content": f"Hello {MAIL}!"}]
    more = [*first, user(f"Call {PHONE}, or bo@example.org, not {MAIL}.")]
    short, long = redacted_chat(first, Redaction()), redacted_chat(more, Redaction())
    assert (
        long[:2] == short == [user("I am [EMAIL_1]."), {**first[1], "content": "Hello [EMAIL_1]!"}]
    )
    assert long[2] == user("Call [PHONE_1], or [EMAIL_2], not [EMAIL_1].")


def test_a_leftover_of_another_turn_is_nobodys() -> None:
    """A placeholder that stands in the history already is given to no value of this turn."""
    redaction = Redaction()
    messages = [{"role": "assistant", "content": "It is [EMAIL_1]."}, user(MAIL)]
    assert redacted_chat(messages, redaction) == [messages[0], user("[EMAIL_2]")]
    assert redaction.restore("[EMAIL_1] [EMAIL_2]") == f"[EMAIL_1] {MAIL}"


def test_again_with_what_the_host_has_added() -> None:
    """Placeholders stay, in texts that were wrapped too; values get the same ones, new ones new."""
    redaction, sent = Redaction(), set[bytes]()
    asked = redacted_chat([user(MAIL), user("and [EMAIL_7]")], redaction, sent)
    wrapped = [user(f"Document of bo@example.org. {asked[0]['content']}"), asked[1]]
    wrapped += [tool_call(json.dumps({"to": MAIL})), {"role": "tool", "content": PHONE}]
    assert redacted_chat(wrapped, redaction, sent) == [
        user("Document of [EMAIL_2]. [EMAIL_1]"),
        asked[1],
        tool_call('{"to": "[EMAIL_1]"}'),
        {"role": "tool", "content": "[PHONE_1]"},
    ]
    assert redaction.restore("[EMAIL_1] [EMAIL_2] [EMAIL_7]") == f"{MAIL} bo@example.org [EMAIL_7]"


@given(st.lists(st.sampled_from([MAIL, PHONE, "[EMAIL_1]", "hi", "born 3 May 1990"]), max_size=6))
def test_again_changes_nothing(texts: list[str]) -> None:
    """What was redacted once stays as it is, however often it comes by."""
    redaction, sent = Redaction(), set[bytes]()
    out = redacted_chat([user(text) for text in texts], redaction, sent)
    assert redacted_chat(out, redaction, sent) == out
    assert [redaction.restore(one["content"]) for one in out] == texts


def test_whole_answer_gets_its_values() -> None:
    """Words, thoughts and arguments are restored, valid JSON included; tools' results are not."""
    redaction = Redaction()
    redaction.redact('x "ana"@example.org')
    redaction.redact(MAIL)
    call = '{"to": "[EMAIL_1]"}'
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "[EMAIL_1]?"}]},
        {"type": "message", "id": "[EMAIL_1]", "content": [{"text": "[EMAIL_1]."}]},
        {"type": "function_call", "arguments": call},
        {"type": "function_call_output", "output": [{"text": "[EMAIL_1]"}]},
    ]
    restored = restored_output(output, redaction)
    value = redaction.restore("[EMAIL_1]")
    assert restored[0]["summary"][0]["text"] == f"{value}?"
    assert restored[1] == {**output[1], "content": [{"text": f"{value}."}]}
    assert json.loads(restored[2]["arguments"]) == {"to": value}
    assert restored[3] == output[3]
    answer = {"role": "assistant", "content": "To [EMAIL_1]", "tool_calls": [{"arguments": call}]}
    message = restored_message({**answer, "output": output}, redaction)
    assert message["content"] == f"To {value}"
    assert message["output"] == restored
    assert json.loads(message["tool_calls"][0]["arguments"]) == {"to": value}


def test_how_much_there_is_to_redact() -> None:
    """Texts count, addresses of images do not."""
    image = {"type": "image_url", "image_url": {"url": "data:" + "A" * 1000}}
    assert characters_of([user("four"), user([{"type": "text", "text": "five!"}, image])]) == 9


def test_withheld_request_says_nothing_of_anybody() -> None:
    """It is one message, which tells the model what to say."""
    (message,) = withheld_messages()
    assert message["role"] == "user"
    assert "personal data" in message["content"]
