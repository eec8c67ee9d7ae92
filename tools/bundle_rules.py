"""The rules on the source that make one flat file of it safe.

In the bundle every module shares one namespace and no package exists around it. Each rule forbids
something that works in the package and means something else, or nothing, in that file.
"""

from __future__ import annotations

import ast
import builtins
import graphlib
from collections import defaultdict
from collections.abc import Iterator, Mapping

from tools.bundle_source import (
    PACKAGE,
    PROMPTS_FROM,
    PROMPTS_TO,
    Binding,
    Module,
    Violation,
    bindings,
    doors,
    import_graph,
    imported_modules,
    internal_imports,
    is_internal,
    prompts_block,
)

# The host replaces these wherever they stand in a plug-in's text, prose and prompts included.
REWRITTEN_BY_HOST = ("from utils", "from apps", "from main", "from config")
# A plug-in is of the kind whose class the host finds first; ours must stay a filter.
RESERVED = frozenset({"Pipe", "Action", "Event", "Tools"})
# A plug-in has no package, its file is gone after loading, its name differs from load to load.
WITHOUT_MEANING = frozenset(
    {
        "__file__",
        "__loader__",
        "__name__",
        "__package__",
        "__path__",
        "__spec__",
    }
)
# The interactive additions of `site` are left out: no module calls them.
BUILTINS = frozenset(dir(builtins)) - {
    "copyright",
    "credits",
    "exit",
    "help",
    "license",
    "quit",
}

NESTED = (
    f"an import of {PACKAGE} must stand at top level, in no function, class or block "
    "(`if TYPE_CHECKING` neither)"
)


def check(
    modules: list[Module], prompts: Mapping[str, str]
) -> list[Violation]:
    """Every broken rule of the source, in the order of its place."""
    by_name = {module.name: module for module in modules}
    violations = [*_name_clashes(modules), *_cycles(modules)]
    for path, text in [*((m.path, m.text) for m in modules), *prompts.items()]:
        violations.extend(rewritten_texts(path, text))
    if prompts and not any(map(prompts_block, modules)):
        message = (
            f"no module has the block from {PROMPTS_FROM!r} to {PROMPTS_TO!r}"
        )
        violations.append(Violation(min(prompts), 1, message))
    for module in modules:
        if module.is_package:
            violations.extend(_package_file(module, by_name))
            continue
        violations.extend(_imports(module, by_name))
        violations.extend(_future_import(module))
        violations.extend(_names_at_top(module))
        violations.extend(_meaningless_names(module))
    return sorted(set(violations))


def rewritten_texts(path: str, text: str) -> Iterator[Violation]:
    """Places where the host would change the text of a file."""
    for number, line in enumerate(text.split("\n"), 1):
        for wording in REWRITTEN_BY_HOST:
            if wording in line:
                message = f"the host rewrites the text {wording!r}; word it differently"
                yield Violation(path, number, message)


def _package_file(
    module: Module, by_name: Mapping[str, Module]
) -> Iterator[Violation]:
    """What is no part of a package's door, which offers names of its own modules."""
    docstring = 1 if ast.get_docstring(module.tree) is not None else 0
    for statement in module.tree.body[docstring:]:
        messages = [
            "__init__.py may hold only a docstring, and imports of what its modules offer"
        ]
        if isinstance(statement, ast.ImportFrom) and (
            statement.module or ""
        ).startswith(f"{module.name}."):
            messages = _from_import(statement, by_name)
        for message in messages:
            yield Violation(module.path, statement.lineno, message)


def _imports(
    module: Module, by_name: Mapping[str, Module]
) -> Iterator[Violation]:
    top = {id(statement) for statement in module.tree.body}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            messages = [
                f"`import {alias.name}`: write `from {alias.name} import name`"
                for alias in node.names
                if is_internal(alias.name)
            ]
        elif isinstance(node, ast.ImportFrom):
            messages = _from_import(node, by_name)
            if is_internal(node.module) and id(node) not in top:
                messages = [*messages, NESTED]
        else:
            continue
        for message in messages:
            yield Violation(module.path, node.lineno, message)


