"""What our source takes from ``open_webui``, looked up in a host's files without importing them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tools.bundle_source import Binding, Module, bindings

HOST = "open_webui"
IMPORT_FAILURES = {"ImportError", "ModuleNotFoundError", "Exception"}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A module of the host, a name in it, an attribute of that; optional where we do without."""

    module: str
    name: str | None
    attribute: str | None
    optional: bool
    path: str
    line: int

    def __str__(self) -> str:
        parts = filter(None, (self.module, self.name, self.attribute))
        return f"{self.path}:{self.line}: {'.'.join(parts)}"


def symbols_of(path: str, text: str) -> list[Symbol]:
    """Every host symbol that a file of ours imports, and the attributes it takes of them."""
    tree = ast.parse(text)
    imported = dict(_imports(tree, path, optional=False))
    # A name that is also spelled out is asked for first, by hasattr or getattr.
    spelled = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
    }
    attributes = [
        replace(
            symbol,
            attribute=node.attr,
            optional=symbol.optional or node.attr in spelled,
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        for (_, alias), symbol in imported.items()
        if alias == node.value.id
    ]
    return [*imported.values(), *attributes]


def _imports(
    node: ast.AST, path: str, *, optional: bool
) -> Iterator[tuple[tuple[int, str], Symbol]]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            is_from = isinstance(node, ast.ImportFrom)
            module = (node.module or "") if is_from else alias.name
            if f"{module}.".startswith(f"{HOST}."):
                name = alias.name if is_from else None
                symbol = Symbol(
                    module, name, None, optional, path, node.lineno
                )
                yield (node.lineno, alias.asname or alias.name), symbol
        return
    for child in ast.iter_child_nodes(node):
        yield from _imports(
            child, path, optional=_is_optional(node, child, optional)
        )


def _is_optional(node: ast.AST, child: ast.AST, optional: bool) -> bool:
    if isinstance(
        node,
        ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef,
    ):
        return False
    if isinstance(node, ast.Try) and any(
        map(_catches_import_failure, node.handlers)
    ):
        # The handler holds what takes the place of the failed import.
        return optional or child in node.body or child in node.handlers
    if isinstance(node, ast.With):
        held = [
            part for item in node.items for part in ast.walk(item.context_expr)
        ]
        names = {part.id for part in held if isinstance(part, ast.Name)}
        return optional or (
            "suppress" in names and bool(names & IMPORT_FAILURES)
        )
    return optional


def _catches_import_failure(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {
        node.id
        for node in ast.walk(handler.type)
        if isinstance(node, ast.Name)
    }
    return bool(names & IMPORT_FAILURES)


def is_there(symbol: Symbol, package: Path) -> bool:
    """Whether a release, given by its ``open_webui`` folder, has the symbol."""
    module = symbol.module
    if symbol.name is None:
        return _file(package, module) is not None and symbol.attribute is None
    if submodule := _file(package, f"{module}.{symbol.name}"):
        return symbol.attribute is None or _binds(
            package, submodule, symbol.attribute
        )
    file = _file(package, module)
    if file is None or not _binds(package, file, symbol.name):
        return False
    return symbol.attribute is None or _has_attribute(
        file, symbol.name, symbol.attribute
    )


def _file(package: Path, module: str) -> Path | None:
    base = package.parent.joinpath(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


@cache
def _read(file: Path) -> Module:
    text = file.read_text(encoding="utf-8")
    return Module(file.stem, file.as_posix(), text, ast.parse(text))


@cache
def _bindings(file: Path) -> tuple[Binding, ...]:
    return tuple(bindings(_read(file)))


def _binds(package: Path, file: Path, name: str) -> bool:
    for binding in _bindings(file):
        if binding.name == name:
            return True
        starred = (
            (binding.imported or "").removesuffix(":*")
            if binding.name == "*"
            else ""
        )
        further = _file(package, starred) if starred else None
        if further and _binds(package, further, name):
            return True
    return False


def _has_attribute(file: Path, name: str, attribute: str) -> bool:
    """Whether the class, or the object made of a class in the same file, has the attribute.

    What is bound by anything else is trusted: its attributes are known at run time only.
    """
    classes = {
        node.name: node
        for node in _read(file).tree.body
        if isinstance(node, ast.ClassDef)
    }
    for node in _read(file).tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=bound)],
                value=ast.Call(func=ast.Name(id=made)),
            ):
                name = made if bound == name and made in classes else name
            case _:
                pass
    return name not in classes or _class_has(classes[name], classes, attribute)


def _class_has(
    node: ast.ClassDef, classes: dict[str, ast.ClassDef], attribute: str
) -> bool:
    body = Module("", "", "", ast.Module(node.body, []))
    if attribute in {one.name for one in bindings(body)}:
        return True
    bases = [ast.unparse(base) for base in node.bases]
    # A base from another file may bring anything.
    return any(
        base not in classes or _class_has(classes[base], classes, attribute)
        for base in bases
    )
