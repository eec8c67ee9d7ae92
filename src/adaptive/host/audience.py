"""Of which kind a chat is, and who sees it: people who can open it, and models elsewhere."""

import asyncio
import ipaddress
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from fastapi import Request
from sqlalchemy import Select, exists, or_, select
from yarl import URL

from adaptive.core import (
    NOWHERE,
    ConversationKind,
    JsonMapping,
    Place,
    PlaceChoices,
    frozen,
    listing,
    mapping,
    scope_of,
    text_field,
)
from adaptive.host.application import recent_setting
from adaptive.host.database import (
    HOST_CHATS,
    HOST_DATABASE,
    HOST_FOLDERS,
    HOST_GRANTS,
    HOST_SHARED_CHATS,
)
from adaptive.host.faults import faults_logged
from adaptive.host.providers import HostCompleter
from adaptive.host.tables import SealedEntries
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from adaptive.memory import read_as
from adaptive.privacy import RedactingCompleter

# What a turn waits at most for where its chat is, which takes a millisecond.
_LONGEST_READING_SECONDS = 2.0
# Names that are resolved within one network only (RFC 6761, 6762, 8375; ICANN's "internal").
_INNER_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
_HTTP_PORT = 80
# `local` and `local:` up to 0.10, `temporary:` since 0.11 (host: utils/chat_id.py).
_TEMPORARY_PREFIXES = ("local:", "temporary:")
_HERE = "localhost"
_LOOPBACK = (_HERE, "127.0.0.1", "::1")


def is_temporary(chat_id: str) -> bool:
    """Whether a chat is one that the host does not store."""
    return chat_id == "local" or chat_id.startswith(_TEMPORARY_PREFIXES)


def conversation_kind(metadata: JsonMapping) -> ConversationKind:
    """The kind as far as metadata tells it; whose chat it is, only the database knows."""
    chat_id = text_field(metadata, "chat_id")
    session_id = text_field(metadata, "session_id")
    if metadata.get("internal") is True:
        return "subagent"
    if metadata.get("automation_id") or session_id.startswith("automation:"):
        return "automation"
    if chat_id.startswith("channel:"):
        return "channel"
    # A wake-up of a timer or a sub-agent's result stands where the user's message would.
    if mapping(metadata, "user_message", "meta").get("internal") is True:
        return "timer"
    if is_temporary(chat_id):
        return "temporary"
    # The page always names its socket session; a program that calls the API has none.
    return "saved" if chat_id and session_id else "api"


def is_on_page(
    metadata: JsonMapping, kinds: Collection[ConversationKind]
) -> bool:
    """Whether a turn of these kinds has an answer of its own on a page."""
    is_of_kind = conversation_kind(metadata) in kinds
    return is_of_kind and bool(metadata.get("message_id"))


def chat_query(chat_id: str) -> Select[Any, Any, Any]:
    """Whose a saved chat is, in which folder, and whether others may open it as it goes on.

    That is where it is shared with replies; before 0.12, where people are named with whom it is
    shared. A link to read shows the chat as it was when the link was made (host: models/chats.py,
    get_accessible_chat_by_id, up to 0.11 get_chat_by_id_for_user, and routers/chats.py).
    """
    shared = HOST_SHARED_CHATS.c
    grant = HOST_GRANTS.c
    chat = HOST_CHATS.c
    if _has_share_modes():
        goes_on = exists().where(
            shared.chat_id == chat.id,
            shared.chat["share_mode"].as_string() == "continue",
        )
    else:
        goes_on = exists().where(
            grant.resource_type == "shared_chat", grant.resource_id == chat.id
        )
    return select(
        chat.user_id.label("owner"),
        chat.folder_id.label("folder"),
        goes_on.label("goes_on"),
    ).where(chat.id == chat_id)


@frozen
class LocatedChat:
    """Where a chat is, whether others read it as it goes on, and what it was given so far.

    So far as one statement tells: of what it was given, JSON, ``None`` where that can't be read.
    """

    place: Place = NOWHERE
    shared: bool | None = None
    given: object = None


