"""Whether a model runs on the admin's own machines; what can't be told is taken for no."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request

from adaptive.errors import HostError
from adaptive.host.completion import HostCompleter
from adaptive.host.configuration import host_settings
from adaptive.host.faults import HostFaults
from adaptive.host.hook import Hook
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from adaptive.ports import Completer
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.privacy.redacting_completer import RedactingCompleter
from adaptive.settings import Settings
from adaptive.shapes import listing, mapping

log_locality = logging.getLogger("adaptive_memory.host")

_CLOUD_HOSTS = ("ollama.com", "ollama.ai")
# Names that are resolved within one network only (RFC 6761, 6762, 8375; ICANN's "internal").
_INNER_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
_DEFAULT_PORTS = {"http": 80, "https": 443}


async def kept_from_chat(hook: Hook) -> LocalOnlyBanks:
    """The banks that the model of a hook's chat may not see; none for a local model."""
    banks = LocalOnlyBanks.of(hook.settings)
    if not banks.names:
        return banks
    model = mapping(hook.chat_model)
    if hook.metadata.get("direct") or model.get("direct"):
        local = _direct_is_local(model, hook.user, hook.settings)
    else:
        local = await _host_model_is_local(hook.request, model, hook.settings)
    return NOTHING_HIDDEN if local else banks


async def kept_from_completer(
    completer: Completer, request: Request, settings: Settings
) -> LocalOnlyBanks:
    """The banks that the model of our own calls may not see; none for a local model."""
    banks = LocalOnlyBanks.of(settings)
    if not banks.names:
        return banks
    if isinstance(completer, RedactingCompleter):
        completer = completer.completer
    local = False
    if isinstance(completer, HostCompleter):
        local = await _host_model_is_local(request, {"id": completer.model}, settings)
    elif isinstance(completer, OllamaCompleter):
        cloud = _is_cloud_name(completer.model) or _is_cloud_address(completer.url)
        inner = _is_inner_address(completer.url) or _is_listed(completer.url, settings)
        local = inner and not cloud
    elif isinstance(completer, OpenAICompleter):
        local = _is_listed(completer.url, settings)
    return NOTHING_HIDDEN if local else banks


async def _host_model_is_local(
    request: Request, model: Mapping[str, Any], settings: Settings
) -> bool:
    """Whether a model of the host is local; ``model`` is what is known of it, at least its id.

    A workspace model is where its base model is. The host asks a model at the address that stands
    at its number in the list of connections, an Ollama model at any of its addresses (host:
    utils/models.py, get_all_models; routers/openai.py and routers/ollama.py, 0.9.6 to 0.12.4).
    """
    try:
        with HostFaults("reading where models run"):
            model = _base_of(request, model)
            id = str(model.get("id") or "")
            if not id or model.get("pipe") or model.get("arena"):
                return False
            if model.get("owned_by") == "ollama":
                raw = _known(request, "OLLAMA_MODELS", id) or mapping(model.get("ollama"))
                return not _is_of_the_cloud(id, raw) and all(
                    _is_own_ollama(one, settings) for one in await _connections(request, raw)
                )
            if model.get("owned_by") == "openai":
                held = await host_settings(request, "openai_urls")
                raw = _known(request, "OPENAI_MODELS", id) or model
                return _all_listed(held["openai_urls"], [raw.get("urlIdx")], settings)
    except HostError as error:
        log_locality.warning("a model counts as not local: %s", error)
    return False


@dataclass(frozen=True, slots=True)
class _OllamaConnection:
    """An address, and whether the admin has marked it as external."""

    url: str
    external: bool


async def _connections(request: Request, raw: Mapping[str, Any]) -> list[_OllamaConnection]:
    """All connections that the host may choose for an Ollama model, an odd one if it has none."""
    held = await host_settings(request, "ollama_urls", "ollama_configs")
    configs = mapping(held["ollama_configs"])
    found: list[_OllamaConnection] = []
    for number in listing(raw.get("urls")) or [None]:
        url = _address_at(held["ollama_urls"], number)
        config = mapping(configs.get(str(number)) or configs.get(url))
        found.append(_OllamaConnection(url, config.get("connection_type", "local") != "local"))
    return found


