"""Words as keyword search compares them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adaptive.search.tokens import comparable, continues, tokens
from tests.rates import over


@dataclass(frozen=True, slots=True)
class Alike:
    """Texts that must have a token in common."""

    id: str
    first: str
    second: str


ALIKE = (
    Alike("plural", "dogs", "My dog barks"),
    Alike("plural in -ies", "families", "family"),
    Alike("-ing", "painting", "She painted it"),
    Alike("doubled consonant", "running", "run"),
    Alike("possessive", "Caroline's birthday", "caroline"),
    Alike("typographic apostrophe", "Nate’s game", "nate"),
    Alike("accents", "café", "cafe"),
    Alike("full width", "\uff24\uff4f\uff47", "dog"),
    Alike("German plural", "Katze", "Katzen und Hunde: die Katze"),
    Alike("sharp s", "STRASSE", "straße"),
    Alike("French elision", "l'école", "école"),
    Alike("Spanish gender", "perra", "perro"),
    Alike("Portuguese plural", "gatos", "gato"),
    Alike("Italian plural", "gatta", "gatte"),
    Alike("Russian case", "собаку", "Собака лает"),
    Alike("Russian genitive", "аллергии", "аллергия на арахис"),
    Alike("Arabic article", "القاهرة", "قاهرة"),
    Alike("Arabic vowel marks", "كَلْب", "كلب"),
    Alike("Chinese", "我的狗叫什么名字", "用户的狗叫小白"),
    Alike("one Chinese character", "狗", "小狗很可爱"),
    Alike("Japanese", "東京", "ユーザーは東京に住んでいます"),
    Alike("Korean particle", "고양이가", "고양이는"),
    Alike("Thai", "แมว", "ผู้ใช้มีแมว"),
    Alike("Hindi keeps its vowel signs", "हिन्दी", "वह हिन्दी बोलता है"),
    Alike("number", "in 1988", "born 1988"),
)


@over("case", ALIKE, at_least=0.95)
def test_alike(case: Alike) -> None:
    """Inflected, accented and unspaced forms of a word meet."""
    assert set(tokens(case.first)) & set(tokens(case.second))


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
