"""Words as keyword search compares them."""

from __future__ import annotations

import tracemalloc

import pytest

from adaptive.core.runtime import forget_texts
from adaptive.search.tokens import (
    comparable,
    continues,
    holds_words_of,
    tokens,
)
from tests.rates import over

ALIKE = (
    ("plural", "dogs", "My dog barks"),
    ("plural in -ies", "families", "family"),
    ("-ing", "painting", "She painted it"),
    ("doubled consonant", "running", "run"),
    ("possessive", "Caroline's birthday", "caroline"),
    ("typographic apostrophe", "Nate’s game", "nate"),
    ("accents", "café", "cafe"),
    ("full width", "\uff24\uff4f\uff47", "dog"),
    ("German plural", "Katze", "Katzen und Hunde: die Katze"),
    ("sharp s", "STRASSE", "straße"),
    ("French elision", "l'école", "école"),
    ("Spanish gender", "perra", "perro"),
    ("Portuguese plural", "gatos", "gato"),
    ("Italian plural", "gatta", "gatte"),
    ("Russian case", "собаку", "Собака лает"),
    ("Russian genitive", "аллергии", "аллергия на арахис"),
    ("Arabic article", "القاهرة", "قاهرة"),
    ("Arabic vowel marks", "كَلْب", "كلب"),
    ("Chinese", "我的狗叫什么名字", "用户的狗叫小白"),
    ("one Chinese character", "狗", "小狗很可爱"),
    ("Japanese", "東京", "ユーザーは東京に住んでいます"),
    ("Korean particle", "고양이가", "고양이는"),
    ("Thai", "แมว", "ผู้ใช้มีแมว"),
    ("Hindi keeps its vowel signs", "हिन्दी", "वह हिन्दी बोलता है"),
    ("number", "in 1988", "born 1988"),
)


@over("what, first, second", ALIKE, at_least=0.95)
def test_alike(what: str, first: str, second: str) -> None:
    """Inflected, accented and unspaced forms of a word meet."""
    assert set(tokens(first)) & set(tokens(second)), what


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the name of my dog?", ["nam", "dog"]),
        ("Wie heißt mein Hund?", ["heisst", "hund"]),
        ("как зовут мою собаку", ["зов", "собак"]),
        ("dog dog cat", ["dog", "dog", "cat"]),
        ("", []),
        ("?! 🙂", []),
    ],
)
def test_words_that_say_nothing(text: str, expected: list[str]) -> None:
    """Function words of each language are dropped; order and repetition stay."""
    assert tokens(text) == expected


def test_long_text_is_bounded() -> None:
    """Of 50,000 characters head and tail are read."""
    found = tokens("first " + "middle words " * 4000 + " last")
    assert len(found) < 2000
    assert (found[0], found[-1]) == ("first", "last")


def test_long_words_are_not_kept() -> None:
    """Of a text without spaces its head alone stays in memory, not all of it."""
    forget_texts()
    tokens("warm up")
    tracemalloc.start()
    for number in range(500):
        tokens(f"{number:04}" * 1900)
        tokens(f"é{number:04}" * 1500)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 500_000


@over(
    "text, expected",
    [
        ("And when was that?", True),
        ("Why?", True),
        ("What did she say?", True),
        ("und warum?", True),
        ("А когда это было?", True),
        ("那是什么时候？", True),
        ("Where does my sister live?", False),
        ("Write a function that sorts a list of numbers in place", False),
        ("What is the capital of France?", False),
    ],
    at_least=0.85,
)
def test_follow_up(text: str, expected: bool) -> None:
    """Short messages that refer to what was said before are told from questions of their own."""
    assert continues(text) is expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("User likes tea.", " user  LIKES\ntea", True),
        ("Straße", "STRASSE", True),
        ("用户喜欢茶。", "用户喜欢茶", True),
        ("User likes tea", "User likes teas", False),
        ("User likes C", "User likes C++", False),
    ],
)
def test_comparable(one: str, other: str, same: bool) -> None:
    """Case, spaces and the final stop do not count, every other character does."""
    assert (comparable(one) == comparable(other)) is same


def test_holds_words_of() -> None:
    """A longer text that has all words says what the shorter one said."""
    assert holds_words_of("User has a big dog.", "USER has a dóg")
    assert not holds_words_of("User has a dog", "User had a dog")


def test_endings_of_indian_scripts() -> None:
    """Inflected forms of a Hindi word are one token."""
    assert len({*tokens("रहता रहती रहते")}) == 1
    assert len({*tokens("बेटा बेटी")}) == 1
