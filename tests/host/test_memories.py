"""Rows of the host's memory table as memories, of any release and whatever is in them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.host.memories import memory_of_row, memory_path
from adaptive.model import Memory
from tests.fakes import memory
from tests.rates import over


def row(content: str | None, **fields: Any) -> SimpleNamespace:
    """A row as release 0.9 has it, and further columns."""
    return SimpleNamespace(
        id="m", user_id="u", content=content, created_at=1, updated_at=2, **fields
    )


def test_row_of_0_9() -> None:
    """Without columns for them, tags and bank are read out of the text."""
    read = memory_of_row(row("[Tags: goal] User runs. [Memory Bank: Work] [Until: 2027-02-28]"))
    assert read == Memory("m", "User runs.", 1, 2, ("goal",), "Work", until="2027-02-28")


def test_row_of_0_10() -> None:
    """With columns for them, everything comes out of meta."""
    meta = {"tags": ["goal"], "bank": "Work", "confidence": 0.8, "importance": 7, "chat_id": "c"}
    meta["until"] = "2027-02-28"
    read = memory_of_row(row("User wants to run.", type="context", path="Work/goal", meta=meta))
    assert read == Memory(
        "m", "User wants to run.", 1, 2, ("goal",), "Work", 0.8, 7, meta, "2027-02-28"
    )


def test_row_of_the_settings_page() -> None:
    """What the user typed in Settings is a memory as sure as any."""
    read = memory_of_row(
        row("I like tea", type="context", path=None, meta={"created_by": "manual"})
    )
    assert (read.content, read.tags, read.bank) == ("I like tea", (), "")
    assert (read.confidence, read.importance) == (1.0, 5)


def test_path_names_the_bank() -> None:
    """Where meta has no bank, as after an edit by the host, the path names it."""
    assert memory_of_row(row("a", path="Work/goal", meta=None)).bank == "Work"
    assert memory_of_row(row("a", path="Work", meta={"bank": ""})).bank == "Work"
    assert memory_of_row(row("a [Memory Bank: Home]", path="Work", meta={})).bank == "Home"


def test_row_that_was_written_on_0_9_and_read_on_0_10() -> None:
    """Notation in the text is read after an upgrade too, as long as meta says nothing else."""
    old = "[Tags: goal] User wants to run. [Memory Bank: Work]"
    read = memory_of_row(row(old, path=None, meta={"created_by": "manual"}))
    assert (read.content, read.tags, read.bank) == ("User wants to run.", ("goal",), "Work")


@over(
    "meta",
    [
        {"confidence": "high", "importance": None, "tags": "goal", "bank": None},
        {"confidence": math.nan, "importance": math.inf},
        {"confidence": [], "importance": {}},
        {"confidence": 10**400, "importance": -(10**400)},
        {"tags": [1, None, {}], "history": 5, "until": "soon"},
        {"until": 20270228},
        {},
        None,
    ],
)
def test_meta_that_anybody_wrote(meta: Any) -> None:
    """What stands in meta may be anything; the memory is read all the same."""
    read = memory_of_row(row("User likes tea.", path=None, meta=meta))
    assert read.content == "User likes tea."
    assert math.isfinite(read.confidence)
    assert all(isinstance(tag, str) for tag in read.tags)
    assert read.until == ""


def test_row_without_content_or_times() -> None:
    """A row that some tool wrote half is read as empty, not as a failure."""
    empty = SimpleNamespace(id="m", content=None, created_at=None, updated_at=None)
    assert memory_of_row(empty) == memory("m", "", created_at=0)


@over(
    "bank, tags, path",
    [
        ("Work", ("goal",), "Work/goal"),
        ("Work", ("goal", "identity"), "Work/goal"),
        ("Work", (), "Work"),
        ("", ("goal",), "goal"),
        ("", (), ""),
        ("Home/Garden", (), "HomeGarden"),
        (" Work ", ("goal",), "Work/goal"),
        ("..", ("goal",), "goal"),
        ("a\nb", (), "ab"),
    ],
)
def test_memory_path(bank: str, tags: tuple[str, ...], path: str) -> None:
    """The path is the bank, then the first category."""
    assert memory_path(bank, tags) == path


@settings(deadline=None)
@given(st.text(), st.lists(st.text(), max_size=2).map(tuple))
def test_path_is_one_the_host_takes(bank: str, tags: tuple[str, ...]) -> None:
    """Whatever an admin calls a bank, the host takes the path (utils/memory.py)."""
    path = memory_path(bank, tags)
    assert not any(ord(character) < 32 for character in path)
    assert path == "" or not {"", ".", ".."} & set(path.split("/"))
    assert path == path.strip()
