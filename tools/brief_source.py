"""Python source without what only its editors need: comments, docstrings, and most types.

Open WebUI reads the installed file's whole text up to three times a turn, and formats it when it is
saved in the editor. Its reader finds the full text in ``src/adaptive/``, by the path in the banner above
each module.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from typing import TypeGuard

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_DOCUMENTED = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def brief_source(text: str) -> str:
    """The same program without comments, docstrings, the types in functions, and what ports require.

    Where that is all there is to a body, three dots are.
    """
    text = _without_types(text)
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            number, start = token.start
            before = lines[number - 1][:start].rstrip()
            lines[number - 1] = f"{before}\n" if before else ""
    tree = ast.parse(text)
    ports = [node for node in ast.walk(tree) if is_port(node)]
    for port in ports:
        first, last = port.body[0].lineno - 1, port.body[-1].end_lineno or 0
        decorated = port.body[0]
        if isinstance(decorated, _DOCUMENTED) and decorated.decorator_list:
            first = decorated.decorator_list[0].lineno - 1
        lines[first:last] = [""] * (last - first)
        lines[first] = " " * port.body[0].col_offset + "...\n"
    in_ports = {inner for port in ports for inner in ast.walk(port)}
    for node in ast.walk(tree):
        if (
            not isinstance(node, _DOCUMENTED)
            or node in in_ports
            or ast.get_docstring(node) is None
        ):
            continue
        first, last = node.body[0].lineno - 1, node.body[0].end_lineno or 0
        lines[first:last] = [""] * (last - first)
        if len(node.body) == 1:
            lines[first] = " " * node.body[0].col_offset + "...\n"
    return "".join(lines)


def is_port(node: ast.AST) -> TypeGuard[ast.ClassDef]:
    """Whether a class is a protocol, whose methods only the checker of types reads."""
    return isinstance(node, ast.ClassDef) and "Protocol" in map(
        ast.unparse, node.bases
    )


def _without_types(text: str) -> str:
    """The same program without the types of parameters, of variables, and of what functions return.

    Nothing reads them at run time; the fields of classes keep theirs.
    """
    source = text.encode()
    line_starts = [0]
    for line in source.splitlines(keepends=True):
        line_starts.append(line_starts[-1] + len(line))

    def end_of(node: ast.expr) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return line_starts[node.end_lineno - 1] + node.end_col_offset

    def start_of(node: ast.expr | ast.arg) -> int:
        return line_starts[node.lineno - 1] + node.col_offset

    removed: set[tuple[int, int]] = set()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            name_end = start_of(node) + len(node.arg.encode())
            removed.add((name_end, end_of(node.annotation)))
        if not isinstance(node, _FUNCTION):
            continue
        if node.returns is not None:
            arrow = source.rindex(b"->", 0, start_of(node.returns))
            removed.add((arrow, end_of(node.returns)))
    for variable in typed_variables(tree):
        name_end = end_of(variable.target)
        removed.add((name_end, end_of(variable.annotation)))
    for start, end in sorted(removed, reverse=True):
        source = source[:start] + source[end:]
    return source.decode()


def typed_variables(module: ast.Module) -> Iterator[ast.AnnAssign]:
    """The assignments that tell a type, but for the fields of classes."""
    nodes = [*ast.walk(module)]
    fields = {
        field
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for field in node.body
    }
    for node in nodes:
        if not isinstance(node, ast.AnnAssign) or node in fields:
            continue
        if node.value is not None:
            yield node


def without_unused_names(text: str) -> str:
    """The same program without names of types that only the types left out have used."""
    words = Counter(re.findall(r"\w+", text))
    lines = text.splitlines(keepends=True)
    for statement in ast.parse(text).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                is_type = not any(
                    isinstance(node, ast.Call) for node in ast.walk(value)
                )
                is_type = is_type and not isinstance(value, ast.Constant)
            case _:
                continue
        if is_type and words[name] == 1:
            first, last = statement.lineno - 1, statement.end_lineno or 0
            lines[first:last] = [""] * (last - first)
    return "".join(lines)


def reflowed(text: str, longest_line: int) -> str:
    """The same program as Ruff writes it, indented by one space, on as few lines as it needs.

    No space stands beside a sign, and blank lines stand in strings alone.

    Raises:
        subprocess.CalledProcessError: the text is no Python.
    """
    settings = ("indent-width=1", "format.skip-magic-trailing-comma=true")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--quiet"]
    command += [f"--line-length={longest_line}"]
    command += [f"--config={setting}" for setting in settings]
    run = subprocess.run(
        [*command, "-"], input=text, capture_output=True, text=True, check=True
    )
    lines = run.stdout.split("\n")
    tokens = tokenize.generate_tokens(io.StringIO(run.stdout).readline)
    blank = {
        token.start[0]
        for token in tokens
        if token.type == tokenize.NL and not token.line.strip()
    }
    kept = [
        line for number, line in enumerate(lines, 1) if number not in blank
    ]
    return _with_short_bodies(_without_spaces("\n".join(kept)), longest_line)


def _without_spaces(text: str) -> str:
    """The same program without spaces beside signs within a line."""
    lines = text.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for before, after in reversed(list(itertools.pairwise(tokens))):
        number, end = before.end
        if number == after.start[0] and tokenize.OP in (
            before.type,
            after.type,
        ):
            line = lines[number - 1]
            lines[number - 1] = line[:end] + line[after.start[1] :]
    return "".join(lines)


def _with_short_bodies(text: str, longest_line: int) -> str:
    """The same program with short statements on one line, and a body of one line on that of its head."""
    statements = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt)
    ]
    simple = {
        node.lineno for node in statements if node.lineno == node.end_lineno
    }
    simple -= {node.lineno for node in statements if hasattr(node, "body")}
    joined: list[tuple[bool, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        is_simple = number in simple
        if is_simple and joined:
            was_simple, before = joined[-1]
            both = f"{before};{line.strip()}"
            is_beside = _depth(before) == _depth(line)
            fits = len(both) <= longest_line
            if was_simple and is_beside and fits:
                joined.pop()
                line = both
        joined.append((is_simple, line))
    lines: list[str] = []
    for (is_simple, line), (_, after) in itertools.pairwise(
        [*joined, (False, "")]
    ):
        if is_simple and lines and _depth(after) < _depth(line):
            head = lines[-1]
            both = head + line.strip()
            is_head = head.endswith(":") and _depth(head) < _depth(line)
            if is_head and len(both) <= longest_line:
                lines.pop()
                line = both
        lines.append(line)
    return "\n".join(lines)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
