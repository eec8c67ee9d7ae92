"""Who else is shown what stands in a prompt: tasks of the host, and readers of the chat."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import Request
from sqlalchemy import exists, or_, select

from adaptive.core.model import ConversationKind
from adaptive.core.shapes import mapping
from adaptive.host.faults import HostFaults
from adaptive.host.own_table import host_rows
from adaptive.host.providers import task_model
from adaptive.host.requests import host_settings

# What the host calls the two ways to choose tools without native calling: up to 0.9, and since.
_TOOLS_BY_PROMPT = ("default", "legacy")


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


async def task_that_reads(
    body: Mapping[str, Any],
    metadata: Mapping[str, Any],
    kind: ConversationKind,
    chat_model: object,
    request: Request,
) -> str:
    """The task for which the host reads a request with all that an inlet puts into it.

    It is named in words for people, and empty where there is none. Tasks that only ask a model do
    no harm where that is the chat's own (host: utils/middleware.py).
    """
    features = mapping(body.get("features"))
    task = ""
    if not has_request_hook():
        if features.get("web_search"):
            return "web search"
        if features.get("image_generation"):
            return "image generation"
        by_prompt = mapping(metadata.get("params")).get("function_calling") in _TOOLS_BY_PROMPT
        has_tools = body.get("tool_ids") or metadata.get("tool_servers") or body.get("terminal_id")
        if body.get("files"):
            task = "search in files"
        elif by_prompt and has_tools:
            task = "choice of tools"
    # Of a chat that it does not store the host has no other messages than those of the request.
    if not task and kind == "temporary":
        with HostFaults("reading whether the host suggests what to ask"):
            suggests = (await host_settings(request, "follow_ups"))["follow_ups"]
        task = "suggestions of what to ask next" if suggests else ""
    if not task or await task_model(request, chat_model) in ("", mapping(chat_model).get("id")):
        return ""
    return task


async def is_read_by_others(chat_id: str, user_id: str) -> bool:
    """Whether somebody else owns a saved chat, or may open it as it goes on; admins don't count.

    That is where it is shared with replies, or lies in a shared folder; before 0.12, where people
    are named with whom it is shared. A link to read shows the chat as it was when the link was
    made, and a chat that is not stored yet is its user's (host: models/chats.py,
    get_accessible_chat_by_id, up to 0.11 get_chat_by_id_for_user, and routers/chats.py).
    """
    from open_webui.models.access_grants import AccessGrant
    from open_webui.models.chats import Chat, Chats
    from open_webui.models.shared_chats import SharedChat

    if hasattr(Chats, "get_accessible_chat_by_id"):
        goes_on = exists().where(
            SharedChat.chat_id == Chat.id,
            SharedChat.chat["share_mode"].as_string() == "continue",
        )
    else:
        goes_on = exists().where(
            AccessGrant.resource_type == "shared_chat",
            AccessGrant.resource_id == Chat.id,
        )
    query = select(Chat.user_id, Chat.folder_id, goes_on.label("goes_on"))
    for chat in await host_rows("reading who may open a chat", query.where(Chat.id == chat_id)):
        if chat.user_id != user_id or chat.goes_on:
            return True
        return bool(chat.folder_id) and await _is_shared_folder(chat.folder_id, user_id)
    return False


async def _is_shared_folder(folder_id: str, user_id: str) -> bool:
    """Whether others may open a folder, or one that it lies in (host: utils/access_control)."""
    from open_webui.models.access_grants import AccessGrant
    from open_webui.models.folders import Folder

    columns = (Folder.id, Folder.parent_id, Folder.user_id)
    above = select(*columns).where(Folder.id == folder_id).cte("above", recursive=True)
    above = above.union(select(*columns).where(Folder.id == above.c.parent_id))
    granted = select(AccessGrant.resource_id).where(AccessGrant.resource_type == "folder")
    shared = or_(above.c.user_id != user_id, above.c.id.in_(granted))
    query = select(above.c.id).where(shared).limit(1)
    return bool(await host_rows("reading who may open a folder", query))
