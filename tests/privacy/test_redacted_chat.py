"""What goes to a chat model holds placeholders, and its answer reads as if there were none."""

# ruff: noqa: SIM905 - a row of words

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.redacted_chat import (
    EventRestorer,
    changed_texts,
    changed_values,
    redacted_chat,
)
from adaptive.privacy.redaction import PLACEHOLDER, Redaction
from tests.rates import over

MAIL = "ana@example.org"


def user(text: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": text}


def tool_call(arguments: Any) -> dict[str, Any]:
    """An answer that asks for a tool."""
    function = {"name": "send", "arguments": arguments}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "function": function}],
    }


def parts(text: str) -> dict[str, Any]:
    """A text with an image beside it, whose address names somebody."""
    image = {
        "type": "image_url",
        "image_url": {"url": f"https://images.example.org/a?of={MAIL}"},
    }
    return user([{"type": "text", "text": text}, image])


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A message of somebody else."""
    return {"role": role, "content": content, **more}


ARGUMENTS = json.dumps(
    {"to": [MAIL], "n": 1, "card": 4111111111111111, "é": "ü"}
)
CASES = [
    (parts(MAIL), parts("[EMAIL_1]")),
    (
        said("tool", f'{{"to": "{MAIL}"}}', tool_call_id=MAIL),
        said("tool", '{"to": "[EMAIL_1]"}', tool_call_id=MAIL),
    ),
    (
        tool_call(ARGUMENTS),
        tool_call(
            '{"to": ["[EMAIL_1]"], "n": 1, "card": "[CARD_1]", "é": "ü"}'
        ),
    ),
    (tool_call(f'{{"to": "{MAIL}'), tool_call('{"to": "[EMAIL_1]')),
    (
        said("assistant", None, reasoning_content=f"It is {MAIL}."),
        said("assistant", None, reasoning_content="It is [EMAIL_1]."),
    ),
]


@over("message, out", CASES)
def test_message(message: dict[str, Any], out: dict[str, Any]) -> None:
    """Each text of a message goes out with placeholders; the message itself is not changed."""
    before = copy.deepcopy(message)
    assert redacted_chat([message], Redaction()) == [out]
    assert message == before


def test_whole_answer_gets_its_values() -> None:
    """Words, thoughts and arguments are restored, valid JSON included."""
    redaction = Redaction()
    redaction.redact('x "ana"@example.org')
    redaction.redact(MAIL)
    call = '{"to": "[EMAIL_1]"}'
    output = [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "[EMAIL_1]?"}],
        },
        {
            "type": "message",
            "id": "[EMAIL_1]",
            "content": [{"text": "[EMAIL_1]."}],
        },
        {"type": "function_call", "arguments": call},
    ]
    restored = changed_texts(output, redaction.restore)
    value = redaction.restore("[EMAIL_1]")
    assert restored[0]["summary"][0]["text"] == f"{value}?"
    assert restored[1] == {**output[1], "content": [{"text": f"{value}."}]}
    assert json.loads(restored[2]["arguments"]) == {"to": value}
    message = changed_texts(
        {"tool_calls": [{"arguments": call}], "output": output},
        redaction.restore,
    )
    assert message["output"] == restored
    assert json.loads(message["tool_calls"][0]["arguments"]) == {"to": value}


# --- answers that stream ---

TOLD = "ana@example.org, +49 30 901820123, 192.168.1.20, bo@example.org"
WORDS = "Write to call me the [ ] \\ [EM PHONE_ ( IP [BIRTH EMAIL_ [IP_7] . \n".split(
    " "
)
WRITINGS = ("[{}]", r"\[{}\]", "{}", "【{}】", "[ {} ]")
NAMES = ["EMAIL_1", "EMAIL_2", "PHONE_1", "IP_1", "EMAIL_9"]
FIELDS = ["content", "reasoning_content", "reasoning", "thinking", "refusal"]


def redaction_of_text() -> Redaction:
    """The placeholders EMAIL_1, EMAIL_2, PHONE_1 and IP_1."""
    redaction = Redaction()
    assert redaction.redact(TOLD) == "[EMAIL_1], [PHONE_1], [IP_1], [EMAIL_2]"
    return redaction


def chunk(
    delta: dict[str, Any], finish: str | None = None, index: int = 0
) -> dict[str, Any]:
    """One chunk of a chat completion."""
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "choices": [choice]}


def streamed(
    redaction: Redaction, pieces: list[str], field: str = "content"
) -> str:
    """The text in one field of an answer in pieces, as a page puts it together."""
    restorer = EventRestorer(redaction)
    events = [*(chunk({field: piece}) for piece in pieces), chunk({}, "stop")]
    out = [restorer.restored(event) for event in events]
    return "".join(one["choices"][0]["delta"].get(field, "") for one in out)


def test_every_split_of_every_placeholder() -> None:
    """Over 1,000 random answers, each placeholder split at each of its places changes nothing."""
    redaction = redaction_of_text()
    chance = random.Random(12)
    splits = 0
    for number in range(1000):
        parts = [chance.choice(WORDS) for _ in range(6)]
        name = chance.choice(WRITINGS).format(chance.choice(NAMES))
        parts.insert(chance.randrange(7), name)
        answer = chance.choice((" ", "", ", ")).join(parts)
        whole = redaction.restore(answer)
        field = FIELDS[number % len(FIELDS)]
        for match in PLACEHOLDER.finditer(answer):
            for place in range(match.start(), match.end() + 1):
                splits += 1
                assert (
                    streamed(
                        redaction, [answer[:place], answer[place:]], field
                    )
                    == whole
                )
    assert splits > 8000


@given(
    st.dictionaries(
        st.sampled_from(["to", "[EMAIL_1]"]),
        st.sampled_from(
            [
                "[EMAIL_1]",
                "a\n[PHONE_1]",
                '"[IP_1]"',
                "\\[EMAIL_2]",
                "é 【EMAIL_1】",
            ]
        ),
    ),
    st.integers(1, 9),
)
def test_arguments_of_tools(arguments: dict[str, str], size: int) -> None:
    """A tool gets the values, in a JSON document that says what the model's said."""
    redaction = Redaction()
    redaction.redact("ana@example.org +49 30 901820123")
    redaction._values["IP_1"] = 'quoted "value" \\ here'
    document = json.dumps(arguments, ensure_ascii=False)
    restorer = EventRestorer(redaction)
    pieces = [document[at : at + size] for at in range(0, len(document), size)]
    events = [
        chunk(
            {
                "tool_calls": [
                    {"index": 0, "id": "c", "function": {"name": "f"}}
                ]
            }
        ),
        *(
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": p}}]})
            for p in pieces
        ),
        chunk({}, "tool_calls"),
    ]
    out = ""
    for event in events:
        for call in restorer.restored(event)["choices"][0]["delta"].get(
            "tool_calls", []
        ):
            out += call["function"].get("arguments", "")
    assert json.loads(out) == changed_values(arguments, redaction.restore)


