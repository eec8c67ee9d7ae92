"""The house as it stands: who imports whom, how long a module is, where everything is caught."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockingError

from tests.conftest import PROJECT

PACKAGE = "adaptive"
ROOT = PROJECT / "src" / PACKAGE
LONGEST_MODULE = 400

# Floor by floor: a room imports from those below alone, and ``filter`` stands above all.
FLOORS: list[set[str]] = [
    {"core"},
    {"settings"},
    {"llm", "search", "privacy"},
    {"memory"},
    {"recall", "learn", "history", "answer", "control"},
    {"wiring"},
    {"filter"},
]
# Beside the floors: it implements the ports with what stands below the upper rooms, and only the
# filter and its wiring construct it.
HOST = "host"
CONSTRUCTING = ("wiring", "filter")
UPPER_ROOMS = FLOORS[4]
BROAD = {"Exception", "BaseException"}

FILES = sorted(ROOT.rglob("*.py"))
TREES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}


def errors_of(*modules: str) -> set[str]:
    """The errors of our own that modules of ``core`` define, each after what it derives from."""
    errors = {"AdaptiveMemoryError"}
    for module in modules:
        for node in TREES[ROOT / "core" / module].body:
            if isinstance(node, ast.ClassDef) and errors & {
                ast.unparse(base) for base in node.bases
            }:
                errors.add(node.name)
    return errors


OUR_ERRORS = errors_of("model.py", "providers.py")


def room_of(module: str) -> str:
    """The room, or the module on top level, that a dotted name belongs to; empty for the house."""
    return module.removeprefix(PACKAGE).lstrip(".").partition(".")[0]


def room_of_file(file: Path) -> str:
    """The same for a file."""
    return (
        file.relative_to(ROOT)
        .parts[0]
        .removesuffix(".py")
        .replace("__init__", "")
    )


def imports(file: Path) -> Iterator[tuple[str, int, bool]]:
    """Every imported module with its line, and whether the import stands on top level."""
    top = set(TREES[file].body)
    for node in ast.walk(TREES[file]):
        if isinstance(node, ast.Import):
            yield from (
                (alias.name, node.lineno, node in top) for alias in node.names
            )
        elif isinstance(node, ast.ImportFrom):
            yield (
                "." * node.level + (node.module or ""),
                node.lineno,
                node in top,
            )


def place(file: Path, line: int = 1) -> str:
    """Where something is wrong."""
    return f"{file.relative_to(PROJECT)}:{line}"


EVERYWHERE = {HOST}.union(*FLOORS)


def floor_of(room: str) -> int:
    """The number of the floor on which a room is."""
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def may_import(room: str, other: str) -> bool:
    """Whether a room may know another one."""
    if room == other:
        return True
    if room not in EVERYWHERE or other not in EVERYWHERE:
        return False
    if other == HOST:
        return room in CONSTRUCTING
    return floor_of(other) < (
        FLOORS.index(UPPER_ROOMS) if room == HOST else floor_of(room)
    )


def test_arrows_point_down() -> None:
    """Every import of ours is absolute and leads to the same room or to a lower floor."""
    wrong = [
        f"{place(file, line)}: {module}"
        for file in FILES
        for module, line, _ in imports(file)
        if module.startswith(".")
        or (
            module.split(".")[0] == PACKAGE
            and not may_import(room_of_file(file), room_of(module))
        )
    ]
    assert wrong == []


def test_host_is_imported_late() -> None:
    """The room ``host`` alone imports Open WebUI: within functions, so that all loads whatever."""
    wrong = [
        place(file, line)
        for file in FILES
        for module, line, on_top in imports(file)
        if module.split(".")[0] == "open_webui"
        and (on_top or room_of_file(file) != HOST)
    ]
    assert wrong == []


# What changes a ``MemoryStore``, and who may ask for it.
STORE_WRITES = {"write", "delete_all"}
WRITING_ROOMS = {"memory", HOST}


def store_writes(tree: ast.AST) -> list[int]:
    """The lines that call a write of something named a store, or of something's store."""
    lines: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in STORE_WRITES:
            owner = node.value
            name = getattr(owner, "attr", getattr(owner, "id", ""))
            if name.endswith("store"):
                lines.append(node.lineno)
    return lines


