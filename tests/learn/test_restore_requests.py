"""Which messages ask to bring archived memories back, and the many that only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.restore_requests import asks_to_restore
from tests.rates import labelled_set, over

REQUESTS = labelled_set("restore_requests")
ASKING = [one["words"] for one in REQUESTS if one["asks"]]
ASKING_NOTHING = [one["words"] for one in REQUESTS if not one["asks"]]


@over("words", ASKING, at_least=0.95)
def test_asking(words: str) -> None:
    """A whole short message that asks to bring archived memories back is such a request."""
    assert asks_to_restore(words)


@over("words", ASKING_NOTHING, at_least=0.97)
def test_asking_nothing(words: str) -> None:
    """Asked about, negated, quoted, of something else or going on to it, it is no request."""
    assert not asks_to_restore(words)


@pytest.mark.parametrize(
    "words",
    [
        "STELLE MEINE ARCHIVIERTEN ERINNERUNGEN WIEDER HER",
        "Recupere as memorias que voce arquivou",
        "Hol meine archivierten Erinnerungen zurueck",
        "ｒｅｓｔｏｒｅ my archived memories",
        "Restore\nmy archived   memories …",
    ],
)
def test_ways_of_writing(words: str) -> None:
    """Capitals, accents, wide letters and spaces do not count."""
    assert asks_to_restore(words)


def test_long_message_is_none() -> None:
    """A request is short: nothing is looked for in a long text."""
    assert not asks_to_restore("please " * 40 + "restore my archived memories")
    assert not asks_to_restore("restore my archived memories\n" * 10_000)


@given(st.sampled_from(ASKING), st.text(min_size=1, max_size=30))
def test_request_with_other_words_is_none(request: str, more: str) -> None:
    """Quoted, or with something else behind it, no request is one."""
    assert not asks_to_restore(f"«{request}»")
    assert not asks_to_restore(f'He wrote "{request}" {more}')
    assert not asks_to_restore(f"{request} xq{more}")


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    """No text raises."""
    asks_to_restore(text)


@over("repeated", ["please ", "restore ", "all ", "my archived ", "bitte, ", "ok, ", "per favore "])
def test_repeats(repeated: str) -> None:
    """Repeated words, as long as a request may be, are read and are none."""
    assert not asks_to_restore((repeated * 200)[:200])
