"""Searching every place where a run leaves something, for values that were planted in it.

A place is searched as text, whatever its shape: events and requests as JSON, tables column by
column, files byte by byte. A value is found in each form that it may be given: as it is in any
case, without blanks, quoted for a URL.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import quote

from tests.e2e.driver.events import Event
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import (
    ModelRequest,
    RequestKind,
    ScriptedModel,
)

# Where something may be found. ``log`` is what our loggers write, ``debug log`` below INFO; ``host
# log`` what the host's own modules write, whatever passes through it; ``event`` all that the page
# got but for statuses and sources; ``our request`` what our own calls send, ``task request`` what
# the host's own tasks send, ``embedding``, ``search engine`` and ``image engine`` what these are
# sent; ``our tables`` every column of ours; ``memory`` the host's table for them and ``vectors``
# its vector database, which keeps their texts too; ``chat`` the host's chats with all that is
# stored with them; ``file`` every other table and file of the host's.
Place = Literal[
    "log",
    "debug log",
    "host log",
    "status",
    "source",
    "event",
    "chat request",
    "our request",
    "task request",
    "embedding",
    "search engine",
    "image engine",
    "our tables",
    "memory",
    "vectors",
    "chat",
    "file",
]
PLACES: tuple[Place, ...] = get_args(Place)
# How the listener of the test marks a line of our loggers below INFO.
DEBUG_MARK = "DEBUG adaptive_memory"
_HEAD = re.compile(
    r"^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) |\d\d:\d\d\.\d{3} \| [A-Z]+ +\| "
)
_HOST_LINE = re.compile(
    r"\| (?:open_webui|uvicorn|aiohttp)\.[\w.]+:\w+:\d+ - "
)
_REQUEST_PLACES: Mapping[RequestKind, Place] = {
    "chat": "chat request",
    "plug-in": "our request",
}
_EVENT_PLACES: Mapping[str, Place] = {
    "status": "status",
    "source": "source",
    "citation": "source",
}
_TABLE_PLACES: Mapping[str, Place] = {"memo": "memory", "chat": "chat"}
_DATABASE, _LOG, _VECTORS = "webui.db", "server.log", "vector_db"
# Shorter values would be found without their blanks by chance.
_SHORTEST_JOINED = 8


@dataclass(frozen=True, slots=True)
class Trace:
    """A text that was left in a place; ``where`` says where there, repeating nothing of it."""

    place: Place
    where: str
    text: str


def sightings(
    values: Mapping[str, str], traces: Iterable[Trace]
) -> dict[tuple[str, Place], set[str]]:
    """All values, given by name, that stand in these texts, and where in each place."""
    forms = [
        (name, form)
        for name, value in values.items()
        for form in _forms(value.lower())
    ]
    seen: dict[tuple[str, Place], set[str]] = defaultdict(set)
    for trace in traces:
        small = trace.text.lower()
        for name, form in forms:
            if form in small:
                seen[name, trace.place].add(trace.where)
    return dict(seen)


def _forms(value: str) -> set[str]:
    joined = value.replace(" ", "")
    forms = {value, json.dumps(value)[1:-1], quote(value, safe="").lower()}
    return forms | {joined} if len(joined) >= _SHORTEST_JOINED else forms


def traces(
    host: RunningHost, page: Page, log_since: int = 0
) -> Iterator[Trace]:
    """Everything that a run with one page has left, the log from a byte on."""
    yield from log_traces(host, log_since)
    yield from event_traces(page.events)
    yield from request_traces(host.model)
    yield from _table_traces(host)
    yield from _file_traces(host.server.data)


def event_traces(events: Iterable[Event]) -> Iterator[Trace]:
    """What a page was sent."""
    for event in events:
        place = _EVENT_PLACES.get(event.kind, "event")
        yield Trace(
            place, event.kind, json.dumps(event.data, ensure_ascii=False)
        )


def request_traces(model: ScriptedModel) -> Iterator[Trace]:
    """What each model and engine was sent, whoever has sent it."""
    for request in model.requests:
        place = _REQUEST_PLACES.get(request.kind, "task request")
        name = request.title if request.kind == "plug-in" else request.kind
        yield _request_trace(place, f"{name} to {request.model}", request)
    engines: Mapping[Place, Sequence[ModelRequest]] = {
        "embedding": model.embedding_requests,
        "search engine": model.search_requests,
        "image engine": model.image_requests,
    }
    for place, requests in engines.items():
        for request in requests:
            yield _request_trace(place, request.path, request)


def _request_trace(place: Place, where: str, request: ModelRequest) -> Trace:
    return Trace(place, where, json.dumps(request.body, ensure_ascii=False))


def log_traces(host: RunningHost, since: int) -> Iterator[Trace]:
    """Line by line; what stands without a head, as a traceback, belongs to the line before it."""
    place: Place = "log"
    for number, line in enumerate(host.log_text(since).splitlines(), 1):
        if _HEAD.search(line):
            ours: Place = "debug log" if line.startswith(DEBUG_MARK) else "log"
            place = (
                "host log"
                if _HOST_LINE.search(line) and ours == "log"
                else ours
            )
        yield Trace(place, f"line {number}, {line[:80]!r}", line)


def _table_traces(host: RunningHost) -> Iterator[Trace]:
    """Every column of every table of the host's database; of blobs the bytes as they are."""
    address = f"file:{host.database}?mode=ro"
    with contextlib.closing(
        sqlite3.connect(address, uri=True, timeout=30)
    ) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        )
        for (name,) in names.fetchall():
            ours = (
                "our tables" if name.startswith("adaptive_memory_") else None
            )
            place: Place = ours or _TABLE_PLACES.get(name[:4], "file")
            rows = connection.execute(f'SELECT * FROM "{name}"')
            columns = [described[0] for described in rows.description]
            for row in rows:
                for column, value in zip(columns, row, strict=True):
                    text = (
                        value.decode("latin-1")
                        if isinstance(value, bytes)
                        else str(value)
                    )
                    yield Trace(place, f"{name}.{column}", text)


def _file_traces(data: Path) -> Iterator[Trace]:
    """The files beside the database and the log, which are searched as what they are."""
    for file in sorted(data.rglob("*")):
        relative = file.relative_to(data)
        if not file.is_file() or relative.parts[0].startswith(
            (_DATABASE, _LOG)
        ):
            continue
        place: Place = "vectors" if relative.parts[0] == _VECTORS else "file"
        yield Trace(
            place, relative.parts[0], file.read_bytes().decode("latin-1")
        )
