"""Each rule on the source, broken in a small project: the error names file and line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.bundle.small_project import FILES, write_project
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
        id, {"src/adaptive/a.py": module(code)}, tuple(f"src/adaptive/a.py:{b}" for b in broken)
    )


BROKEN: dict[str, list[Case]] = {
    "imports": [
        one("relative import", "from .soft import rapidfuzz", "3: relative import"),
        one("plain import", "import adaptive", "3: `import adaptive`"),
        one(
            "alias",
            "from adaptive.core.soft import rapidfuzz as fuzzy",
            "3: 'rapidfuzz' may not be",
        ),
        one("star", "from adaptive.core.soft import *", "3: `from adaptive.core.soft import *`"),
        one("no module", "from adaptive.gone import x", "3: there is no module adaptive.gone"),
        one(
            "no name", "from adaptive.core.soft import gone", "3: adaptive.core.soft has no 'gone'"
        ),
        one(
            "name from elsewhere",
            "from adaptive.a_late import Valves",
            "3: 'Valves' is defined in adaptive.settings.valves",
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
                "src/adaptive/a.py": module("from adaptive.c import c\n\na = 1"),
                "src/adaptive/b.py": module("from adaptive.a import a\n\nb = 1"),
                "src/adaptive/c.py": module("import re\nfrom adaptive.b import b\n\nc = 1"),
            },
            (
                "src/adaptive/a.py:3: import cycle: "
                "adaptive.a -> adaptive.c -> adaptive.b -> adaptive.a",
            ),
        ),
    ],
    "clashes": [
        Case(
            "two definitions",
            {
                "src/adaptive/a.py": module("def f(): ..."),
                "src/adaptive/b.py": module("x = 1\nf = 2"),
            },
            ("src/adaptive/b.py:4: 'f' is already bound in src/adaptive/a.py:3",),
        ),
        Case(
            "two imports",
            {
                "src/adaptive/a.py": module("from asyncio import sleep"),
                "src/adaptive/b.py": module("from time import sleep"),
            },
            ("src/adaptive/b.py:3: 'sleep' is already bound in src/adaptive/a.py:3",),
        ),
        Case(
            "two soft imports",
            {
                "src/adaptive/z.py": module(
                    "try:\n    import rapidfuzz\nexcept ImportError:\n    rapidfuzz = None"
                )
            },
            ("src/adaptive/z.py:4: 'rapidfuzz' is already bound in src/adaptive/core/soft.py:6",),
        ),
        Case(
            "nested bindings",
            {
                "src/adaptive/a.py": module("a = b = c = 1"),
                "src/adaptive/b.py": module(
                    "for a in ():\n    pass\n"
                    "try:\n    pass\nexcept ValueError as b:\n    pass\n"
                    "def change():\n    global c\n    c = 2"
                ),
            },
            tuple(
                f"src/adaptive/b.py:{line}: {name!r} is already bound in src/adaptive/a.py:3"
                for line, name in ((3, "a"), (7, "b"), (10, "c"))
            ),
        ),
    ],
    "names at top level": [
        one("reserved class", "class Tools: ...", "3: the host would take 'Tools'"),
        one("reserved import", "from asyncio import Event", "3: the host would take 'Event'"),
        one("builtin", "def hash(text): ...", "3: 'hash' would hide the builtin"),
    ],
    "what a plug-in has not": [
        one("file", "x = __file__", "3: __file__ has no meaning"),
    ],
    "form of a module": [
        Case(
            "no future import",
            {"src/adaptive/a.py": '"""A docstring."""\nimport re\n'},
            ("src/adaptive/a.py:2: start with `from __future__ import annotations`",),
        ),
        Case(
            "code in a package file",
            {"src/adaptive/llm/__init__.py": '"""Asking."""\n\nfrom os import sep\n'},
            ("src/adaptive/llm/__init__.py:3: __init__.py may hold only a docstring",),
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
        Case(
            "prompts block without end",
            {PROMPTS: FILES[PROMPTS].replace("# bundle: prompts to here\n", "")},
            ("prompts/empty.md:1: no module has the block", f"{PROMPTS}:10: __file__ has no"),
        ),
    ],
    "rewritten texts": [
        *(
            one(
                wording,
                f"# a comment\n# taken {wording}ly",
                f"4: the host rewrites the text {wording!r}",
            )
            for wording in ("from utils", "from apps", "from main", "from config")
        ),
        Case(
            "rewritten prompt",
            {"prompts/extract.md": "# Extract\n\nTake facts from main messages.\n"},
            ("prompts/extract.md:3: the host rewrites the text 'from main'",),
        ),
        Case(
            "rewritten only in the bundle",
            {
                "src/adaptive/filter.py": FILES["src/adaptive/filter.py"].replace(
                    "The filter.", "Facts from\\x20main."
                )
            },
            ("adaptive_memory.py:",),
        ),
    ],
}

ALLOWED = [
    one("same import", "import re\nfrom typing import Any, Literal"),
    one("same package", "import os.path\nimport os"),
    one("type checking", "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import ssl"),
    one("re-exported soft import", "from adaptive.core.soft import rapidfuzz"),
    one(
        "own function scope",
        "def f():\n    Words = Event = hash = 1\n    return Words, Event, hash",
    ),
    one("own class scope", "class A:\n    Words = 1\n    def hash(self): ..."),
    one("comprehension", "x = [re for re in ()]"),
    one("dunder", "__all__ = ['x']\nx = 1"),
    one("name of a class", "x = int.__name__"),
    one("words of file", "# not __file__\nx = '__file__'"),
    one("package of a like name", "import adaptiveness\nfrom adaptive_things import y"),
    Case("no prompts", {"prompts/extract.md": None, "prompts/empty.md": None}),
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
        if len(found) != len(case.broken) or not all(map(str.startswith, found, case.broken)):
            wrong[case.id] = found
    assert wrong == {}


def test_kept_rules(tmp_path: Path) -> None:
    """What looks alike but is safe in one flat file is let through."""
    found = {one.id: violations(write_project(tmp_path / one.id, one.files)) for one in ALLOWED}
    assert {id: wrong for id, wrong in found.items() if wrong} == {}
