"""Items out of a model's reply: every usable shape, no half item, no other exception."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.errors import ReplyUnusable
from adaptive.llm.envelope import ReplyForm
from adaptive.llm.reply import ReplyItems, read_reply, reply_items
from tests.rates import over

KEY = "operations"
A = {"operation": "NEW", "content": "User likes tea.", "tags": ["preference"]}
B = {"operation": "DELETE", "id": "m-1"}
WHOLE = json.dumps({KEY: [A, B]})
BARE = json.dumps([A, B])


@dataclass(frozen=True)
class Case:
    """A reply and its items; with ``cut`` the provider says that it hit the token limit."""

    id: str
    reply: str
    items: list[Any]
    cut: bool = False


STRICT = [
    Case("object", WHOLE, [A, B]),
    Case("indented", json.dumps({KEY: [A, B]}, indent=2), [A, B]),
    Case("list", BARE, [A, B]),
    Case("single item", json.dumps(A), [A]),
    Case("item without list", json.dumps({KEY: A}), [A]),
    Case("other keys first", json.dumps({"thoughts": "x", KEY: [A]}), [A]),
    Case("nothing", '{"operations": []}', []),
    Case("empty list", "[]", []),
    Case("fenced", f"```json\n{WHOLE}\n```", [A, B]),
    Case("fenced, no language", f"```\n{BARE}\n```", [A, B]),
    Case("fenced on one line", f"```json {WHOLE}```", [A, B]),
    Case("fenced, never closed", f"```json\n{WHOLE}", [A, B]),
    Case("prose around", f"Here you are:\n{WHOLE}\nAnything else?", [A, B]),
    Case(
        "prose and fence", f"I found [2] facts {{see}}:\n```json\n{WHOLE}\n```\nDone [1].", [A, B]
    ),
    Case("prose with a list", f"Of [1, 2] and {{}} I keep: {BARE}", [A, B]),
    Case("reasoning", f"<think>maybe {BARE}? [no]</think>\n{WHOLE}", [A, B]),
    Case("two reasonings", f"<think>a</think><reasoning>b</reasoning>{WHOLE}", [A, B]),
    Case("reasoning without opening", f"Let me see {{}}. </think> {WHOLE}", [A, B]),
    Case("reasoning in prose", f"Sure. <thinking>{BARE}</thinking> {json.dumps([B])}", [B]),
    Case("capitals", f"<THINK>x</Think>{WHOLE}", [A, B]),
    Case("byte order mark", "\ufeff" + WHOLE, [A, B]),
    Case("text after it", WHOLE + "</s>", [A, B]),
    Case("the whole before the limit", WHOLE, [A, B], cut=True),
    Case("item that is no object", '{"operations": [1, "x"]}', [1, "x"]),
]


@over("case", STRICT)
def test_shapes(case: Case) -> None:
    """Every shape in which models answer is understood."""
    assert reply_items(case.reply, KEY, cut=case.cut) == case.items


@over(
    "content",
    [
        "Prefers ```python``` blocks",
        "Writes <think>x</think> around thoughts",
        "Closes with </think>",
        "Uses {braces} and [brackets]",
        'Says "hello" and {"operations": []}',
        "Wrote ```json\n[]\n``` once",
        "Uses \\ and \u2028 and \ud800",
        "x [{",
    ],
)
@over("frame", ["{}", "```json\n{}\n```", "<think>hm</think>{}"])
def test_marks_in_a_fact_belong_to_it(content: str, frame: str) -> None:
    """A fact that speaks of fences, tags or brackets arrives as it was said."""
    item = {**A, "content": content}
    assert reply_items(frame.format(json.dumps({KEY: [item]})), KEY) == [item]


HALF = '{"operation": "NEW", "content": "User lives in Lis'

ENDED = [
    Case("object", f'{{"operations": [{json.dumps(A)}, {HALF}', [A]),
    Case("list", f"[{json.dumps(A)}, {HALF}", [A]),
    Case("after a comma", f'{{"operations": [{json.dumps(A)},', [A]),
    Case("list not closed", f'{{"operations": [{json.dumps(A)}', [A]),
    Case("object not closed", f'{{"operations": [{json.dumps(A)}]', [A]),
    Case("nothing, not closed", '{"operations": []', []),
    Case("in a fence", f'```json\n{{"operations": [{json.dumps(A)}, {HALF}', [A]),
    Case("after prose", f'I found [2] facts: {{"operations": [{json.dumps(A)}, {HALF}', [A]),
    Case("after reasoning", f"<think>[{{</think>[{json.dumps(A)}, {HALF}", [A]),
    Case("after another field", f'{{"note": "x", "operations": [{json.dumps(A)}, {HALF}', [A]),
    Case("after prose with a bracket", f'See [here: {{"operations": [{json.dumps(A)}, {HALF}', [A]),
]


@over("cut", [False, True])
@over("case", ENDED)
def test_what_is_whole_of_a_cut_reply(case: Case, cut: bool) -> None:
    """Of a reply that ends in the middle the whole items are kept, the half one never."""
    assert reply_items(case.reply, KEY, cut=cut) == case.items


NOTHING_WHOLE = [
    HALF,
    f'{{"operations": {HALF}',
    f'{{"operations": [{HALF}',
    f"[{HALF}",
    f"```json\n{HALF}",
    '{"operations": [',
    '{"operations":',
    '{"operat',
    "{",
    "[",
    '[{"operation": "NEW", "content": "User is 1.8 m", "confidence": 0.',
    '[{"operation": "NEW", "content": "a", "id": nul',
    '[{"operation": "NEW", "content": "a", "id": "\\u00',
    '[{"operation": "NEW", "content": "a", "importance": -',
]


@over("cut", [False, True])
@over("reply", NOTHING_WHOLE)
def test_cut_reply_without_a_whole_item(reply: str, cut: bool) -> None:
    """A cut reply that holds no whole item is no reply that says "nothing to remember"."""
    with pytest.raises(ReplyUnusable, match="ends in the middle"):
        reply_items(reply, KEY, cut=cut)


UNUSABLE = [
    ("", "is empty"),
    (" \n", "is empty"),
    ("<think>I should answer {", "only reasoned"),
    ("Sure! <think>and then", "only reasoned"),
    ("There is nothing to remember.", "in prose"),
    ("<think>[]</think>Nothing.", "only reasoned"),
    ("{}", "no usable JSON"),
    ("[1, 2]", "no usable JSON"),
    ('["User likes tea."]', "no usable JSON"),
    ('{"facts": []}', "no usable JSON"),
    ('{"operations": null}', "no usable JSON"),
    ('{"operations": "none"}', "no usable JSON"),
    ("{see below}", "no usable JSON"),
    (WHOLE.replace('"', '\\"', 5), "no usable JSON"),
    ("[" + " " * 256 * 1024, "longer than 256 kB"),
    (f"{WHOLE} or {json.dumps([A])}", "several answers that differ"),
]


@over("reply, reason", UNUSABLE)
def test_unusable(reply: str, reason: str) -> None:
    """A reply without items says why."""
    with pytest.raises(ReplyUnusable, match=reason):
        reply_items(reply, KEY)


@pytest.mark.parametrize(
    "reply",
    ["Biscuit is a dog.", '[{"operation": "NEW", "content": "Biscuit', "{Biscuit}", '["Biscuit"]'],
)
def test_reasons_quote_nothing(reply: str) -> None:
    """The reason stands in the log and the status line, so it repeats nothing of the reply."""
    with pytest.raises(ReplyUnusable) as raised:
        reply_items(reply, KEY)
    assert "Biscuit" not in str(raised.value)


LOOSE = [
    Case("single quotes", "{'operations': [{'operation': 'DELETE', 'id': 'm-1'}]}", [B]),
    Case("bare names", '{operations: [{operation: "DELETE", id: "m-1"}]}', [B]),
    Case("trailing commas", '{"operations": [{"operation": "DELETE", "id": "m-1",},],}', [B]),
    Case("comments", '[/* one */ {"operation": "DELETE", "id": "m-1"} // end\n]', [B]),
    Case(
        "Python's words",
        '{"operations": [{"operation": "DELETE", "id": None}]}',
        [{"operation": "DELETE", "id": None}],
    ),
    Case(
        "in a fence", "```\n{'operations': [{'operation': 'DELETE', 'id': 'm-1'}]}\n```\nOK?", [B]
    ),
    Case("before prose", "[{'operation': 'DELETE', 'id': 'm-1'}]\n\nAnything else?", [B]),
    Case("reported cut", "[{'operation': 'DELETE', 'id': 'm-1'}]", [B], cut=True),
]


@over("installed", [True, False])
@over("case", LOOSE)
def test_nearly_json(case: Case, installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is almost JSON is read to the letter, whether json-repair can be imported or not."""
    if not installed:
        monkeypatch.setitem(sys.modules, "json_repair", None)
    assert reply_items(case.reply, KEY, cut=case.cut) == case.items


