"""Which messages ask to erase or to restore memories, and the many that only look like it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from adaptive.clock import without_day
from adaptive.control.spoken_requests import (
    ErasureRequest,
    ErasureScope,
    asks_to_restore,
    confirms_erasure,
    read_erasure_request,
)
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


def test_word_to_type() -> None:
    """Whoever asks is asked for a word of the same language."""
    assert read_erasure_request("Vergiss alles", TODAY) == ErasureRequest(
        "everything", None, "löschen"
    )


@over(
    "answer, confirmed",
    [
        ("erase", True),
        (" ERASE. ", True),
        ('"erase"', True),
        ("Löschen", True),
        ("删除", True),
        ("削除。", True),
        ("удалить", True),
        ("usuń", True),
        ("", False),
        ("e", False),
        ("yes", False),
        ("ok", False),
        ("erase everything", False),
        ("don't erase", False),
    ],
)
def test_confirmation(answer: str, confirmed: bool) -> None:
    """Only the word itself confirms, in any of the languages, quoted or not."""
    assert confirms_erasure(answer) is confirmed


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
    """A day in figures, and with the names of months, is that day."""
    for text in (
        day.isoformat(),
        f"{day.day}.{day.month}.{day.year}",
        f"{day.day}/{day.month}/{day.year}",
        f"{day.year}年{day.month}月{day.day}日",
        f"{day:%B} {day.day}, {day.year}".lower(),
        f"{day.day} {day:%B} {day.year}".lower(),
    ):
        assert without_day(text, TODAY)[1] == day


@given(st.text(alphabet="0123456789./- novembermai年月日", max_size=32))
def test_any_day(text: str) -> None:
    """No text for a day raises, and none is in the future."""
    found = without_day(text, TODAY)[1]
    assert found is None or found <= TODAY


@over("repeated", ["please ", "forget ", "all ", "说", "3 ", "まえ", "ok, "])
def test_repeats(repeated: str) -> None:
    """Repeated words, as long as a request may be, are read, and only "forget all" is asked for."""
    assert read_erasure_request((repeated * 160)[:160], TODAY) is None
