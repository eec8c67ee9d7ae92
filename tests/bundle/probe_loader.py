"""Run by a host's own interpreter: loads the plug-in with the host's own loader and uses it.

One process tells everything in one JSON, as importing a host takes seconds.
"""

from __future__ import annotations

import asyncio
import copy
import importlib
import importlib.util
import json
import logging
import math
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# As `open-webui serve` has it; the tables of the host are made when it is imported.
os.environ |= {"FROM_INIT_PY": "true", "ENABLE_DB_MIGRATIONS": "true"}

PLUGIN_ID = "adaptive_memory"
FACT = "User's dog is called Biscuit."

# Appended to the plug-in, so that two loads differ and the first has something still to do.
GENERATION = """

GENERATION = {number}


async def finish_later(gate):
    await gate.wait()
    schema = Filter.Valves.model_json_schema()
    return GENERATION, Filter, bool(schema["properties"]), type(Filter().valves) is Filter.Valves
"""

QUESTION = [{"role": "user", "content": "What is my dog called?"}]
# That what is taken is in bounds too is proved with one pydantic, where valves are tested.
GARBAGE: tuple[Any, ...] = (
    *(
        "",
        " ",
        "abc",
        "NaN",
        "-inf",
        "1e400",
        "7",
        "x" * 100_000,
        "\ud800\x00",
    ),
    *(
        None,
        True,
        -1,
        0,
        3.5,
        10**30,
        -(10**400),
        math.nan,
        math.inf,
        -math.inf,
    ),
    *([], [""], ["General", 1, None], {}, {"a": {"b": [None]}}),
)


