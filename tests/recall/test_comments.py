"""Remarks on memory in earlier answers are taken out, and nothing else is."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.recall.comments import text_without_remarks, without_memory_comments
from tests.rates import labelled_set, over

SENTENCES = labelled_set("remarks_on_memory")
REMARKS = [one["sentence"] for one in SENTENCES if one["remark"]]
NEAR_MISSES = [one["sentence"] for one in SENTENCES if not one["remark"]]
REMARK = "I've updated my memory."


@over("remark", REMARKS, at_least=0.9)
@over("form", ["Here is tea.\n\n{}", "{}\n\nHere is tea.", "Here is tea. {}"], at_least=0.9)
def test_remarks(remark: str, form: str) -> None:
    """A remark goes at the end, at the beginning, and at the end of a paragraph."""
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
    Case("only remarks", f"{REMARK}\n\nI'll remember that."),
    Case("both ends", f"Got it, I'll remember that. A.\n\nB.\n\n{REMARK}", "A.\n\nB."),
    Case("two sentences", f"Hi. {REMARK} I'll remember that.", "Hi."),
    Case("emoji behind", "I'll remember that! 😊 What next?", "😊 What next?"),
    Case("emoji of the sentence before", f"Great! {REMARK} 😊", "Great!"),
    Case("no space in Chinese", "我会记住的。再见。", "再见。"),
    Case("spacing stays", f"A.   B. \n\n\n\nC.\n\n{REMARK}\n", "A.   B. \n\n\n\nC."),
    Case("within an answer", f"Hi.\n\n{REMARK}\n\nBye."),
    Case("open fence", f"Hi.\n```\n{REMARK}"),
    Case("after a fence", f"```\nx\n```\n{REMARK}", "```\nx\n```"),
    Case("lazy quote", f"> Hi.\n> {REMARK}"),
    Case("continued item", f"- Hi.\n  {REMARK}"),
    Case("after a list", f"- Hi.\n\n{REMARK}", "- Hi."),
    Case("straight quotes", f'She said: "Hi. {REMARK}"'),
    Case("German quotes", "„Hallo. Das merke ich mir.“"),
    Case("after a quote", f'"Hi." {REMARK}', '"Hi."'),
    Case("after a colon", f"That means in English:\n\n{REMARK}"),
    Case("after an emphasised colon", f"**In English:**\n{REMARK}"),
    Case("draft between rules", f"---\nDear Ann,\n\n{REMARK}\n\n---\nMore?"),
    Case("too long to be one", f"Thanks{', thanks' * 60}, I'll remember that. Bye."),
]


@over("case", CASES)
def test_text(case: Case) -> None:
    """Only whole remarks that open or close an answer go, and never all of a text."""
    assert text_without_remarks(case.text) == (case.text if case.left is None else case.left)


def test_same_objects() -> None:
    """Only answers before the newest message are cleaned, in copies; the rest is untouched."""
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
    assert without_memory_comments([]) == []


PIECES = [*REMARKS[::9], *NEAR_MISSES[::9], "\n", "\n\n", " ", "```\n", '"', "- ", "Tea. ", ":"]
any_text = st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@settings(deadline=None)
@given(any_text)
def test_only_shorter(text: str) -> None:
    """What is left is a part of the text in the same order, and is not empty."""
    left = text_without_remarks(text)
    rest = iter(text)
    assert all(character in rest for character in left)
    assert bool(left.strip()) == bool(text.strip())
