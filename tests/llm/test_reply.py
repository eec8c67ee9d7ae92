"""Model replies as text: what is whole is read to the letter, nothing half ever is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from adaptive.core.model import with_detail
from adaptive.core.providers import Completion, ReplyUnusable
from adaptive.llm.reply import ReplyItems, read_items

KEY = "operations"
A = {"operation": "NEW", "content": "User likes tea."}
B = {"operation": "DELETE", "id": "m-1"}
WHOLE = json.dumps({KEY: [A, B]})
BARE = json.dumps([A, B])
HALF = '{"operation": "NEW", "content": "User lives in Lis'


def has_operation(fields: Mapping[str, Any]) -> bool:
    """Whether an object is an item wherever it stands."""
    return "operation" in fields


def read(text: str, *, cut: bool = False) -> ReplyItems:
    """What a reply holds; ``cut`` if the provider reported the token limit."""
    return read_items(Completion(text, cut), KEY, has_operation)


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        (WHOLE, [A, B]),
        (BARE, [A, B]),
        (json.dumps(A), [A]),
        (json.dumps({KEY: A}), [A]),
        ("Nothing to keep: []", []),
        (f"{json.dumps(A)}\n{json.dumps(B)}", [A, B]),
        (f"I found [2] {{see}}:\n```json\n{WHOLE}\n```\nDone [1].", [A, B]),
        (f"<think>maybe {BARE}? [no]</think>\n{WHOLE}", [A, B]),
        (f"Let me see {BARE}. </think> {WHOLE}", [A, B]),
        (json.dumps({"result": {KEY: [A]}}), [A]),
        (json.dumps({"arguments": WHOLE}), [A, B]),
        ('{"operations": [1, "x"]}', [1, "x"]),
        (WHOLE[:-1], [A, B]),
    ],
)
def test_what_is_read(reply: str, items: list[Any]) -> None:
    """Every shape in which models answer is understood."""
    found = read(reply)
    assert (found.items, found.cut) == (items, False)


def test_cut() -> None:
    """Of a reply that ends too early the whole items are read, and it is told."""
    for before in (
        f'{{"operations": [{json.dumps(A)}, ',
        f"[{json.dumps(A)}, ",
    ):
        assert read(before + HALF) == ReplyItems([A], cut=True)
    assert read(WHOLE, cut=True) == ReplyItems([A, B], cut=False)
    assert read(json.dumps(A), cut=True) == ReplyItems(
        [A], listed=False, cut=True
    )


UNUSABLE = [
    ("", "is empty"),
    (f"maybe {WHOLE}</think>", "only reasoned"),
    ("There is nothing to remember.", "no JSON of this form"),
    ('{"rejected": [{"operation": "NEW"}]}', "no JSON of this form"),
    (
        '[{"operation": "NEW", "content": "Says "hi" often"}]',
        "no JSON of this form",
    ),
    (
        f'{{"operation": "NEW", "content": "Wrote {WHOLE} once"}}',
        "no JSON of this form",
    ),
    (f'{{"operations": {HALF}', "ends in the middle"),
    (
        f'{{"operations": [{{"operation": "NEW", "parts": [{json.dumps(B)}',
        "ends in the middle",
    ),
    (repr({KEY: [A, {**B, "note": None}]}), "no JSON of this form"),
    (WHOLE.replace("}]", "}, // end\n]"), "no JSON of this form"),
    (f"{WHOLE} or rather {json.dumps([A])}", "several answers that differ"),
    ("[" + "x" * 256 * 1024, "far too long"),
]


@pytest.mark.parametrize("cut", [False, True], ids=["unreported", "reported"])
@pytest.mark.parametrize(
    ("reply", "reason"), UNUSABLE, ids=lambda value: value[:30]
)
def test_unusable(reply: str, reason: str, cut: bool) -> None:
    """A reply without items, with half an item only or in broken quotes says why, in words."""
    with pytest.raises(ReplyUnusable) as raised:
        read(reply, cut=cut)
    told = with_detail(raised.value)
    assert reason in told or (cut and "ends in the middle" in told)


@pytest.mark.parametrize(
    "content",
    [
        "Prefers ```python``` blocks",
        "Writes <think>x</think> around thoughts",
        "Uses {braces} and [brackets]",
        'Says "hello" and {"operations": []}',
        "Uses \\ and \u2028 and \ud800",
        "Asks // why, # how, and None",
    ],
)
@pytest.mark.parametrize(
    "frame", ["{}", "```json\n{}\n```", "<think>hm</think>{}", "So: {}"]
)
def test_marks_in_a_fact_belong_to_it(content: str, frame: str) -> None:
    """A fact that speaks of fences, tags or brackets arrives as it was said."""
    item = {**A, "content": content}
    assert read(frame.format(json.dumps({KEY: [item]}))).items == [item]


PATHOLOGICAL = [
    "[" * 100_000,
    "```json" + "\n" * 100_000,
    "<think>" + "</think" * 28_000,
    '{"operations": [' + '{"id": "a" "b": 1}, ' * 10_000 + "]}",
    '{"operations": [{"operation": "NEW"}]} or ' * 6_000,
    '{"operations": [{"id": ' + "9" * 100_000 + "}]}",
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("cut", [False, True], ids=["unreported", "reported"])
@pytest.mark.parametrize(
    "reply", PATHOLOGICAL, ids=lambda text: f"{text[:12]!r}-{len(text)}"
)
def test_linear_time(reply: str, cut: bool) -> None:
    """200 kB of brackets, fences, quotes or tags are read, or refused, in no time."""
    try:
        read(reply, cut=cut)
    except ReplyUnusable as error:
        assert str(error)
