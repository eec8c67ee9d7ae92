"""Open WebUI as it runs here: its release, settings, requests and accounts, and what it does itself.

What it does itself with a turn is its own memory, who has that on, its tasks and its compaction.
"""

import asyncio
import inspect
import sys
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, cast

from fastapi import Request

from adaptive.core import (
    ConversationKind,
    HostError,
    JsonMapping,
    JsonObject,
    ModelBusy,
    frozen,
    listing,
    mapping,
)
from adaptive.host.faults import HostFaults, faults_logged

# Our name -> (attribute of ``app.state.config`` to 0.9, key in a table since 0.10; config.py).
_NAMES: Mapping[str, tuple[str, str]] = {
    "embedding_engine": ("RAG_EMBEDDING_ENGINE", "rag.embedding_engine"),
    "embedding_model": ("RAG_EMBEDDING_MODEL", "rag.embedding_model"),
    "openai_embedding_url": (
        "RAG_OPENAI_API_BASE_URL",
        "rag.openai.api_base_url",
    ),
    "ollama_embedding_url": ("RAG_OLLAMA_BASE_URL", "rag.ollama.base_url"),
    "azure_openai_embedding_url": (
        "RAG_AZURE_OPENAI_BASE_URL",
        "rag.azure_openai.base_url",
    ),
    "embedding_batch_size": (
        "RAG_EMBEDDING_BATCH_SIZE",
        "rag.embedding_batch_size",
    ),
    "task_model": ("TASK_MODEL", "task.model.default"),
    "task_model_external": ("TASK_MODEL_EXTERNAL", "task.model.external"),
    "task_params": ("", "task.model.params"),
    "titles": ("ENABLE_TITLE_GENERATION", "task.title.enable"),
    "follow_ups": ("ENABLE_FOLLOW_UP_GENERATION", "task.follow_up.enable"),
    "memories": ("ENABLE_MEMORIES", "memories.enable"),
    "permissions": ("USER_PERMISSIONS", "user.permissions"),
    "interface_defaults": ("", "ui.default_interface_settings"),
    "context_compaction": ("", "chat.context_compaction.enable"),
    "openai_urls": ("OPENAI_API_BASE_URLS", "openai.api_base_urls"),
    "ollama_urls": ("OLLAMA_BASE_URLS", "ollama.base_urls"),
}
# How often it is looked whether the host still has an instance, and how often in a row it must not:
# a write that goes on meanwhile takes less than the time between.
_LOOK_SECONDS = 1.0
_LOOKS_IN_VAIN = 3
# What the host calls the two ways to choose tools without native calling: up to 0.9, and since.
_TOOLS_BY_PROMPT = ("default", "legacy")
# Asking the host costs a query; an admin changes these settings once in a year.
_TRUSTED_SECONDS = 5.0


def host_state(name: str) -> object:
    """What the host that runs in this process keeps under a name, ``None`` where none does."""
    return getattr(getattr(_host_app(), "state", None), name, None)


async def cut_off_when_dropped(
    instance: object, tasks: set[asyncio.Task[object]]
) -> None:
    """While an instance of the plug-in has tasks, cut them off once the host has let go of it.

    The host does so when the function is deleted, or its code saved anew, and tells nobody. 0.9.6
    to 0.12.4 keep instances in the application's state (host: utils/plugin.py,
    get_function_module_from_cache). What waits to be learned stays in the database.
    """
    looks_in_vain = 0
    while tasks:
        functions = host_state("FUNCTIONS")
        is_in_use = (
            functions is None or instance in mapping(functions).values()
        )
        looks_in_vain = 0 if is_in_use else looks_in_vain + 1
        running = {*tasks}
        if looks_in_vain > _LOOKS_IN_VAIN:
            for task in running:
                task.cancel()
        await asyncio.wait(running, timeout=_LOOK_SECONDS)


def _host_app() -> Any:
    return getattr(sys.modules.get("open_webui.main"), "app", None)


def host_request() -> Request | None:
    """A request of nobody's to the running host, ``None`` where none runs or no loop does."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return None
    app = _host_app()
    if app is None:
        return None
    return Request({"type": "http", "app": app, "headers": [], "state": {}})


def page_lists(request: Request) -> Literal["form", "list", ""]:
    """The lists that the page's dialogs have: several in a form, or one alone, since 0.10."""
    client = sys.modules.get("open_webui.utils.mcp.client")
    if hasattr(getattr(client, "MCPClient", None), "elicit"):
        return "form"
    is_since_0_10 = getattr(request.app.state, "config", None) is None
    return "list" if is_since_0_10 else ""


async def host_setting(request: Request, name: str) -> Any:
    """The value of a host setting by our name; ``None`` where the release has no such setting."""
    expire_settings(request)
    return await recent_setting(request, name)


async def recent_setting(request: Request, name: str) -> Any:
    """The value of a host setting as it stood at most five seconds ago."""
    attribute, _ = _NAMES[name]
    config = getattr(request.app.state, "config", None)
    if config is not None:
        return getattr(config, attribute or "?", None)
    state = process_state(request)
    settings, expires = state.get("host_settings", ({}, 0.0))
    if expires < time.monotonic():
        settings = await host_settings()
        expires = time.monotonic() + _TRUSTED_SECONDS
        state["host_settings"] = (settings, expires)
    return settings.get(name)


async def host_settings() -> JsonMapping:
    """All settings of the host's that we know, by our names, in one statement."""
    from open_webui.models.config import Config

    values = await Config.get_many(*(key for _, key in _NAMES.values()))
    return {name: values.get(key) for name, (_, key) in _NAMES.items()}


def expire_settings(request: Request) -> None:
    """Have the host's settings read anew: what an admin has changed counts from then on."""
    process_state(request).pop("host_settings", None)


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