def _is_of_the_cloud(id: str, raw: Mapping[str, Any]) -> bool:
    """Whether Ollama hands requests for a model on to its own cloud.

    It then lists it with ``remote_host`` (ollama: docs/api.md, "list local models").
    """
    names = (id, str(raw.get("model") or ""), str(raw.get("name") or ""))
    handed_on = raw.get("remote_host") or raw.get("remote_model")
    return bool(handed_on) or any(map(_is_cloud_name, names))


def _is_own_ollama(connection: _OllamaConnection, settings: Settings) -> bool:
    if _is_cloud_address(connection.url):
        return False
    return not connection.external or _is_listed(connection.url, settings)


def _direct_is_local(model: Mapping[str, Any], user: Mapping[str, Any], settings: Settings) -> bool:
    """Whether a model that the user's browser asks itself is at a listed address.

    The user's own settings hold the addresses (host: the page's "Connections").
    """
    interface = mapping(mapping(user.get("settings")).get("ui"))
    urls = mapping(interface.get("directConnections")).get("OPENAI_API_BASE_URLS")
    return _all_listed(urls, [model.get("urlIdx")], settings)


def _base_of(request: Request, model: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the host knows of a model, or of the one that a workspace model is built on."""
    models: Any = getattr(request.app.state, "MODELS", None) or {}
    if "owned_by" not in model:
        model = mapping(models.get(str(model.get("id") or "")))
    base_id = str(mapping(model.get("info")).get("base_model_id") or "")
    if not base_id:
        return {} if model.get("preset") else model
    base = mapping(models.get(base_id))
    return {} if mapping(base.get("info")).get("base_model_id") else base


def _known(request: Request, table: str, id: str) -> Mapping[str, Any]:
    """What the host's router knows of a model, which is what it goes by when it asks it."""
    return mapping(mapping(getattr(request.app.state, table, None)).get(id))


def _all_listed(urls: object, numbers: list[Any], settings: Settings) -> bool:
    return all(_is_listed(_address_at(urls, number), settings) for number in numbers)


def _address_at(urls: object, number: object) -> str:
    """The address at a place of a list, empty where there is none."""
    held = listing(urls)
    return str(held[number]) if type(number) is int and 0 <= number < len(held) else ""


def _is_cloud_name(model: str) -> bool:
    """Whether an Ollama model's tag names its cloud: ``x:cloud``, ``x:120b-cloud``."""
    tag = model.strip().casefold().rpartition(":")[2]
    return tag == "cloud" or tag.endswith("-cloud")


def _is_cloud_address(url: str) -> bool:
    host = _host_of(url)
    return not host or any(host == one or host.endswith(f".{one}") for one in _CLOUD_HOSTS)


def _is_inner_address(url: str) -> bool:
    """Whether an address is of this machine or of a private network, as far as its text tells."""
    host = _host_of(url)
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_INNER_SUFFIXES))
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_private and not mapped.is_unspecified


def _is_listed(url: str, settings: Settings) -> bool:
    """Whether the valve names an address: with its path, or the server as a whole."""
    wanted = _address_key(url)
    if wanted is None:
        return False
    for one in settings.local_connections.split(","):
        listed = _address_key(one)
        if listed is None or listed[1:3] != wanted[1:3] or listed[0] not in ("", wanted[0]):
            continue
        if wanted[3] == listed[3] or wanted[3].startswith(f"{listed[3]}/"):
            return True
    return False


def _address_key(url: str) -> tuple[str, str, int, str] | None:
    """Scheme (empty where none is given), host, port and path of an address."""
    text = url.strip()
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if not host or parts.scheme not in ("", "http", "https"):
        return None
    given = port or _DEFAULT_PORTS.get(parts.scheme, 80)
    return parts.scheme, host.rstrip("."), given, parts.path.rstrip("/")


def _host_of(url: str) -> str:
    key = _address_key(url)
    return key[1] if key else ""
