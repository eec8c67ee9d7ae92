"""
title: Statements
author: Adaptive Memory
version: 1.0.0
license: MIT
description: Tells a test which statements a filter makes, and the host for it.
"""

# The host reads the head of the file line by line, so it cannot be a docstring like others.
# ruff: noqa: D205, D212

import sys
import time
from typing import Any

import greenlet
from sqlalchemy import event
from sqlalchemy.engine import Engine

MADE: list[tuple[float, str]] = []


def note(*arguments: Any) -> None:
    """Keep a statement, with the moment, if a function of the host's waits for it."""
    # SQLAlchemy's own frames stand in a greenlet, those of whoever waits for it in its parent.
    parent: Any = greenlet.getcurrent().parent
    frame = (parent and parent.gr_frame) or sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals["__name__"]).startswith("function_adaptive"):
            MADE.append((time.perf_counter(), arguments[2]))
            return
        frame = frame.f_back


class Action:
    """Counts from one call to the next."""

    async def action(self, body: dict[str, Any]) -> dict[str, Any]:
        """The statements since the last call; counting goes on where that is wanted."""
        if event.contains(Engine, "before_cursor_execute", note):
            event.remove(Engine, "before_cursor_execute", note)
        if body["goes_on"]:
            event.listen(Engine, "before_cursor_execute", note)
        made = [*MADE]
        MADE.clear()
        return {"made": made}
