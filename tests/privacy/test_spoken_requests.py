"""Which messages ask to erase or to restore memories, and the many that only look like it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from unittest.mock import AsyncMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.control.requests import MemoryRequests
from adaptive.core.marks import Place
from adaptive.core.model import ConversationKind, HostError
from adaptive.core.texts import phrase
from adaptive.filter import Filter
from adaptive.host import hook as hook_module
from adaptive.host.audience import LocatedChat
from adaptive.privacy.spoken_requests import (
    ErasureRequest,
    asks_to_restore,
    nearly_asks_to_erase,
    read_erasure_request,
    sentences_to_forget,
    spoken_request,
)
from adaptive.settings.valves import Valves
from tests.control import page
from tests.rates import labelled_set, over
from tests.test_filter import SAVED, Page, run

HOW_TO_ERASE = phrase("how_to_erase")

TODAY = date(2026, 11, 21)

RESTORING = labelled_set("restore_requests")
ERASING = labelled_set("erasure_requests")
# How people ask in 19 languages to be forgotten, and messages that look like it; those that were
# ``kept`` aside were looked at once the vocabulary stood.
WORDINGS = labelled_set("erasure_wordings")
ASKING = [one for one in WORDINGS if one["asks"] == "everything"]
UNCLEAR = [one for one in WORDINGS if one["asks"] == "nearly"]
OTHERS = [one for one in WORDINGS if not one["asks"]]


@over("case", ERASING, at_least=0.95)
def test_message(case: dict[str, Any]) -> None:
    """A message is the request that its user means, or none."""
    found = read_erasure_request(case["words"], TODAY)
    day = date.fromisoformat(case["day"]) if "day" in case else None
    assert found == (
        ErasureRequest(case["scope"], day) if case["scope"] else None
    )


def only(cases: list[dict[str, Any]], *, kept: bool) -> list[str]:
    """The words of the cases that were kept aside, or of the others."""
    return [one["words"] for one in cases if one["kept"] == kept]


def test_marks_of_direction() -> None:
    """Unseen marks that keyboards of right-to-left scripts put around words change nothing."""
    request = read_erasure_request(
        "\u200fاحذف كل بياناتي\u200f \u200e", date(2026, 1, 1)
    )
    assert request == ErasureRequest("everything")


@over("words", only(ASKING, kept=False), at_least=0.94)
def test_asked_to_erase(words: str) -> None:
    """Whoever asks to be forgotten, or to have their data deleted, is understood."""
    assert read_erasure_request(words, TODAY) == ErasureRequest("everything")


@over("words", only(ASKING, kept=True), at_least=0.9)
def test_asked_to_erase_in_words_kept_aside(words: str) -> None:
    """So is whoever asks in words that nobody had in view."""
    assert read_erasure_request(words, TODAY) == ErasureRequest("everything")


@over("words", [one["words"] for one in OTHERS], at_least=0.99)
def test_something_else(words: str) -> None:
    """Who wants something else, or the opposite, is not asked whether to erase all."""
    assert read_erasure_request(words, TODAY) is None


@over("words", [one["words"] for one in UNCLEAR], at_least=0.85)
def test_nearly_asked(words: str) -> None:
    """A request with a word too many erases nothing, and its user is told the command."""
    assert read_erasure_request(words, TODAY) is None
    assert nearly_asks_to_erase(words)


@over("words", [one["words"] for one in OTHERS], at_least=0.95)
def test_told_nothing(words: str) -> None:
    """Who wants something else is told of no command."""
    assert not nearly_asks_to_erase(words)


FORGETTING = [
    ("Forget that I like green tea.", "Forget that I like green tea."),
    ("Please forget my old address!", "Please forget my old address!"),
    (
        "It is late. Forget my old address. What is for dinner?",
        " Forget my old address.",
    ),
    (
        "Vergiss bitte, dass ich grünen Tee mag",
        "Vergiss bitte, dass ich grünen Tee mag",
    ),
    (
        "Forget that I don't like green tea",
        "Forget that I don't like green tea",
    ),
    ("a " * 60_000 + "\nForget my old address.", "Forget my old address."),
    ("Don't forget that I like green tea.", ""),
    ("Vergiss nicht, dass ich grünen Tee mag.", ""),
    ("I always forget my keys.", ""),
    ("Which tea do I like?", ""),
    ("", ""),
]


@over("words, asking", FORGETTING)
def test_sentences_to_forget(words: str, asking: str) -> None:
    """What asks to forget something is told from what tells, asks, or wants the opposite."""
    assert sentences_to_forget(words) == asking


@over(
    "words", [one["words"] for one in RESTORING if one["asks"]], at_least=0.95
)
def test_restoring(words: str) -> None:
    """Whoever asks to bring archived memories back is understood."""
    assert asks_to_restore(words)


@over(
    "words",
    [one["words"] for one in RESTORING if not one["asks"]],
    at_least=0.9,
)
def test_like_restoring(words: str) -> None:
    """Of messages made to look like such requests hardly any is taken for one."""
    assert not asks_to_restore(words)


REQUESTS = [case["words"] for case in ERASING if case["scope"]]


@given(st.sampled_from(REQUESTS), st.text(min_size=1, max_size=30))
def test_request_with_other_words_is_none(request: str, more: str) -> None:
    """Quoted, or with a letter or figure of something else behind it, no request is one."""
    assert read_erasure_request(f"«{request}»", TODAY) is None
    assert read_erasure_request(f'He wrote "{request}" {more}', TODAY) is None
    assert read_erasure_request(f"{request} xq{more}", TODAY) is None


@over(
    "kind, asks",
    [("saved", True), ("temporary", True), ("api", True), ("channel", False)],
)
def test_kinds_of_conversation(kind: ConversationKind, asks: bool) -> None:
    """Where others or programs write, nothing is a request."""
    hook = page.Page(told_kind=kind).hook
    assert (
        spoken_request(hook, ({"role": "user"}, "Forget everything"))
        is not None
    ) == asks
    assert spoken_request(hook, None) is None


def test_day_where_the_user_lives() -> None:
    """Yesterday is the day before the message's, in the user's time zone."""
    at = datetime(2026, 11, 3, 20, tzinfo=UTC).timestamp()
    typed = {"role": "user", "timestamp": int(at)}
    found = spoken_request(
        page.Page().hook, (typed, "Forget what I told you yesterday")
    )
    assert found == ErasureRequest("day", date(2026, 11, 3))


RESTORE = "Restore my archived memories"
BROKEN = (
    "Nothing was changed: an unexpected error; the server's log tells more"
)
ASKED = [
    (
        "Forget everything about me",
        "That has to be confirmed",
        None,
    ),
    (RESTORE, "That has to be confirmed", None),
    (
        RESTORE,
        "Nothing was changed: no user 'ada'",
        HostError("no user 'ada'"),
    ),
    (RESTORE, BROKEN, ZeroDivisionError()),
    ("Tüm verilerimi sil", "That has to be confirmed", None),
    ("I have archived my memories in a box.", "", None),
    ("Delete all my data or I'll complain", HOW_TO_ERASE, None),
]


@over("words, line, error", ASKED)
@over("confirmation", ["status", "message", "off"])
async def test_request_is_not_learned(
    words: str,
    line: str,
    error: Exception | None,
    confirmation: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The turn that asks waits nowhere to be learned, and what came of it is told.

    So it is to users who want no lines. Any other turn is learned from.
    """
    plugin, page, put = Filter(), Page(), AsyncMock()
    reading = AsyncMock(return_value=LocatedChat(Place()))
    monkeypatch.setattr(hook_module, "located_chat", reading)
    plugin.valves = Valves(
        show_status=confirmation != "off", confirmation=confirmation
    )
    monkeypatch.setattr(plugin._services.learning, "put", put)
    if error:
        monkeypatch.setattr(
            MemoryRequests, "restore", AsyncMock(side_effect=error)
        )
    earlier = {"id": "a", "role": "user", "content": "Forget everything"}
    body = {
        "messages": [earlier, {"id": "m", "role": "user", "content": words}]
    }
    assert await run(plugin.outlet, body, SAVED, page) is body
    assert put.await_count == (line in ("", HOW_TO_ERASE))
    assert not line or line in page.lines[0]
