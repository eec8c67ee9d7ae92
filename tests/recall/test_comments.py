"""Remarks on memory in earlier answers are taken out, and nothing else is."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.recall.comments import text_without_remarks, without_memory_comments
from tests.rates import labelled_set, over

SENTENCES = labelled_set("remarks_on_memory")
REMARKS = [one["sentence"] for one in SENTENCES if one["remark"]]
NEAR_MISSES = [one["sentence"] for one in SENTENCES if not one["remark"]]
REMARK = "I've updated my memory."
ASKED = {"role": "user", "content": "And now?"}


def answered(content: Any) -> list[dict[str, Any]]:
    """A chat in which the assistant answered this before the newest message."""
    return [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": content}, ASKED]


@over("remark", REMARKS, at_least=0.95)
@over("form", ["Here is tea.\n\n{}", "{}\n\nHere is tea.", "Here is tea. {}"], at_least=0.95)
def test_remarks(remark: str, form: str) -> None:
    """A remark goes, at the end, at the beginning and within a paragraph."""
    assert text_without_remarks(form.format(remark)) == "Here is tea."


@over("sentence", NEAR_MISSES, at_least=0.97)
@over("form", ["{}\n\nHere is tea.", "Here is tea.\n\n{}"], at_least=0.97)
def test_near_misses(sentence: str, form: str) -> None:
    """A sentence that says anything else stays, and so does what is quoted, listed or code."""
    text = form.format(sentence)
    assert text_without_remarks(text) == text


@dataclass(frozen=True)
class Case:
    """A text, and what is left of it; ``None`` where it stays as it is."""

    id: str
    text: str
    left: str | None = None


CASES = [
    Case("empty", ""),
    Case("nothing else", REMARK),
    Case("only emoji else", f"{REMARK} 😊"),
    Case("only remarks", f"{REMARK}\n\nI'll remember that."),
    Case("between paragraphs", f"A.\n\n{REMARK}\n\nB.", "A.\n\nB."),
    Case("line of a paragraph", f"A.\n{REMARK}\nB.", "A.\nB."),
    Case("last line of a paragraph", f"A.\n{REMARK}\n\nB.", "A.\n\nB."),
    Case("within a line", f"Hi! {REMARK} What next?", "Hi! What next?"),
    Case("emoji behind", "I'll remember that! 😊 What next?", "What next?"),
    Case("emoji of the sentence before", f"Great! 😊 {REMARK}", "Great! 😊"),
    Case("emoji that introduces", f"Here you are. 🧠 {REMARK}", "Here you are."),
    Case("trailing emoji of memory", "Hi. I'll remember that! 📝", "Hi."),
    Case("line break at the end", f"Hi.\n\n{REMARK}\n", "Hi.\n\n"),
    Case("carriage returns", f"Hi. {REMARK}\r\nBye.", "Hi.\r\nBye."),
    Case("two sentences", f"Hi. {REMARK} I'll remember that. Bye.", "Hi. Bye."),
    Case("no space in Chinese", "你好！我会记住的。再见。", "你好！再见。"),
    Case("answer without remarks", "Tea is  good. \n\n\n Bye. "),
    Case("other spacing stays", f"A.   B. \n\n\n\nC.\n\n{REMARK}", "A.   B. \n\n\n\nC."),
    Case("fence", f"Code:\n```\n{REMARK}\n```\nDone."),
    Case("longer fence", f"````md\n```\n{REMARK}\n```\n{REMARK}\n````\nDone."),
    Case("tildes", f"~~~\n{REMARK}\n```\n{REMARK}\n~~~\nDone."),
    Case("fence with an opening in it", f"```\n``` x\n{REMARK}\n```\nDone."),
    Case("open fence", f"Hi.\n```\n{REMARK}"),
    Case("after a fence", f"```\n{REMARK}\n```\n{REMARK}", f"```\n{REMARK}\n```"),
    Case("inline code", f"Print `Hi. {REMARK} Bye.` here."),
    Case("quote", f"> Hi.\n> {REMARK}\n\nBye."),
    Case("lazy quote", f"> Hi.\n{REMARK}\n\nBye."),
    Case("continued item", f"- Hi.\n  {REMARK}\n\nBye."),
    Case("after a list", f"- Hi.\n\n{REMARK}", "- Hi."),
    Case("straight quotes", f'She said: "Hi. {REMARK} Bye."'),
    Case("quotes over lines", f'"Hi.\n{REMARK}\nBye," she said.'),
    Case("after a quote", f'"Hi." {REMARK}', '"Hi."'),
    Case("typographic quotes", f"“Hi. {REMARK} Bye.”"),
    Case("German quotes", "„Hallo. Das merke ich mir. Bis dann.“"),
    Case("French quotes", "« Oui. Je m'en souviendrai. Merci. »"),
    Case("Japanese quotes", "「はい。覚えておきます。では。」"),
    Case("single quotes", f"'Hi. {REMARK} Bye.'"),
    Case("apostrophe", f"It's done. {REMARK}", "It's done."),
    Case("odd mark further up", f'A 5" disk.\n\n{REMARK}', 'A 5" disk.'),
    Case("after a colon", f"That means in English:\n\n{REMARK}"),
    Case("after an emphasised colon", f"**In English:**\n{REMARK}"),
    Case("further below a colon", f"For example:\n- tea\n\n{REMARK}", "For example:\n- tea"),
    Case("draft between rules", f"---\nDear Ann,\n\n{REMARK}\n\n---\nMore?"),
    Case("below a rule", f"Hi.\n\n---\n{REMARK}", "Hi.\n\n---"),
    Case("reasoning", f'<details type="reasoning">\n{REMARK}\n</details>\nHi.'),
    Case(
        "after reasoning",
        f"<think>\n{REMARK}\n</think>\nHi. {REMARK}",
        f"<think>\n{REMARK}\n</think>\nHi.",
    ),
    Case("tag in a line", f"<code>x</code> Hi. {REMARK}"),
    Case("half emphasised", f"**Hi. {REMARK}**"),
    Case("too long to be one", f"Thanks for {'so ' * 60}much, I'll remember that. Bye."),
]


@over("case", CASES)
def test_text(case: Case) -> None:
    """Only whole remarks go, with one of the blank lines around them, and never all of a text."""
    assert text_without_remarks(case.text) == (case.text if case.left is None else case.left)


def test_same_objects() -> None:
    """A message in which nothing changes is the same object, and the others are copies."""
    messages = [
        {"role": "system", "content": f"Be kind. {REMARK}"},
        {"role": "user", "content": f"Hi. {REMARK}"},
        {"role": "assistant", "content": "Here is tea."},
        {"role": "tool", "content": f"Hi. {REMARK}"},
        {"role": "assistant", "content": f"Hi. {REMARK}", "id": "a"},
        {"role": "user", "content": "And now?"},
        {"role": "assistant", "content": f"Hi. {REMARK}"},
    ]
    before = copy.deepcopy(messages)
    after = without_memory_comments(messages)
    assert messages == before
    assert after[4] == {"role": "assistant", "content": "Hi.", "id": "a"}
    kept = [at for at in range(len(messages)) if at != 4]
    assert all(after[at] is messages[at] for at in kept)


def test_parts() -> None:
    """Texts in lists of parts are cleaned, each part by itself, and no part becomes empty."""
    image = {"type": "image_url", "image_url": {"url": f"data:,{REMARK}"}}
    parts = [{"type": "text", "text": f"Hi. {REMARK}"}, image, {"type": "text", "text": REMARK}]
    messages = answered(parts)
    after = without_memory_comments(messages)
    assert after[1]["content"] == [{"type": "text", "text": "Hi."}, *parts[1:]]
    assert after[1]["content"][1] is image
    assert parts[0]["text"] == f"Hi. {REMARK}"


@over(
    "content",
    [None, "", [], {}, 5, [REMARK, 5, {"text": 5}, {"type": "x", "text": f"Hi. {REMARK}"}], REMARK],
)
def test_nothing_to_change(content: Any) -> None:
    """Contents of other shapes, and one that says nothing else, are left as they are."""
    messages = answered(content)
    assert without_memory_comments(messages)[1] is messages[1]


def test_without_user_message() -> None:
    """Where nobody has asked anything there is no earlier answer."""
    messages = [{"role": "assistant", "content": f"Hi. {REMARK}"}]
    assert without_memory_comments(messages)[0] is messages[0]
    assert without_memory_comments([]) == []


PIECES = [
    *REMARKS[::9],
    *NEAR_MISSES[::9],
    "\n",
    "\n\n",
    " ",
    "```\n",
    '"',
    "- ",
    "> ",
    "Tea. ",
    ":",
]
any_text = st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@settings(deadline=None)
@given(any_text)
def test_only_shorter(text: str) -> None:
    """What is left is in the text in the same order, is not empty, and does not change again."""
    left = text_without_remarks(text)
    rest = iter(text)
    assert all(character in rest for character in left)
    assert bool(left.strip()) == bool(text.strip())
    if left == text:
        assert text_without_remarks(left) == left


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["Tea. ", "Hi!\n", "\n", "> a\n", "`b` ", "Memory. "]), max_size=12)
)
def test_other_texts_stay(pieces: list[str]) -> None:
    """A text without any remark stays to the byte."""
    text = "".join(pieces)
    assert text_without_remarks(text) is text or text_without_remarks(text) == text


PATHOLOGICAL = [
    "!" * 200_000 + "x memory",
    ". " * 100_000 + "memory",
    ".)" * 100_000 + "memory",
    "." + ")" * 200_000 + "memory",
    "!😊" * 60_000 + "memory",
    "." + " 😊" * 60_000 + "memory",
    "." + " " * 200_000 + "memory",
    "<details>\n" * 20_000 + "memory",
    "<details> </details>" * 10_000 + "memory",
    "```\n" * 50_000 + "memory",
    "---\n" * 50_000 + "memory",
    "- " * 100_000 + "memory",
    "* * " * 50_000 + "memory",
    "memory\n" * 30_000,
    "memory. " * 25_000,
    "ok, " * 50_000 + "I'll remember that.",
    "I'll remember that. " * 10_000,
    "I'll remember that.\n\n" * 10_000,
    "“" * 200_000 + "memory",
    " '" * 100_000 + "memory",
    "记" * 200_000,
    "记。" * 100_000,
]


@pytest.mark.timeout(120)
@over("text", PATHOLOGICAL)
def test_linear_time(text: str) -> None:
    """100,000 signs of anything are read in no time."""
    assert text_without_remarks(f"Tea.\n\n{text[:100_000]} memory").startswith("Tea.")
