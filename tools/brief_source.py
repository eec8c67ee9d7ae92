"""Python source without what only its editors need: comments, docstrings, half of each indent.

Open WebUI reads the installed file's whole text up to three times a turn, and formats it when it is
saved in the editor. Its reader finds the full text in ``src/``, by the path in the banner above
each module.
"""

from __future__ import annotations

import ast
import io
import tokenize

_DOCUMENTED = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def brief_source(text: str) -> str:
    """The same program without comments and docstrings, indented by two spaces in place of four.

    Of a docstring that is all there is to a body the first paragraph stays.
    """
    return _half_indented(_without_texts(text))


def _half_indented(text: str) -> str:
    """The same program with half of the space before each line that does not begin in a string."""
    lines = text.splitlines(keepends=True)
    in_string: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.JoinedStr | ast.Constant)
            and node.end_lineno is not None
        ):
            in_string.update(range(node.lineno, node.end_lineno))
    for place, line in enumerate(lines):
        code = line.lstrip(" ")
        if place not in in_string and code.strip():
            lines[place] = " " * ((len(line) - len(code)) // 2) + code
    return "".join(lines)


def _without_texts(text: str) -> str:
    """The same program without comments and docstrings."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            number, start = token.start
            before = lines[number - 1][:start].rstrip()
            lines[number - 1] = f"{before}\n" if before else ""
    for node in ast.walk(ast.parse(text)):
        if (
            not isinstance(node, _DOCUMENTED)
            or ast.get_docstring(node) is None
        ):
            continue
        first, last = node.body[0].lineno - 1, node.body[0].end_lineno or 0
        if len(node.body) > 1:
            lines[first:last] = [""] * (last - first)
            continue
        end = next(
            (n for n in range(first, last - 1) if not lines[n + 1].strip()),
            None,
        )
        if end is not None:
            lines[end] = lines[end].rstrip("\n") + '"""\n'
            lines[end + 1 : last] = [""] * (last - end - 1)
    return "".join(lines)
