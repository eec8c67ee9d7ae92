"""Private names that several modules bind: each keeps its own in the flat bundle, under a new name.

``_told`` of a module becomes ``_told2`` where a module above binds it, too, then ``_told3``.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import tokenize
from collections.abc import Container, Iterator
from dataclasses import replace

from tools.bundle_source import Module, bindings, internal_imports

_F_STRING = re.compile(r"^[rR]?[fF]|^[fF][rR]")


def with_own_names(modules: list[Module]) -> list[Module]:
    """The modules with a new name for each private one that a module before them binds.

    A name that is also a parameter, a keyword, a field or imported elsewhere stays, and is
    reported as a clash.
    """
    shared = {
        alias.name
        for module in modules
        for one in internal_imports(module)
        for alias in one.names
    }
    bound: set[str] = set()
    found: list[Module] = []
    for module in modules:
        own = {one.name for one in bindings(module) if one.imported is None}
        private = {
            name
            for name in own
            if name.startswith("_") and not name.startswith("__")
        }
        clashing = private & bound - shared - set(_fixed_names(module.tree))
        new = {name: _free_name(name, bound | own) for name in clashing}
        found.append(_renamed(module, new) if new else module)
        bound |= {new.get(name, name) for name in own}
    return found


def _free_name(name: str, bound: Container[str]) -> str:
    """A private name with the first number from 2 on that makes it a new one."""
    numbered = (f"{name}{number}" for number in itertools.count(2))
    return next(one for one in numbered if one not in bound)


def _fixed_names(tree: ast.Module) -> Iterator[str]:
    """Names that are more than names of the module."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=str(name)) | ast.keyword(arg=str(name)):
                yield name
            case ast.ClassDef(body=body):
                for one in body:
                    match one:
                        case ast.AnnAssign(target=ast.Name(id=name)):
                            yield name
                        case (
                            ast.FunctionDef(name=name)
                            | ast.AsyncFunctionDef(name=name)
                        ):
                            yield name
                        case _:
                            pass
            case _:
                pass


def _renamed(module: Module, new: dict[str, str]) -> Module:
    """The module with other names; within f-strings, too, which are one token each."""
    lines = module.text.split("\n")
    anywhere = re.compile(
        rf"(?<![\w.])({'|'.join(map(re.escape, sorted(new)))})(?!\w)"
    )
    before = ""
    changes: list[tuple[tokenize.TokenInfo, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if (
            token.type == tokenize.NAME
            and token.string in new
            and before != "."
        ):
            changes.append((token, new[token.string]))
        elif token.type == tokenize.STRING and _F_STRING.match(token.string):
            changed = anywhere.sub(lambda one: new[one[1]], token.string)
            if changed != token.string:
                changes.append((token, changed))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.string
    for token, text in reversed(changes):
        (first, start), (last, end) = token.start, token.end
        joined = lines[first - 1][:start] + text + lines[last - 1][end:]
        lines[first - 1 : last] = joined.split("\n")
    text = "\n".join(lines)
    return replace(module, text=text, tree=ast.parse(text))
