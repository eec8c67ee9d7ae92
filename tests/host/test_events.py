"""Lines and events in the page, which never get in the way of anything."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adaptive.host.events import PageNotifier


class Page:
    """An emitter that writes down what it is to show."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.shown: list[dict[str, Any]] = []
        self._failure = failure

    async def emit(self, event: dict[str, Any]) -> None:
        """Show an event, or fail."""
        if self._failure:
            raise self._failure
        self.shown.append(event)


async def everything(notifier: PageNotifier) -> None:
    """One event of each kind."""
    await notifier.status("Memory saved: a")
    await notifier.source("Memories", ["a"], [{"source": "m-1"}])


async def test_events() -> None:
    """Each event has the shape that the page reads; a status is done and visible."""
    page = Page()
    await everything(PageNotifier(page.emit))
    assert page.shown == [
        {
            "type": "status",
            "data": {"description": "Memory saved: a", "done": True, "hidden": False},
        },
        {
            "type": "source",
            "data": {
                "source": {"name": "Memories"},
                "document": ["a"],
                "metadata": [{"source": "m-1"}],
            },
        },
    ]


async def test_nobody_to_tell() -> None:
    """Without an emitter, as for plain API calls, nothing is shown and nothing fails."""
    await everything(PageNotifier(None))


async def test_switched_off() -> None:
    """Who wants no status gets no event of any kind."""
    page = Page()
    await everything(PageNotifier(page.emit, enabled=False))
    assert page.shown == []


@pytest.mark.parametrize("failure", [Exception("gone"), KeyError("x"), TimeoutError()])
async def test_failing_page(failure: Exception) -> None:
    """A page that can't be reached is nobody's problem."""
    await everything(PageNotifier(Page(failure).emit))


async def test_cancellation_passes() -> None:
    """A cancellation is not swallowed with the failures."""
    with pytest.raises(asyncio.CancelledError):
        await everything(PageNotifier(Page(asyncio.CancelledError()).emit))