BROKEN = '[{"operation": "NEW", "content": "Says "hi" often"}]'


def test_repair() -> None:
    """With json-repair what is broken is read too, where its words prove to be the reply's."""
    assert reply_items(BROKEN, KEY) == [{"operation": "NEW", "content": 'Says "hi" often'}]


def test_without_json_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where json-repair can't be imported such a reply is refused, and the rest works as ever."""
    monkeypatch.setitem(sys.modules, "json_repair", None)
    with pytest.raises(ReplyUnusable, match="no usable JSON"):
        reply_items(BROKEN, KEY)
    assert reply_items(WHOLE, KEY) == [A, B]


@pytest.mark.parametrize(
    "reply",
    [
        "{'operations': [{'operation': 'NEW', 'content': 'User lives in Lis",
        "{'operations': [{'operation': 'NEW', 'content': 'User likes [x] and tra",
        '[{"operation": "NEW", "tags": ["a",], "content": "User lives in Lis',
    ],
)
def test_no_repair_of_a_half_item(reply: str) -> None:
    """A reply that is broken and ends in the middle is not made whole by closing a sentence."""
    with pytest.raises(ReplyUnusable, match="ends in the middle"):
        reply_items(reply, KEY)


def test_no_repair_of_a_reported_cut() -> None:
    """Where the provider says that it cut, nothing is repaired at all."""
    with pytest.raises(ReplyUnusable, match="ends in the middle"):
        reply_items(BROKEN, KEY, cut=True)