def _from_import(
    node: ast.ImportFrom, by_name: Mapping[str, Module]
) -> list[str]:
    if node.level:
        return [
            f"relative import: write `from {PACKAGE}.room.module import name`"
        ]
    names = [alias.name for alias in node.names]
    if "*" in names:
        return [f"`from {node.module} import *`: name what is imported"]
    if not is_internal(node.module):
        return []
    renamed = [
        f"{alias.name!r} may not be renamed to {alias.asname!r} here"
        for alias in node.names
        if alias.asname
    ]
    target = by_name.get(node.module or "")
    if target is None:
        return [*renamed, f"there is no module {node.module}"]
    if target.is_package:
        offered = doors([target])[target.name]
        missing = [
            f"{target.path} does not offer {name!r}"
            for name in names
            if name not in offered
        ]
        return renamed + missing
    bound = {binding.name for binding in bindings(target)}
    return [
        *renamed,
        *(_missing(target, name) for name in names if name not in bound),
    ]


def _missing(target: Module, name: str) -> str:
    for statement in internal_imports(target):
        if name in {alias.name for alias in statement.names}:
            return f"{name!r} is defined in {statement.module}; import it from there"
    return f"{target.name} has no {name!r} at top level"


def _future_import(module: Module) -> Iterator[Violation]:
    """Other features than late annotations, which the bundle has for all."""
    for statement in ast.walk(module.tree):
        if (
            isinstance(statement, ast.ImportFrom)
            and statement.module == "__future__"
            and ast.unparse(statement) != "from __future__ import annotations"
        ):
            message = (
                "another `__future__` import would hold for the whole bundle"
            )
            yield Violation(module.path, statement.lineno, message)


def _names_at_top(module: Module) -> Iterator[Violation]:
    for binding in bindings(module):
        if binding.name in RESERVED:
            message = f"the host would take {binding.name!r} for the plug-in's class; rename it"
            yield Violation(module.path, binding.line, message)
        if binding.name in BUILTINS and not _is_dunder(binding.name):
            message = f"{binding.name!r} would hide the builtin in the whole bundle; rename it"
            yield Violation(module.path, binding.line, message)


def _meaningless_names(module: Module) -> Iterator[Violation]:
    block = prompts_block(module) or range(0)
    for node in ast.walk(module.tree):
        match node:
            case ast.Name(id=name) if name in WITHOUT_MEANING:
                if node.lineno not in block:
                    message = f"{name} has no meaning in the bundle but in the prompts block"
                    yield Violation(module.path, node.lineno, message)
            case _:
                pass


def _name_clashes(modules: list[Module]) -> Iterator[Violation]:
    places: defaultdict[str, dict[str, list[Binding]]] = defaultdict(dict)
    for module in modules:
        for binding in bindings(module):
            if not _is_dunder(binding.name):
                places[binding.name].setdefault(module.path, []).append(
                    binding
                )
    for name, by_path in places.items():
        (first, (origin, *_)), *others = by_path.items()
        targets = {
            binding.imported for found in by_path.values() for binding in found
        }
        if len(targets) == 1 and origin.imported is not None:
            continue
        for path, found in others:
            message = f"{name!r} is already bound in {first}:{origin.line}"
            yield Violation(path, found[0].line, message)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _cycles(modules: list[Module]) -> Iterator[Violation]:
    try:
        graphlib.TopologicalSorter(import_graph(modules)).prepare()
    except graphlib.CycleError as error:
        # The sorter names each module before the one that imports it.
        cycle: list[str] = error.args[1][::-1]
        start = cycle.index(min(cycle))
        names = [*cycle[start:-1], *cycle[:start], min(cycle)]
        importer = next(
            module for module in modules if module.name == names[0]
        )
        offered = doors(modules)
        line = next(
            statement.lineno
            for statement in internal_imports(importer)
            if names[1] in imported_modules(statement, offered)
        )
        yield Violation(
            importer.path, line, "import cycle: " + " -> ".join(names)
        )
