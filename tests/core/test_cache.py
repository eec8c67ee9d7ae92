"""One cache for all that can be had again: bounded by weight and time, forgotten by user."""

from __future__ import annotations

from adaptive.core.runtime import UserCache, forget_texts, text_cache


def test_longest_unused_makes_room() -> None:
    """Over its bound the cache lets go of what was used longest ago, never of the newest."""
    cache = UserCache[str](10, len)
    for user, value in (("ada", "1234"), ("bob", "12345")):
        cache.put((user, "a"), value)
    assert cache.get(("ada", "a")) == "1234"
    cache.put(("eve", "a"), "123456")
    assert (cache.get(("bob", "a")), cache.get(("ada", "a"))) == (None, "1234")
    cache.put(("bob", "a"), "x" * 99)
    assert (cache.get(("ada", "a")), cache.get(("bob", "a"))) == (
        None,
        "x" * 99,
    )
    cache.put(("bob", "a"), "y")
    cache.put(("ada", "a"), "123456789")
    assert cache.get(("bob", "a")) == "y"


def test_values_end() -> None:
    """What is too old is not given."""
    now = [0.0]
    cache = UserCache[int](10, seconds=60, now=lambda: now[0])
    cache.put(("ada", 1), 7)
    now[0] = 59
    assert cache.get(("ada", 1)) == 7
    now[0] = 60
    assert cache.get(("ada", 1)) is None


def test_text_cache() -> None:
    """A function of a text is computed once, until texts are forgotten."""
    asked: list[str] = []

    @text_cache(2)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    assert [length("a"), length("a")] == [1, 1]
    forget_texts("ada")
    length("a")
    assert asked == ["a", "a"]
