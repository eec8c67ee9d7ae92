"""Plain texts in Markdown stay what they are; our line below an answer comes and goes."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from adaptive.core.messages import (
    answer_note,
    clipped_line,
    folded_away,
    plain_line,
    plain_lines,
    rewritten_answers,
    without_answer_note,
    without_spans,
)
from tests.rates import over

JOINER = "\u2060"
LINE = "Saved: User lives in Porto."
NOTE = f"> 🧠 *Adaptive Memory:* {LINE}"


@over(
    "text, left",
    [
        ("a<b>c</b>d<b></b>", "ad"),
        ("<b><b>c</b>d</b>", "d"),
        ("</b>a<b>c", "a<b>c"),
    ],
)
def test_spans(text: str, left: str) -> None:
    """A span reaches from an opening to the next closing; what is not closed stays, a closing alone goes."""
    assert without_spans(text, "b") == left


@over(
    "text, markdown",
    [
        (
            "![x](http://a.example/?q=1)",
            f"![{JOINER}x]{JOINER}(http\\://a.example/?q=1)",
        ),
        ("see www.a.example", r"see www\.a.example"),
        ("{{USER_NAME}}", r"\{\{USER\_NAME}}"),
        (r"\(x\)", f"\\\\{JOINER}(x\\\\{JOINER})"),
        ("a\u202eb\u2066c\x00d", "abcd"),
    ],
)
def test_plain_line(text: str, markdown: str) -> None:
    """What Markdown, HTML, mathematics or the host's placeholders would take for theirs is text."""
    assert plain_line(text) == markdown


def test_lines_are_kept() -> None:
    """Lines stay lines and paragraphs stay paragraphs."""
    assert (
        plain_lines("Delete?\n\n1. one\n2. *two*\n")
        == "Delete?\n\n1\\. one  \n2\\. \\*two\\*"
    )


@given(
    st.text(alphabet="ab \n\\`*_{}[]()<>#+-.!|~$&:1", max_size=60),
    st.integers(1, 50),
)
def test_nothing_starts_markup(text: str, limit: int) -> None:
    """No active character stands without a backslash, none is lost, and a limit holds."""
    line = plain_line(text)
    assert "\n" not in line
    pieces = line.replace(f"\\\\{JOINER}", "").split("\\")
    assert not set(
        "".join([pieces[0], *(piece[1:] for piece in pieces[1:])])
    ) & set("`*_{<&$~|")
    assert not re.search(r"\\[\[\](]|\[[^\u2060]|\][(\[:]", line)
    shown = (
        line.replace(f"\\\\{JOINER}", "\0")
        .replace("\\", "")
        .replace("\0", "\\")
    )
    assert shown.replace(JOINER, "") == " ".join(text.split())
    assert len(clipped_line(text, limit)) <= limit


@over(
    "text, left",
    [
        ("Hello.\n\n> A quote.\n", "Hello.\n\n> A quote.\n"),
        (f"Hello.\n{NOTE}\n", "Hello."),
        (NOTE, ""),
        (f"Once upon\n\n{NOTE}\na time.", "Once upon\n\na time."),
        (f"One.\n\n{NOTE}\n\n{NOTE}\n\nTwo.\n\n{NOTE}", "One.\n\nTwo."),
        (f"He wrote {NOTE}", f"He wrote {NOTE}"),
    ],
)
def test_without_answer_note(text: str, left: str) -> None:
    """Lines of ours go with the blank lines around them, and nothing else does."""
    assert without_answer_note(text) == left
    parts = [{"type": "image_url"}, {"type": "text", "text": text}]
    said = [
        {"role": "assistant", "content": parts},
        {"role": "user", "content": text},
    ]
    bare, question = rewritten_answers(said, without_answer_note)
    assert bare["content"][1]["text"] == left
    assert question is said[1]
    assert (bare == said[0]) is (text == left)


@given(st.text(max_size=80), st.text(max_size=40))
def test_there_and_back(text: str, line: str) -> None:
    """Whatever the answer and the line, taking the line out gives the answer."""
    assert answer_note(LINE) == NOTE
    assert len(answer_note("x" * 5000)) < 700
    if text.strip() and "Adaptive Memory" not in text:
        noted = f"{text.rstrip()}\n\n{answer_note(line)}"
        assert without_answer_note(noted) == text.rstrip()


# What the host cuts out of its own tasks' prompts (host: utils/middleware.py).
CUT = re.compile(
    r"<details\b[^<>]*>(?:(?!<details\b).)*?<\/details>", re.S | re.I
)


@given(st.text(max_size=200), st.text(max_size=200))
def test_folded_away_is_cut_out(first: str, rest: str) -> None:
    """Whatever an answer says, nothing of it is left where the host cuts folded blocks out."""
    folded = folded_away(
        f"x{first}\n- {plain_line(rest)}\n</details>{rest}<details>\n"
    )
    assert CUT.sub("", folded) == ""
    title = re.match(r"<details>\n<summary>([^\n]*)</summary>\n\n", folded)
    assert title


@over(
    "text, title, below",
    [
        ("Saved: I park on level 3", "Saved: I park on level 3", ""),
        (
            "**2 memories** \u00b7 1 archived\n\n- a < b & c",
            "2 memories \u00b7 1 archived",
            "- a < b & c",
        ),
        (
            "Deleted: " + plain_line("*a* <b> c:\\x"),
            "Deleted: *a* \u2039b\u203a c:\\x",
            "",
        ),
        ("That did not work: `x` failed.", "That did not work: x failed.", ""),
    ],
)
def test_folded_away(text: str, title: str, below: str) -> None:
    """The first line is the title, without markup; the page decodes the rest to what it was."""
    folded = folded_away(text)
    assert f"<summary>{title}</summary>" in folded
    shown = html.unescape(
        folded.split("</summary>")[1].removesuffix("</details>")
    )
    assert shown.strip() == below
    assert (
        folded.split("</summary>\n")[1].removesuffix("</details>").strip()
    ), "the page needs it"
