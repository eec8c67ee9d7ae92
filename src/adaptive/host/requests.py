"""What calls of the host need: a release that has them, its settings, requests and accounts."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Mapping
from typing import Any, cast

from fastapi import Request

from adaptive.host.faults import HostFaults

UNSUPPORTED = (
    "this Open WebUI is older than 0.9.6, and chats go on without memory"
)
# Our name -> (attribute of ``app.state.config`` to 0.9, key in a table since 0.10; config.py).
_NAMES: Mapping[str, tuple[str, str]] = {
    "embedding_engine": ("RAG_EMBEDDING_ENGINE", "rag.embedding_engine"),
    "embedding_model": ("RAG_EMBEDDING_MODEL", "rag.embedding_model"),
    "task_model": ("TASK_MODEL", "task.model.default"),
    "task_model_external": ("TASK_MODEL_EXTERNAL", "task.model.external"),
    "memory_context": ("", "memories.system_context.enable"),
    "titles": ("ENABLE_TITLE_GENERATION", "task.title.enable"),
    "follow_ups": ("ENABLE_FOLLOW_UP_GENERATION", "task.follow_up.enable"),
    "interface_defaults": ("", "ui.default_interface_settings"),
    "context_compaction": ("", "chat.context_compaction.enable"),
    "openai_urls": ("OPENAI_API_BASE_URLS", "openai.api_base_urls"),
    "ollama_urls": ("OLLAMA_BASE_URLS", "ollama.base_urls"),
    "user_permissions": ("USER_PERMISSIONS", "user.permissions"),
}


def host_is_supported() -> bool:
    """Whether the host's memory layer is the asynchronous one, which came with release 0.9."""
    try:
        from open_webui.models.memories import Memories
        from open_webui.retrieval.vector import async_client
    except ImportError:
        return False
    return bool(async_client) and inspect.iscoroutinefunction(
        Memories.get_memories_by_user_id
    )


def host_state(name: str) -> Any:
    """What the host that runs in this process keeps under a name, ``None`` where none does."""
    return getattr(getattr(_host_app(), "state", None), name, None)


def _host_app() -> Any:
    return getattr(sys.modules.get("open_webui.main"), "app", None)


def host_request() -> Request | None:
    """A request of nobody's to the running host, ``None`` where none runs or no loop does."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return None
    app = _host_app()
    if app is None or not host_is_supported():
        return None
    return Request({"type": "http", "app": app, "headers": [], "state": {}})


async def host_setting(request: Request, name: str) -> Any:
    """The value of a host setting by our name; ``None`` where the release has no such setting."""
    attribute, key = _NAMES[name]
    config = getattr(request.app.state, "config", None)
    if config is not None:
        return getattr(config, attribute or "?", None)
    from open_webui.models.config import Config

    return (await Config.get_many(key)).get(key)


def isolated_request(request: Request) -> Request:
    """A request of the same app and headers, with a state of its own.

    The host keeps switches of the running turn on ``request.state`` and merges its metadata into
    every model call made with it (host: utils/chat.py); a call of ours must neither change nor
    inherit them. Only the session token is carried over, which some connections forward.
    """
    token = getattr(request.state, "token", None)
    return Request(
        {**request.scope, "state": {} if token is None else {"token": token}}
    )


def process_state(request: Request) -> dict[str, Any]:
    """A mapping of ours that lives as long as the host's process.

    Saving new code of this plug-in loads it anew, while what the old load has cached goes on
    being referenced; so what is too large to exist twice belongs here. Only values of types that
    are not defined in this plug-in may be put in.
    """
    state = getattr(request.app.state, "adaptive_memory", None)
    if not isinstance(state, dict):
        state = request.app.state.adaptive_memory = {}
    return cast(dict[str, Any], state)


async def account(user: Mapping[str, Any]) -> Any:
    """The host's user model for the dict a hook receives, which is a dump of it."""
    from open_webui.models.users import UserModel

    with HostFaults("reading the user"):
        return UserModel(
            **{name: value for name, value in user.items() if name != "valves"}
        )
