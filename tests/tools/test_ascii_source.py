"""Programs written in ASCII."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rates import over
from tools.ascii_source import ascii_source


@over(
    "text, written",
    [
        ('x = "a"  # b\n', 'x = "a"  # b\n'),
        ('y = 1\nx = rf"é\\d{y}"\n', 'y = 1\nx = f"\\u00e9\\\\d{y}"\n'),
        ('x = ["é", "a", r"è"]\n', 'x = ["\\u00e9", "a", "\\u00e8"]\n'),
        ("x = 1  # größer\n", "x = 1  # gr\\u00f6\\u00dfer\n"),
    ],
)
def test_written(text: str, written: str) -> None:
    """Only what is beyond ASCII is written in another way, and the program stays the same."""
    assert ascii_source(text) == written
    assert ast.dump(ast.parse(written)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize("text", ["größe = 1\n", "x = f\"{'é'}\"\n"], ids=["name", "expression"])
def test_refused(text: str) -> None:
    """What no escape can stand for is an error, and not a broken program."""
    with pytest.raises(ValueError, match=r"in ASCII|line 1"):
        ascii_source(text)


@given(st.text(alphabet="aé'\"\\\n你😀{}", max_size=12), st.sampled_from(["", "r"]))
def test_any_literal(body: str, prefix: str) -> None:
    """Whatever a literal holds, its value stays."""
    if not prefix:
        body = re.sub(r"\\(?=[^\x00-\x7f])", "", body)  # no escape of Python's
    for quotes in ('"', "'", '"""'):
        if prefix and "\n" in body and quotes != '"""':
            continue  # a backslash may end a line of a raw literal, which no other kind can say
        text = f"x = {prefix}{quotes}{body}{quotes}\n"
        try:
            meant = ast.literal_eval(text.removeprefix("x = ").strip("\n"))
        except (SyntaxError, ValueError):
            continue
        written = ascii_source(text)
        assert written.isascii()
        assert ast.literal_eval(written.removeprefix("x = ").strip("\n")) == meant
