"""Searching every place where a run leaves something, for values that were planted in it.

A place is searched as text, whatever its shape: events and requests as JSON, tables column by
column, files byte by byte. A value is found in each form that it may be given: as it is in any
case, without blanks, quoted for a URL, in Base64 at any offset.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote

from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import INTERNAL_TITLES, ModelRequest

# Where something may be found. ``log`` is what our loggers write, ``debug log`` below INFO; ``host
# log`` what the host's own modules write, whatever passes through it; ``event`` all that the page
# got but for statuses and sources; ``our request`` what our own calls send, ``embedding`` what an
# embedding endpoint is sent; ``our tables`` every column of ours; ``memory`` the host's table for
# them and ``vectors`` its vector database, which keeps their texts too; ``chat`` the host's chats
# with all that is stored with them; ``file`` every other table and file of the host's.
Place = Literal[
    "log",
    "debug log",
    "host log",
    "status",
    "source",
    "event",
    "our request",
    "embedding",
    "chat request",
    "our tables",
    "memory",
    "vectors",
    "chat",
    "file",
]
PLACES: tuple[Place, ...] = get_args(Place)
# How the listener of the test marks a line of our loggers below INFO.
DEBUG_MARK = "DEBUG adaptive_memory"
_HEAD = re.compile(r"^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) |\d\d:\d\d\.\d{3} \| [A-Z]+ +\| ")
_HOST_LINE = re.compile(r"\| (?:open_webui|uvicorn|aiohttp)\.[\w.]+:\w+:\d+ - ")
_EVENT_PLACES: Mapping[str, Place] = {"status": "status", "source": "source", "citation": "source"}
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


@dataclass(frozen=True, slots=True)
class Sighting:
    """A value that was found, by its name."""

    name: str
    place: Place
    where: str

    def __str__(self) -> str:
        """For a failed assertion."""
        return f"{self.name} in {self.place}: {self.where}"


def sightings(values: Mapping[str, str], traces: Iterable[Trace]) -> set[Sighting]:
    """All values, given by name, that stand in these texts."""
    forms = [(name, form) for name, value in values.items() for form in _forms(value)]
    exact = [(name, form) for name, value in values.items() for form in _encoded(value)]
    found: set[Sighting] = set()
    for trace in traces:
        small = trace.text.lower()
        here = {name for name, form in forms if form in small}
        here |= {name for name, form in exact if form in trace.text}
        found |= {Sighting(name, trace.place, trace.where) for name in here}
    return found


def _forms(value: str) -> set[str]:
    small = value.lower()
    forms = {small, json.dumps(small)[1:-1], quote(small, safe="").lower()}
    joined = small.replace(" ", "")
    return forms | {joined} if len(joined) >= _SHORTEST_JOINED else forms


def _encoded(value: str) -> set[str]:
    """What stands in any Base64 text that holds the value: without the letters at its ends."""
    forms: set[str] = set()
    for offset in range(3):
        padded = b"\0" * offset + value.encode()
        whole = base64.b64encode(padded[: len(padded) // 3 * 3]).decode()
        core = whole[4 if offset else 0 :]
        if len(core) >= _SHORTEST_JOINED:
            forms |= {core, core.replace("+", "-").replace("/", "_")}
    return forms


def traces(host: RunningHost, page: Page, log_since: int = 0) -> Iterator[Trace]:
    """Everything that a run with one page has left, the log from a byte on."""
    yield from _log_traces(host, log_since)
    for event in page.events:
        place = _EVENT_PLACES.get(event.kind, "event")
        yield Trace(place, event.kind, json.dumps(event.data, ensure_ascii=False))
    yield from map(_request_trace, host.model.requests)
    for request in host.model.embedding_requests:
        yield Trace("embedding", "", json.dumps(request.body, ensure_ascii=False))
    yield from _table_traces(host)
    yield from _file_traces(host.server.data)


def _log_traces(host: RunningHost, since: int) -> Iterator[Trace]:
    """Line by line; what stands without a head, as a traceback, belongs to the line before it."""
    place: Place = "log"
    for number, line in enumerate(host.log_text(since).splitlines(), 1):
        if _HEAD.search(line):
            ours: Place = "debug log" if line.startswith(DEBUG_MARK) else "log"
            place = "host log" if _HOST_LINE.search(line) and ours == "log" else ours
        yield Trace(place, f"line {number}, {line[:80]!r}", line)


def _request_trace(request: ModelRequest) -> Trace:
    ours = request.title in INTERNAL_TITLES
    text = json.dumps(request.body, ensure_ascii=False)
    return Trace("our request" if ours else "chat request", request.title[:30], text)


def _table_traces(host: RunningHost) -> Iterator[Trace]:
    """Every column of every table of the host's database; of blobs the bytes as they are."""
    address = f"file:{host.database}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=30)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (name,) in names.fetchall():
            ours = "our tables" if name.startswith("adaptive_memory_") else None
            place: Place = ours or _TABLE_PLACES.get(name[:4], "file")
            rows = connection.execute(f'SELECT * FROM "{name}"')
            columns = [described[0] for described in rows.description]
            for row in rows:
                for column, value in zip(columns, row, strict=True):
                    yield Trace(place, f"{name}.{column}", _column_text(value))


def _column_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    text = str(value)
    with contextlib.suppress(ValueError):
        if text.startswith(("{", "[")):  # the host stores JSON with escapes
            return json.dumps(json.loads(text), ensure_ascii=False)
    return text


def _file_traces(data: Path) -> Iterator[Trace]:
    """The files beside the database and the log, which are searched as what they are."""
    for file in sorted(data.rglob("*")):
        relative = file.relative_to(data)
        if not file.is_file() or relative.parts[0].startswith((_DATABASE, _LOG)):
            continue
        place: Place = "vectors" if relative.parts[0] == _VECTORS else "file"
        yield Trace(place, relative.parts[0], file.read_bytes().decode("latin-1"))
