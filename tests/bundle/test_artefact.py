"""The committed bundle as a file: fresh, the same wherever it is made, left alone by the hosts."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

from demo.environment import HostEnvironment
from tests.bundle.small_project import PROJECT
from tests.hosts import plugin_function
from tools.bundle import BUNDLE

KEYS = [
    "title",
    "author",
    "version",
    "license",
    "required_open_webui_version",
    "description",
]


def test_name_is_gone(committed: Path) -> None:
    """Every model is still made once the host knows the module by no name any more, as on 0.12."""
    module = ModuleType("function_without_name")
    sys.modules[module.__name__] = module
    code = compile(committed.read_text(encoding="utf-8"), BUNDLE, "exec", dont_inherit=True)
    try:
        exec(code, module.__dict__)
    finally:
        del sys.modules[module.__name__]
    valves, own = module.Valves(priority="3"), module.UserValves(timezone="Europe/Lisbon")
    settings = module.Settings.merge(valves, own)
    assert (settings.priority, settings.user_timezone) == (3, "Europe/Lisbon")
    assert module.Settings(priority=4).priority == 4
    for form in (module.Valves, module.UserValves):
        assert form.model_json_schema()["properties"]
    waiting = module.WaitingTurn(
        module.Turn("ada", "saved", "I live in Porto.", (), module.Provenance("c", "m", 1), ()),
        ("", "", "UTC"),
    )
    assert module.read_pending(module.pending_turn(waiting, 1.0, 0.0)) == waiting
    extraction = module.Extraction((), ())
    assert module.read_journal(module.journal_of(extraction)) == extraction


def test_built_elsewhere(committed: Path, tmp_path: Path) -> None:
    """A copy in another folder, bundled by its own command, gives the committed bytes.

    So the committed bundle is fresh, and it is the same wherever and by whomever it is made.
    """
    for name in ("src", "prompts", "tools"):
        shutil.copytree(PROJECT / name, tmp_path / "copy" / name)
    shutil.copy(PROJECT / "pyproject.toml", tmp_path / "copy")
    command = [sys.executable, "-m", "tools.bundle"]
    done = subprocess.run(command, cwd=tmp_path / "copy", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    built = (tmp_path / "copy" / BUNDLE).read_bytes()
    assert built == committed.read_bytes(), "run `python -m tools.bundle`"


def test_saved_as_it_is(committed: Path, installed_host: HostEnvironment) -> None:
    """The formatter that the host's editor saves through gives back the very same text."""
    compared = (
        "import black, pathlib, sys\n"
        "text = pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')\n"
        "sys.exit(black.format_str(text, mode=black.Mode()) != text)"
    )
    command = [str(installed_host.python), "-c", compared, str(committed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1000:]


def test_no_place_of_making(committed: Path) -> None:
    """The bundle names no folder of the machine it was made on."""
    assert str(PROJECT) not in committed.read_text(encoding="utf-8")


def test_imports_left_alone(committed: Path, installed_host: HostEnvironment) -> None:
    """The host's rewriting of imports, which goes over the whole text, finds nothing."""
    text = committed.read_text(encoding="utf-8")
    assert plugin_function(installed_host.site_packages, "replace_imports")(text) == text


def test_frontmatter(committed: Path, installed_host: HostEnvironment) -> None:
    """The host reads exactly these keys, none that asks it for pip, with pyproject's values."""
    text = committed.read_text(encoding="utf-8")
    found = plugin_function(installed_host.site_packages, "extract_frontmatter")(text)
    described = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert text.startswith('"""\n')
    assert list(found) == KEYS
    assert found["version"] == described["version"]
    assert found["description"] == described["description"]
    assert found["required_open_webui_version"] == "0.9.6"
