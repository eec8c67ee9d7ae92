"""A language without words, in which whatever stands in the code in English is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from adaptive.core import texts

# Names of commands, of places of theirs, and of what has no other name.
KNOWN = re.compile(
    r"(?s)```.*?```|`[^`]*`|\(/c/[^)]*\)|memories-[\d-]+\.json|General|https?://\S+"
)


@pytest.fixture
def wordless(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A language whose phrases are one letter, and the values that they have."""
    english = texts._phrases("en")
    letters = {
        name: " ".join(
            ["ん", *(f"{{{value}}}" for value in re.findall(r"{(\w+)", text))]
        )
        for name, text in english.items()
    }
    monkeypatch.setattr(
        texts,
        "_phrases",
        lambda language: english if language == "en" else letters,
    )
    token = texts.LANGUAGE.set("ja")
    yield
    texts.LANGUAGE.reset(token)


def english_in(answer: str) -> list[str]:
    """The words of an answer in Latin letters that are no names."""
    return re.findall(r"[A-Za-z]{2,}", KNOWN.sub("", answer))
