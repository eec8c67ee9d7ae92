"""The bundle says, statement by statement, what its source says: so tests run on the source.

Each module's statements stand in its section of the bundle as they are, but for docstrings and
imports, which are elsewhere, the block that reads the prompts, and private names that another
module binds, too, which end in ``__`` and the module's name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bundle.small_project import PROJECT, write_project
from tools.bundle import build

BANNER = re.compile(r"^# ---- (\S+) ----$", re.MULTILINE)


def statements(text: str) -> Iterator[str]:
    """What a module or a section says, but for its docstring, its imports and the prompts."""
    for place, one in enumerate(ast.parse(text).body):
        is_docstring = place == 0 and isinstance(one, ast.Expr)
        is_prompts = ast.unparse(one).startswith("PROMPTS:")
        if not (is_docstring or is_prompts or isinstance(one, ast.Import | ast.ImportFrom)):
            yield ast.dump(one)


def differences(project: Path, bundle: str) -> list[str]:
    """Modules that the bundle does not hold as they are; names that it binds twice or lacks."""
    head, *rest = BANNER.split(bundle)
    wrong: list[str] = []
    for path, section in zip(rest[0::2], rest[1::2], strict=True):
        own = re.sub(rf"\b(_\w+?)__{Path(path).stem}\b", r"\1", section)
        source = (project / path).read_text(encoding="utf-8")
        if list(statements(source)) != list(statements(own)):
            wrong.append(f"{path}: source and bundle differ")
    tree = ast.parse(bundle)
    defined = [
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    wrong += [f"{name} is bound twice" for name in sorted(set(defined)) if defined.count(name) > 1]
    if any(statements(head)):
        wrong.append("the head holds more than imports")
    if re.search(r"^\s*(?:from|import) adaptive\b", bundle, re.MULTILINE):
        wrong.append("an import is left")
    return wrong


def test_every_module(committed: Path) -> None:
    """Each module stands in the bundle with its own syntax tree, and nothing but modules does."""
    assert differences(PROJECT, committed.read_text(encoding="utf-8")) == []


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Puts one text in the place of another."""
    return lambda text: text.replace(old, new)


# What spoils a bundle, and what is said of it.
FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "operator": (replaced("rapidfuzz is not None", "rapidfuzz is None"), "a_late.py: source and"),
    "statement lost": (replaced('TITLE = re.compile(r"# (.*)")', ""), "filter.py: source and"),
    "head": (replaced("import re\n", "import re\nre.purge()\n"), "the head holds more"),
    "import left": (lambda text: f"{text}\nfrom adaptive.core import x\n", "an import is left"),
    "name twice": (lambda text: f"{text}\ndef defaults(): ...\n", "defaults is bound twice"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, tmp_path: Path) -> None:
    """The comparison passes the bundler's own work and finds what a bundler could do wrong."""
    project = write_project(tmp_path)
    text = build(project)
    assert differences(project, text) == []
    spoil, reported = FAULTS[fault]
    found = differences(project, spoil(text))
    assert any(reported in one for one in found), found
