"""Each rule on the source, broken in a small project: the error names file and line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.bundle.small_project import write_project
from tools.bundle import build
from tools.bundle_source import BundleError

FUTURE = "from __future__ import annotations\n\n"
PROMPTS = "src/adaptive/llm/prompts.py"


def module(code: str) -> str:
    """A source file whose first line of code is its line 3."""
    return FUTURE + code + "\n"


@dataclass(frozen=True)
class Case:
    """Files added to the small project, and the broken rules as `path:line: part of the text`."""

    id: str
    files: Mapping[str, str | None]
    broken: tuple[str, ...] = field(default=())


def one(id: str, code: str, *broken: str) -> Case:
    """A case of one module; each of the broken rules is `line: part of the text`."""
    return Case(
        id,
        {"src/adaptive/a.py": module(code)},
        tuple(f"src/adaptive/a.py:{b}" for b in broken),
    )


def two(id: str, first: str, second: str, *broken: str) -> Case:
    """A case of two modules, of which the second one breaks the rules."""
    files = {
        "src/adaptive/a.py": module(first),
        "src/adaptive/b.py": module(second),
    }
    return Case(id, files, tuple(f"src/adaptive/b.py:{b}" for b in broken))


BROKEN: dict[str, list[Case]] = {
    "imports": [
        one(
            "relative import",
            "from .soft import rapidfuzz",
            "3: relative import",
        ),
        one("plain import", "import adaptive", "3: `import adaptive`"),
        one(
            "alias",
            "from adaptive.core.soft import rapidfuzz as fuzzy",
            "3: 'rapidfuzz' may not be",
        ),
        one(
            "star",
            "from adaptive.core.soft import *",
            "3: `from adaptive.core.soft import *`",
        ),
        one(
            "no module",
            "from adaptive.gone import x",
            "3: there is no module adaptive.gone",
        ),
        one(
            "no name",
            "from adaptive.core.soft import gone",
            "3: adaptive.core.soft has no 'gone'",
        ),
        one(
            "name from elsewhere",
            "from adaptive.a_late import Valves",
            "3: 'Valves' is defined in adaptive.settings.valves",
        ),
        one(
            "name that a room does not offer",
            "from adaptive.llm import first_line",
            "3: src/adaptive/llm/__init__.py does not offer 'first_line'",
        ),
        one(
            "import in a function",
            "def f():\n    from adaptive.core.soft import rapidfuzz",
            "4: an import of adaptive must stand at top level",
        ),
    ],
    "cycles": [
        Case(
            "cycle",
            {
                "src/adaptive/a.py": module(
                    "from adaptive.c import c\n\na = 1"
                ),
                "src/adaptive/b.py": module(
                    "from adaptive.a import a\n\nb = 1"
                ),
                "src/adaptive/c.py": module(
                    "import re\nfrom adaptive.b import b\n\nc = 1"
                ),
            },
            (
                "src/adaptive/a.py:3: import cycle: "
                "adaptive.a -> adaptive.c -> adaptive.b -> adaptive.a",
            ),
        ),
        Case(
            "cycle through a door",
            {
                "src/adaptive/a.py": module(
                    "from adaptive.llm import b\n\na = 1"
                ),
                "src/adaptive/llm/__init__.py": '"""Asking."""\n\n'
                "from adaptive.llm.b import b\n",
                "src/adaptive/llm/b.py": module(
                    "from adaptive.a import a\n\nb = 1"
                ),
            },
            (
                "src/adaptive/a.py:3: import cycle: "
                "adaptive.a -> adaptive.llm.b -> adaptive.a",
            ),
        ),
    ],
    "clashes": [
        two(
            "two imports",
            "from asyncio import sleep",
            "from time import sleep",
            "3: 'sleep' is already bound in src/adaptive/a.py:3",
        ),
        two(
            "nested bindings",
            "a = b = c = 1",
            "for a in ():\n    pass\ntry:\n    pass\nexcept ValueError as b:\n    pass\n"
            "def change():\n    global c\n    c = 2",
            *("3: 'a' is already", "7: 'b' is already", "10: 'c' is already"),
        ),
    ],
    "names at top level": [
        one(
            "reserved class",
            "class Tools: ...",
            "3: the host would take 'Tools'",
        ),
        one(
            "reserved import",
            "from asyncio import Event",
            "3: the host would take 'Event'",
        ),
        one(
            "builtin",
            "def hash(text): ...",
            "3: 'hash' would hide the builtin",
        ),
    ],
    "what a plug-in has not": [
        one("file", "x = __file__", "3: __file__ has no meaning"),
    ],
    "form of a module": [
        Case(
            "another future import",
            {"src/adaptive/a.py": "from __future__ import generators\n"},
            (
                "src/adaptive/a.py:1: another `__future__` import would hold for",
            ),
        ),
        Case(
            "code in a package file",
            {
                "src/adaptive/llm/__init__.py": '"""Asking."""\n\nfrom os import sep\n'
            },
            (
                "src/adaptive/llm/__init__.py:3: __init__.py may hold only a docstring",
            ),
        ),
        Case(
            "a door to another room",
            {
                "src/adaptive/llm/__init__.py": '"""Asking."""\n\n'
                "from adaptive.settings.valves import Valves\n"
            },
            (
                "src/adaptive/llm/__init__.py:3: __init__.py may hold only a docstring",
            ),
        ),
        Case(
            "a door to what is not there",
            {
                "src/adaptive/llm/__init__.py": '"""Asking."""\n\n'
                "from adaptive.llm.prompts import gone\n"
            },
            (
                "src/adaptive/llm/__init__.py:3: adaptive.llm.prompts has no 'gone'",
            ),
        ),
        Case(
            "syntax error",
            {"src/adaptive/a.py": "x = 1\ndef broken(:\n"},
            ("src/adaptive/a.py:2: syntax error",),
        ),
    ],
    "prompts block": [
        Case(
            "no prompts block",
            {PROMPTS: module("PROMPTS = {}\n\n\ndef first_line(name): ...")},
            ("prompts/empty.md:1: no module has the block",),
        ),
    ],
    "rewritten texts": [
        one(
            "rewritten code",
            "# a\n# taken from utilsly",
            "4: the host rewrites the text",
        ),
        Case(
            "rewritten prompt",
            {
                "prompts/extract.md": "# Extract\n\nTake facts from main messages.\n"
            },
            ("prompts/extract.md:3: the host rewrites the text 'from main'",),
        ),
    ],
}

ALLOWED = [
    Case("no future import", {"src/adaptive/a.py": "x = 1\n"}),
    one("same import", "import re\nfrom typing import Any, Literal"),
    one(
        "type checking",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import ssl",
    ),
    one(
        "own function scope",
        "def f():\n    Words = Event = hash = 1\n    return Words",
    ),
    one("own class scope", "class A:\n    Words = 1\n    def hash(self): ..."),
    one("comprehension", "x = [re for re in ()]"),
    one("name of a class", "x = int.__name__"),
    one("words of file", "# not __file__\nx = '__file__'"),
    one(
        "package of a like name",
        "import adaptiveness\nfrom adaptive_things import y",
    ),
    Case("no prompts", {"prompts/extract.md": None, "prompts/empty.md": None}),
    Case(
        "door of a room",
        {
            "src/adaptive/llm/__init__.py": '"""Asking."""\n\n'
            "from adaptive.llm.prompts import PROMPTS\n",
            "src/adaptive/a.py": module(
                "from adaptive.llm import PROMPTS\n\nx = PROMPTS"
            ),
        },
    ),
]


def violations(project: Path) -> list[str]:
    """What the bundler says is wrong with a project."""
    try:
        build(project)
    except BundleError as error:
        return [str(violation) for violation in error.violations]
    return []


@pytest.mark.parametrize("rule", BROKEN)
def test_broken_rule(rule: str, tmp_path: Path) -> None:
    """Each broken rule is an error with the file, the line and the reason; no more, no less."""
    wrong: dict[str, list[str]] = {}
    for case in BROKEN[rule]:
        found = violations(write_project(tmp_path / case.id, case.files))
        if len(found) != len(case.broken) or not all(
            map(str.startswith, found, case.broken)
        ):
            wrong[case.id] = found
    assert wrong == {}


def test_kept_rules(tmp_path: Path) -> None:
    """What looks alike but is safe in one flat file is let through."""
    found = {
        one.id: violations(write_project(tmp_path / one.id, one.files))
        for one in ALLOWED
    }
    assert {id: wrong for id, wrong in found.items() if wrong} == {}
