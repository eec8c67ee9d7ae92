"""What `tests/conftest.py` promises every other test: releases to choose from, a free loop."""

from __future__ import annotations

import time
from typing import Any

import pytest
from blockbuster import BlockingError

from tests.conftest import PROJECT
from tests.hosts import chosen_releases


def test_choice_of_hosts() -> None:
    """--hosts takes a list or `all`, and names the releases there are when it can't."""
    assert chosen_releases("0.12.4, 0.9.6") == ("0.12.4", "0.9.6")
    assert chosen_releases("all") == ("0.9.6", "0.10.2", "0.11.4", "0.12.4")
    with pytest.raises(ValueError, match=r"0\.9\.6, 0\.10\.2"):
        chosen_releases("0.12.4,0.6.5")


async def test_product_may_not_block() -> None:
    """A blocking call from product code fails in the loop; the tests' own calls do not."""
    namespace: dict[str, Any] = {"time": time}
    code = "def block():\n    time.sleep(0)\n"
    exec(compile(code, str(PROJECT / "src/adaptive/recall/block.py"), "exec"), namespace)
    time.sleep(0)
    with pytest.raises(BlockingError):
        namespace["block"]()