async def located_chat(
    entries: SealedEntries,
    user_id: str,
    metadata: JsonMapping,
    place: Place,
) -> LocatedChat:
    """Where a user's chat is with what is chosen there; ``NOWHERE`` where that can't be read.

    The folder is that of the chat's row, which moves with the chat; where there is no row of the
    user's, as of temporary chats, it is the one that the page has told (host: utils/middleware.py).
    """
    doing = "reading where a chat is"
    with faults_logged(doing):
        async with asyncio.timeout(_LONGEST_READING_SECONDS):
            chat_id = text_field(metadata, "chat_id")
            found, chat = await entries.read_beside(
                doing,
                {"places": "", "chat": chat_id},
                user_id,
                chat_query(chat_id),
            )
        folder_id = text_field(metadata, "folder_id")
        if chat.owner == user_id:
            folder_id = chat.folder or ""
        chosen = read_as(PlaceChoices, found.get("places", ()))
        [choices] = chosen or [{}]
        [given] = [entry.body for entry in found.get("chat", ())] or [{}]
        located = replace(
            place, folder=scope_of("folder", folder_id), choices=choices
        )
        return LocatedChat(located, is_shared(chat, user_id), given)
    return LocatedChat()


@cache
def _has_share_modes() -> bool:
    """Whether a chat is shared to be read or to be gone on with (0.12 and later)."""
    try:
        from open_webui.models.chats import Chats
    except ImportError:
        return True
    return hasattr(Chats, "get_accessible_chat_by_id")


def is_shared(chat: Any, user_id: str) -> bool | None:
    """Whether others read a chat by its row (``chat_query``); ``None`` where its folder says it.

    A chat that is not stored yet is its user's, and so is one of ours in no folder.
    """
    if chat.owner is None:
        return False
    if chat.owner != user_id or chat.goes_on:
        return True
    return None if chat.folder else False


async def is_read_by_others(chat_id: str, user_id: str) -> bool:
    """Whether somebody else owns a saved chat, or may open it as it goes on; admins don't count."""
    doing = "reading who may open a chat"
    for chat in await HOST_DATABASE.rows(doing, chat_query(chat_id)):
        shared = is_shared(chat, user_id)
        if shared is None:
            return await _is_shared_folder(chat.folder, user_id)
        return shared
    return False


async def _is_shared_folder(folder_id: str, user_id: str) -> bool:
    """Whether others may open a folder, or one that it lies in (host: utils/access_control)."""
    folder = HOST_FOLDERS.c
    folders = select(folder.id, folder.parent_id, folder.user_id)
    above = folders.where(folder.id == folder_id).cte("above", recursive=True)
    above = above.union(folders.where(folder.id == above.c.parent_id))
    granted = select(HOST_GRANTS.c.resource_id).where(
        HOST_GRANTS.c.resource_type == "folder"
    )
    shared = or_(above.c.user_id != user_id, above.c.id.in_(granted))
    query = select(above.c.id).where(shared).limit(1)
    return bool(
        await HOST_DATABASE.rows("reading who may open a folder", query)
    )


@frozen
class _Connection:
    """The addresses at which the host may ask a model; none where that can't be told."""

    urls: Sequence[str] = ()
    is_ollama: bool = False