class Warnings(logging.Handler):
    """Keeps what the plug-in logs as a warning or worse."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(
            f"{record.getMessage()} {record.exc_info and record.exc_info[1]!r}"
        )


async def main(arguments: dict[str, Any]) -> dict[str, Any]:
    """Load the plug-in, use it, load it again, then load new code while the old has work to do."""
    from fastapi import FastAPI, Request

    importlib.import_module("open_webui.config")  # makes the tables

    warnings = Warnings()
    logging.getLogger("adaptive_memory").addHandler(warnings)
    code = Path(arguments["plugin"]).read_text(encoding="utf-8")
    app = FastAPI()
    app.state.EMBEDDING_FUNCTION = embed
    if (
        importlib.util.find_spec("open_webui.models.config") is None
    ):  # before 0.10
        features = {"features": {"memories": True}}
        app.state.config = SimpleNamespace(
            ENABLE_MEMORIES=True, USER_PERMISSIONS=features
        )
    request = Request(
        {"type": "http", "app": app, "headers": [], "path": "/", "state": {}}
    )
    told: dict[str, Any] = {
        "soft": sorted(
            one for one in arguments["soft"] if importlib.util.find_spec(one)
        ),
    }

    old, told["kind"], told["frontmatter"] = await load(
        request, code + GENERATION.format(number=1)
    )
    old_module = sys.modules[type(old).__module__]
    again, _, _ = await load(request, code + GENERATION.format(number=1))
    told |= {
        "class": type(old).__name__,
        "hooks": sorted(
            n
            for n in ("inlet", "outlet", "stream", "request")
            if hasattr(old, n)
        ),
        "cached": again is old,
        "defaults": {
            n: defaults_of(getattr(old, n)) for n in ("Valves", "UserValves")
        },
        "schemas": {n: schema_of(old, n) for n in ("Valves", "UserValves")},
        "broken": {
            n: broken_by_garbage(getattr(old, n))
            for n in ("Valves", "UserValves")
        },
        "turn": await turn(old, request),
        "turn warnings": list(warnings.messages),
    }

    gate = asyncio.Event()
    running = asyncio.create_task(old_module.finish_later(gate))
    await asyncio.sleep(0)
    new, _, _ = await load(request, code + GENERATION.format(number=2))
    served = sys.modules[f"function_{PLUGIN_ID}"]
    gate.set()
    generation, filter_class, has_schema, own_valves = await running
    told |= {
        "new is served": app.state.FUNCTIONS[PLUGIN_ID] is new
        and new is not old,
        "generations": [generation, served.GENERATION],
        "old is itself": filter_class is type(old)
        and has_schema
        and own_valves,
    }
    for name in [
        name
        for name in sys.modules
        if name.startswith(f"function_{PLUGIN_ID}")
    ]:
        del sys.modules[name]
    told["without name"] = {
        "schemas": {n: schema_of(new, n) for n in ("Valves", "UserValves")}
        == told["schemas"],
        "turn": await turn(new, request),
    }
    return told


async def embed(texts: Any, *_: Any, **__: Any) -> Any:
    """Vectors of the words that texts share, without a model."""
    if not isinstance(texts, str):
        return [await embed(one) for one in texts]
    vector = [0.01] * 64
    for word in texts.lower().replace("?", " ").replace(".", " ").split():
        vector[sum(word.encode()) % 64] += 1.0
    return vector


async def load(
    request: Any, code: str
) -> tuple[Any, str | None, dict[str, str] | None]:
    """Load what stands in the database under our id, as a chat turn does."""
    from open_webui.utils import plugin

    row = SimpleNamespace(id=PLUGIN_ID, content=code)
    return await plugin.get_function_module_from_cache(
        request, PLUGIN_ID, function=row
    )


def schema_of(instance: Any, name: str) -> list[str]:
    """Names in the form that the panel draws, options of selects resolved by the host."""
    from open_webui.utils import plugin

    valves = getattr(instance, name)
    schema = plugin.resolve_valves_schema_options(
        valves, valves.model_json_schema(), None
    )
    return sorted(schema["properties"])


def broken_by_garbage(model: Any) -> list[str]:
    """Valves that a saved value of any kind makes raise."""
    broken: list[str] = []
    for name in model.model_fields:
        for value in GARBAGE:
            try:
                model(**{name: value})
            except Exception as error:  # noqa: BLE001 - that anything raises is the finding
                broken.append(
                    f"{name}={value!r:.80} raised {type(error).__name__}"
                )
    return broken


def defaults_of(model: Any) -> bool:
    """Whether the defaults come back from a save of all of them."""
    return model(**json.loads(model().model_dump_json())) == model()


async def turn(instance: Any, request: Any) -> dict[str, Any]:
    """One turn of a user who has a memory: what reaches the model, and what is kept of it."""
    from open_webui.models.memories import Memories
    from open_webui.models.users import Users

    if await Users.get_user_by_id("ada") is None:
        await Users.insert_new_user(
            "ada", "Ada", "ada@example.com", role="admin"
        )
        await Memories.insert_new_memory("ada", FACT)
    ada = await Users.get_user_by_id("ada")
    assert ada
    # As long as allowed: this is not about the time that a busy machine takes.
    instance.valves = instance.Valves(inlet_timeout_seconds=1e9)
    number = time.monotonic_ns()
    chat, question, answer = (
        f"chat-{number}",
        f"question-{number}",
        f"answer-{number}",
    )
    events: list[Any] = []

    async def emitter(event: Any) -> None:
        events.append(event)

    metadata = {
        "chat_id": chat,
        "message_id": answer,
        "session_id": "s",
        "user_id": "ada",
    }
    given = {
        "__user__": {**ada.model_dump(), "valves": instance.UserValves()},
        "__metadata__": metadata,
        "__request__": request,
        "__event_emitter__": emitter,
    }
    asked = await instance.inlet(
        {"model": "m", "messages": copy.deepcopy(QUESTION)}, **given
    )
    # Since 0.11.2 the host asks once more, behind its own tasks; before that nothing waits for it.
    asked = await instance.request(
        asked, __metadata__=metadata, __event_emitter__=emitter
    )
    told = [
        {
            "id": question,
            "role": "user",
            "content": "My sister is called Ana.",
        },
        {"id": answer, "role": "assistant", "content": "Noted."},
    ]
    body = {
        "model": "m",
        "chat_id": chat,
        "id": answer,
        "session_id": "s",
        "messages": told,
    }
    answered = await instance.outlet(copy.deepcopy(body), **given)
    return {
        "roles": [message["role"] for message in asked["messages"]],
        "recalled": FACT in asked["messages"][0]["content"],
        "question": asked["messages"][-1]["content"].startswith(
            QUESTION[0]["content"]
        ),
        "answer": answered == body,
        "kept": await kept_turns(chat),
    }


async def kept_turns(chat: str) -> int:
    """How many turns of a chat wait in the plug-in's own table."""
    from open_webui.internal.db import get_async_db
    from sqlalchemy import text

    query = text(
        "SELECT count(*) FROM adaptive_memory_entries"
        " WHERE kind = 'waiting' AND chat_id = :chat"
    )
    async with get_async_db() as session:
        return int((await session.execute(query, {"chat": chat})).scalar_one())


if __name__ == "__main__":
    sys.stdout.write(
        json.dumps(asyncio.run(main(json.loads(sys.argv[1])))) + "\n"
    )
