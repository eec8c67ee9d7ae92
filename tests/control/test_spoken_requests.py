"""Which messages ask to erase or to restore memories, and the many that only look like it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import FastAPI, Request
from hypothesis import given
from hypothesis import strategies as st

from adaptive.control.spoken_requests import (
    ErasureRequest,
    ErasureScope,
    asks_to_restore,
    confirms_erasure,
    read_erasure_request,
    spoken_request,
)
from adaptive.core.errors import HostError
from adaptive.core.model import ConversationKind
from adaptive.filter import Filter
from tests.control.page import Page
from tests.rates import labelled_set, over

TODAY = date(2026, 11, 21)
# The files of zones are read once, and no hook waits for one.
ZoneInfo("UTC")


@dataclass(frozen=True)
class Case:
    """A message; ``scope`` is what it asks to erase, empty where it asks for nothing."""

    words: str
    scope: ErasureScope | str
    day: date | None = None

    @property
    def id(self) -> str:
        """A name for the report."""
        return f"{self.scope or 'nothing'}: {self.words[:50]}"


RESTORING = labelled_set("restore_requests")
CASES = [
    Case(one["words"], one["scope"], date.fromisoformat(one["day"]) if "day" in one else None)
    for one in labelled_set("erasure_requests")
]


@over("case", CASES, at_least=0.95)
def test_message(case: Case) -> None:
    """A message is the request that its user means, or none."""
    found = read_erasure_request(case.words, TODAY)
    if not case.scope:
        assert found is None
    else:
        assert found is not None
        assert (found.scope, found.day) == (case.scope, case.day)


@over("words", [one["words"] for one in RESTORING if one["asks"]], at_least=0.95)
def test_restoring(words: str) -> None:
    """Whoever asks to bring archived memories back is understood."""
    assert asks_to_restore(words)


@over("words", [one["words"] for one in RESTORING if not one["asks"]], at_least=0.9)
def test_like_restoring(words: str) -> None:
    """Of messages made to look like such requests hardly any is taken for one."""
    assert not asks_to_restore(words)


@over(
    "answer, confirmed",
    [
        *((word, True) for word in ("erase", ' "ERASE". ', "Löschen", "削除。")),
        *((word, False) for word in ("", "yes", "erase everything", "don't erase")),
    ],
)
def test_confirmation(answer: str, confirmed: bool) -> None:
    """Only the word itself confirms, in any of the languages, quoted or not."""
    assert confirms_erasure(answer) is confirmed


REQUESTS = [case.words for case in CASES if case.scope]


@given(st.sampled_from(REQUESTS), st.text(min_size=1, max_size=30))
def test_request_with_other_words_is_none(request: str, more: str) -> None:
    """Quoted, or with a letter or figure of something else behind it, no request is one."""
    assert read_erasure_request(f"«{request}»", TODAY) is None
    assert read_erasure_request(f'He wrote "{request}" {more}', TODAY) is None
    assert read_erasure_request(f"{request} xq{more}", TODAY) is None


KINDS: list[tuple[ConversationKind, bool]] = [
    ("saved", True),
    ("temporary", True),
    ("api", True),
    ("channel", False),
    ("automation", False),
]


@over("kind, asks", KINDS)
def test_kinds_of_conversation(kind: ConversationKind, asks: bool) -> None:
    """Where others or programs write, nothing is a request."""
    typed: dict[str, Any] = {"role": "user"}
    page = Page(told_kind=kind)
    assert (spoken_request(page.hook, (typed, "Forget everything")) is not None) == asks
    assert spoken_request(page.hook, None) is None


def test_day_where_the_user_lives() -> None:
    """Yesterday is the day before the message's, in the user's time zone."""
    at = datetime(2026, 11, 3, 20, tzinfo=UTC).timestamp()
    typed = {"role": "user", "timestamp": int(at)}
    found = spoken_request(Page().hook, (typed, "Forget what I told you yesterday"))
    assert found == ErasureRequest("day", date(2026, 11, 3))


@dataclass(frozen=True)
class Asked:
    """A turn's words, what its outlet shows, and what the request fails with."""

    id: str
    words: str
    line: str = ""
    error: Exception | None = None


NO_PAGE = "you can be asked in a chat of the page only"
RESTORE = "Restore my archived memories"
ASKED = [
    Asked("erase", "Forget everything about me", f"Nothing erased: {NO_PAGE}"),
    Asked("restore", RESTORE, f"Nothing restored: {NO_PAGE}"),
    Asked("refused", RESTORE, "Not restored: no user 'ada'", HostError("no user 'ada'")),
    Asked(
        "broken",
        RESTORE,
        "Not restored: an unexpected error; the server's log tells more",
        ZeroDivisionError(),
    ),
    Asked("a fact", "I have archived my memories in a box."),
]


@over("case", ASKED)
async def test_request_is_not_learned(case: Asked) -> None:
    """The turn that asks waits nowhere to be learned, whatever comes of it; any other one does."""
    plugin, put, lines = Filter(), list[Any](), list[str]()
    plugin._supported = True

    async def emit(event: dict[str, Any]) -> None:
        lines.append(event["data"]["description"])

    async def noted_turn(_hook: Any, turn: Any) -> None:
        put.append(turn)

    async def fails(_hook: Any) -> str:
        raise case.error or AssertionError

    plugin._learning.put = noted_turn  # type: ignore[method-assign]
    if case.error:
        plugin._restoring.restore = fails  # type: ignore[method-assign]
    earlier = {"id": "a", "role": "user", "content": "Forget everything"}
    returned = await plugin.outlet(
        {"messages": [earlier, {"id": "m", "role": "user", "content": case.words}]},
        __user__={"id": "ada"},
        __metadata__={"chat_id": "c", "session_id": "s", "user_message_id": "m"},
        __request__=Request({"type": "http", "headers": [], "app": FastAPI()}),
        __event_emitter__=emit,
    )
    background: Any = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*background, return_exceptions=True)
    assert returned["messages"][-1]["content"] == case.words
    assert bool(put) == (not case.line)
    assert not case.line or case.line in lines[0]
