"""Carrying memories away and bringing them in: our own file, and lists of other assistants."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adaptive.control.entries import about_user
from adaptive.control.transfer import ExportFile, exported, read_import
from adaptive.core.marks import CATEGORIES
from adaptive.core.model import Draft, Memory, NewMemory, Provenance
from adaptive.search.tokens import comparable
from tests.conftest import PROJECT
from tests.rates import Rate, labelled_set, rate

NOW = 1_795_456_800.0  # 2026-11-23, 18:00
MINT = "With Dr. Ö. at the U.S. mint."
SCHEMA = PROJECT / "docs" / "export.schema.json"
FORMER = {
    "content": "User likes coffee",
    "said_at": 1_700_000_000,
    "until": 1_714_600_000,
}
TEA = Memory(
    "row-1",
    *(
        "User likes tea ☕",
        1_714_600_001,
        5,
        ("preference",),
        "Personal",
        0.9,
        7,
    ),
    until="2027-01-31",
    meta={
        "user_id": "user-1",
        "chat_id": "chat-1",
        "said_at": 1_714_600_000,
        "history": [FORMER],
    },
)

words = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
contents = st.lists(words, min_size=1, max_size=5).map(" ".join)
times = st.integers(1, int(NOW))
histories = st.lists(
    st.fixed_dictionaries(
        {"content": contents, "said_at": times, "until": times}
    ),
    max_size=3,
)
memories = st.builds(
    Memory,
    id=words,
    content=contents,
    created_at=times,
    updated_at=times,
    tags=st.lists(st.sampled_from(CATEGORIES), unique=True).map(tuple),
    bank=st.sampled_from(("", "Work")),
    confidence=st.floats(0, 1),
    importance=st.integers(1, 10),
    until=st.dates().map(str) | st.just(""),
    meta=st.fixed_dictionaries(
        {"chat_id": words, "said_at": times, "history": histories}
    ),
)


def test_file_says_what_rows_say() -> None:
    """The file is readable, says where and when, and tells no id of a user or of a row."""
    text = exported(
        [TEA, Memory("row-2", "User\nis Jo", 1_714_700_000, 0)], NOW
    )
    file = json.loads(text)
    assert (file["adaptive_memory"], file["exported_at"]) == (
        1,
        "2026-11-23T18:00:00Z",
    )
    newest, oldest = file["memories"]
    assert newest["content"] == "User is Jo"
    assert "until" not in newest
    assert oldest["said_at"] == "2024-05-01T21:46:40Z"
    assert oldest["history"] == [FORMER]
    assert "☕" in text
    assert "user-1" not in text
    assert "row-1" not in text


def test_what_others_wrote_is_carried_away() -> None:
    """Contents that an import would refuse are in the file as they stand, but for line breaks."""
    written = ["x" * 4001, "", "...", "<name>", "A\nB"]
    rows = [
        Memory(str(n), text, 1_714_700_000 + n, 0)
        for n, text in enumerate(written)
    ]
    told = [
        one["content"] for one in json.loads(exported(rows, NOW))["memories"]
    ]
    assert told == ["A B", *reversed(written[:-1])]


@given(
    st.lists(
        memories, max_size=5, unique_by=lambda one: comparable(one.content)
    )
)
@example([TEA])
def test_file_is_read_as_it_was_written(rows: list[Memory]) -> None:
    """Text, tags, figures, dates and former contents come back, in whatever order."""
    read = read_import(exported(rows, NOW))
    assert len(read.unread) == 0
    for one in rows:
        back = next(
            carried
            for carried in read.memories
            if carried.content == one.content
        )
        labels = (
            one.content,
            one.tags,
            one.bank,
            one.confidence,
            one.importance,
        )
        written = back.new_memory(NOW)
        assert written.draft == Draft(*labels, one.until)
        where = (
            one.meta["chat_id"],
            one.meta.get("message_id", ""),
            one.meta["said_at"],
        )
        assert written.source == Provenance(*where)
        assert written.extra.get("history", []) == one.meta["history"]


def test_schema_in_the_docs() -> None:
    """It is the file's; write it anew with what this compares it with."""
    now = json.dumps(ExportFile.model_json_schema(), indent=2) + "\n"
    assert SCHEMA.read_text(encoding="utf-8") == now


