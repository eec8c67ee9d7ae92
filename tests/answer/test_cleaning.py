"""Answers freed of a model's slips, and nothing else of them touched."""

from __future__ import annotations

import json
import time

from adaptive.answer.correction import cleaned_answer
from tests.rates import over

FACT = '{"answer": 42}'
STRAY = [
    ("It is tea.</s>", "It is tea."),
    ("It is tea. </s></tool_code>\n<|im_end|>\n", "It is tea."),
    ("Tea.<|im_end|>\n<|im_start|>assistant\nMore.", "Tea.\nMore."),
    ("<s> [INST] Tea is good.", "Tea is good."),
    ("<|channel|>final<|message|>Tea.<|return|>", "Tea."),
    ("Tea.<end_of_turn>\n<start_of_turn>model\nMilk.", "Tea.\nMilk."),
    ("Tea.<\uff5cend\u2581of\u2581sentence\uff5c>", "Tea."),
    ("Hello</s> world", "Hello world"),
    ("One. <|eot_id|>\nTwo.", "One.\nTwo."),
    ("```\nx\n```</s>", "```\nx\n```"),
    ("Tea.\n\n<|im_end|>\n\nMilk.", "Tea.\n\nMilk."),
    ("<|im_end|>", ""),
    ("Tea.\n<tool_call>", "Tea."),
]
KEPT = [
    "<s>old</s> new",
    "```\n<|im_end|>\n</s>\n```\nDone.",
    "1. Do\n   ```\n   x <|im_end|>\n   ```\n",
    "See:\n\n    </s>\n\nDone.",
    "The token `</s>` ends it.",
    'It ends with "</s>" mostly.',
    "The token <|im_end|> ends a turn.",
    "<tool_call>{}</tool_call>",
    "a <| b |> c and [inst] or [INSTALL]",
    f"{FACT} {FACT}",
    '{"a": 1}\n{"a": 2}\n{"a": 3}',
    f"{FACT} or {FACT} or {FACT}",
    '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```\n',
    f"```\n{FACT}\n{FACT}\n{FACT}\n```",
    "Tea.  \n",
]
FENCED = f"```json\n{FACT}\n```\n"
NESTED = '{"a": {"b": 1}, "c": [{"d": "}"}]}'
RUNAWAY = [
    (f"Tea. {FACT * 9}" + '{"answer"', f"Tea. {FACT}"),
    (f"Tea.\n{FACT}\n{FACT}\n" + '{"ans', f"Tea.\n{FACT}"),
    (f"{FACT},\n{FACT}, {FACT};" + "{", FACT),
    (f"{FACT}\n" * 40, FACT),
    (f"Tea. {NESTED * 3}" + NESTED[:-3], f"Tea. {NESTED}"),
    (f"Tea. {NESTED * 3}" + NESTED[:14], f"Tea. {NESTED}"),
    (
        f"Tea.\n\n{FENCED}\n{FENCED}{FENCED}```json\n" + '{"a',
        f"Tea.\n\n{FENCED[:-1]}",
    ),
    (f"Tea.\n\n{FENCED * 3}```js", f"Tea.\n\n{FENCED[:-1]}"),
]
WANTED = [
    f"Tea.\n{FACT}\n{FACT}\n{FACT}",
    f"{FACT}\n" * 10,
    f"Tea. {FACT}, {FACT}, {FACT} Done.",
    f"{FENCED * 3}",
    f"Ten rows:\n```json\n{FACT}\n{FACT}\n{FACT}\n```\n",
    f"Rows:\n```json\n{FACT}\n{FACT}\n" + '{"ans',
    f"{FACT}\n{FACT}\n{FACT}\n" + '{"answer": 43',
    f"{FACT * 20} Done.",
    f"{NESTED}\n" * 3,
]


@over("text, clean", [*STRAY, *RUNAWAY], at_least=0.95)
def test_cleaned(text: str, clean: str) -> None:
    """Stray marks and runaway JSON go, with the space that they would leave."""
    assert cleaned_answer(text) == clean


@over("text", [*KEPT, *WANTED], at_least=0.95)
def test_kept(text: str) -> None:
    """Code, quotations, pairs and JSON that says different things stay, to the letter."""
    assert cleaned_answer(text) == text


def test_large_answers() -> None:
    """300 kB of each kind of trouble are read to their end within seconds."""
    for piece in (
        "</s> x",
        "`",
        "{",
        '{"a":',
        "<|",
        "```\n",
        "[" * 9,
        "\n",
        "x` ``y ```z ````w\n",
    ):
        text = piece * (300_000 // len(piece))
        began = time.monotonic()
        assert len(cleaned_answer(text)) <= len(text)
        assert time.monotonic() - began < 20
    deep = json.dumps({"a": 1})[:-1] + ', "b": ' + "[" * 100_000
    assert cleaned_answer(deep * 3) == deep * 3
