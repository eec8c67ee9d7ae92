"""The bundler on a small project: what it makes of it, and its command."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.bundle.small_project import PROMPT, write_project
from tools.bundle import BUNDLE, build, main
from tools.bundle_source import BundleError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The small project in a folder of its own."""
    return write_project(tmp_path)


def executed(text: str) -> ModuleType:
    """The bundle as a module, by the steps of a host."""
    module = ModuleType("function_small")
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, BUNDLE, "exec", dont_inherit=True), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module


def test_module_text(project: Path) -> None:
    """A module stands below its banner, without docstring, imports, comments and spare lines."""
    text = build(project)
    start = text.index("# a_late.py")
    expected = '''\
# a_late.py
WORD=re.compile(r"\\w+")
LONG_TEXT="""


blank lines inside a string stay
"""
'''
    assert text[start : text.index("@dataclass", start)] == expected


def test_prompts(project: Path) -> None:
    """The table gives back every prompt to the letter, quotes and backslashes included."""
    module = executed(build(project))
    assert module.PROMPTS == {"empty": "", "extract": PROMPT}
    assert "__file__" not in build(project)


def test_command(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command writes the file, and its check tells a fresh from a stale and an absent one.

    It prints each broken rule with its place, and writes nothing then.
    """
    assert main(["--check"], project) == 1
    assert (
        capsys.readouterr().out
        == f"{BUNDLE}:1: is absent; run `python -m tools.bundle`\n"
    )
    assert main([], project) == 0
    assert (project / BUNDLE).read_text(encoding="utf-8") == build(project)
    assert main(["--check"], project) == 0
    assert capsys.readouterr().out == ""

    write_project(project, {"prompts/empty.md": "!"})
    before, _, packed = build(project).partition("in unpacked(")
    line = 1 + before.count("\n") + packed.startswith("\n")
    assert main(["--check"], project) == 1
    assert capsys.readouterr().out.startswith(f"{BUNDLE}:{line}: is stale")

    (project / BUNDLE).unlink()
    write_project(project, {"src/adaptive/b.py": "Pipe = 1\nEvent = 2\n"})
    assert main([], project) == 1
    assert capsys.readouterr().out.count("src/adaptive/b.py:") == 2
    assert not (project / BUNDLE).exists()


@pytest.mark.parametrize(
    ("changelog", "line", "newest"),
    [
        ("# Changes\n\n## [4.0.0]\n\n## [{}]\n", 3, "## [4.0.0]"),
        ("# {}\n", 1, ""),
    ],
)
def test_release_check(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    changelog: str,
    line: int,
    newest: str,
) -> None:
    """The check fails where the changelog's newest heading is not the version of the file."""
    assert main([], project) == 0
    described = tomllib.loads((project / "pyproject.toml").read_text())
    version = described["project"]["version"]
    write_project(project, {"CHANGELOG.md": changelog.format(version)})
    assert main(["--check"], project) == 1
    told = f"CHANGELOG.md:{line}: begins with {newest!r}, which is not"
    assert capsys.readouterr().out.startswith(told)


@pytest.mark.parametrize(
    "description", ['A \\"\\"\\" in it', "taken from main things"]
)
def test_unfit_description(project: Path, description: str) -> None:
    """A description that would break the frontmatter, or that a host rewrites, is refused."""
    file = project / "pyproject.toml"
    lines = file.read_text(encoding="utf-8").split("\n")
    place = next(
        n for n, line in enumerate(lines) if line.startswith("description")
    )
    lines[place] = f'description = "{description}"'
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(BundleError) as error:
        build(project)
    assert str(error.value).startswith(
        f"pyproject.toml:{place + 1}: description must be"
    )
