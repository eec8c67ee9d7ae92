"""Run by a host's own interpreter: loads a plug-in with the host's own loader and tells of it."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from open_webui.utils import plugin
from valve_rules import broken_by_garbage

PLUGIN_ID = "adaptive_memory"

# Appended to the plug-in, so that two loads differ and the first has something still to do.
GENERATION = """

GENERATION = {number}


async def finish_later(gate):
    await gate.wait()
    schema = Filter.Valves.model_json_schema()
    return GENERATION, Filter, bool(schema["properties"]), type(Filter().valves) is Filter.Valves
"""


async def main(arguments: dict[str, Any]) -> dict[str, Any]:
    """Load the plug-in, load it again, then load new code while the old has a task running."""
    code = Path(arguments["plugin"]).read_text(encoding="utf-8")
    request = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace()))

    old, kind, frontmatter = await load(request, code + GENERATION.format(number=1))
    old_module = sys.modules[type(old).__module__]
    again, _, _ = await load(request, code + GENERATION.format(number=1))

    gate = asyncio.Event()
    running = asyncio.create_task(old_module.finish_later(gate))
    await asyncio.sleep(0)
    new, _, _ = await load(request, code + GENERATION.format(number=2))
    served = sys.modules[f"function_{PLUGIN_ID}"]
    del old_module
    gate.set()
    generation, filter_class, has_schema, own_valves = await running

    return {
        "kind": kind,
        "class": type(old).__name__,
        "frontmatter": frontmatter,
        "names": [type(old).__module__, type(new).__module__],
        "cached": again is old,
        "new_is_served": request.app.state.FUNCTIONS[PLUGIN_ID] is new and new is not old,
        "generations": [generation, served.GENERATION],
        "old_is_itself": filter_class is type(old) and has_schema and own_valves,
        "soft": sorted(
            name for name in arguments["soft"] if importlib.util.find_spec(name) is not None
        ),
        "hooks": sorted(
            name for name in ("inlet", "outlet", "stream", "request") if hasattr(new, name)
        ),
        "schemas": {name: schema_of(new, name) for name in ("Valves", "UserValves")},
        "broken": {
            name: broken_by_garbage(getattr(new, name)) for name in ("Valves", "UserValves")
        },
    }


async def load(request: Any, code: str) -> tuple[Any, str | None, dict[str, str] | None]:
    """Load what stands in the database under our id, as a chat turn does."""
    row = SimpleNamespace(id=PLUGIN_ID, content=code)
    return await plugin.get_function_module_from_cache(request, PLUGIN_ID, function=row)


def schema_of(instance: Any, name: str) -> list[str]:
    """Names in the form that the panel draws, options of selects resolved by the host."""
    valves = getattr(instance, name)
    schema = plugin.resolve_valves_schema_options(valves, valves.model_json_schema(), None)
    return sorted(schema["properties"])


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))) + "\n")
