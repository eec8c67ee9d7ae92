"""Words that are looked for together, against looking for each of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.personal_data import RECOGNISERS
from adaptive.privacy.recogniser import WIDEST
from adaptive.privacy.sign_runs import SignSort
from adaptive.privacy.word_places import WordTable

WORDS = st.text("abé路 ", min_size=1, max_size=7)
TEXTS = st.text("abé路 \n", max_size=60) | st.text("ab ", max_size=60)


@given(st.lists(WORDS, max_size=20), TEXTS)
def test_finds_what_a_plain_search_finds(words: list[str], text: str) -> None:
    """Every place of every word is found, and nothing else."""
    table = WordTable(words)
    expected = {
        word: [at for at in range(len(text)) if text.startswith(word, at)]
        for word in words
        if word in text
    }
    assert {word: list(places) for word, places in table.places(text).items()} == expected
    assert table.held(text) == expected.keys()
    # Long texts are searched otherwise than short ones; no word holds a line break.
    assert table.held(text + "\n" * 500) == expected.keys()


def test_finds_words_in_all_parts_of_a_long_text() -> None:
    """A word that lies over the seam of two parts is found."""
    for size in range(16370, 16390):
        text = "-" * size + " password " + "-" * size
        found = WordTable(["password"]).places(text)
        assert {word: list(places) for word, places in found.items()} == {"password": [size + 1]}


@given(st.text("ab-é", max_size=40))
def test_runs_are_those_of_a_loop(text: str) -> None:
    """Runs of signs are as long as they are, in ASCII texts and others."""
    runs = SignSort("ab").runs(text, 2)
    assert all(set(text[start:end]) <= set("ab") and end - start >= 2 for start, end in runs)
    rest = list(text)
    for start, end in runs:
        rest[start:end] = "-" * (end - start)
    assert not any(pair in "".join(rest) for pair in ("aa", "ab", "ba", "bb"))


def test_no_match_at_a_number_is_wider_than_reckoned() -> None:
    """What is sifted by its context ends within the reach that the sifting allows for."""
    for one in RECOGNISERS:
        if one.leads and one.needs_context:
            assert not one.compiled.fullmatch("1" * (WIDEST + 1))
