"""What `tests/conftest.py` promises every other test: the bundle in place of src, a free loop."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockingError

from tests.bundle.small_project import PROJECT
from tests.hosts import chosen_releases
from tools.bundle import BUNDLE

IN_BUNDLE_MODE = """
import sys
from tests.conftest import SOURCE, serve_bundle_as_package

serve_bundle_as_package()
from adaptive.filter import Filter
from adaptive.valves import Valves

plugin = sys.modules["function_adaptive_memory"]
assert Filter is plugin.Filter
assert Valves is plugin.Valves
assert str(SOURCE) not in sys.path
try:
    import adaptive.no_such_module
except ModuleNotFoundError:
    print("as it should be")
"""


def test_bundle_serves_as_package(committed: Path) -> None:
    """With --bundle the imports of tests give the bundle's own objects, and src is out of reach."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IN_BUNDLE_MODE],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(("src", "."))},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "as it should be\n", done.stderr


def test_choice_of_hosts() -> None:
    """--hosts takes a list or `all`, and names the releases there are when it can't."""
    assert chosen_releases("0.12.4, 0.9.6") == ("0.12.4", "0.9.6")
    assert chosen_releases("all") == ("0.9.6", "0.10.2", "0.11.4", "0.12.4")
    with pytest.raises(ValueError, match=r"0\.9\.6, 0\.10\.2"):
        chosen_releases("0.12.4,0.6.5")


@pytest.mark.parametrize("path", ["src/adaptive/recall/block.py", BUNDLE])
async def test_product_may_not_block(path: str, pytestconfig: pytest.Config) -> None:
    """A blocking call from product code fails in the loop; the tests' own calls do not."""
    namespace: dict[str, Any] = {"time": time}
    code = "def block():\n    time.sleep(0)\n"
    exec(compile(code, str(PROJECT / path), "exec"), namespace)
    time.sleep(0)
    if pytestconfig.getoption("--bundle") == (path == BUNDLE):
        with pytest.raises(BlockingError):
            namespace["block"]()
