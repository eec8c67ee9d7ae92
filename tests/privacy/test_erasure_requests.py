"""Which messages ask to erase memories, and the many that only look like it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.erasure_requests import (
    ErasureRequest,
    erasure_words,
    read_erasure_request,
)
from adaptive.privacy.erasure_requests_days import erasure_day
from adaptive.privacy.erasure_requests_forms import ErasureScope
from adaptive.privacy.erasure_requests_more_forms import erasure_languages
from tests.rates import labelled_set, over

TODAY = date(2026, 11, 21)


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


def test_each_language_asks_for_each_kind() -> None:
    """The set holds requests of every language for everything that can be erased."""
    asked = [read_erasure_request(case.words, TODAY) for case in CASES if case.scope]
    words = {(one.word, one.scope) for one in asked if one}
    kinds = ("everything", "chat", "day", "imported", "tools")
    assert words == {(one.word, kind) for one in erasure_languages() for kind in kinds}


def test_word_to_type() -> None:
    """Whoever asks is asked for a word of the same language, and every language has one."""
    assert read_erasure_request("Vergiss alles", TODAY) == ErasureRequest(
        "everything", None, "löschen"
    )
    assert {"erase", "löschen", "删除", "削除", "удалить"} <= erasure_words()


def test_long_message_is_none() -> None:
    """A request is short: nothing is looked for in a long text."""
    assert read_erasure_request("please " * 40 + "forget everything", TODAY) is None
    assert read_erasure_request("forget everything\n" * 10_000, TODAY) is None


REQUESTS = [case.words for case in CASES if case.scope]


@given(st.sampled_from(REQUESTS), st.text(min_size=1, max_size=30))
def test_request_with_other_words_is_none(request: str, more: str) -> None:
    """Quoted, or with a letter or figure of something else behind it, no request is one."""
    assert read_erasure_request(f"«{request}»", TODAY) is None
    assert read_erasure_request(f'He wrote "{request}" {more}', TODAY) is None
    assert read_erasure_request(f"{request} xq{more}", TODAY) is None


@given(st.text(max_size=220))
def test_any_text(text: str) -> None:
    """No text raises, and what is found for a day has one, never in the future."""
    found = read_erasure_request(text, TODAY)
    if found is not None:
        assert (found.day is not None) == (found.scope == "day")
        assert found.day is None or found.day <= TODAY


@given(st.dates(date(1990, 1, 1), TODAY))
def test_dates_are_read_back(day: date) -> None:
    """A day in figures, and with the English and German names of months, is that day."""
    relative = ("today", "yesterday", "the day before yesterday")
    for text, code in (
        (day.isoformat(), "en"),
        (f"{day.day}.{day.month}.{day.year}", "de"),
        (f"{day.day}/{day.month}/{day.year}", "fr"),
        (f"{day.year}年{day.month}月{day.day}日", "zh"),
        (f"{day:%B} {day.day}, {day.year}".lower(), "en"),
    ):
        assert erasure_day(text, TODAY, relative, code) == day


@given(st.text(alphabet="0123456789./- novembermai年月日", max_size=32))
def test_any_day(text: str) -> None:
    """No text for a day raises."""
    found = erasure_day(text, TODAY, ("today", "yesterday", "before"), "en")
    assert found is None or found <= TODAY


@over("repeated", ["please ", "forget ", "all ", "说", "3 ", "まえ", "ok, "])
def test_repeats(repeated: str) -> None:
    """Repeated words, as long as a request may be, are read and are none."""
    assert read_erasure_request((repeated * 200)[:200], TODAY) is None
