"""Texts that repeat themselves, whose equal parts are read once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.privacy.secret_contexts import _announced, _ContextReadings, _secrets_after
from adaptive.privacy.secrets import find_secrets
from tests.rates import over

# Shorter than what is read of a text around a word, together.
APART = "\n" + "The boat came in late and the tide was out again. " * 40 + "\n"
SENTENCES = (
    "my password is hunter2-Blue!9",
    "PIN 4829",
    'password: "a b c"',
    "authorization: bearer abcDEF123456ghiJKL789",
    "482913 is my code",
    "the key is a ",
    "token aB3dE5fG7hI9jK1lM3nO",
)


@over("sentence", SENTENCES)
def test_a_repeated_sentence_holds_the_same_each_time(sentence: str) -> None:
    """The tenth of ten equal sentences that stand far apart is read as the second was."""
    unit = sentence + APART
    found = find_secrets(APART + unit * 10)
    by_unit = [
        [
            (one.kind, one.start - begin, one.end - begin)
            for one in found
            if begin <= one.start < begin + len(unit)
        ]
        for begin in range(len(APART), len(APART) + 10 * len(unit), len(unit))
    ]
    alone = [
        (one.kind, one.start - len(APART), one.end - len(APART))
        for one in find_secrets(APART + unit)
    ]
    assert by_unit == [alone] * 10


@settings(deadline=None)
@given(
    st.text("ab1 :\"'=\n", max_size=12), st.sampled_from(("password", "pin", "key", "seed: ", "pw"))
)
def test_what_is_remembered_is_what_would_be_found(tail: str, word: str) -> None:
    """Around each of many equal words the same is found as if each were read for itself."""
    text = f"{word}{tail}" * 150
    readings = _ContextReadings(text)
    for place in _announced(text, {word}):
        stop = min(len(text), place.end + 30)
        assert list(readings.after(place, stop)) == list(_secrets_after(text, place, stop))
