"""The committed bundle as a file: fresh, the same wherever it is made, left alone by the hosts."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from demo.environment import HostEnvironment
from tests.bundle.small_project import COMMITTED, PROJECT
from tests.hosts import plugin_function
from tools.bundle import BUNDLE

KEYS = "title author version license required_open_webui_version description"


def test_built_elsewhere(tmp_path: Path) -> None:
    """A copy in another folder, bundled by its own command, gives the committed bytes.

    So the committed bundle is fresh, and it is the same wherever and by whomever it is made.
    """
    for name in ("src", "prompts", "tools"):
        shutil.copytree(PROJECT / name, tmp_path / "copy" / name)
    shutil.copy(PROJECT / "pyproject.toml", tmp_path / "copy")
    command = [sys.executable, "-m", "tools.bundle"]
    done = subprocess.run(
        command, cwd=tmp_path / "copy", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    built = (tmp_path / "copy" / BUNDLE).read_bytes()
    assert built == COMMITTED.read_bytes(), "run `python -m tools.bundle`"


def test_size() -> None:
    """It stays as light as it is promised to be: 700 kB."""
    assert len(COMMITTED.read_bytes()) <= 700_000


def test_saved_as_it_is(installed_host: HostEnvironment) -> None:
    """The formatter that the host's editor saves through gives back the very same text."""
    compared = (
        "import black, pathlib, sys\n"
        "text = pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')\n"
        "sys.exit(black.format_str(text, mode=black.Mode()) != text)"
    )
    command = [str(installed_host.python), "-c", compared, str(COMMITTED)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1000:]


def test_imports_left_alone(installed_host: HostEnvironment) -> None:
    """The host's rewriting of imports, which goes over the whole text, finds nothing."""
    text = COMMITTED.read_text(encoding="utf-8")
    assert (
        plugin_function(installed_host.site_packages, "replace_imports")(text)
        == text
    )


def test_frontmatter(installed_host: HostEnvironment) -> None:
    """The host reads exactly these keys, none that asks it for pip, with pyproject's values."""
    text = COMMITTED.read_text(encoding="utf-8")
    found = plugin_function(
        installed_host.site_packages, "extract_frontmatter"
    )(text)
    described = tomllib.loads(
        (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    assert text.startswith('"""\n')
    assert list(found) == KEYS.split()
    assert found["version"] == described["version"]
    assert found["description"] == described["description"]
    assert found["required_open_webui_version"] == "0.9.6"
