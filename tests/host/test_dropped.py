"""An instance that the host has replaced or dropped gives way; one that it uses is left alone."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace

import pytest

from adaptive.host.application import cut_off_when_dropped
from tests.learn.virtual_time import in_virtual_time


class Host:
    """A host that holds an instance of the plug-in, among others, and runs tasks of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.state = SimpleNamespace(
            FUNCTIONS={"other": object(), "adaptive_memory": self}
        )
        host = SimpleNamespace(app=SimpleNamespace(state=self.state))
        monkeypatch.setitem(sys.modules, "open_webui.main", host)
        self.tasks: set[asyncio.Task[None]] = set()

    def start(self, seconds: float) -> asyncio.Task[None]:
        """Work that takes so long, started as the filter does it."""
        task = asyncio.create_task(asyncio.sleep(seconds))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task


def test_replaced_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is cut off soon after its instance was replaced for good, and what is begun later."""
    host = Host(monkeypatch)

    async def scene() -> None:
        short, long = host.start(11), host.start(500)
        watching = asyncio.create_task(cut_off_when_dropped(host, host.tasks))
        await asyncio.sleep(5)
        before, host.state.FUNCTIONS = host.state.FUNCTIONS, {}
        await asyncio.sleep(1.5)  # it is used again in time
        host.state.FUNCTIONS = before
        await asyncio.sleep(3.5)
        host.state.FUNCTIONS["adaptive_memory"] = object()
        begun = asyncio.get_running_loop().time()
        await asyncio.wait({short, long})
        assert (short.cancelled(), long.cancelled()) == (False, True)
        assert asyncio.get_running_loop().time() - begun < 5
        await watching
        # What a turn that was under way leaves to be done.
        late = host.start(500)
        await cut_off_when_dropped(host, host.tasks)
        assert late.cancelled()

    in_virtual_time(scene())
