"""The house as it stands: who imports whom, how long a module is, where everything is caught."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import PROJECT

PACKAGE = "adaptive"
ROOT = PROJECT / "src" / PACKAGE
LONGEST_MODULE = 400

# Rooms and modules, floor by floor: each imports from its own floor and from those below.
FLOORS: list[set[str]] = [
    {"errors", "model", "shapes", "plain_markdown", "spans", "clock", "soft", "measures"}
    | {"foreground", "text_cache"},
    {"ports", "table_ports", "suggestion_ports", "conversation_ports"}
    | {"lenient", "messages", "answer_notes", "retry", "transport", "turn_state"}
    | {"valves", "recall_valves", "learn_valves", "privacy_valves"}
    | {"conversation_valves", "user_valves", "settings"},
    {"privacy", "llm", "search"},
    {"recall", "learn", "history"},
    {"filter", "recalling", "learning", "answer_lines", "typed_turns", "control"}
    | {"answer", "measuring"},
]
# Beside the floors; it implements the ports and is constructed in the filter alone.
HOST = "host"
# Rooms beside each other, and strangers.
STRANGERS = {"recall", "learn", "answer", "history"}
BROAD = {"Exception", "BaseException"}

FILES = sorted(ROOT.rglob("*.py"))
TREES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}


def room_of(module: str) -> str:
    """The room, or the module on top level, that a dotted name belongs to; empty for the house."""
    return module.removeprefix(PACKAGE).lstrip(".").partition(".")[0]


def room_of_file(file: Path) -> str:
    """The same for a file."""
    return file.relative_to(ROOT).parts[0].removesuffix(".py").replace("__init__", "")


def imports(file: Path) -> Iterator[tuple[str, int]]:
    """Every imported module with its line, wherever in the file the import stands."""
    for node in ast.walk(TREES[file]):
        yield from imported_by(node)


def imported_by(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The modules that a statement imports; none of one that imports nothing."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, node.lineno) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield "." * node.level + (node.module or ""), node.lineno


def place(file: Path, line: int = 1) -> str:
    """Where something is wrong."""
    return f"{file.relative_to(PROJECT)}:{line}"


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


def test_arrows_point_down() -> None:
    """Every import of ours is absolute and leads to the same floor or to a lower one."""
    wrong = [
        f"{place(file, line)}: {module}"
        for file in FILES
        for module, line in imports(file)
        if module.startswith(".")
        or (module.split(".")[0] == PACKAGE and not may_import(room_of_file(file), room_of(module)))
    ]
    assert wrong == []


def test_only_the_host_room_knows_the_host() -> None:
    """Nobody but the room ``host`` imports anything of Open WebUI."""
    wrong = [
        place(file, line)
        for file in FILES
        if room_of_file(file) != HOST
        for module, line in imports(file)
        if module.split(".")[0] == "open_webui"
    ]
    assert wrong == []


def test_host_is_imported_late() -> None:
    """Open WebUI is imported within functions, so that the plug-in loads whatever has moved."""
    wrong = [
        place(file, line)
        for file in FILES
        for node in TREES[file].body
        for module, line in imported_by(node)
        if module.split(".")[0] == "open_webui"
    ]
    assert wrong == []


def test_modules_are_short() -> None:
    """A module is read in one go."""
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in FILES}
    assert [place(file, n) for file, n in lengths.items() if n >= LONGEST_MODULE] == []


def test_modules_say_what_they_are_for() -> None:
    """Every module begins with a docstring, which the bundle shows under its banner."""
    assert [place(file) for file in FILES if not ast.get_docstring(TREES[file])] == []


def catches_everything(node: ast.AST) -> bool:
    """Whether it is a handler of everything, a bare one or ``suppress(Exception)``."""
    if isinstance(node, ast.ExceptHandler):
        caught = ast.walk(node.type) if node.type else []
        return node.type is None or any(getattr(one, "id", "") in BROAD for one in caught)
    if isinstance(node, ast.Call):
        called = getattr(node.func, "id", getattr(node.func, "attr", ""))
        names = {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)}
        return called == "suppress" and bool(names & BROAD)
    return False


def broad_catches(tree: ast.AST) -> list[int]:
    """The lines of what catches everything."""
    return [getattr(node, "lineno", 0) for node in ast.walk(tree) if catches_everything(node)]


def test_nobody_else_catches_everything() -> None:
    """Only the filter catches everything: elsewhere a bug must not be hidden."""
    others = [file for file in FILES if room_of_file(file) != "filter"]
    assert [place(file, line) for file in others for line in broad_catches(TREES[file])] == []


def test_one_edge_per_hook() -> None:
    """Each hook has one guarded edge, and so has the work that outlives it; nothing else has."""
    tree = TREES[ROOT / "filter.py"]
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    catches = {node.name: broad_catches(node) for node in functions if broad_catches(node)}
    assert {len(lines) for lines in catches.values()} == {1}
    assert {"inlet", "outlet"} <= catches.keys()
    assert len(catches) == len(broad_catches(tree))


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
