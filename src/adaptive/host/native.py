"""The host's own memory: switched off for a turn, or looked at so that nothing comes twice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from adaptive.errors import HostError
from adaptive.host.configuration import host_settings
from adaptive.host.faults import HostFaults
from adaptive.host.requests import isolated_request
from adaptive.messages import message_text, newest_user_message
from adaptive.model import Memory
from adaptive.shapes import listing, mapping
from adaptive.spans import within_spans

# How many entries the host adds up to 0.9 (host: utils/middleware.py, chat_memory_handler).
_NATIVE_ENTRIES = 3
_CONTEXT = (re.compile("<memory_context>"), re.compile("</memory_context>"))


def without_native_memory(features: object) -> dict[str, Any]:
    """A copy of the turn's features with the host's memory off.

    The original is shared with the metadata and, when two models answer, with the other request;
    so it is replaced, never changed. From 0.10 on this also ends the memory tools and the
    background review of the turn (host: utils/middleware.py).
    """
    return {**mapping(features), "memory": False}


@dataclass(frozen=True, slots=True)
class NativeMemory:
    """What the host itself is going to add to one prompt."""

    request: Request
    user: Any
    body: Mapping[str, Any]
    metadata: Mapping[str, Any]
    model: Any

    async def not_injected(self, memories: Sequence[Memory]) -> list[Memory]:
        """Those of the memories that the host will not inject; all, if it can't be told."""
        if not mapping(self.body.get("features")).get("memory"):
            return list(memories)
        try:
            with HostFaults("asking what Open WebUI's own memory injects"):
                native = await self._native_text()
        except HostError:
            return list(memories)
        lines = [line.strip() for line in native.splitlines()]
        return [one for one in memories if not any(one.content in line for line in lines)]

    async def _native_text(self) -> str:
        try:
            from open_webui.utils.memory import add_memory_context
        except ImportError:
            return await self._native_text_of_0_9()
        if (await host_settings(self.request, "memory_context"))["memory_context"] is False:
            return ""
        form = {"messages": [dict(message) for message in listing(self.body.get("messages"))]}
        # The host's own function on a copy: its choice of entries can't be told better.
        request = isolated_request(self.request)
        filled = await add_memory_context(request, form, self.user, self.model)
        text = "\n".join(message_text(message) for message in filled["messages"])
        return "\n".join(within_spans(text, *_CONTEXT))

    async def _native_text_of_0_9(self) -> str:
        if mapping(self.metadata.get("params")).get("function_calling") == "native":
            return ""
        from open_webui.routers.memories import QueryMemoryForm, query_memory

        newest = newest_user_message(listing(self.body.get("messages")))
        form = QueryMemoryForm(content=message_text(newest or {}), k=_NATIVE_ENTRIES)
        found = await query_memory(isolated_request(self.request), form, self.user)
        documents: list[str] = found.documents[0] if found and found.documents else []
        return "\n".join(documents)
