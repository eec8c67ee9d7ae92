"""Every symbol of the host that our source names is there in the releases we support."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from demo.environment import SUPPORTED, HostEnvironment
from tests.bundle.host_symbols import HOST, Symbol, is_there, symbols_of
from tests.bundle.small_project import PROJECT
from tests.hosts import installed_sources

SOURCE = PROJECT / "src" / "adaptive"

# First release with a symbol that our source takes only after telling the release by other means.
SINCE = {
    # Settings stood in app.state.config before; the import follows once that is not there.
    "open_webui.models.config.Config": "0.10.2",
}


def product_symbols() -> list[Symbol]:
    """What the host room of our source takes."""
    return [
        symbol
        for file in sorted((SOURCE / "host").rglob("*.py"))
        for symbol in symbols_of(
            file.relative_to(PROJECT).as_posix(), file.read_text(encoding="utf-8")
        )
    ]


def is_due(release: str, since: str | None) -> bool:
    """Whether a release must have a symbol that came with another one."""
    return since is None or SUPPORTED.index(release) >= SUPPORTED.index(since)


def test_required_symbols(installed_host: HostEnvironment) -> None:
    """What is imported or used unguarded exists in every release, or from its first one on."""
    package = installed_host.site_packages / HOST
    symbols = [
        symbol
        for symbol in product_symbols()
        if not symbol.optional
        and is_due(installed_host.version, SINCE.get(f"{symbol.module}.{symbol.name}"))
    ]
    assert symbols
    assert [str(symbol) for symbol in symbols if not is_there(symbol, package)] == []


def test_optional_symbols(installed_host: HostEnvironment) -> None:
    """What is guarded exists in one of the releases installed here at least."""
    packages = installed_sources().values()
    assert installed_host.site_packages / HOST in packages
    absent = [
        str(symbol)
        for symbol in product_symbols()
        if not any(is_there(symbol, package) for package in packages)
    ]
    assert absent == []


def test_only_the_host_room_knows_the_host() -> None:
    """No other room imports the host."""
    outside = [file for file in SOURCE.rglob("*.py") if file.parent != SOURCE / "host"]
    symbols = [
        str(symbol)
        for file in outside
        for symbol in symbols_of(file.name, file.read_text(encoding="utf-8"))
    ]
    assert symbols == []


HOST_FILES = {
    "open_webui/__init__.py": "",
    "open_webui/models/__init__.py": "",
    "open_webui/models/base.py": "def helper(): ...\n",
    "open_webui/models/rows.py": """\
from open_webui.models.base import *
try:
    import fast
except ImportError:
    fast = None
if fast:
    LIMIT = 1

class Row(BaseModel):
    id: str

class Table:
    async def read(self): ...

Rows = Table()
""",
}


@dataclass(frozen=True)
class Case:
    """Code of ours, and the last parts of the symbols in it that are not to be found."""

    id: str
    code: str
    missing: tuple[str, ...] = ()
    optional: bool = False


CASES = [
    Case("name", "from open_webui.models.rows import Row, Rows, fast, LIMIT"),
    Case("name by star", "from open_webui.models.rows import helper"),
    Case("no name", "from open_webui.models.rows import Lost", ("Lost",)),
    Case("no module", "from open_webui.models.gone import Row", ("Row",)),
    Case("no plain module", "import open_webui.gone", ("open_webui.gone",)),
    Case("submodule", "from open_webui.models import rows\nrows.Row\nrows.Lost", ("Lost",)),
    Case("in a function", "def f():\n    from open_webui.models.rows import Lost", ("Lost",)),
    Case("method", "from open_webui.models.rows import Rows\nRows.read()\nRows.lost()", ("lost",)),
    Case("inherited", "from open_webui.models.rows import Row\nRow.model_fields"),
    Case(
        "guarded",
        "try:\n    from open_webui.gone import a\nexcept (KeyError, ImportError):\n"
        "    from open_webui.gone import b",
        ("a", "b"),
        optional=True,
    ),
    Case(
        "suppressed",
        "with contextlib.suppress(ImportError):\n    from open_webui.gone import a",
        ("a",),
        optional=True,
    ),
    Case(
        "guarded by something else",
        "try:\n    from open_webui.gone import a\nexcept ValueError:\n    pass",
        ("a",),
    ),
    Case(
        "asked for first",
        "from open_webui.models.rows import Rows\nif hasattr(Rows, 'lost'):\n    Rows.lost()",
        ("lost",),
        optional=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_finding_symbols(case: Case, tmp_path: Path) -> None:
    """The search sees through aliases, functions and guards."""
    for path, text in HOST_FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    symbols = symbols_of("ours.py", case.code)
    missing = [symbol for symbol in symbols if not is_there(symbol, tmp_path / HOST)]
    assert tuple(s.attribute or s.name or s.module for s in missing) == case.missing
    assert all(symbol.optional is case.optional for symbol in missing)
