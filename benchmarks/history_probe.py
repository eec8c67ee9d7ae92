"""Run by a host's own interpreter: recall from a long past, timed through the host's own clients.

Reads the past that ``history_host`` has written, puts it into the host's database and vector
database as the plug-in does, asks the questions, and prints what it took as JSON.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

# As `open-webui serve` has it, which knows where the package keeps its files; the tables of the
# host are made when it is imported.
os.environ |= {"FROM_INIT_PY": "true", "ENABLE_DB_MIGRATIONS": "true"}

USER = "ada"
_ROWS_AT_ONCE = 1000
_UNITS_AT_ONCE = 500
_INDEXED_TURNS = 20


async def main(folder: Path, source: str) -> dict[str, Any]:
    """Fill, wait until everything stands, and measure."""
    sys.path.insert(0, source)
    import numpy as np

    from adaptive.core.embedding import Pace
    from adaptive.core.runtime import UserCache
    from adaptive.history.conversation import PastConversation
    from adaptive.history.indexing import HistoryIndex
    from adaptive.host.database import OUR_DATABASE
    from adaptive.host.history_chats import HostPastChats
    from adaptive.host.memory_vectors import HostVectorTable
    from adaptive.host.tables import HostTables
    from adaptive.host.vector_database import HostHistoryVectors
    from adaptive.memory.tables import Entry
    from adaptive.privacy.sealing import Sealer
    from adaptive.search.calibration import NULL_PROMPTS
    from adaptive.search.embedders import LocalModel
    from adaptive.search.fingerprints import Fingerprints, ProvenEmbedder
    from adaptive.search.history_ports import HistoryUnit, PastQuestion
    from adaptive.search.vectors import EmbedderRests, TurnEmbedder, normalised
    from adaptive.settings.merged import Settings
    from adaptive.settings.valves import Valves

    importlib.import_module(
        "open_webui.config"
    )  # brings the host's tables up to date
    told = json.loads((folder / "past.json").read_text(encoding="utf-8"))
    rows = np.load(folder / "vectors.npy")
    questions = np.load(folder / "questions.npy")
    await _store(told["messages"])
    embedder = ProvenEmbedder(
        LocalModel(told["model"]),
        HostVectorTable(OUR_DATABASE),
        Fingerprints(),
        Pace(),
    )

    null_vectors = normalised(await embedder.embed(NULL_PROMPTS, query=True))

    async def nulls(_: str) -> Any:
        """The vectors of the null prompts."""
        return null_vectors

    vectors, chats = HostHistoryVectors(), HostPastChats()
    nothing: Any = None
    tables = HostTables(Sealer("secret"))
    index = HistoryIndex(
        vectors=vectors,
        chats=chats,
        entries=tables.entries,
        leases=tables.leases,
        rememberable=list,
        sleep=lambda _: asyncio.sleep(0),
    )
    history = PastConversation(
        vectors=vectors,
        chats=chats,
        notes=nothing,
        formats=nothing,
        nulls=nulls,
    )
    name = await embedder.name()
    units = [HistoryUnit(**unit) for unit in told["units"]]
    begin = time.perf_counter()
    for start in range(0, len(units), _UNITS_AT_ONCE):
        some = slice(start, start + _UNITS_AT_ONCE)
        await vectors.upsert(USER, name, units[some], rows[some])
    stored = time.perf_counter() - begin
    # No chat opens with a question and no model sums up, so nothing else of a hook is asked.
    settings = Settings.merge(Valves(history_recall_default="all"), None)
    told_of = {
        "chat_id": "new chat",
        "question_id": "",
        "told_kind": "saved",
        "time_zones": (),
        "answer_id": "",
        "kind": _brings("saved"),
        "wants_memory": _brings(True),
        "sources": _brings(SimpleNamespace(embedder=embedder)),
    }
    hook = cast(
        Any, SimpleNamespace(user_id=USER, settings=settings, **told_of)
    )

    async def recalled(at: int) -> tuple[float, float, bool]:
        """Milliseconds on the clock and of processor time, and whether anything was recalled."""
        texts = (told["questions"][at],)
        once = TurnEmbedder(embedder, USER, UserCache(10), EmbedderRests())
        await once.embed(texts, query=True)
        asked = PastQuestion(*texts, "", False, (), None, told["tokens"])
        begin, worked = time.perf_counter(), time.process_time()
        found = await history.recalled(hook, asked, once)
        taken, worked = (
            time.perf_counter() - begin,
            time.process_time() - worked,
        )
        return taken * 1000, worked * 1000, bool(found.text)

    chat_ids = {message["chat_id"] for message in told["messages"]}
    noted = [Entry(chat_id, None, 1, chat_id) for chat_id in chat_ids]
    await tables.entries.put("history", USER, noted)

    async def turn(at: int, *said: dict[str, Any]) -> dict[str, float]:
        """What a turn takes in all: what is recalled, and what is indexed behind its answer."""
        chat_id = told["messages"][-1]["chat_id"]
        await _store([*said], new=False)
        if said:
            await _touch(chat_id)
        hook.chat_id = chat_id
        hook.answer_id = said[-1]["id"] if said else ""
        with _Counted() as counted:
            begin, worked = time.perf_counter(), time.process_time()
            await recalled(at)
            await index.keep(hook, nothing)
            counted["processor_ms"] = 1000 * (time.process_time() - worked)
            counted["ms"] = 1000 * (time.perf_counter() - begin)
        hook.chat_id = "new chat"
        return counted

    last = told["messages"][-1]["chat_id"]
    first = [_said(last, 99, role) for role in ("user", "assistant")]
    first[0]["parent_id"] = told["messages"][-1]["id"]
    await index.index_chat(USER, embedder, last)
    first_turn = await turn(0, *first)
    cold = first_turn["ms"]
    unchanged = [await turn(at) for at in range(1, 1 + _INDEXED_TURNS)]
    keeping: list[float] = []
    for _ in range(_INDEXED_TURNS):
        hook.chat_id = last
        worked = time.process_time()
        await index.keep(hook, nothing)
        keeping.append(1000 * (time.process_time() - worked))
    hook.chat_id = "new chat"
    asked = [await recalled(at) for at in range(len(told["questions"]))]
    stages = await _stages(vectors, chats, name, questions)
    turns: list[float] = []
    for number in range(_INDEXED_TURNS):
        chat_id = told["messages"][-1]["chat_id"]
        await _store(
            [_said(chat_id, number, role) for role in ("user", "assistant")],
            new=False,
        )
        begin = time.perf_counter()
        await index.index_chat(USER, embedder, chat_id)
        turns.append((time.perf_counter() - begin) * 1000)
    return {
        "messages": len(told["messages"]),
        "units": len(units),
        "recall_ms": [taken for taken, _, _ in asked],
        "recall_processor_ms": [worked for _, worked, _ in asked],
        "served": sum(found for _, _, found in asked) / len(asked),
        "first_recall_ms": cold,
        "chats": len(chat_ids),
        **{
            f"first_turn_{name}": number for name, number in first_turn.items()
        },
        "unchanged_turn_ms": [one["ms"] for one in unchanged],
        "unchanged_turn_processor_ms": [
            one["processor_ms"] for one in unchanged
        ],
        "unchanged_index_processor_ms": keeping,
        "unchanged_turn_statements": unchanged[-1]["statements"],
        "unchanged_turn_vector_calls": unchanged[-1]["vector_calls"],
        "stored_s": stored,
        "stages_ms": stages,
        "index_turn_ms": turns,
        "vector_database_mib": _size(
            Path(os.environ["DATA_DIR"]) / "vector_db"
        ),
    }


def _brings(value: Any) -> Any:
    """A coroutine function that returns a value."""

    async def brought() -> Any:
        return value

    return brought


class _Counted(dict[str, float]):
    """Statements and vector calls of the process within a block."""

    def __enter__(self) -> _Counted:
        from sqlalchemy import event
        from sqlalchemy.engine import Engine

        from adaptive.host.vector_database import HOST_VECTORS

        self.update(statements=0, vector_calls=0)
        self._ask = HOST_VECTORS.ask
        event.listen(Engine, "before_cursor_execute", self._statement)
        cast(Any, HOST_VECTORS).ask = self._asked
        return self

    def __exit__(self, *_: object) -> None:
        from sqlalchemy import event
        from sqlalchemy.engine import Engine

        from adaptive.host.vector_database import HOST_VECTORS

        event.remove(Engine, "before_cursor_execute", self._statement)
        del cast(Any, HOST_VECTORS).ask

    def _statement(
        self, _connection: Any, _cursor: Any, text: str, *_: Any
    ) -> None:
        # What the driver is told with each connection (host: internal/db.py) asks for nothing.
        if not text.startswith(("PRAGMA", "BEGIN")):
            self["statements"] += 1

    async def _asked(self, *arguments: Any) -> Any:
        self["vector_calls"] += 1
        return await self._ask(*arguments)


async def _touch(chat_id: str) -> None:
    """Let the host have changed a chat just now."""
    from open_webui.internal.db import get_async_db_context
    from sqlalchemy import update

    chats: Any = importlib.import_module("open_webui.models.chats")
    async with get_async_db_context() as session:
        changing = update(chats.Chat).where(chats.Chat.id == chat_id)
        await session.execute(changing.values(updated_at=int(time.time())))
        await session.commit()


async def _stages(
    vectors: Any, chats: Any, name: str, questions: Any
) -> dict[str, list[float]]:
    """The parts that wait for the host, each by itself."""
    from adaptive.history.conversation import HITS

    stages: dict[str, list[float]] = {"vectors": [], "messages": []}
    for row in questions:
        begin = time.perf_counter()
        hits = await vectors.search(USER, name, row, HITS)
        searched = time.perf_counter()
        keys = {
            (hit.chat_id, message_id)
            for hit in hits
            for message_id in (hit.message_id, hit.previous_id)
        }
        await chats.current(USER, keys)
        read = time.perf_counter()
        for stage, taken in zip(
            stages, (searched - begin, read - searched), strict=True
        ):
            stages[stage].append(taken * 1000)
    return stages


def _said(chat_id: str, number: int, role: str) -> dict[str, Any]:
    """One more message at the end of a chat."""
    return {
        "id": f"more-{number}-{role}",
        "chat_id": chat_id,
        "role": role,
        "text": f"Here is what I thought about our plan, part {number}, as the {role} sees it.",
        "said_at": int(time.time()) + number,
        "parent_id": f"more-{number - 1}-assistant"
        if role == "user"
        else f"more-{number}-user",
    }


async def _store(messages: list[dict[str, Any]], *, new: bool = True) -> None:
    """Rows as the host writes them, with their chats where those are ``new``."""
    from open_webui.internal.db import get_async_db_context
    from sqlalchemy import insert

    chats: Any = importlib.import_module("open_webui.models.chats")
    said: Any = importlib.import_module("open_webui.models.chat_messages")

    last: dict[str, str] = {}
    for one in messages:
        one.setdefault("parent_id", last.get(one["chat_id"]))
        last[one["chat_id"]] = one["id"]
    rows = [
        {
            "id": f"{one['chat_id']}-{one['id']}",
            "chat_id": one["chat_id"],
            "user_id": USER,
            "role": one["role"],
            "parent_id": one["parent_id"],
            "content": one["text"],
            "done": True,
            "created_at": one["said_at"],
            "updated_at": one["said_at"],
        }
        for one in messages
    ]
    heads = [
        {
            "id": chat_id,
            "user_id": USER,
            "title": chat_id,
            "chat": {},
            "meta": {},
            "created_at": 1,
            "updated_at": 1,
        }
        for chat_id in dict.fromkeys(one["chat_id"] for one in messages)
    ]
    async with get_async_db_context() as session:
        for table, some in (
            (chats.Chat, heads if new else []),
            (said.ChatMessage, rows),
        ):
            for start in range(0, len(some), _ROWS_AT_ONCE):
                await session.execute(
                    insert(table), some[start : start + _ROWS_AT_ONCE]
                )
        await session.commit()


def _size(folder: Path) -> float:
    """Mebibytes of all files in a folder."""
    return (
        sum(
            file.stat().st_size for file in folder.rglob("*") if file.is_file()
        )
        / 2**20
    )


if __name__ == "__main__":
    arguments = SimpleNamespace(**json.loads(sys.argv[1]))
    figures = asyncio.run(main(Path(arguments.folder), arguments.source))
    print(json.dumps(figures))
