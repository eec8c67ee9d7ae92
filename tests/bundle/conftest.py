"""The two plug-ins under test: one of a few lines, and the real one as it is committed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.bundle.small_project import PROJECT, write_project
from tools.bundle import BUNDLE, build


@pytest.fixture(scope="session")
def committed() -> Path:
    """The committed bundle."""
    file = PROJECT / BUNDLE
    assert file.exists(), f"{BUNDLE} is absent; run `python -m tools.bundle`"
    return file


@pytest.fixture(scope="session", params=["small", BUNDLE])
def plugin_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle: of the small project, then the committed one."""
    if request.param == BUNDLE:
        committed: Path = request.getfixturevalue("committed")
        return committed
    folder = write_project(tmp_path_factory.mktemp("small"))
    file = folder / BUNDLE
    file.write_text(build(folder), encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def plugin_module(plugin_file: Path) -> Iterator[ModuleType]:
    """The bundle, executed as a host does it."""
    module = ModuleType("function_of_bundle_tests")
    sys.modules[module.__name__] = module
    code = compile(plugin_file.read_text(encoding="utf-8"), BUNDLE, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    yield module
    del sys.modules[module.__name__]
