"""Markdown links: found outside of code, broken ones turned into searches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adaptive.answer.links import corrected_links, links_to_check
from tests.rates import over

GONE = "https://example.com/gone"


@over(
    "text, found",
    [
        (f"See [the docs]({GONE}).", [("the docs", GONE)]),
        (f'[a]({GONE} "Title") [b](<{GONE}>)', [("a", GONE), ("b", GONE)]),
        ("[a](https://example.com/Tea_(drink))", [("a", "https://example.com/Tea_(drink)")]),
        (f"[a [b] c]({GONE}) [d\\]e]({GONE})", [("a [b] c", GONE), ("d\\]e", GONE)]),
        (f"[`code`]({GONE})", [("`code`", GONE)]),
        ("[HTTP](HTTP://EXAMPLE.com)", [("HTTP", "HTTP://EXAMPLE.com")]),
        (f"![picture]({GONE})", []),
        (f"`[a]({GONE})`", []),
        (f"```\n[a]({GONE})\n```", []),
        ("[a](#here) [b](mailto:ada@example.com) [c](/path) [d](javascript:x)", []),
        (f"[a] ({GONE}) {GONE}", []),
    ],
)
def test_links(text: str, found: list[tuple[str, str]]) -> None:
    """Links to the web are found; pictures, code and other links are not."""
    assert links_to_check(text, 9) == tuple(dict.fromkeys(target for _, target in found))
    broken = corrected_links(text, {target: "broken" for _, target in found}, "https://x.test/?q=")
    assert broken.count("https://x.test/?q=") == len(found)


def test_first_targets() -> None:
    """Each address once, up to a number."""
    text = " ".join(f"[x](https://example.com/{number % 5})" for number in range(20))
    assert links_to_check(text, 3) == tuple(f"https://example.com/{n}" for n in range(3))


SEARCH = "https://duckduckgo.com/?q=%s"


def test_corrected() -> None:
    """A broken link leads to a search for its text; every other sign of the answer stays."""
    text = f'a [**The** docs?]({GONE} "T") b [ok](https://example.com/ok) `[c]({GONE})` '
    corrected = corrected_links(text, {GONE: "broken", "https://example.com/ok": "fine"}, SEARCH)
    assert corrected == text.replace(GONE, "https://duckduckgo.com/?q=The+docs%3F", 1)
    assert corrected_links(text, {GONE: "unknown"}, SEARCH) == text
    assert corrected_links(corrected, {GONE: "broken"}, SEARCH) == corrected


def test_search_address() -> None:
    """Where the query goes is told by the address; a text without words has the link's address."""
    states = {GONE: "broken"}
    text = f"[Größe & mehr]({GONE})"
    search = "https://search.example/find?q=%s&safe=1"
    assert "q=Gr%C3%B6%C3%9Fe+%26+mehr&safe=1)" in corrected_links(text, states, search)  # type: ignore[arg-type]
    assert "/?find=Gr" in corrected_links(text, states, "https://x.example/?find=")  # type: ignore[arg-type]
    assert "example.com%2Fgone" in corrected_links(f"[→]({GONE})", states, SEARCH)  # type: ignore[arg-type]


PARTS = st.sampled_from(["[", "]", "(", ")", "](", "a", " ", "`", "\n", "!", "\\", "<", ">", GONE])


@given(st.lists(PARTS, max_size=60))
def test_nothing_but_addresses_changes(parts: list[str]) -> None:
    """Without a broken link any text stays; with one the text around the address does."""
    text = "".join(parts)
    assert corrected_links(text, {}, SEARCH) == text
    corrected = corrected_links(text, {GONE: "broken"}, SEARCH)
    assert corrected.replace("https://duckduckgo.com/?q=", "").count("[") <= text.count("[")


def test_much_text() -> None:
    """Of half links by the thousand none is a link."""
    for piece in ("[", "[a](", "[a](http://x(", "](", "[" + "a" * 300):
        assert links_to_check(piece * (300_000 // len(piece)), 9) == ()
