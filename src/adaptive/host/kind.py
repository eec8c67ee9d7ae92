"""Which kind of conversation a hook runs for, read from the host's metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adaptive.errors import HostError
from adaptive.host.faults import HostFaults
from adaptive.host.uninterrupted import uninterrupted
from adaptive.model import ConversationKind
from adaptive.shapes import mapping

# `local` and `local:` up to 0.10, `temporary:` since 0.11 (host: utils/chat_id.py).
_TEMPORARY_PREFIXES = ("local:", "temporary:")

# Kinds whose prompt gets memories. In a channel and in a chat that somebody else owns, other
# people read the answer; a sub-agent's prompt is written by a model that had them already.
RECALLED_KINDS: frozenset[ConversationKind] = frozenset({"saved", "api", "automation", "timer"})
# Kinds in which the newest user message was typed by this user, now.
LEARNED_KINDS: frozenset[ConversationKind] = frozenset({"saved", "shared"})


def conversation_kind(metadata: Mapping[str, Any]) -> ConversationKind:
    """The kind as far as metadata tells it; whose chat it is, only the database knows."""
    chat_id = str(metadata.get("chat_id") or "")
    session_id = str(metadata.get("session_id") or "")
    if metadata.get("internal") is True:
        return "subagent"
    if metadata.get("automation_id") or session_id.startswith("automation:"):
        return "automation"
    if chat_id.startswith("channel:"):
        return "channel"
    if _written_by_host(metadata):
        return "timer"
    if chat_id == "local" or chat_id.startswith(_TEMPORARY_PREFIXES):
        return "temporary"
    # The page always names its socket session; a program that calls the API has none.
    if not chat_id or not session_id:
        return "api"
    return "saved"


def _written_by_host(metadata: Mapping[str, Any]) -> bool:
    """A wake-up of a timer or a sub-agent's result stands where the user's message would."""
    message = mapping(metadata.get("user_message"))
    return mapping(message.get("meta")).get("internal") is True


@uninterrupted
async def owns_chat(chat_id: str, user_id: str) -> bool:
    """Whether a saved chat belongs to the user; a chat that is not stored yet does.

    Since 0.12 a user may answer in another user's shared chat (host: main.py,
    get_accessible_chat_by_id).
    """
    from open_webui.models.chats import Chats

    if not hasattr(Chats, "get_accessible_chat_by_id"):
        return True
    with HostFaults("reading the chat's owner"):
        if await Chats.is_chat_owner(chat_id, user_id):
            return True
        return await Chats.get_chat_by_id(chat_id) is None


@uninterrupted
async def other_authors(chat_id: str, user_id: str) -> bool:
    """Whether somebody else wrote a message of the chat; on doubt, yes."""
    from open_webui.models.chats import Chats

    if not hasattr(Chats, "get_accessible_chat_by_id"):
        return False
    try:
        with HostFaults("reading the chat's authors"):
            stored = await Chats.get_messages_map_by_chat_id(chat_id)
    except HostError:
        return True
    authors = {
        mapping(message).get("user_id")
        for message in mapping(stored).values()
        if mapping(message).get("role") == "user"
    }
    return bool(authors - {user_id, None, ""})
