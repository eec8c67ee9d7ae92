"""An instance that the host has replaced or dropped gives way; one that it uses is left alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adaptive.host.installed import Installation
from tests.learn.virtual_time import in_virtual_time


class Instance:
    """An instance of the plug-in with its running tasks, on a host that holds some functions."""

    def __init__(self, functions: dict[str, Any] | None) -> None:
        self.functions = functions
        self.tasks: set[asyncio.Task[None]] = set()
        self.installation = Installation(self, self.tasks, lambda: self.functions)

    def start(self, seconds: float) -> asyncio.Task[None]:
        """Work that takes so long, started as the filter does it."""
        task = asyncio.create_task(asyncio.sleep(seconds))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        self.installation.look_out()
        return task


def installed() -> Instance:
    """An instance that the host uses."""
    instance = Instance({})
    instance.functions = {"other": object(), "adaptive_memory": instance}
    return instance


def test_work_of_the_host_s_instance() -> None:
    """Work of the instance that the host uses may take as long as it takes."""

    async def scene() -> None:
        instance = installed()
        task = instance.start(500)
        await task
        assert await instance.installation.serves()
        assert not instance.tasks

    # Open WebUI is not installed here, so its database can't be asked; the process's word counts.
    in_virtual_time(scene())


@pytest.mark.parametrize("functions", [None, {}, {"other": object()}], ids=["none", "no", "other"])
def test_instance_that_was_never_used(functions: dict[str, Any] | None) -> None:
    """An instance that the host only tries out, or outside of a host, works on."""

    async def scene() -> None:
        instance = Instance(functions)
        await instance.start(500)
        assert await instance.installation.standing() == "installed"

    in_virtual_time(scene())


def test_replaced_instance() -> None:
    """Its work may go on for a minute after it was replaced and is cut off then; nobody retries."""

    async def scene() -> None:
        instance = installed()
        short, long = instance.start(40), instance.start(500)
        await asyncio.sleep(5)
        assert instance.functions is not None
        instance.functions["adaptive_memory"] = object()
        assert not await instance.installation.serves()
        begun = asyncio.get_running_loop().time()
        await asyncio.wait({short, long})
        assert (short.cancelled(), long.cancelled()) == (False, True)
        assert 60 <= asyncio.get_running_loop().time() - begun < 62
        late = instance.start(500)  # what a turn that was under way leaves to be done
        await asyncio.wait({late})
        assert late.cancelled()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    in_virtual_time(scene())


def test_instance_that_is_used_again() -> None:
    """Work goes on where the host takes the instance back within the time."""

    async def scene() -> None:
        instance = installed()
        before, instance.functions = instance.functions, {}
        task = instance.start(500)
        assert before is not None
        instance.functions = before
        await asyncio.sleep(5)
        instance.functions = {}
        await asyncio.sleep(30)
        instance.functions = before
        await task
        assert not task.cancelled()

    in_virtual_time(scene())