class Locality:
    """Tells which models run on the admin's own machines; what can't be told counts as elsewhere.

    It goes by the addresses that a valve lists, and by the host's connections.
    """

    def __init__(self, listed: str, request: Request) -> None:
        self._listed = [_parsed(address) for address in listed.split(",")]
        self._request = request

    async def holds(self, model: object) -> bool:
        """Whether a completer, or a model of the host by at least its id, is local."""
        connection = await self._connection(model)
        is_local = self._holds_ollama if connection.is_ollama else self._lists
        return bool(connection.urls) and all(map(is_local, connection.urls))

    async def machine(self, model: object) -> str:
        """The machine that such a model runs on, empty where that is not near.

        Whatever its ports are, it has one processor. Several machines count as one.
        """
        connection = await self._connection(model)
        if not all(map(self._holds_ollama, connection.urls)):
            return ""
        hosts = {_parsed(url).host or "" for url in connection.urls}
        names = {_HERE if host in _LOOPBACK else host for host in hosts}
        return " ".join(sorted(names))

    def _lists(self, url: str) -> bool:
        """Whether the valve names an address: with its path, or the server as a whole."""
        address = _parsed(url)
        return any(_covers(listed, address) for listed in self._listed)

    def _holds_ollama(self, url: str) -> bool:
        """Whether an Ollama server stands here: nobody else's does in a private network."""
        return _is_inner(_parsed(url).host or "") or self._lists(url)

    async def _connection(self, model: object) -> _Connection:
        """Where a model is asked.

        The host asks it at the address at its number in the list of connections, an Ollama model
        at any of its addresses (host: routers/openai.py and routers/ollama.py).
        """
        if isinstance(model, RedactingCompleter):
            model = model.completer
        if isinstance(model, OpenAICompleter):
            return _Connection([model.url])
        if isinstance(model, OllamaCompleter):
            urls = [] if _is_cloud_name(model.model) else [model.url]
            return _Connection(urls, is_ollama=True)
        if isinstance(model, HostCompleter):
            model = {"id": model.model}
        with faults_logged(
            "reading where a model runs, which counts as elsewhere"
        ):
            base = self._base_of(mapping(model))
            model_id = text_field(base, "id")
            is_connection = not any(
                base.get(kind) for kind in ("direct", "pipe", "arena")
            )
            if not model_id or not is_connection:
                return _Connection()
            if base.get("owned_by") == "ollama":
                return await self._of_ollama(model_id, base)
            if base.get("owned_by") == "openai":
                urls = await recent_setting(self._request, "openai_urls")
                routed = self._routed("OPENAI_MODELS", model_id) or base
                return _Connection([_address_at(urls, routed.get("urlIdx"))])
        return _Connection()

    async def _of_ollama(
        self, model_id: str, model: JsonMapping
    ) -> _Connection:
        """All connections that the host may choose for an Ollama model; none of Ollama's cloud."""
        routed = self._routed("OLLAMA_MODELS", model_id) or mapping(
            model, "ollama"
        )
        # So Ollama lists what it hands on to its own cloud (ollama: docs/api.md).
        if routed.get("remote_host") or routed.get("remote_model"):
            return _Connection()
        names = (
            model_id,
            text_field(routed, "model"),
            text_field(routed, "name"),
        )
        if any(map(_is_cloud_name, names)):
            return _Connection()
        urls = await recent_setting(self._request, "ollama_urls")
        numbers = listing(routed.get("urls")) or [None]
        addresses = [_address_at(urls, number) for number in numbers]
        return _Connection(addresses, is_ollama=True)

    def _base_of(self, model: JsonMapping) -> JsonMapping:
        """What the host knows of a model, or of the one that a workspace model is built on."""
        models: Any = getattr(self._request.app.state, "MODELS", None) or {}
        if "owned_by" not in model:
            model = mapping(models.get(text_field(model, "id")))
        base_id = text_field(mapping(model, "info"), "base_model_id")
        if not base_id:
            return {} if model.get("preset") else model
        base = mapping(models.get(base_id))
        return {} if mapping(base, "info").get("base_model_id") else base

    def _routed(self, table: str, model_id: str) -> JsonMapping:
        """What the host's router goes by when it asks a model."""
        return mapping(getattr(self._request.app.state, table, None), model_id)


def _address_at(urls: object, number: object) -> str:
    addresses = listing(urls)
    if type(number) is int and 0 <= number < len(addresses):
        return str(addresses[number])
    return ""


def _covers(listed: URL, address: URL) -> bool:
    """Whether an address is the listed one, or lies below it."""
    is_same_scheme = listed.scheme in ("", address.scheme)
    is_same_server = listed.host and listed.host == address.host
    is_same_port = (listed.port or _HTTP_PORT) == address.port
    path = listed.path.rstrip("/")
    is_below = f"{address.path}/".startswith(f"{path}/")
    return bool(
        is_same_scheme and is_same_server and is_same_port and is_below
    )


def _is_cloud_name(model: str) -> bool:
    """Whether an Ollama model's tag names its cloud: ``x:cloud``, ``x:120b-cloud``."""
    tag = model.strip().casefold().rpartition(":")[2]
    return tag == "cloud" or tag.endswith("-cloud")


def _is_inner(host: str) -> bool:
    """Whether a server is this machine or in a private network, as far as its name tells."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and (
            "." not in host or host.endswith(_INNER_SUFFIXES)
        )
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_private and not mapped.is_unspecified


def _parsed(url: str) -> URL:
    """An address in its parts, without a host where it is none; its scheme may be left out."""
    text = url.strip()
    with suppress(ValueError):
        return URL(text if "://" in text else f"//{text}")
    return URL()
