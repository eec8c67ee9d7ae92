"""What Open WebUI itself does with a turn: its memory and who has it on, tasks, compaction."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from fastapi import Request

from adaptive.core.messages import (
    listing,
    mapping,
    message_text,
    newest_user_message,
    within_spans,
)
from adaptive.core.model import ConversationKind, Memory
from adaptive.host.faults import HostFaults, faults_logged
from adaptive.host.providers import task_model
from adaptive.host.requests import (
    account,
    host_setting,
    isolated_request,
    process_state,
)

# What the host calls the two ways to choose tools without native calling: up to 0.9, and since.
_TOOLS_BY_PROMPT = ("default", "legacy")
# Asking the host costs a query; an admin changes this default once in a year.
_TRUSTED_DEFAULT_SECONDS = 5.0
# How many memories the host injects up to 0.9 (host: utils/middleware.py).
_NATIVE_MEMORIES = 3


def memory_switch(user: Mapping[str, Any]) -> bool | None:
    """How Settings > Personalization > Memory stands, ``None`` where it was never touched."""
    return _switch_in(mapping(user, "settings", "ui"))


async def has_memory_on(request: Request, user: Mapping[str, Any]) -> bool:
    """Whether memory is on for a user: by their own switch, else by the admin's default, else yes.

    The default came with 0.11.1 (host: routers/users.py, utils/automations.py).
    """
    own = memory_switch(user)
    return await _is_on_by_default(request) if own is None else own


async def _is_on_by_default(request: Request) -> bool:
    """How the switch stands for those who never touched it, as of five seconds ago at most.

    Where the host can't be asked it is as it was: memories can't be read then either, and what
    waits is asked about again.
    """
    state = process_state(request)
    is_on, expires = state.get("memory_default", (True, 0.0))
    if expires < time.monotonic():
        with faults_logged("reading the default of the memory switch"):
            defaults = await host_setting(request, "interface_defaults")
            is_on = _switch_in(mapping(defaults)) is not False
            state["memory_default"] = (
                is_on,
                time.monotonic() + _TRUSTED_DEFAULT_SECONDS,
            )
    return bool(is_on)


def allows_memory(chat_model: object) -> bool:
    """Whether a model's Memory capability, which models have since 0.10, is not off."""
    try:
        from open_webui.utils.memory import model_allows_memory
    except ImportError:
        return True
    with HostFaults("reading what a model is capable of"):
        return bool(model_allows_memory(mapping(chat_model)))


def _switch_in(interface: Mapping[str, Any]) -> bool | None:
    switch = interface.get("memory")
    return switch if isinstance(switch, bool) else None


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


@dataclass(frozen=True, slots=True)
class NativeFeatures:
    """The ``HostFeatures`` of one turn."""

    request: Request
    user: Mapping[str, Any]
    metadata: Mapping[str, Any]
    chat_model: object
    kind: ConversationKind

    @property
    def adds_behind_tasks(self) -> bool:
        return has_request_hook()

    async def compacts(self) -> bool:
        """Whether the host compacts chats (host: utils/context_compaction.py, since 0.10)."""
        return bool(await self._setting("context_compaction"))

    async def permits_memories(self) -> bool:
        """Whether users without a group's permission may have memories."""
        permissions = await self._setting("user_permissions")
        return bool(mapping(permissions, "features").get("memories", True))

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

    async def task_that_reads(self, body: Mapping[str, Any]) -> str:
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
        task = await self._task_of_a_model(body)
        own_model = ("", mapping(self.chat_model).get("id"))
        if (
            task
            and await task_model(self.request, self.chat_model) in own_model
        ):
            return ""
        return task

    async def _task_of_a_model(self, body: Mapping[str, Any]) -> str:
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

    async def not_injected(
        self, body: Mapping[str, Any], memories: Sequence[Memory]
    ) -> list[Memory]:
        """Those of the memories that the host will not inject; all, if it can't be told."""
        injected = ""
        if mapping(body, "features").get("memory"):
            with faults_logged("asking what the host's own memory injects"):
                injected = await self._injected(listing(body.get("messages")))
        lines = injected.splitlines()

        def is_injected(memory: Memory) -> bool:
            """Whether a line of what the host adds holds the memory."""
            return any(memory.content in line for line in lines)

        return [memory for memory in memories if not is_injected(memory)]

    async def _injected(self, messages: list[Any]) -> str:
        """What the host's own memory is going to add to these messages."""
        request = isolated_request(self.request)
        user = await account(self.user)
        try:
            from open_webui.utils.memory import add_memory_context
        except ImportError:  # up to 0.9
            return await self._injected_by_query(messages, request, user)
        if await self._setting("memory_context") is False:
            return ""
        # The host's own function on a copy: its choice of entries can't be told better.
        copied = {"messages": [dict(message) for message in messages]}
        filled = await add_memory_context(
            request, copied, user, self.chat_model
        )
        text = "\n".join(
            message_text(message) for message in filled["messages"]
        )
        return "\n".join(within_spans(text, "memory_context"))

    async def _injected_by_query(
        self, messages: list[Any], request: Request, user: Any
    ) -> str:
        """The same up to 0.9, where the host queries with the newest message."""
        if (
            mapping(self.metadata, "params").get("function_calling")
            == "native"
        ):
            return ""
        from open_webui.routers.memories import QueryMemoryForm, query_memory

        newest = message_text(newest_user_message(messages) or {})
        form = QueryMemoryForm(content=newest, k=_NATIVE_MEMORIES)
        found = await query_memory(request, form, user)
        if not found or not found.documents:
            return ""
        return "\n".join(found.documents[0])

    async def _setting(self, name: str) -> Any:
        with HostFaults(f"reading the setting of {name}"):
            return await host_setting(self.request, name)
