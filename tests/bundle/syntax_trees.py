"""The bundle's syntax trees against those of the source, found by other means than the bundler's.

Each statement of a module stands in the module's section of the bundle as it is, but for what the
bundle has elsewhere or names anew: docstrings are comments there, imports from other packages stand
once at the head, what comes from another module is there anyway, a private name that a module above
binds, too, ends in ``__`` and the module's name, and in place of the block of ``llm/prompts.py``
that reads the prompts' files stands a table of their texts.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

BANNER = re.compile(r"^# ---- (\S+) ----$", re.MULTILINE)
INTERNAL_IMPORT = re.compile(r"^[ \t]*(?:from|import) adaptive\b.*$", re.MULTILINE)
PROMPTS_FROM, PROMPTS_TO = "# bundle: prompts from here", "# bundle: prompts to here"

# What one name of an import binds: module, name, alias.
Imported = tuple[str | None, str, str | None]


@dataclass(frozen=True)
class Statement:
    """A statement at top level, as text and as tree."""

    text: str
    tree: ast.stmt

    def says(self, other: Statement) -> bool:
        """Whether both mean the same; the same text does, any other is compared as a tree."""
        return self.text == other.text or ast.dump(self.tree) == ast.dump(other.tree)


def differences(project: Path, bundle: str) -> list[str]:
    """Where the bundle of a project does not say what its source says; empty where it does."""
    head, *rest = BANNER.split(bundle)
    names = rest[0::2]
    sections = [_statements(text) for text in rest[1::2]]
    as_named = [_statements(_own_names(*pair)) for pair in zip(names, rest[1::2], strict=True)]
    modules = dict(_modules(project, "src/adaptive/filter.py"))
    needs = {path: {n for one in found if (n := _needed(one))} for path, found in modules.items()}
    found = [f"{one}: has no section" for one in sorted(modules.keys() - set(names))]
    found += [f"{one}: is no module of the filter" for one in sorted(set(names) - modules.keys())]
    found += [f"{one}: has two sections" for one in sorted(set(names)) if names.count(one) > 1]
    for place, (name, section) in enumerate(zip(names, as_named, strict=True)):
        below = needs.get(name, set()) - set(names[:place])
        found += [f"{name}: stands above {one}, which it needs" for one in sorted(below)]
        wanted = _kept(modules.get(name, ()), _prompts(project))
        pairs = itertools.zip_longest(wanted, section)
        if gap := next((pair for pair in pairs if not _alike(*pair)), None):
            text = "\n".join(one.text for one in gap if one)
            found.append(f"{name}: source and bundle differ from here on: {text}")
    imported = {one for module in modules.values() for one in _imports(module)}
    found += _differences_of_head(_statements(head), imported)
    found += _bound_twice([("the head", _statements(head)), *zip(names, sections, strict=True)])
    found += [f"an import is left: {one.strip()}" for one in INTERNAL_IMPORT.findall(bundle)]
    return found


def _own_names(path: str, text: str) -> str:
    """A section with the names that its module has for what other modules bind as well."""
    return re.sub(rf"\b(_\w+?)__{Path(path).stem}\b", r"\1", text)


def _alike(wanted: Statement | None, there: Statement | None) -> bool:
    return wanted is not None and there is not None and wanted.says(there)


def _statements(text: str) -> list[Statement]:
    lines = text.split("\n")
    found: list[Statement] = []
    for tree in ast.parse(text).body:
        decorators = [one.lineno for one in getattr(tree, "decorator_list", ())]
        first = min([tree.lineno, *decorators])
        found.append(Statement("\n".join(lines[first - 1 : tree.end_lineno]), tree))
    return found


def _modules(project: Path, entry: str) -> Iterator[tuple[str, list[Statement]]]:
    """The statements of every module that one module imports, by whatever way, and its own."""
    waiting, seen = [entry], {entry}
    while waiting:
        path = waiting.pop()
        text = (project / path).read_text(encoding="utf-8")
        begin, end = text.find(f"\n{PROMPTS_FROM}\n"), text.find(f"\n{PROMPTS_TO}\n")
        if begin >= 0:
            text = f"{text[:begin]}\nPROMPTS = ...{text[end + len(PROMPTS_TO) + 1 :]}"
        statements = _statements(text)
        yield path, statements
        new = {one for statement in statements if (one := _needed(statement))} - seen
        seen |= new
        waiting += new


def _needed(statement: Statement) -> str | None:
    """The module of ours that a statement imports from."""
    match statement.tree:
        case ast.ImportFrom(module=str(name)) if name.partition(".")[0] == "adaptive":
            return f"src/{name.replace('.', '/')}.py"
        case _:
            return None


def _prompts(project: Path) -> Statement:
    files = sorted((project / "prompts").glob("*.md"), key=lambda file: file.stem)
    table = {file.stem: file.read_text(encoding="utf-8") for file in files}
    [statement] = _statements(f"PROMPTS: dict[str, str] = {table!r}")
    return statement


def _kept(statements: Iterable[Statement], prompts: Statement) -> Iterator[Statement]:
    for place, statement in enumerate(statements):
        match statement.tree:
            case ast.Import() | ast.ImportFrom():
                continue
            case ast.Expr(value=ast.Constant(value=str())) if place == 0:
                continue
            case ast.Assign(value=ast.Constant(value=value)) if value is Ellipsis:
                yield prompts
            case _:
                yield statement


def _imports(statements: Iterable[Statement]) -> Iterator[Imported]:
    """What is imported from other packages at top level."""
    for statement in statements:
        match statement.tree:
            case ast.Import(names=names):
                yield from ((None, one.name, one.asname) for one in names)
            case ast.ImportFrom(module=module, names=names) if _needed(statement) is None:
                yield from ((module, one.name, one.asname) for one in names)
            case _:
                pass


def _differences_of_head(head: list[Statement], imported: set[Imported]) -> Iterator[str]:
    docstring, *others = head
    if not (isinstance(docstring.tree, ast.Expr) and docstring.text.startswith('"""\n')):
        yield "the bundle does not begin with its docstring"
    for one in others:
        if not isinstance(one.tree, ast.Import | ast.ImportFrom):
            yield f"the head holds more than imports: {one.text}"
    there = list(_imports(others))
    if there[:1] != [("__future__", "annotations", None)]:
        yield "the first import is not that of annotations"
    yield from (f"the head does not import {one}" for one in sorted(imported - set(there), key=str))
    yield from (f"no module imports {one}" for one in sorted(set(there) - imported, key=str))


def _bound_twice(sections: Iterable[tuple[str, list[Statement]]]) -> Iterator[str]:
    bound: dict[str, str] = {}
    for section, statements in sections:
        names = {name for one in statements for name in _bound_by(one.tree)}
        for name in sorted(one for one in names if not one.startswith("__")):
            if bound.setdefault(name, section) != section:
                yield f"{section}: binds {name}, as {bound[name]} does"


def _bound_by(tree: ast.AST) -> Iterator[str]:
    match tree:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield tree.name
        case ast.Name(ctx=ast.Store()):
            yield tree.id
        case ast.Import() | ast.ImportFrom():
            yield from (one.asname or one.name.partition(".")[0] for one in tree.names)
        case ast.stmt():
            for child in ast.iter_child_nodes(tree):
                yield from _bound_by(child)
        case ast.Tuple() | ast.List() | ast.excepthandler() | ast.withitem():
            for child in ast.iter_child_nodes(tree):
                yield from _bound_by(child)
        case _:
            pass
