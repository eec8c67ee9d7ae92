"""The house as it stands: who imports whom, how long a module is, where everything is caught."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PROJECT

PACKAGE = "adaptive"
ROOT = PROJECT / "src" / PACKAGE
LONGEST_MODULE = 400

# Rooms and modules, floor by floor: each imports from its own floor and from those below.
FLOORS: list[set[str]] = [
    {"errors", "model", "shapes", "plain_markdown", "spans", "clock", "soft", "measures"}
    | {"foreground", "text_cache"},
    {"ports", "table_ports", "suggestion_ports", "conversation_ports"}
    | {"lenient", "messages", "answer_notes", "retry", "transport"}
    | {"valves", "recall_valves", "learn_valves", "privacy_valves"}
    | {"conversation_valves", "user_valves", "settings"},
    {"privacy", "llm", "search"},
    {"recall", "learn", "conversation"},
    {"filter", "recalling", "learning", "answer_lines", "typed_turns", "erasing"}
    | {
        "understanding",
        "summing_up",
        "suggesting",
        "remembering",
        "topic_summaries",
        "answers",
        "measuring",
    }
    | {"windowing", "restoring"},
]
# Beside the floors; it implements the ports and is constructed in the filter alone.
HOST = "host"
# On one floor, and yet strangers.
STRANGERS = {"recall", "learn", "conversation"}
BROAD = {"Exception", "BaseException"}

FILES = sorted(ROOT.rglob("*.py"))
EACH_FILE = pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))


def room_of(module: str) -> str:
    """The room, or the module on top level, that a dotted name belongs to; empty for the house."""
    return module.removeprefix(PACKAGE).lstrip(".").partition(".")[0]


def room_of_file(file: Path) -> str:
    """The same for a file."""
    return file.relative_to(ROOT).parts[0].removesuffix(".py").replace("__init__", "")


def imports(file: Path) -> Iterator[tuple[str, int]]:
    """Every imported module with its line, wherever in the file the import stands."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative import"
            yield str(node.module), node.lineno


def floor_of(room: str) -> int:
    """The number of the floor on which a room is."""
    floors = [number for number, rooms in enumerate(FLOORS) if room in rooms]
    assert floors, f"{room!r} is on no floor; put it on one in {Path(__file__).name}"
    return floors[0]


def may_import(room: str, other: str) -> bool:
    """Whether a room may know another one."""
    if room == other or not room:
        return room == other
    if other == HOST:
        return room in FLOORS[-1]
    if room == HOST:
        return floor_of(other) < floor_of("recall")
    if room in STRANGERS and other in STRANGERS:
        return False
    return floor_of(other) <= floor_of(room)


@EACH_FILE
def test_arrows_point_down(file: Path) -> None:
    """Every import of ours leads to the same floor or to a lower one."""
    room = room_of_file(file)
    wrong = [
        f"{file.relative_to(PROJECT)}:{line}: {module}"
        for module, line in imports(file)
        if module.split(".")[0] == PACKAGE and not may_import(room, room_of(module))
    ]
    assert wrong == []


@EACH_FILE
def test_only_the_host_room_knows_the_host(file: Path) -> None:
    """Nobody but the room ``host`` imports anything of Open WebUI."""
    if room_of_file(file) != HOST:
        found = [line for module, line in imports(file) if module.split(".")[0] == "open_webui"]
        assert found == []


@EACH_FILE
def test_host_is_imported_late(file: Path) -> None:
    """Open WebUI is imported within functions, so that the plug-in loads whatever has moved."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            names.append(str(getattr(node, "module", "")))
            assert not [name for name in names if name.split(".")[0] == "open_webui"]


@EACH_FILE
def test_module_is_short(file: Path) -> None:
    """A module is read in one go."""
    assert len(file.read_text(encoding="utf-8").splitlines()) < LONGEST_MODULE


@EACH_FILE
def test_module_says_what_it_is_for(file: Path) -> None:
    """Every module begins with a docstring, which the bundle shows under its banner."""
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))


def broad_catches(tree: ast.AST) -> int:
    """How many handlers catch everything, bare ones and ``suppress(Exception)`` included."""
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.walk(node.type) if node.type else []
            names = {name.id for name in caught if isinstance(name, ast.Name)}
            count += node.type is None or bool(names & BROAD)
        elif isinstance(node, ast.Call):
            names = {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)}
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            count += called == "suppress" and bool(names & BROAD)
    return count


@EACH_FILE
def test_nobody_else_catches_everything(file: Path) -> None:
    """Only the filter catches everything: elsewhere a bug must not be hidden."""
    if room_of_file(file) != "filter":
        assert broad_catches(ast.parse(file.read_text(encoding="utf-8"))) == 0


def test_one_edge_per_hook() -> None:
    """Each hook has one guarded edge, and so has the work that outlives it; nothing else has."""
    tree = ast.parse((ROOT / "filter.py").read_text(encoding="utf-8"))
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    catches = {node.name: broad_catches(node) for node in functions if broad_catches(node)}
    assert set(catches.values()) == {1}
    assert {"inlet", "outlet"} <= catches.keys()
    assert sum(catches.values()) == broad_catches(tree)


def test_floors_are_the_house() -> None:
    """Every room and module of the house is on a floor."""
    rooms = {room_of_file(file) for file in FILES} - {"", HOST}
    for room in rooms:
        assert floor_of(room) >= 0


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