def test_memories_are_written_through_the_gate_alone() -> None:
    """Nobody but ``memory`` and ``host`` calls a write of a ``MemoryStore``."""
    assert store_writes(
        ast.parse("async def f(): await user.store.write(memory)")
    ) == [1]
    others = [
        file for file in FILES if room_of_file(file) not in WRITING_ROOMS
    ]
    assert [
        place(file, line)
        for file in others
        for line in store_writes(TREES[file])
    ] == []


def test_modules_are_short() -> None:
    """A module is read in one go."""
    lengths = {
        file: len(file.read_text(encoding="utf-8").splitlines())
        for file in FILES
    }
    assert [
        place(file, n) for file, n in lengths.items() if n >= LONGEST_MODULE
    ] == []


def catches_everything(node: ast.AST) -> bool:
    """Whether it is a handler of everything, a bare one or ``suppress(Exception)``."""
    if isinstance(node, ast.ExceptHandler):
        caught = ast.walk(node.type) if node.type else []
        return node.type is None or any(
            getattr(one, "id", "") in BROAD for one in caught
        )
    if isinstance(node, ast.Call):
        called = getattr(node.func, "id", getattr(node.func, "attr", ""))
        names = {
            getattr(part, "id", getattr(part, "attr", ""))
            for part in ast.walk(node)
        }
        return called == "suppress" and bool(names & BROAD)
    return False


def broad_catches(tree: ast.AST) -> list[int]:
    """The lines of what catches everything."""
    return [
        getattr(node, "lineno", 0)
        for node in ast.walk(tree)
        if catches_everything(node)
    ]


def test_nobody_else_catches_everything() -> None:
    """Only the filter catches everything: elsewhere a bug must not be hidden."""
    others = [file for file in FILES if room_of_file(file) != "filter"]
    assert [
        place(file, line)
        for file in others
        for line in broad_catches(TREES[file])
    ] == []


def quoted_raw(tree: ast.AST) -> list[int]:
    """Lines that log a caught error itself, or quote a foreign one in the sentence of ours."""
    lines: list[int] = []
    for handler in (
        node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)
    ):
        types = ast.walk(handler.type) if handler.type else ()
        is_ours = bool(
            {name.id for name in types if isinstance(name, ast.Name)}
            & OUR_ERRORS
        )
        for call in (
            node for node in ast.walk(handler) if isinstance(node, ast.Call)
        ):
            called = ast.unparse(call.func)
            logs = called.startswith("log") and "." in called
            raises = called in OUR_ERRORS and not is_ours
            for part in call.args if logs else call.args[:1] if raises else ():
                inner = list(ast.walk(part))
                fields = [
                    one.value
                    for one in inner
                    if isinstance(one, ast.Attribute)
                ]
                names = {
                    one.id
                    for one in inner
                    if isinstance(one, ast.Name) and one not in fields
                }
                if (
                    handler.name in names
                    and not {"with_detail", "type"} & names
                ):
                    lines.append(call.lineno)
    return lines


def test_errors_are_told_in_full_to_the_log_alone() -> None:
    """Each log line of an error tells its detail; no sentence of ours quotes a foreign error."""
    assert [
        place(file, line) for file in FILES for line in quoted_raw(TREES[file])
    ] == []


def test_one_edge_per_hook() -> None:
    """Each hook has one guarded edge, and so has the work that outlives it; nothing else has."""
    tree = TREES[ROOT / "filter.py"]
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    catches = {
        node.name: broad_catches(node)
        for node in functions
        if broad_catches(node)
    }
    assert {len(lines) for lines in catches.values()} == {1}
    # Of the hooks, of a command that is answered, of redaction on its way out and back, and of a
    # recall that has failed; all that goes on behind an answer has one.
    edges = {
        "inlet",
        "request",
        "outlet",
        "_answered",
        "_redacted",
        "_restored_event",
        "_without_memories",
        "_behind",
    }
    assert catches.keys() - {"guarded"} == edges  # that is within ``_behind``


async def test_product_may_not_block() -> None:
    """A blocking call from product code fails in the loop; the tests' own calls do not."""
    namespace: dict[str, Any] = {"time": time}
    code = "def block():\n    time.sleep(0)\n"
    exec(compile(code, str(ROOT / "recall" / "block.py"), "exec"), namespace)
    time.sleep(0)
    with pytest.raises(BlockingError):
        namespace["block"]()


def test_every_test_says_what_it_proves() -> None:
    """Each test function of the project has a docstring."""
    silent = [
        f"{path.name}:{node.lineno} {node.name}"
        for path in Path(__file__).parent.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert silent == []
