"""Plain texts in Markdown stay what they are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.plain_markdown import clipped_line, plain_line, plain_lines
from tests.rates import over

JOINER = "\u2060"


@dataclass(frozen=True)
class Case:
    """A text, and the Markdown that shows it."""

    id: str
    text: str
    markdown: str


CASES = [
    Case("plain", "User lives in Porto (since 2020).", "User lives in Porto (since 2020)."),
    Case("emphasis", "*very* __loud__ ~~not~~", r"\*very\* \_\_loud\_\_ \~\~not\~\~"),
    Case("image", "![x](http://a.example/?q=1)", f"![{JOINER}x]{JOINER}(http\\://a.example/?q=1)"),
    Case("link", "[x](https://a.example)", f"[{JOINER}x]{JOINER}(https\\://a.example)"),
    Case("reference", "[x][y] [1]", f"[{JOINER}x]{JOINER}[{JOINER}y] [{JOINER}1]"),
    Case("bare address", "see www.a.example", r"see www\.a.example"),
    Case("tag", "<img src=x>", r"\<img src=x>"),
    Case("entity", "&lt;b&gt;", r"\&lt;b\&gt;"),
    Case("code", "`rm`", r"\`rm\`"),
    Case("mathematics", "$5 and $10", r"\$5 and \$10"),
    Case("placeholder", "{{USER_NAME}}", r"\{\{USER\_NAME}}"),
    Case("table", "a | b", r"a \| b"),
    Case("backslash", r"\(x\)", f"\\\\{JOINER}(x\\\\{JOINER})"),
    Case("heading", "# one", r"\# one"),
    Case("list", "- one", r"\- one"),
    Case("quote", "> one", r"\> one"),
    Case("numbered", "1. one", r"1\. one"),
    Case("numbered with bracket", "12) one", r"12\) one"),
    Case("number", "12 cats", "12 cats"),
    Case("lines", "one\n\n\ttwo ", "one two"),
    Case("turned around", "a\u202eb\u2066c\x00d", "abcd"),
    Case("nothing", "", ""),
]


@over("case", CASES)
def test_plain_line(case: Case) -> None:
    """What Markdown, HTML, mathematics or the host's placeholders would take for theirs is text."""
    assert plain_line(case.text) == case.markdown


def test_lines_are_kept() -> None:
    """Lines stay lines and paragraphs stay paragraphs."""
    assert plain_lines("Delete?\n\n1. one\n2. *two*\n") == "Delete?\n\n1\\. one  \n2\\. \\*two\\*"


@given(st.text(alphabet="ab \n\\`*_{}[]()<>#+-.!|~$&:1", max_size=60))
def test_nothing_starts_markup(text: str) -> None:
    """No active character stands without a backslash, and none of them is lost."""
    line = plain_line(text)
    assert "\n" not in line
    pieces = line.replace(f"\\\\{JOINER}", "").split("\\")
    assert not set("".join([pieces[0], *(piece[1:] for piece in pieces[1:])])) & set("`*_{<&$~|")
    assert not re.search(r"\\[\[\](]|\[[^\u2060]|\][(\[:]", line)
    shown = line.replace(f"\\\\{JOINER}", "\0").replace("\\", "").replace("\0", "\\")
    assert shown.replace(JOINER, "") == " ".join(text.split())


@given(st.text(max_size=40), st.integers(1, 50))
def test_clipped_line(text: str, limit: int) -> None:
    """A clipped text is one line within its limit."""
    line = clipped_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
