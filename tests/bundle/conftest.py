"""The plug-in under test: the committed bundle."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.bundle.small_project import PROJECT
from tools.bundle import BUNDLE


@pytest.fixture(scope="session")
def committed() -> Path:
    """The committed bundle."""
    file = PROJECT / BUNDLE
    assert file.exists(), f"{BUNDLE} is absent; run `python -m tools.bundle`"
    return file


@pytest.fixture(scope="session")
def plugin_module(committed: Path) -> Iterator[ModuleType]:
    """The bundle, executed as a host does it."""
    module = ModuleType("function_of_bundle_tests")
    sys.modules[module.__name__] = module
    code = compile(committed.read_text(encoding="utf-8"), BUNDLE, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    yield module
    del sys.modules[module.__name__]
