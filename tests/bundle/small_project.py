"""A plug-in of a few lines, with everything that the bundler has to deal with in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tools.bundle import BUNDLE

PROJECT = Path(__file__).resolve().parents[2]
COMMITTED = PROJECT / BUNDLE

PROMPT = """# Extract memories

Quotes: ''' and \"\"\", 'one' and "two". A backslash: \\n, and at the end \\
$date: süß, 記憶
"""

FILES: Mapping[str, str] = {
    "pyproject.toml": (PROJECT / "pyproject.toml").read_text(encoding="utf-8"),
    "CHANGELOG.md": (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"),
    "prompts/extract.md": PROMPT,
    "prompts/empty.md": "",
    "src/adaptive/__init__.py": '"""A small plug-in."""\n',
    "src/adaptive/llm/__init__.py": "",
    "src/adaptive/llm/prompts.py": '''\
"""The prompts."""

from __future__ import annotations

import base64
import lzma


def unpacked(packed: str) -> bytes:
    return lzma.decompress(base64.b85decode(packed))


# bundle: prompts from here
from pathlib import Path  # noqa: E402

PROMPTS: dict[str, str] = {
    file.stem: file.read_text(encoding="utf-8")
    for file in sorted((Path(__file__).resolve().parents[3] / "prompts").glob("*.md"))
}
# bundle: prompts to here


def first_line(name: str) -> str:
    return PROMPTS[name].splitlines()[0]
''',
    "src/adaptive/a_late.py": '''\
"""First by path, and yet below what it imports.

The second paragraph of its docstring.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from adaptive.core.soft import rapidfuzz
from adaptive.settings.valves import (
    UserValves,
    Valves,
)

# A comment that stays in the source.
WORD = re.compile(r"\\w+")
LONG_TEXT = """


blank lines inside a string stay
"""


@dataclass(frozen=True, slots=True)
class Words:
    texts: tuple[str, ...] = ()
    fuzzy: bool = rapidfuzz is not None


def defaults() -> tuple[Valves, UserValves]:
    return Valves(), UserValves()
''',
    "src/adaptive/core/soft.py": '''\
"""Packages that may be absent."""

from __future__ import annotations

try:
    import rapidfuzz
except ImportError:
    rapidfuzz = None
''',
    "src/adaptive/settings/valves.py": '''\
"""Valves."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Valves(BaseModel):
    """Valves of the admin."""

    priority: int = Field(default=0, ge=-10, le=10)
    memory_format: Literal["bullet", "numbered"] = "bullet"


class UserValves(BaseModel):
    """Valves of a user."""

    enabled: bool = True
''',
    "src/adaptive/filter.py": '''\
"""The filter."""

from __future__ import annotations

import re

from adaptive.a_late import WORD, Words, defaults
from adaptive.llm.prompts import first_line
from adaptive.settings.valves import UserValves, Valves

TITLE = re.compile(r"# (.*)")


class Filter:
    """What the host constructs."""

    Valves = Valves
    UserValves = UserValves

    def __init__(self) -> None:
        self.valves, _ = defaults()
        self.words = Words(tuple(WORD.findall(first_line("extract"))))
''',
}


def write_project(
    folder: Path, changed: Mapping[str, str | None] | None = None
) -> Path:
    """Write the small project into a folder; ``changed`` has other texts, None for no file."""
    for path, text in {**FILES, **(changed or {})}.items():
        if text is not None:
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return folder
