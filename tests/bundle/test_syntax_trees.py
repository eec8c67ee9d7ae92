"""The bundle says, statement by statement, what its source says: so tests run on the source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bundle.small_project import PROJECT, write_project
from tests.bundle.syntax_trees import differences
from tools.bundle import build


def test_every_module(committed: Path) -> None:
    """Each module stands in the bundle with its own syntax tree, and nothing but modules does."""
    assert differences(PROJECT, committed.read_text(encoding="utf-8")) == []


def moved_up(text: str) -> str:
    """The last section above all others."""
    head, *sections, last = text.split("# ---- ")
    return "# ---- ".join([head, f"{last}\n", *sections])


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Puts one text in the place of another."""
    return lambda text: text.replace(old, new)


def added(end: str) -> Callable[[str], str]:
    """Puts a text below everything."""
    return lambda text: f"{text}\n{end}\n"


ROOM = "src/adaptive/"
# What spoils a bundle, and the beginning of what is said of it.
FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "operator": (replaced("rapidfuzz is not None", "rapidfuzz is None"), f"{ROOM}a_late.py: sou"),
    "decorator": (replaced("@classmethod", "@staticmethod"), f"{ROOM}valves.py: source and"),
    "literal": (replaced("string stay", "string go"), f"{ROOM}a_late.py: source and bundle"),
    "statement lost": (replaced('TITLE = re.compile(r"# (.*)")', ""), f"{ROOM}filter.py: source"),
    "statement added": (added("MORE = 1"), f"{ROOM}filter.py: source and bundle differ"),
    "prompt": (replaced("Extract memories", "Extract"), f"{ROOM}llm/prompts.py: source and"),
    "section lost": (replaced(f"# ---- {ROOM}soft.py ----", ""), f"{ROOM}soft.py: has no section"),
    "section added": (added(f"# ---- {ROOM}x.py ----"), f"{ROOM}x.py: is no module of the filter"),
    "section twice": (added(f"# ---- {ROOM}soft.py ----"), f"{ROOM}soft.py: has two sections"),
    "order": (moved_up, f"{ROOM}filter.py: stands above {ROOM}a_late.py"),
    "head": (
        replaced("import re\n", "import re\nre.purge()\n"),
        "the head holds more than",
    ),
    "import lost": (replaced("import re\n", ""), "the head does not import (None, 're'"),
    "import added": (replaced("import re\n", "import re\nimport ssl\n"), "no module imports (None"),
    "import left": (added("from adaptive.soft import x"), "an import is left: from adaptive.soft"),
    "name twice": (added("def defaults(): ..."), f"{ROOM}filter.py: binds defaults, as {ROOM}a_l"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, tmp_path: Path) -> None:
    """The comparison passes the bundler's own work and finds what a bundler could do wrong."""
    project = write_project(tmp_path)
    text = build(project)
    assert differences(project, text) == []
    spoil, reported = FAULTS[fault]
    assert spoil(text) != text
    found = differences(project, spoil(text))
    assert any(one.startswith(reported) for one in found), found