def process_state(request: Request) -> JsonObject:
    """A mapping of ours that lives as long as the host's process.

    Saving new code of this plug-in loads it anew, while what the old load has cached goes on
    being referenced; so what is too large to exist twice belongs here. Only values of types that
    are not defined in this plug-in may be put in.
    """
    state = getattr(request.app.state, "adaptive_memory", None)
    if not isinstance(state, dict):
        state = request.app.state.adaptive_memory = {}
    return cast(JsonObject, state)


async def account(user: JsonMapping) -> Any:
    """The host's user model for the dict a hook receives, which is a dump of it."""
    from open_webui.models.users import UserModel

    with HostFaults("reading the user"):
        return UserModel(
            **{name: value for name, value in user.items() if name != "valves"}
        )


async def save_user_valves(
    function_id: str, user_id: str, valves: JsonMapping
) -> None:
    """Change valves of a user's own, as the host's page does; the others stay."""
    with HostFaults("saving a user's valves"):
        from open_webui.models.functions import Functions

        own = await Functions.get_user_valves_by_id_and_user_id(
            function_id, user_id
        )
        saved = await Functions.update_user_valves_by_id_and_user_id(
            function_id, user_id, {**(own or {}), **valves}
        )
        if saved is None:  # it logs why
            raise HostError(detail="Open WebUI has not saved the choice")


def memory_switch(interface: object) -> bool | None:
    """How the Memory switch stands in interface settings, ``None`` where it was never touched."""
    switch = mapping(interface).get("memory")
    return switch if isinstance(switch, bool) else None


async def has_memory_on(request: Request, settings: object) -> bool:
    """Whether memory is on by a user's settings, else by the admin's default, else at all.

    The default came with 0.11.1 (host: routers/users.py, utils/automations.py). Where the host
    can't be asked for it memories can't be read either, and what waits is asked about again.
    """
    own = memory_switch(mapping(settings, "ui"))
    if own is not None:
        return own
    with faults_logged("reading the default of the memory switch"):
        defaults = await recent_setting(request, "interface_defaults")
        return memory_switch(defaults) is not False
    return True


async def task_model(request: Request, chat_model: object) -> str:
    """Id of the model that the host asks for its own tasks in place of a chat's own, if any."""
    is_local = mapping(chat_model).get("connection_type") == "local"
    with HostFaults("choosing the model", ModelBusy):
        # (host: utils/task.py, get_task_model_id)
        name = "task_model" if is_local else "task_model_external"
        task_id = str(await host_setting(request, name) or "")
        return task_id if task_id in request.app.state.MODELS else ""


def allows_memory(chat_model: object) -> bool:
    """Whether a model's Memory capability, which models have since 0.10, is not off."""
    try:
        from open_webui.utils.memory import model_allows_memory
    except ImportError:
        return True
    return bool(model_allows_memory(mapping(chat_model)))


@cache
def has_request_hook() -> bool:
    """Whether the host asks filters once more, behind its own tasks (0.11.2 and later).

    The name of each kind of filter stands in the code that asks it (host: utils/middleware.py).
    """
    try:
        from open_webui.utils.middleware import process_chat_payload
    except ImportError:
        return False
    return "request" in inspect.unwrap(process_chat_payload).__code__.co_consts


@frozen
class NativeFeatures:
    """The ``HostFeatures`` of one turn."""

    request: Request
    user: JsonMapping
    metadata: JsonMapping
    chat_model: object
    kind: ConversationKind

    async def compacts(self) -> bool:
        """Whether the host compacts chats (host: utils/context_compaction.py, since 0.10)."""
        return bool(await self._setting("context_compaction"))

    async def leaves_to_us(
        self, task: Literal["titles", "follow_ups"]
    ) -> bool:
        """Whether the host makes none itself, and the user has not refused anybody's.

        That is "Title Auto-Generation" and "Follow-Up Auto-Generation" in the interface settings.
        """
        interface = mapping(self.user, "settings", "ui")
        if task == "titles":
            wanted = mapping(interface, "title").get("auto")
        else:
            wanted = interface.get("autoFollowUps")
        return wanted is not False and await self._setting(task) is False

    async def task_that_reads(self, body: JsonMapping) -> str:
        """The task for which the host reads a request with all that an inlet puts into it.

        It is named in words for people, and empty where there is none. Tasks that only ask a model
        do no harm where that is the chat's own (host: utils/middleware.py).
        """
        features = mapping(body, "features")
        if not has_request_hook():
            if features.get("web_search"):
                return "web search"
            if features.get("image_generation"):
                return "image generation"
            # Where no query is written, the newest message itself is embedded to search in them.
            files = listing(body.get("files"))
            if any(mapping(file).get("type") != "image" for file in files):
                return "search in files"
        task = await self._task_of_a_model(body)
        own_model = ("", mapping(self.chat_model).get("id"))
        if (
            task
            and await task_model(self.request, self.chat_model) in own_model
        ):
            return ""
        return task

    async def _task_of_a_model(self, body: JsonMapping) -> str:
        """The task for which a model reads a request, empty where there is none."""
        if not has_request_hook():
            if body.get("files"):
                return "search in files"
            by_prompt = (
                mapping(self.metadata, "params").get("function_calling")
                in _TOOLS_BY_PROMPT
            )
            servers = self.metadata.get("tool_servers")
            if by_prompt and (
                body.get("tool_ids") or servers or body.get("terminal_id")
            ):
                return "choice of tools"
        # Of a chat that it does not store the host has no other messages than the request's.
        if self.kind == "temporary" and await self._setting("follow_ups"):
            return "suggestions of what to ask next"
        return ""

    async def _setting(self, name: str) -> Any:
        with HostFaults(f"reading the setting of {name}"):
            return await host_setting(self.request, name)
