"""What is computed of texts is kept for a while, and forgotten with whoever asks for it."""

from __future__ import annotations

from adaptive.filter import Filter
from adaptive.learn.duplicates import counted_words
from adaptive.text_cache import forget_texts, text_cache
from tests.conftest import PROJECT


def test_kept_and_forgotten() -> None:
    """The same text is computed once, and once more after everything was forgotten."""
    computed: list[tuple[str, bool]] = []

    @text_cache(2)
    def length(text: str, *, twice: bool = False) -> int:
        computed.append((text, twice))
        return len(text) * (1 + twice)

    assert [length("abc"), length("abc"), length("abc", twice=True)] == [3, 3, 6]
    assert computed == [("abc", False), ("abc", True)]
    forget_texts("ada")
    assert length("abc") == 3
    assert len(computed) == 3


def test_no_more_than_said() -> None:
    """Of many texts those used last are kept."""
    computed: list[str] = []

    @text_cache(2)
    def length(text: str) -> int:
        computed.append(text)
        return len(text)

    for text in ("a", "b", "a", "c", "a", "b"):
        length(text)
    assert computed == ["a", "b", "c", "b"]


def test_statements_are_forgotten() -> None:
    """A memory that was compared is in no cache after its user was forgotten."""
    first = counted_words("User lives in Porto.")
    assert counted_words("User lives in Porto.") is first
    forget_texts()
    assert counted_words("User lives in Porto.") is not first


async def test_erasing_forgets_texts() -> None:
    """Whatever is erased, the caches of texts go with it."""
    assert forget_texts in Filter()._erasing._caches


def test_no_other_caches_of_texts() -> None:
    """No module keeps what a caller gave it in a cache that nobody can empty."""
    source = PROJECT / "src" / "adaptive"
    own = {"text_cache.py"}
    found = [
        file.name
        for file in source.rglob("*.py")
        if "lru_cache" in file.read_text(encoding="utf-8") and file.name not in own
    ]
    assert found == []
