"""Which memories go with a chat, a day or a source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from adaptive.core.table_ports import ArchivedMemory
from adaptive.privacy.origin import (
    Origin,
    bereft_originals,
    came_from,
    origin_ids,
)
from tests.fakes import memory
from tests.rates import over

NOW = 1_700_000_000
DAY = Origin(period=(NOW, NOW + 86_400))


@dataclass(frozen=True)
class Come:
    """A row's meta, and whether the memory came from somewhere."""

    id: str
    origin: Origin
    meta: dict[str, Any]
    came: bool


HISTORY = [{"content": "a", "said_at": NOW + 7, "until": NOW + 99_999}]
COME = [
    Come("chat", Origin("c"), {"chat_id": "c"}, True),
    Come("another chat", Origin("c"), {"chat_id": "d"}, False),
    Come("no chat known", Origin("c"), {}, False),
    Come("source", Origin(sources=("adaptive_memory",)), {"source": "adaptive_memory"}, True),
    Come("said at its first second", DAY, {"said_at": NOW}, True),
    Come("said the day after", DAY, {"said_at": NOW + 86_400}, False),
    Come("a former content", DAY, {"said_at": NOW + 99_999, "history": HISTORY}, True),
    Come("damaged", DAY, {"said_at": "yesterday", "history": [1, {}, {"said_at": []}]}, False),
]


@over("case", COME)
def test_came_from(case: Come) -> None:
    """Meta tells where a memory came from, whatever somebody has written into it."""
    assert came_from(memory("m", "a", meta=case.meta), case.origin) is case.came


def archived(id: str, content: str, summary: str = "", **meta: Any) -> ArchivedMemory:
    """A memory in the archive."""
    return ArchivedMemory(memory(id, content, meta=meta), "", NOW, summary)


SUMMARY = memory("s", "User likes tea and rain.", meta={"summary_of": [{"id": "1"}, {"id": "2"}]})
ORIGINALS = [
    archived("1", "User likes tea.", SUMMARY.content, chat_id="c"),
    archived("2", "User likes rain.", SUMMARY.content, chat_id="d"),
    archived("3", "User likes snow.", chat_id="d"),
]


def test_what_was_made_of_it_goes_too() -> None:
    """A summary goes with any of its originals, and so does what was restored from the archive."""
    restored = memory("r", "User likes tea.", meta={"restored_from": "1"})
    rows = [SUMMARY, restored, memory("o", "User likes fog.")]
    assert origin_ids(rows, ORIGINALS, Origin("c")) == {"1", "s", "r"}


def test_summary_without_meta() -> None:
    """Where the host keeps no meta, a summary is known by its text."""
    bare = replace(SUMMARY, content="user likes  tea and rain.", meta={})
    assert origin_ids([bare], ORIGINALS, Origin("c")) == {"1", "s"}


def test_what_is_known_from_elsewhere() -> None:
    """Ids that the audit has told count, whether or not a row stands."""
    assert origin_ids([SUMMARY], ORIGINALS, Origin("x"), ["2", "gone"]) == {"2", "gone", "s"}
    assert origin_ids([], [], Origin("x")) == frozenset()


@pytest.mark.parametrize("meta", [{}, None])
def test_bereft_originals(meta: dict[str, Any] | None) -> None:
    """The originals from elsewhere are told, since their summary goes and they don't."""
    gone = [SUMMARY if meta is None else replace(SUMMARY, meta=meta)]
    assert bereft_originals(ORIGINALS, gone, frozenset("1s")) == ("2",)
    assert bereft_originals(ORIGINALS, [], frozenset("1")) == ()