@dataclass(frozen=True)
class Loss:
    """A reply, and whether its end or a part of it is missing from what is taken."""

    id: str
    reply: str
    found: ReplyItems
    cut: bool = False


LOSSES = [
    Loss("none", WHOLE, ReplyItems([A, B])),
    Loss("the limit after the end", WHOLE, ReplyItems([A, B]), cut=True),
    Loss("the limit between lines", json.dumps(A), ReplyItems([A], cut=True), cut=True),
    Loss("the end", WHOLE[:-20], ReplyItems([A], cut=True)),
    Loss("the last brace", WHOLE[:-1], ReplyItems([A, B])),
    Loss(
        "an item",
        f"[{json.dumps(A)},\n{{oops}},\n{json.dumps(B)}]",
        ReplyItems([A, B], broken=True),
    ),
    Loss(
        "a line",
        f'{json.dumps(A)}\n{{"operation": oops oops}}\n{json.dumps(B)}',
        ReplyItems([A, B], broken=True),
    ),
    Loss("a remark", WHOLE[:-1] + ', "note": oops oops}', ReplyItems([A, B])),
    Loss("a try before", f"[{json.dumps(A)}, {{oops oops}}]\n\n{WHOLE}", ReplyItems([A, B])),
    Loss(
        "the prompt's form",
        f'[{{"operation": "NEW", "confidence": <0 to 1>}}]\n{WHOLE}',
        ReplyItems([A, B]),
    ),
]


@over("loss", LOSSES)
def test_what_is_missing(loss: Loss) -> None:
    """It is told whether the end of a reply, or a part of it, could not be taken."""
    form = ReplyForm(KEY, lambda fields: "operation" in fields)
    assert read_reply(loss.reply, form, cut=loss.cut) == loss.found


def test_other_key() -> None:
    """The key is the caller's: scores are read as operations are."""
    assert reply_items('{"scores": [{"id": "m-1", "score": 0.5}]}', "scores") == [
        {"id": "m-1", "score": 0.5}
    ]


MARKS = ("```", "```json\n", "<think>", "</think>", "[", "]", "{", "}", '"', "'", "\\", ":", ",")
WORDS = (
    " ",
    "\n",
    "tea",
    "0.",
    "-",
    "null",
    "tru",
    '{"operations": [',
    '[{"operation": "NEW"',
    "é",
)
noise = st.lists(st.sampled_from(MARKS + WORDS) | st.text(max_size=3), max_size=12).map("".join)

