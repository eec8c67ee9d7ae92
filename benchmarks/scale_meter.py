"""
title: Scale meter
author: Adaptive Memory
version: 1.0.0
license: MIT
description: Counts in a worker what the plug-in asks of database, vector database and model.
"""

# The host reads the head of the file line by line, so it cannot be a docstring like others.
# ruff: noqa: D205, D212

import functools
import json
import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import greenlet
from sqlalchemy import event
from sqlalchemy.engine import Engine

VECTOR_CALLS = (
    "search",
    "query",
    "get",
    "has_collection",
    "insert",
    "upsert",
    "delete",
    "delete_collection",
)
# When, of which kind, and what: what the plug-in asks for, or the host for it.
ASKED: list[tuple[float, str, str]] = []
OF_HOST = Counter[str]()
INLETS: list[dict[str, Any]] = []


def modules() -> Iterator[str]:
    """The modules of whoever waits for this, the nearest first."""
    # SQLAlchemy's own frames stand in a greenlet, those of whoever waits for it in its parent.
    parent: Any = greenlet.getcurrent().parent
    frames = [sys._getframe(1), parent.gr_frame if parent else None]
    for begun in frames:
        frame: FrameType | None = begun
        while frame is not None:
            if frame.f_globals is not globals():
                yield str(frame.f_globals.get("__name__"))
            frame = frame.f_back


def is_plugins() -> bool:
    """Whether a function of the host's waits for this."""
    return any(name.startswith("function_") for name in modules())


def note(kind: str, what: str) -> None:
    """Keep what is asked for."""
    ASKED.append((time.perf_counter(), kind, what))


def note_statement(*arguments: Any) -> None:
    """Keep the beginning of a statement of the plug-in's, and count one of the host's."""
    if is_plugins():
        note("statements", " ".join(str(arguments[2]).split())[:160])
    else:
        OF_HOST["statements"] += 1


def counted(kind: str, method: Any) -> Any:
    """A method whose calls for the plug-in are counted."""

    @functools.wraps(method)
    def calling(self: Any, *arguments: Any, **named: Any) -> Any:
        """Count, and call."""
        if kind == "texts":
            # A thread of the plug-in's begins with the model itself.
            if not any(name.startswith("open_webui.") for name in modules()):
                for _ in arguments[0]:
                    note(kind, "text")
        elif is_plugins():
            note(kind, method.__name__)
        return method(self, *arguments, **named)

    return calling


class InletMeasures(logging.Handler):
    """Keeps what the plug-in logs of inlets, with how long their stages took."""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line that tells of an inlet."""
        line = json.loads(record.getMessage())
        if line["part"] == "inlet":
            INLETS.append(line)


def begin() -> None:
    """Count from now on."""
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT
    from sentence_transformers import SentenceTransformer

    event.listen(Engine, "before_cursor_execute", note_statement)
    client: Any = type(ASYNC_VECTOR_DB_CLIENT.sync)
    for name in VECTOR_CALLS:
        setattr(client, name, counted("vector_calls", getattr(client, name)))
    model: Any = SentenceTransformer
    model.encode = counted("texts", model.encode)
    measures = logging.getLogger("adaptive_memory.measures")
    measures.setLevel(logging.DEBUG)
    measures.propagate = False
    measures.addHandler(InletMeasures())


def resident_mebibytes() -> float:
    """What of this process is in RAM now."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [kibibytes] = re.findall(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    return int(kibibytes) / 1024


class Action:
    """Tells what was asked since it was asked last."""

    def __init__(self) -> None:
        begin()

    # The host asks for it by name.
    async def action(self, body: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """What was asked, the processor's seconds of the process, and its memory."""
        told = {
            "processor": time.process_time(),
            "resident": resident_mebibytes(),
            "inlets": [*INLETS],
            "asked": [*ASKED],
            "of_host": OF_HOST["statements"],
        }
        for kept in (INLETS, ASKED, OF_HOST):
            kept.clear()
        return told