def test_one_bad_entry_spoils_nothing() -> None:
    """A field that is unusable has its default, an entry is left out and counted."""
    odd = {
        "content": " Likes\x00\ntea ",
        "importance": 99,
        "confidence": -1,
        "until": "soon",
    }
    odd |= {
        "tags": ["a", "b\x00"],
        "said_at": 1e300,
        "history": [3],
        "chat_id": {},
        "more": [1],
    }
    entries = [
        odd,
        "Likes tea",
        "is Jo",
        7,
        {"other": {"x": 1}},
        {"content": " … "},
        "x" * 4001,
    ]
    for text in (
        json.dumps(entries),
        f"```json\n{json.dumps({'memories': entries})}\n```",
    ):
        read = read_import(text)
        assert [one.content for one in read.memories] == ["Likes tea", "is Jo"]
        assert len(read.unread) == 4
        assert read.memories[0].new_memory(5.0) == NewMemory(
            Draft("Likes tea", ("a", "b")),
            Provenance("", "", 5),
            {"imported": True},
        )
    assert read_import(exported([TEA], NOW)[:-9]).unread, (
        "a cut file is no list"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "- A b\n* “C d”\n1. [x] E f\n\n2) 'G h'\n• a B.\n---\n– **I:** j",
            "A b|C d|E f|G h|I: j",
        ),
        (
            "1. [2024-05-02]. A b.\n[unknown] - C d\n2024-05-02: E f",
            "A b.|C d|E f",
        ),
        (
            "A tea\n\nB tea\n\n2024-05-02 is X\n\nUser's tea",
            "A tea|B tea|2024-05-02 is X|User's tea",
        ),
        ("```\n# 1. Who\n\n[2024-05-02] - A\n[unknown] - B\n```", "A|B"),
        (
            "=== ALL ===\n## WHO\n- A\n**Work**\n\nB.\n\n*Then*\nTools:\n- C",
            "A|B.|C",
        ),
        (
            "Work:\n\n" + "With Dr. Ö. at the U.S. mint. " * 11 + "Sings.",
            f"{MINT}|Sings.",
        ),
        ("- " + f"{MINT} " * 11, " ".join([MINT] * 11)),
    ],
)
def test_lists_of_other_assistants(text: str, expected: str) -> None:
    """Marks, dates, headings and talk go; short notes stay; long prose becomes its sentences."""
    assert [
        one.content for one in read_import(text).memories
    ] == expected.split("|")


def test_dates_become_the_time() -> None:
    """A day at an entry's head is when it was said, if that is not in the future."""
    read = read_import(
        "[2024/05/02] - A\n[2031-01-01] B\n[0001-01-01T00:00:00+23:59] C"
    ).memories
    assert [one.new_memory(NOW).source.said_at for one in read] == [
        1_714_608_000,
        int(NOW),
        int(NOW),
    ]
    late = read_import(
        '["A", {"content": "B", "said_at": "9999-12-31T23:59:59-23:00"}]'
    ).memories
    assert [one.said_at for one in late] == [None, None]


@given(
    st.text()
    | st.recursive(st.none() | st.text() | st.floats(), st.lists).map(
        json.dumps
    )
)
@example("[" * 100_000)
@example('{"a":' * 100_000)
@example('[{"memories":' * 400 + '["A"]' + "}]" * 400)
@example("[" * 980 + '"A"' + "]" * 980)
@example("*" * 50_000 + "\n#" * 50_000 + " - " * 50_000 + "`" * 50_000)
@example("\n".join(f"- fact {one}" for one in range(10_100)))
@example("[unknown" * 20_000 + "**a" * 20_000 + "> " * 50_000 + "'" * 50_000)
def test_any_text_is_read(text: str) -> None:
    """Nothing raises or takes long, and each memory is a line that can be stored."""
    started = time.process_time()
    read = read_import(text)
    assert len(read.memories) <= 5000
    assert all(
        0 < len(one.content) <= 4000 and "\n" not in one.content
        for one in read.memories
    )
    assert time.process_time() - started < 2


def test_lines_of_other_systems() -> None:
    """Whatever ends its lines, a text holds the same."""
    for form in labelled_set("exports"):
        text = form["text"]
        assert read_import(text.replace("\n", "\r\n")) == read_import(text)


@pytest.mark.parametrize("content", ["5", "null", "{}", "[1, 2]", "true"])
def test_entry_without_a_text(content: str) -> None:
    """An entry whose text is none is unread: none of its other fields is a memory."""
    read = read_import(
        f'[{{"id": "3f", "memory": {content}, "hash": "9a"}}, {{"memory": "A"}}]'
    )
    assert [one.content for one in read.memories] == ["A"]
    assert len(read.unread) == 1


@pytest.mark.parametrize("cut", range(30, 120, 10))
def test_cut_json_behind_talk(cut: int) -> None:
    """JSON that is cut is one thing that could not be read, also where talk stands before it."""
    file = json.dumps([{"content": "Likes tea"}] * 5, indent=1)
    read = read_import(f"Here is what I know:\n{file[:cut]}")
    assert read.memories == ()
    assert len(read.unread) == 1
    assert read.unread[0].startswith("[")


def test_exports_of_others() -> None:
    """What assistants and memory servers give away is read, and little else, with its dates."""
    entries = Rate()
    wrongly = Rate()
    for form in labelled_set("exports"):
        read = read_import(form["text"])
        said = {
            memory.content: str(memory.said_at or memory.created_at)[:10]
            for memory in read.memories
        }
        for content in form["memories"]:
            with entries.trying(f"{form['form']}: {content}"):
                assert content in said
        for content in said:
            with wrongly.trying(f"{form['form']}: {content}"):
                assert content in form["memories"]
        for content, day in form.get("days", {}).items():
            with entries.trying(f"{form['form']}: day of {content}"):
                assert said.get(content) == day
        with entries.trying(f"{form['form']}: what is no memory"):
            assert len(read.unread) == form["unread"]
    entries.at_least(0.98)
    wrongly.at_least(0.99)


def test_sentences_to_the_user_become_about_them() -> None:
    """English in the second and first person is about the user then; other languages stay."""
    rate(
        labelled_set("third_person"),
        lambda case: about_user(case["sentence"]) == case["about_user"],
    ).at_least(0.95)


def test_unread_is_told() -> None:
    """What could not be read is counted, with its beginning."""
    told = read_import(
        '[{"content": "Likes tea"}, 7, {"x": {"y": 1}}]'
    ).told_unread
    assert told == "2 could not be read, the first: 7"
    assert not read_import("- Likes tea").told_unread
