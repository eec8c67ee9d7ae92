"""The source of the plug-in as the bundler reads it: modules, the names they bind, prompts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "adaptive"
PROMPTS_FROM = "# bundle: prompts from here"
PROMPTS_TO = "# bundle: prompts to here"

_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """One broken rule, and where."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class BundleError(Exception):
    """The source cannot be bundled; ``violations`` says why, place by place."""

    def __init__(self, violations: Iterable[Violation]) -> None:
        self.violations = sorted(set(violations))
        super().__init__("\n".join(map(str, self.violations)))


@dataclass(frozen=True, slots=True)
class Module:
    """One source file: its dotted name, its path from the project's root, text and syntax tree."""

    name: str
    path: str
    text: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")

    @property
    def lines(self) -> list[str]:
        # Not splitlines: the line numbers of the tree count line feeds only.
        return self.text.split("\n")


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that a module binds at its top level; ``imported`` is what an import binds to it."""

    name: str
    line: int
    imported: str | None = None


def parse_modules(project: Path) -> tuple[list[Module], list[Violation]]:
    """Parse every file of the package, by path; what is no Python comes back as violations."""
    modules: list[Module] = []
    violations: list[Violation] = []
    source = project / "src"
    for file in sorted((source / PACKAGE).rglob("*.py")):
        path = file.relative_to(project).as_posix()
        parts = file.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = file.read_text(encoding="utf-8")
        try:
            modules.append(Module(name, path, text, ast.parse(text)))
        except SyntaxError as error:
            violations.append(
                Violation(
                    path, error.lineno or 1, f"syntax error: {error.msg}"
                )
            )
    return sorted(modules, key=lambda module: module.path), violations


def read_prompts(project: Path) -> dict[str, str]:
    """Texts of ``prompts/`` by path from the project's root."""
    return {
        file.relative_to(project).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted((project / "prompts").rglob("*.*"))
    }


def is_internal(name: str | None) -> bool:
    """Whether a dotted name is one of ours."""
    return name == PACKAGE or (name or "").startswith(PACKAGE + ".")


def internal_imports(module: Module) -> list[ast.ImportFrom]:
    """The imports that the bundle leaves out because their names stand in it anyway."""
    return [
        statement
        for statement in module.tree.body
        if isinstance(statement, ast.ImportFrom)
        and not statement.level
        and is_internal(statement.module)
    ]


def doors(modules: Iterable[Module]) -> dict[str, dict[str, str]]:
    """What each package offers: names, with the module that each of them is imported from there."""
    return {
        module.name: {
            alias.name: statement.module or ""
            for statement in internal_imports(module)
            for alias in statement.names
        }
        for module in modules
        if module.is_package
    }


def imported_modules(
    statement: ast.ImportFrom, offered: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """The modules that an import of ours leads to, be it through the door of a package."""
    name = statement.module or ""
    if name not in offered:
        return [name]
    found = (offered[name].get(alias.name) for alias in statement.names)
    return list(dict.fromkeys(filter(None, found)))


def import_graph(modules: list[Module]) -> dict[str, list[str]]:
    """For each module the modules that must stand above it."""
    known = {module.name for module in modules if not module.is_package}
    offered = doors(modules)
    return {
        module.name: [
            name
            for statement in internal_imports(module)
            for name in imported_modules(statement, offered)
            if name in known
        ]
        for module in modules
        if not module.is_package
    }


def bindings(module: Module) -> list[Binding]:
    """Everything the module binds at its top level, internal imports apart."""
    found = [
        binding
        for node in own_scope(module.tree)
        for binding in _bound_by(node)
    ]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Global):
            found.extend(Binding(name, node.lineno) for name in node.names)
    return found


def prompts_block(module: Module) -> range | None:
    """Line numbers of the block that the table of prompts replaces, its two marks included."""
    lines = module.lines
    if PROMPTS_FROM not in lines or PROMPTS_TO not in lines:
        return None
    return range(lines.index(PROMPTS_FROM) + 1, lines.index(PROMPTS_TO) + 2)


def own_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes below this one whose names belong to the same scope."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from own_scope(child)


def _bound_by(node: ast.AST) -> Iterator[Binding]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield Binding(node.name, node.lineno)
        case ast.Name(ctx=ast.Store()):
            yield Binding(node.id, node.lineno)
        case ast.Import() | ast.ImportFrom():
            yield from _bound_by_import(node)
        case (
            ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            yield Binding(name, node.lineno)
        case _:
            pass


def _bound_by_import(node: ast.Import | ast.ImportFrom) -> Iterator[Binding]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            # Without `as`, `import a.b` binds `a`, and so does `import a.c`.
            target = (
                alias.name if alias.asname else alias.name.partition(".")[0]
            )
            yield Binding(alias.asname or target, node.lineno, target)
        elif (
            node.module != "__future__"
            and not node.level
            and not is_internal(node.module)
        ):
            target = f"{node.module}:{alias.name}"
            yield Binding(alias.asname or alias.name, node.lineno, target)
