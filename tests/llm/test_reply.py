"""Model replies as text: what is whole is read to the letter, nothing half ever is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from adaptive.core.errors import ReplyUnusable
from adaptive.core.model import Completion
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


@dataclass(frozen=True)
class Case:
    """A reply, its items, and whether its end is missing."""

    id: str
    reply: str
    items: list[Any]
    ends: bool = False
    cut: bool = False


CASES = [
    Case("form", WHOLE, [A, B]),
    Case("bare list", BARE, [A, B]),
    Case("single item", json.dumps(A), [A]),
    Case("item in place of the list", json.dumps({KEY: A}), [A]),
    Case("nothing", '{"operations": []}', []),
    Case("empty list", "Nothing to keep: []", []),
    Case("items in a row", f"{json.dumps(A)}\n{json.dumps(B)}", [A, B]),
    Case("fence", f"I found [2] {{see}}:\n```json\n{WHOLE}\n```\nDone [1].", [A, B]),
    Case("fence never closed", f"```json\n{WHOLE}", [A, B]),
    Case("reasoning", f"<think>maybe {BARE}? [no]</think>\n{WHOLE}", [A, B]),
    Case("reasoning without opening", f"Let me see {BARE}. </think> {WHOLE}", [A, B]),
    Case("reasoning after it", f"{WHOLE}<think>or {BARE}", [A, B]),
    Case("wrapper", json.dumps({"result": {KEY: [A]}}), [A]),
    Case("text in a wrapper", json.dumps({"arguments": WHOLE}), [A, B]),
    Case("single quotes", repr({KEY: [A, {**B, "note": None}]}), [A, {**B, "note": None}]),
    Case("commas and comments", WHOLE.replace("}]", "}, // end\n]"), [A, B]),
    Case("the same list again", f"{WHOLE}\nIn short:\n{WHOLE}", [A, B]),
    Case("no object", '{"operations": [1, "x"]}', [1, "x"]),
    Case("in the second item", f'{{"operations": [{json.dumps(A)}, {HALF}', [A], ends=True),
    Case("in a bare list", f"[{json.dumps(A)}, {HALF}", [A], ends=True),
    Case("in a wrapper", f'{{"result": {{"operations": [{json.dumps(A)}, {HALF}', [A], ends=True),
    Case("before the last brace", WHOLE[:-1], [A, B]),
    Case("limit after the end", WHOLE, [A, B], cut=True),
    Case("limit between items", json.dumps(A), [A], ends=True, cut=True),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_read(case: Case) -> None:
    """Every shape in which models answer is understood, and it is told if the end is missing."""
    found = read(case.reply, cut=case.cut)
    assert (found.items, found.cut) == (case.items, case.ends)


UNUSABLE = [
    ("", "is empty"),
    ("<think>I should answer {", "only reasoned"),
    (f"maybe {WHOLE}</think>", "only reasoned"),
    ("There is nothing to remember.", "no usable JSON"),
    ("I keep [] of it and {} of that, sorry.", "no usable JSON"),
    ('["User likes tea."]', "no usable JSON"),
    ('{"rejected": [{"operation": "NEW"}]}', "no usable JSON"),
    ('[{"operation": "NEW", "content": "Says "hi" often"}]', "no usable JSON"),
    ('[{"operation": "NEW", "content": "Posts under "#tea"\n}]', "no usable JSON"),
    ("[{'operation': 'NEW', 'content': 'Writes 'the dogs', often'}]", "no usable JSON"),
    (f'{{"operation": "NEW", "content": "Wrote {WHOLE} once"}}', "no usable JSON"),
    (f'{{"operations": {HALF}', "ends in the middle"),
    ('{"operation": "NEW", "content": "a", "tags": ["x"]', "ends in the middle"),
    (f'{{"operations": [{{"operation": "NEW", "parts": [{json.dumps(B)}', "ends in the middle"),
    (f"{WHOLE} or rather {json.dumps([A])}", "several answers that differ"),
    ("[" + "x" * 256 * 1024, "far too long"),
]


@pytest.mark.parametrize("cut", [False, True], ids=["unreported", "reported"])
@pytest.mark.parametrize(("reply", "reason"), UNUSABLE, ids=lambda value: value[:30])
def test_unusable(reply: str, reason: str, cut: bool) -> None:
    """A reply without items, with half an item only or in broken quotes says why, in words."""
    with pytest.raises(ReplyUnusable) as raised:
        read(reply, cut=cut)
    assert reason in str(raised.value) or (cut and "ends in the middle" in str(raised.value))


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
@pytest.mark.parametrize("frame", ["{}", "```json\n{}\n```", "<think>hm</think>{}", "So: {}"])
def test_marks_in_a_fact_belong_to_it(content: str, frame: str) -> None:
    """A fact that speaks of fences, tags or brackets arrives as it was said."""
    item = {**A, "content": content}
    assert read(frame.format(json.dumps({KEY: [item]}))).items == [item]


PATHOLOGICAL = [
    "[" * 100_000,
    '{"a":' * 40_000,
    "```json" + "\n" * 100_000,
    "<think>" + "</think" * 28_000,
    "<details type=" * 10_000,
    "{a: " * 60_000,
    '{"operations": [' + '{"id": "a" "b": 1}, ' * 10_000 + "]}",
    '{"operations": [{"operation": "NEW"}]} or ' * 6_000,
    '{"operations": "' * 15_000,
    '{"operations": [{"id": ' + "9" * 100_000 + "}]}",
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("cut", [False, True], ids=["unreported", "reported"])
@pytest.mark.parametrize("reply", PATHOLOGICAL, ids=lambda text: f"{text[:12]!r}-{len(text)}")
def test_linear_time(reply: str, cut: bool) -> None:
    """200 kB of brackets, fences, quotes or tags are read, or refused, in no time."""
    try:
        read(reply, cut=cut)
    except ReplyUnusable as error:
        assert str(error)
