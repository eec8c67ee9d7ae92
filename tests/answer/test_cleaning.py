"""Answers freed of a model's slips, and nothing else of them touched."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.answer.cleaning import cleaned_answer
from tests.rates import over

CALL = '{"name": "search", "arguments": {"q": "tea"}}'
FACT = '{"answer": 42}'


@dataclass(frozen=True)
class Case:
    """An answer and what is left of it."""

    id: str
    text: str
    clean: str


STRAY = [
    Case("end of sequence", "It is tea.</s>", "It is tea."),
    Case("several", "It is tea. </s></tool_code>\n<|im_end|>\n", "It is tea."),
    Case("chat markup", "Tea.<|im_end|>\n<|im_start|>assistant\nMore.", "Tea.\nMore."),
    Case("at the beginning", "<s> [INST] Tea is good.", "Tea is good."),
    Case("header", "<|start_header_id|>assistant<|end_header_id|>\n\nTea.", "Tea."),
    Case("harmony", "<|channel|>final<|message|>Tea.<|return|>", "Tea."),
    Case("gemma", "Tea.<end_of_turn>\n<start_of_turn>model\nMilk.", "Tea.\nMilk."),
    Case("deepseek", "Tea.<\uff5cend\u2581of\u2581sentence\uff5c>", "Tea."),
    Case("in the middle of a word", "Hello</s> world", "Hello world"),
    Case("line of its own", "One.\n</tool_code>\nTwo.", "One.\nTwo."),
    Case("end of a line", "One. <|eot_id|>\nTwo.", "One.\nTwo."),
    Case("glued to a fence", "```\nx\n```</s>", "```\nx\n```"),
    Case("after a fence", "```\nx\n```\n<|im_end|>", "```\nx\n```"),
    Case("nested", "Tea.<|im_<|im_end|>end|>", "Tea."),
    Case("nothing else", "<|im_end|>", ""),
    Case("unfinished opening", "Tea.\n<tool_call>", "Tea."),
]
KEPT = [
    Case("crossed out", "<s>old</s> new", ""),
    Case("fence", "```\n<|im_end|>\n</s>\n```\nDone.", ""),
    Case("fence of tildes", "~~~xml\n</s>\n~~~", ""),
    Case("open fence", "```\n</s>\n", ""),
    Case("fence in a list", "1. Do\n   ```\n   x <|im_end|>\n   ```\n", ""),
    Case("indented", "See:\n\n    </s>\n\nDone.", ""),
    Case("code span", "The token `</s>` ends it.", ""),
    Case("double backticks", "It is ``<|im_end|> ` `` here", ""),
    Case("quoted", 'It ends with "</s>" mostly.', ""),
    Case("spoken of", "The token <|im_end|> ends a turn.", ""),
    Case("in brackets", "The end (</s>) is near.", ""),
    Case("pair of a tool", "<tool_call>{}</tool_call>", ""),
    Case("comparison", "a <| b |> c and [inst] or [INSTALL]", ""),
    Case("JSON once", f"Here: {FACT}", ""),
    Case("JSON twice", f"{FACT} {FACT}", ""),
    Case("different JSON", '{"a": 1}\n{"a": 2}\n{"a": 3}', ""),
    Case("JSON with words between", f"{FACT} or {FACT} or {FACT}", ""),
    Case("only calls", f'{CALL}\n{CALL[:-3]}x"}}}}\n{CALL}', ""),
    Case("different fences", '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```\n', ""),
    Case("lines in a fence", f"```\n{FACT}\n{FACT}\n{FACT}\n```", ""),
    Case("template", "{name} {name} {name}", ""),
    Case("trailing space", "Tea.  \n", ""),
]
RUNAWAY = [
    Case("three", f"Tea.\n{FACT}\n{FACT}\n{FACT}", "Tea.\n"),
    Case("many, cut", f"Tea. {FACT * 9}" + '{"answer"', "Tea. "),
    Case("with commas", f"Tea. {FACT}, {FACT}, {FACT} Done.", "Tea.  Done."),
    Case("nothing else", f"{FACT}\n{FACT}\n{FACT}", FACT),
    Case("calls", f"Tea.\n{CALL}\n{CALL}\n{CALL}", "Tea.\n"),
    Case(
        "fences",
        f"Tea.\n\n```json\n{FACT}\n```\n\n```json\n{FACT}\n```\n```json\n{FACT}\n```",
        "Tea.\n\n",
    ),
]


@over("case", [*STRAY, *RUNAWAY], at_least=0.95)
def test_cleaned(case: Case) -> None:
    """Stray marks and runaway JSON go, with the space that they would leave."""
    assert cleaned_answer(case.text) == case.clean


@over("case", KEPT, at_least=0.95)
def test_kept(case: Case) -> None:
    """Code, quotations, pairs and JSON that says different things stay, to the letter."""
    assert cleaned_answer(case.text) == case.text


@given(st.text(st.characters(exclude_characters="<[{", codec="utf-8")))
def test_clean_text_is_untouched(text: str) -> None:
    """What holds no sign with which a mark begins is not touched."""
    assert cleaned_answer(text) == text


PIECES = st.sampled_from(
    ["</s>", "<s>", "<|im_end|>", "<|im_", "end|>", "<|im_start|>", "assistant", "</tool_code>",
     "[INST]", "```", "`", "~~~", "\n", "\n\n", "    ", " ", "tea", '"', "(", ")", FACT, CALL,
     '{"a"', "{", "}", ",", "<think>", "</think>", "<", "|", ">", "> ", "- "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40))
def test_twice_is_once(pieces: list[str]) -> None:
    """Cleaning what was cleaned changes nothing, however marks are mixed with code."""
    once = cleaned_answer("".join(pieces))
    assert cleaned_answer(once) == once


@given(st.lists(PIECES, max_size=25))
def test_code_is_kept(pieces: list[str]) -> None:
    """A fence around anything without one keeps it."""
    inside = "".join(pieces).replace("`", "").replace("~", "")
    text = f"Look:\n\n```\n{inside}\n```\n\nDone."
    assert cleaned_answer(text) == text


def test_large_answers() -> None:
    """300 kB of each kind of trouble are read to their end within seconds."""
    for piece in ("</s> x", "`", "{", '{"a":', "<|", "```\n", "[" * 9, "\n", "x` ``y ```z ````w\n"):
        text = piece * (300_000 // len(piece))
        began = time.monotonic()
        assert len(cleaned_answer(text)) <= len(text)
        assert time.monotonic() - began < 20
    deep = json.dumps({"a": 1})[:-1] + ', "b": ' + "[" * 100_000
    assert cleaned_answer(deep * 3) == deep * 3
