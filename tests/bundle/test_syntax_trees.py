"""The bundle says, statement by statement, what its source says: so tests run on the source.

Each module's statements stand in its section of the bundle as they are, but for its docstring and
imports, which are elsewhere, the block that reads the prompts, docstrings, the types of variables
and in functions, and the bodies of protocols (``tools.brief_source``), and private names that another
module binds, too, which end in a number.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.bundle.small_project import COMMITTED, PROJECT
from tools.brief_source import is_port

BANNER = re.compile(r"^# (\S+\.py)$", re.MULTILINE)


class Untyped(ast.NodeTransformer):
    """Takes the types of variables away, and leaves those of fields of classes."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """An assignment, if it is one."""
        if node.value is None:
            return node
        return ast.Assign(
            targets=[node.target],
            value=node.value,
            type_comment=None,
            lineno=node.lineno,
        )

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A class as it is."""
        return node


def statements(text: str) -> Iterator[str]:
    """What a module or a section says, but for what the bundle leaves out."""
    for place, statement in enumerate(ast.parse(text).body):
        one = Untyped().visit(statement)
        for node in ast.walk(one):
            if isinstance(node, ast.arg):
                node.annotation = None
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                node.returns = None
                node.body = [Untyped().visit(inner) for inner in node.body]
            documented = isinstance(
                node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            )
            if documented and ast.get_docstring(node) is not None:
                del node.body[0]
            if is_port(node) or (
                documented and [*map(ast.unparse, node.body)] == ["..."]
            ):
                node.body = []
        is_docstring = place == 0 and isinstance(one, ast.Expr)
        is_prompts = ast.unparse(one).startswith("PROMPTS =")
        if not (
            is_docstring
            or is_prompts
            or isinstance(one, ast.Import | ast.ImportFrom)
        ):
            yield ast.dump(one)


def is_unused_name(statement: str, bundle: str) -> bool:
    """Whether a statement only names a type for types, which stand nowhere in the bundle."""
    assigned = re.match(r"Assign\(targets=\[Name\(id='(\w+)'", statement)
    return bool(
        assigned
        and "Call(" not in statement
        and not re.search(rf"\b{assigned[1]}\b", bundle)
    )


def without_numbers(section: str, source: str) -> str:
    """A section of the bundle with its private names as its source has them."""
    names = set(re.findall(r"\b_\w+", source))
    return re.sub(
        r"\b(_\w+?)\d+\b",
        lambda name: name[0] if name[0] in names else name[1],
        section,
    )


def test_every_module() -> None:
    """Each module stands in the bundle with its own syntax tree, and nothing but modules does."""
    bundle = COMMITTED.read_text(encoding="utf-8")
    head, *rest = BANNER.split(bundle)
    assert rest
    assert not any(statements(head)), "the head holds more than imports"
    assert not re.search(
        r"^\s*(?:from|import) adaptive\b", bundle, re.MULTILINE
    )
    for path, section in zip(rest[0::2], rest[1::2], strict=True):
        source = (PROJECT / "src/adaptive" / path).read_text(encoding="utf-8")
        own = without_numbers(section, source)
        expected = [
            statement
            for statement in statements(source)
            if not is_unused_name(statement, bundle)
        ]
        assert expected == [*statements(own)], path
    named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    defined = Counter(
        one.name for one in ast.parse(bundle).body if isinstance(one, named)
    )
    assert max(defined.values()) == 1, defined.most_common(1)