items = st.lists(
    st.fixed_dictionaries(
        {"operation": st.sampled_from(["NEW", "UPDATE", "DELETE"])},
        optional={
            "id": noise,
            "content": noise,
            "tags": st.lists(noise, max_size=2),
            "memory_bank": st.none() | noise,
            "confidence": st.floats(0, 1),
            "importance": st.integers(-100, 100),
            "kind": st.sampled_from(["FACT", "META", None]),
        },
    ),
    min_size=1,
    max_size=3,
)


@settings(deadline=None)
@given(noise | st.text() | st.binary().map(lambda raw: raw.decode("latin-1")), st.booleans())
def test_any_text(text: str, cut: bool) -> None:
    """Whatever a model says gives a list, or ``ReplyUnusable``, and never another exception."""
    try:
        assert isinstance(reply_items(text, KEY, cut=cut), list)
    except ReplyUnusable as error:
        assert str(error)


@settings(deadline=None)
@given(
    items,
    st.sampled_from(["{}", "[]", "{}[]", "```json\n{}\n```", "<think>a [b] {</think> {}"]),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_cut_anywhere(
    items: list[dict[str, Any]], frame: str, ascii_only: bool, indent: int | None
) -> None:
    """A valid reply cut at any place gives the first of its items, each as it was, or nothing."""
    value = items if "[]" in frame else {KEY: items}
    answer = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    mark = "[]" if frame == "[]" else "{}"
    reply = answer if frame in ("{}", "[]", "{}[]") else frame.replace(mark, answer)
    assert reply_items(reply, KEY) == items
    for end in range(len(reply)):
        for cut in (False, True):
            try:
                found = reply_items(reply[:end], KEY, cut=cut)
            except ReplyUnusable:
                continue
            assert found == items[: len(found)]


@settings(deadline=None)
@given(items.map(lambda several: several[0]), st.booleans())
def test_single_item_cut_anywhere(item: dict[str, Any], cut: bool) -> None:
    """A single item that is cut gives no item, wherever the end is."""
    reply = json.dumps(item)
    assert reply_items(reply, KEY, cut=cut) == [item]
    for end in range(len(reply)):
        with pytest.raises(ReplyUnusable):
            reply_items(reply[:end], KEY, cut=cut)


PATHOLOGICAL = [
    "[" * 5_000,
    "{" * 5_000,
    "[" * 200_000,
    "{" * 200_000,
    '{"a":' * 40_000,
    "[{" * 100_000,
    "```" * 50_000,
    "```" + " " * 200_000 + "x",
    "```json" + "\n" * 200_000,
    "<think>" * 28_000,
    "</think>" * 25_000,
    "<think></think>" * 13_000,
    "<think>" + "</think" * 28_000,
    "<details>" * 20_000,
    '"' * 200_000,
    '{"operations": ["' + '\\"' * 100_000,
    '{"operations": [{"content": "' + 'a "b" ' * 30_000 + '"}]}',
    '{"operations": [' + '{"id": "a"}, ' * 15_000,
    '{"operations": [' + '{"id" "a"}, ' * 15_000 + "]}",
    "{```" * 50_000 + "}",
    "{```" * 4_000 + "}",
    "{" * 16_000 + "}",
    " " * 200_000 + "{",
    "[" + " " * 200_000 + "{",
    "[] " * 80_000,
    "[]x" * 80_000,
    "['a" * 60_000,
    "{'a': '" * 30_000,
    "{“a”: “" * 30_000,
    "[#" * 100_000,
    "[/*" * 80_000,
    '["a" ' * 40_000,
    '{"a": {' * 30_000,
    "{a: " * 60_000,
    '\\"{' * 80_000,
    '{"operations": [' + '{"id": "a" "b": 1}, ' * 10_000 + "]}",
    '{"operations": [{"operation": "NEW"}]} or ' * 6_000,
    '{"operation": "NEW", "content": "x" y}\n' * 6_000,
    '{"operations": "' * 15_000,
    '{"result": ' * 20_000,
    "<" * 250_000,
    "[" * 10_000 + "]" * 10_000,
    '{"operations": [' + "[" * 10_000 + "]" * 10_000 + "]}",
    '{"operations": [{"id": ' + "9" * 200_000 + "}]}",
]


@pytest.mark.timeout(120)
@over("cut", [False, True])
@over("reply", PATHOLOGICAL)
def test_linear_time(reply: str, cut: bool) -> None:
    """200 kB of brackets, fences, quotes or tags are read, or refused, in no time."""
    try:
        reply_items(reply, KEY, cut=cut)
    except ReplyUnusable as error:
        assert str(error)
