"""Who sees what stands in a chat: people who can open it, and models on other machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from sqlalchemy import exists, or_, select

from adaptive.core.messages import listing, mapping, text_field
from adaptive.core.providers import Completer
from adaptive.host.application import host_setting
from adaptive.host.database import HOST_DATABASE
from adaptive.host.faults import faults_logged
from adaptive.host.providers import HostCompleter
from adaptive.llm.endpoints import (
    LocalAddresses,
    OllamaCompleter,
    OpenAICompleter,
    is_cloud_name,
)
from adaptive.privacy.redaction import RedactingCompleter


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
    stored = await HOST_DATABASE.rows(
        "reading who may open a chat", query.where(Chat.id == chat_id)
    )
    if not stored:
        return False
    chat = stored[0]
    if chat.user_id != user_id or chat.goes_on:
        return True
    return bool(chat.folder_id) and await _is_shared_folder(
        chat.folder_id, user_id
    )


async def _is_shared_folder(folder_id: str, user_id: str) -> bool:
    """Whether others may open a folder, or one that it lies in (host: utils/access_control)."""
    from open_webui.models.access_grants import AccessGrant
    from open_webui.models.folders import Folder

    folders = select(Folder.id, Folder.parent_id, Folder.user_id)
    above = folders.where(Folder.id == folder_id).cte("above", recursive=True)
    above = above.union(folders.where(Folder.id == above.c.parent_id))
    granted = select(AccessGrant.resource_id).where(
        AccessGrant.resource_type == "folder"
    )
    shared = or_(above.c.user_id != user_id, above.c.id.in_(granted))
    query = select(above.c.id).where(shared).limit(1)
    return bool(
        await HOST_DATABASE.rows("reading who may open a folder", query)
    )


@dataclass(frozen=True, slots=True)
class Locality:
    """Tells which models run on the admin's own machines; what can't be told counts as elsewhere.

    It goes by the addresses that a valve lists, and by the host's connections.
    """

    addresses: LocalAddresses
    request: Request

    async def of_completer(self, completer: Completer) -> bool:
        """Whether the model of our own calls is local."""
        if isinstance(completer, RedactingCompleter):
            completer = completer.completer
        if isinstance(completer, HostCompleter):
            return await self.of_chat({"id": completer.model})
        if isinstance(completer, OllamaCompleter):
            in_cloud = is_cloud_name(completer.model)
            return not in_cloud and self.addresses.holds_ollama(completer.url)
        return isinstance(completer, OpenAICompleter) and self.addresses.lists(
            completer.url
        )

    async def of_chat(self, chat_model: object) -> bool:
        """Whether a model of the host is local, by what is known of it, at least its id.

        The host asks a model at the address that stands at its number in the list of connections,
        an Ollama model at any of its addresses (host: routers/openai.py and routers/ollama.py).
        """
        with faults_logged(
            "reading where a model runs, which counts as elsewhere"
        ):
            model = self._base_of(mapping(chat_model))
            model_id = text_field(model, "id")
            is_connection = not any(
                model.get(kind) for kind in ("direct", "pipe", "arena")
            )
            if not model_id or not is_connection:
                return False
            if model.get("owned_by") == "ollama":
                return await self._of_ollama(model_id, model)
            if model.get("owned_by") == "openai":
                urls = await host_setting(self.request, "openai_urls")
                routed = self._routed("OPENAI_MODELS", model_id) or model
                return self.addresses.lists(
                    _address_at(urls, routed.get("urlIdx"))
                )
        return False

    async def _of_ollama(
        self, model_id: str, model: Mapping[str, Any]
    ) -> bool:
        """Whether an Ollama model is local at all connections that the host may choose for it."""
        routed = self._routed("OLLAMA_MODELS", model_id) or mapping(
            model, "ollama"
        )
        # So Ollama lists what it hands on to its own cloud (ollama: docs/api.md).
        if routed.get("remote_host") or routed.get("remote_model"):
            return False
        names = (
            model_id,
            text_field(routed, "model"),
            text_field(routed, "name"),
        )
        if any(map(is_cloud_name, names)):
            return False
        urls = await host_setting(self.request, "ollama_urls")
        numbers = listing(routed.get("urls")) or [None]
        return all(
            self.addresses.holds_ollama(_address_at(urls, number))
            for number in numbers
        )

    def _base_of(self, model: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the host knows of a model, or of the one that a workspace model is built on."""
        models: Any = getattr(self.request.app.state, "MODELS", None) or {}
        if "owned_by" not in model:
            model = mapping(models.get(text_field(model, "id")))
        base_id = text_field(mapping(model, "info"), "base_model_id")
        if not base_id:
            return {} if model.get("preset") else model
        base = mapping(models.get(base_id))
        return {} if mapping(base, "info").get("base_model_id") else base

    def _routed(self, table: str, model_id: str) -> Mapping[str, Any]:
        """What the host's router goes by when it asks a model."""
        return mapping(getattr(self.request.app.state, table, None), model_id)


def _address_at(urls: object, number: object) -> str:
    addresses = listing(urls)
    if type(number) is int and 0 <= number < len(addresses):
        return str(addresses[number])
    return ""
