"""An instance that the host has replaced or dropped gives way; one that it uses is left alone.

Open WebUI is not installed here, so its database can't be asked; the process's word counts.
"""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from adaptive.host.installed import Installation
from tests.learn.virtual_time import in_virtual_time


class Host:
    """A host that holds some functions, and an instance of the plug-in with its tasks."""

    def __init__(self, functions: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch) -> None:
        self.state = SimpleNamespace(FUNCTIONS=functions)
        host = SimpleNamespace(app=SimpleNamespace(state=self.state))
        monkeypatch.setitem(sys.modules, "open_webui.main", host)
        self.tasks: set[asyncio.Task[None]] = set()
        self.installation = Installation(self, self.tasks)

    def start(self, seconds: float) -> asyncio.Task[None]:
        """Work that takes so long, started as the filter does it."""
        task = asyncio.create_task(asyncio.sleep(seconds))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        self.installation.look_out()
        return task


def test_replaced_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its work is cut off soon after it was replaced, and what is begun later, too; no retries."""
    host = Host({}, monkeypatch)
    host.state.FUNCTIONS = {"other": object(), "adaptive_memory": host}

    async def scene() -> None:
        short, long = host.start(6), host.start(500)
        await asyncio.sleep(5)
        host.state.FUNCTIONS["adaptive_memory"] = object()
        assert not await host.installation.serves()
        begun = asyncio.get_running_loop().time()
        await asyncio.wait({short, long})
        assert (short.cancelled(), long.cancelled()) == (False, True)
        assert asyncio.get_running_loop().time() - begun < 5
        late = host.start(500)  # what a turn that was under way leaves to be done
        await asyncio.wait({late})
        assert late.cancelled()

    in_virtual_time(scene())


@pytest.mark.parametrize("functions", [None, {}, {"other": object()}, {"adaptive_memory": "us"}])
def test_left_alone(functions: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance works on that is used again in time, only tried out, or outside of a host."""
    host = Host(functions, monkeypatch)
    if functions and "adaptive_memory" in functions:
        host.state.FUNCTIONS = {"adaptive_memory": host}

    async def scene() -> None:
        task = host.start(500)
        await asyncio.sleep(5)
        before, host.state.FUNCTIONS = host.state.FUNCTIONS, {}
        await asyncio.sleep(1.5)
        host.state.FUNCTIONS = before
        await task
        assert await host.installation.serves()

    in_virtual_time(scene())