def test_parts_of_an_answer_are_apart() -> None:
    """Choices and fields are put together each by itself; a thought ends before the words."""
    restorer = EventRestorer(redaction_of_text())
    events = [
        chunk({"reasoning_content": "see [EMA"}),
        chunk({"content": "To [EMAIL_"}),
        chunk({"content": "[PHONE_"}, index=1),
        chunk({"content": "1]"}),
        chunk({"content": "1]"}, "stop", index=1),
        chunk({"content": "["}),
        chunk({}, "stop"),
    ]
    deltas = [
        restorer.restored(event)["choices"][0]["delta"] for event in events
    ]
    assert deltas == [
        {"reasoning_content": "see "},
        {"content": "To ", "reasoning_content": "[EMA"},
        {"content": ""},
        {"content": "ana@example.org"},
        {"content": "+49 30 901820123"},
        {"content": ""},
        {"content": "["},
    ]


@pytest.mark.parametrize(
    "kind", ["output_text", "reasoning_text", "function_call_arguments"]
)
def test_responses(kind: str) -> None:
    """Deltas of the Responses API are restored, and so is what their last events repeat."""
    restorer = EventRestorer(redaction_of_text())
    deltas = [
        restorer.restored(
            {
                "type": f"response.{kind}.delta",
                "output_index": 0,
                "delta": piece,
            }
        )
        for piece in ('"[EMA', "IL_1", ']"')
    ]
    assert "".join(one["delta"] for one in deltas) == '"ana@example.org"'
    name = "arguments" if kind.endswith("arguments") else "text"
    done = restorer.restored(
        {"type": f"response.{kind}.done", name: "[EMAIL_1]"}
    )
    assert done[name] == "ana@example.org"
    item = {
        "type": "message",
        "id": "[EMAIL_1]",
        "content": [{"text": "[EMAIL_1]"}],
    }
    for event in (
        {"type": "response.output_item.done", "item": item},
        {
            "type": "response.completed",
            "response": {"instructions": "x", "output": [item]},
        },
    ):
        assert (
            json.dumps(restorer.restored(event)).count("ana@example.org") == 1
        )


def test_lines_of_plain_api_calls() -> None:
    """A line over the wire stays a line; what is no event, or no words of it, stays as it is."""
    restorer = EventRestorer(redaction_of_text())
    line = f"data: {json.dumps(chunk({'content': '[EMAIL_1] é'}))}\n\n"
    out = restorer.restored_line(line)
    assert out.endswith("\n\n")
    assert json.loads(out[6:])["choices"][0]["delta"] == {
        "content": "ana@example.org é"
    }
    handed_on = (
        chunk({"role": "assistant", "content": None}),
        {"error": {"message": "[EMAIL_1]"}},
    )
    for event in (
        *handed_on,
        {"sources": [{"document": ["[EMAIL_1]"]}]},
        {"choices": [{}]},
    ):
        assert restorer.restored(event) == event
    for other in (
        "data: [DONE]\n\n",
        ": ping\n",
        "",
        "data: [1]\n",
        'data: {"choices',
    ):
        assert restorer.restored_line(other) == other
