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
        one("relative import above", "from .. import soft", "3: relative import"),
        one("plain import", "import adaptive", "3: `import adaptive`"),
        one("plain import of a module", "import adaptive.soft", "3: `import adaptive.soft`"),
        one("alias", "from adaptive.soft import rapidfuzz as fuzzy", "3: 'rapidfuzz' may not be"),
        one("star", "from adaptive.soft import *", "3: `from adaptive.soft import *`"),
        one("foreign star", "from os import *", "3: `from os import *`"),
        one("package", "from adaptive import soft", "3: adaptive is a package"),
        one("sub-package", "from adaptive.llm import prompts", "3: adaptive.llm is a package"),
        one("no module", "from adaptive.gone import x", "3: there is no module adaptive.gone"),
        one("no name", "from adaptive.soft import gone", "3: adaptive.soft has no 'gone'"),
        one(
            "name from elsewhere",
            "from adaptive.a_late import Valves",
            "3: 'Valves' is defined in adaptive.valves",
        ),
        one(
            "name in a function only",
            "from adaptive.b import hidden",
            "3: there is no module adaptive.b",
        ),
        one(
            "import in a function",
            "def f():\n    from adaptive.soft import rapidfuzz",
            "4: an import of adaptive must stand at top level",
        ),
        one(
            "import in a try",
            "try:\n    from adaptive.soft import rapidfuzz\nexcept ImportError:\n    pass",
            "4: an import of adaptive must stand at top level",
        ),
        one(
            "import for types",
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
            "    from adaptive.valves import Valves",
            "6: an import of adaptive must stand at top level",
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
        one(
            "itself",
            "from adaptive.a import x\n\nx = 1",
            "3: import cycle: adaptive.a -> adaptive.a",
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
            "two loggers",
            {
                "src/adaptive/a.py": module('import logging\n\nlog = logging.getLogger("x")'),
                "src/adaptive/b.py": module('import logging\n\nlog = logging.getLogger("x")'),
            },
            ("src/adaptive/b.py:5: 'log' is already bound in src/adaptive/a.py:5",),
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
            "two names of one module",
            {
                "src/adaptive/a.py": module("import json"),
                "src/adaptive/b.py": module("import orjson as json"),
            },
            ("src/adaptive/b.py:3: 'json' is already bound in src/adaptive/a.py:3",),
        ),
        Case(
            "two soft imports",
            {
                "src/adaptive/z.py": module(
                    "try:\n    import rapidfuzz\nexcept ImportError:\n    rapidfuzz = None"
                )
            },
            ("src/adaptive/z.py:4: 'rapidfuzz' is already bound in src/adaptive/soft.py:6",),
        ),
        Case(
            "definition and import",
            {"src/adaptive/z.py": module("from re import Match as Words")},
            ("src/adaptive/z.py:3: 'Words' is already bound in src/adaptive/a_late.py:27",),
        ),
        Case(
            "nested bindings",
            {
                "src/adaptive/a.py": module("a = b = c = d = e = f = g = 1"),
                "src/adaptive/b.py": module(
                    "for a in ():\n    pass\n"
                    "with open('x') as b:\n    pass\n"
                    "if (c := 1):\n    pass\n"
                    "try:\n    pass\nexcept ValueError as d:\n    pass\n"
                    "match 1:\n    case [e, *f]:\n        pass\n"
                    "def change():\n    global g\n    g = 2"
                ),
            },
            tuple(
                f"src/adaptive/b.py:{line}: {name!r} is already bound in src/adaptive/a.py:3"
                for line, name in (
                    (3, "a"),
                    (5, "b"),
                    (7, "c"),
                    (11, "d"),
                    (14, "e"),
                    (14, "f"),
                    (17, "g"),
                )
            ),
        ),
    ],
    "names at top level": [
        one("reserved class", "class Tools: ...", "3: the host would take 'Tools'"),
        one("reserved name", "Action = 1", "3: the host would take 'Action'"),
        one("reserved import", "from asyncio import Event", "3: the host would take 'Event'"),
        one("reserved alias", "from os import popen as Pipe", "3: the host would take 'Pipe'"),
        one("builtin", "def hash(text): ...", "3: 'hash' would hide the builtin"),
        one(
            "builtin by import", "from asyncio import TimeoutError", "3: 'TimeoutError' would hide"
        ),
        one("del", "x = 1\ndel x", "4: `del` at top level"),
    ],
    "what a plug-in has not": [
        one("file", "x = __file__", "3: __file__ has no meaning"),
        one("file of a module", "import os\n\nx = os.__file__", "5: __file__ has no meaning"),
        one("name of the module", "x = __name__", "3: __name__ has no meaning"),
        one("package", "def f():\n    return __package__", "4: __package__ has no meaning"),
        one("spec", "x = __spec__", "3: __spec__ has no meaning"),
        one("resources", "import importlib.resources", "3: importlib.resources has no meaning"),
        one(
            "resources by name", "from importlib import resources", "3: importlib.resources has no"
        ),
        one(
            "resources of resources",
            "def f():\n    from importlib.resources import files",
            "4: importlib.resources has no meaning",
        ),
        one(
            "resources by attribute",
            "import importlib\n\nx = importlib.resources",
            "5: importlib.res",
        ),
    ],
    "form of a module": [
        one("two on a line", "x = 1; y = 2", "3: two statements on one line"),
        Case(
            "no future import",
            {"src/adaptive/a.py": '"""A docstring."""\nimport re\n'},
            ("src/adaptive/a.py:2: start with `from __future__ import annotations`",),
        ),
        Case(
            "other future import",
            {"src/adaptive/a.py": FUTURE + "from __future__ import division\n"},
            ("src/adaptive/a.py:3: a second `__future__` import",),
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
            "two prompts blocks",
            {
                "src/adaptive/z.py": module(
                    "# bundle: prompts from here\nPROMPTS = {}\n# bundle: prompts to here"
                )
            },
            (
                f"src/adaptive/z.py:1: {PROMPTS} already holds",
                f"src/adaptive/z.py:4: 'PROMPTS' is already bound in {PROMPTS}:8",
            ),
        ),
        Case(
            "prompts block without end",
            {PROMPTS: FILES[PROMPTS].replace("# bundle: prompts to here\n", "")},
            (f"{PROMPTS}:5: the prompts block is one", f"{PROMPTS}:10: __file__ has no meaning"),
        ),
        Case(
            "prompts block without table",
            {PROMPTS: FILES[PROMPTS].replace("PROMPTS: dict", "TEXTS: dict")},
            (f"{PROMPTS}:5: the prompts block must define PROMPTS",),
        ),
        Case(
            "prompts block through a statement",
            {
                PROMPTS: module(
                    "PROMPTS = {\n# bundle: prompts from here\n}\nPROMPTS = {}\n"
                    "# bundle: prompts to here\n\n\ndef first_line(name): ..."
                )
            },
            (f"{PROMPTS}:3: the prompts block may not cut",),
        ),
        Case(
            "name lost with the block",
            {PROMPTS: FILES[PROMPTS] + "\n\ndef here():\n    return Path()\n"},
            (f"{PROMPTS}:20: 'Path' is bound in the prompts block only",),
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
            "rewritten package docstring",
            {"src/adaptive/__init__.py": '"""Values\nfrom configuration."""\n'},
            ("src/adaptive/__init__.py:2: the host rewrites the text 'from config'",),
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
        Case(
            "all at once",
            {
                "src/adaptive/a.py": module("Pipe = 1\nTools = 2"),
                "src/adaptive/b.py": "x = 1\n",
                "prompts/extract.md": "from utils\n",
            },
            (
                "prompts/extract.md:1: the host rewrites",
                "src/adaptive/a.py:3: the host would take 'Pipe'",
                "src/adaptive/a.py:4: the host would take 'Tools'",
                "src/adaptive/b.py:1: start with",
            ),
        ),
    ],
}

ALLOWED = [
    one("same import", "import re\nfrom typing import Any, Literal"),
    one("same package", "import os.path\nimport os"),
    one("type checking", "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import ssl"),
    one("re-exported soft import", "from adaptive.soft import rapidfuzz"),
    one(
        "own function scope",
        "def f():\n    Words = Event = hash = 1\n    return Words, Event, hash",
    ),
    one("own class scope", "class A:\n    Words = 1\n    def hash(self): ..."),
    one("comprehension", "x = [re for re in ()]"),
    one("dunder", "__all__ = ['x']\nx = 1"),
    one("name of a class", "x = int.__name__"),
    one("words of file", "# not __file__, nor importlib.resources\nx = '__file__'"),
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
