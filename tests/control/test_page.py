"""The page of what is known: it shows texts as they are, and loads and sends nothing."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.control.requests import memory_page
from adaptive.core.model import Memory
from adaptive.core.texts import PROMPTS
from tests.fakes import memory

TEA = memory(
    "m-1",
    "User likes tea.",
    tags=("preference", "pinned"),
    bank="Personal",
    until="2031-03-03",
    meta={"chat_id": "c/1"},
)
HOSTILE = [
    "</span></li><script>alert(1)</script>",
    "<img src=https://example.org/x onerror=alert(1)>",
    "<style>*{display:none}</style><!--",
    "$groups ${counted} & &amp; \"'`",
    "\u202e\0</title></textarea></noscript>",
]


class Reader(HTMLParser):
    """The tags of a page with their attributes, and the texts of its memories."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.is_words = False
        self.feed(page)

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        """Note a tag, where it leads, and whether a memory begins."""
        self.tags.append(tag)
        fields = dict(attrs)
        self.links += [
            str(fields[name]) for name in ("href", "src") if name in fields
        ]
        self.is_words = tag == "li"
        if self.is_words:
            self.words.append("")

    def handle_data(self, data: str) -> None:
        """Note what a memory says."""
        if self.is_words:
            self.words[-1] += data


def page_of(*memories: Memory) -> str:
    """The page of these memories, numbered from 7 on."""
    numbers = {each.id: 7 + at for at, each in enumerate(memories)}
    return memory_page(memories, numbers, day=lambda _: "a day")


def test_an_item() -> None:
    """An item has its number, its words, its day, its chat, and its marks."""
    page = page_of(TEA)
    assert '<li value=7 class="until pinned">User likes tea.<p>' in page
    assert (
        "a day, <a href=/c/c%2F1>in this chat</a>, <b>until 2031-03-03</b>, <b>pinned</b>"
        in page
    )
    assert "<h2>Personal \u00b7 preference</h2>" in page
    assert '<h1 id="count">1 memory</h1>' in page


def test_it_loads_nothing() -> None:
    """The page names no other address, and forbids itself to load anything."""
    template = PROMPTS["memory_page"]
    assert "https:" not in template
    assert "http:" not in template
    assert "default-src 'none'" in template
    assert Reader(page_of(memory("m", "User runs."))).links == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts(text: str) -> None:
    """What a memory, a bank or the id of a chat holds is text, and never markup."""
    plain = Reader(page_of(TEA)).tags
    hostile = memory(
        "m-2",
        text,
        bank=text,
        tags=("preference", "pinned"),
        until="2031-03-03",
        meta={"chat_id": text},
    )
    read = Reader(page_of(hostile))
    assert read.tags == plain
    assert all(link.startswith("/c/") for link in read.links)


@given(st.text(min_size=1, max_size=80))
def test_any_text(text: str) -> None:
    """Any text is shown as it is, but for its blanks."""
    read = Reader(page_of(memory("m", f"a{text}b")))
    assert len(read.words) == 1
    assert read.tags.count("li") == 1


def test_a_long_list_says_that_it_is_not_all() -> None:
    """Where not everything has room, the page counts what it shows, and what there is."""
    rows = [memory(f"m-{at}", f"User has boat {at}.") for at in range(301)]
    page = page_of(*rows)
    assert '<h1 id="count">300 / 301 memories</h1>' in page
    assert page.count("<li ") == 300
