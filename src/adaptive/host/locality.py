"""Whether a model runs on the admin's own machines; what can't be told is taken for no."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request

from adaptive.core.errors import HostError
from adaptive.core.ports import Completer
from adaptive.core.shapes import listing, mapping
from adaptive.host.faults import HostFaults
from adaptive.host.providers import HostCompleter
from adaptive.host.requests import host_settings
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from adaptive.privacy.redaction import RedactingCompleter
from adaptive.settings.merged import Settings

log_locality = logging.getLogger("adaptive_memory.host")

# Names that are resolved within one network only (RFC 6761, 6762, 8375; ICANN's "internal").
_INNER_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


class Locality:
    """Tells models on the admin's own machines, by the valves and the host's connections."""

    def __init__(self, settings: Settings, request: Request) -> None:
        self._request = request
        self._listed = [_parsed(one) for one in settings.local_connections.split(",")]

    async def of_completer(self, completer: Completer) -> bool:
        """Whether the model of our own calls is local."""
        if isinstance(completer, RedactingCompleter):
            completer = completer.completer
        if isinstance(completer, HostCompleter):
            return await self.of_chat({"id": completer.model})
        if isinstance(completer, OllamaCompleter):
            return not _is_cloud_name(completer.model) and self._is_own_ollama(completer.url)
        return isinstance(completer, OpenAICompleter) and self._is_listed(completer.url)

    async def of_chat(self, chat_model: object) -> bool:
        """Whether a model of the host is local, by what is known of it, at least its id.

        The host asks a model at the address that stands at its number in the list of connections,
        an Ollama model at any of its addresses (host: routers/openai.py and routers/ollama.py).
        """
        try:
            with HostFaults("reading where models run"):
                model = self._base_of(mapping(chat_model))
                id, owner = str(model.get("id") or ""), model.get("owned_by")
                if not id or any(model.get(kind) for kind in ("direct", "pipe", "arena")):
                    return False
                if owner == "ollama":
                    raw = self._routed("OLLAMA_MODELS", id) or mapping(model.get("ollama"))
                    return await self._of_ollama(id, raw)
                if owner == "openai":
                    urls = (await host_settings(self._request, "openai_urls"))["openai_urls"]
                    raw = self._routed("OPENAI_MODELS", id) or model
                    return self._is_listed(_address_at(urls, raw.get("urlIdx")))
        except HostError as error:
            log_locality.warning("a model counts as not local: %s", error)
        return False

    async def _of_ollama(self, id: str, raw: Mapping[str, Any]) -> bool:
        """Whether an Ollama model is local at all connections that the host may choose for it."""
        names = (id, str(raw.get("model") or ""), str(raw.get("name") or ""))
        # So Ollama lists what it hands on to its own cloud (ollama: docs/api.md).
        if raw.get("remote_host") or raw.get("remote_model") or any(map(_is_cloud_name, names)):
            return False
        urls = (await host_settings(self._request, "ollama_urls"))["ollama_urls"]
        at = listing(raw.get("urls")) or [None]
        return all(self._is_own_ollama(_address_at(urls, number)) for number in at)

    def _is_own_ollama(self, url: str) -> bool:
        return _is_inner(_parsed(url)[1]) or self._is_listed(url)

    def _base_of(self, model: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the host knows of a model, or of the one that a workspace model is built on."""
        models: Any = getattr(self._request.app.state, "MODELS", None) or {}
        if "owned_by" not in model:
            model = mapping(models.get(str(model.get("id") or "")))
        base_id = str(mapping(model.get("info")).get("base_model_id") or "")
        if not base_id:
            return {} if model.get("preset") else model
        base = mapping(models.get(base_id))
        return {} if mapping(base.get("info")).get("base_model_id") else base

    def _routed(self, table: str, id: str) -> Mapping[str, Any]:
        """What the host's router goes by when it asks a model."""
        return mapping(mapping(getattr(self._request.app.state, table, None)).get(id))

    def _is_listed(self, url: str) -> bool:
        """Whether the valve names an address: with its path, or the server as a whole."""
        scheme, host, rest = _parsed(url)
        return bool(host) and any(
            listed[0] in ("", scheme) and listed[1] == host and rest.startswith(listed[2])
            for listed in self._listed
        )


def _address_at(urls: object, number: object) -> str:
    held = listing(urls)
    return str(held[number]) if type(number) is int and 0 <= number < len(held) else ""


def _is_cloud_name(model: str) -> bool:
    """Whether an Ollama model's tag names its cloud: ``x:cloud``, ``x:120b-cloud``."""
    tag = model.strip().casefold().rpartition(":")[2]
    return tag == "cloud" or tag.endswith("-cloud")


def _is_inner(host: str) -> bool:
    """Whether a server is this machine or in a private network, as far as its name tells."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_INNER_SUFFIXES))
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_private and not mapped.is_unspecified


def _parsed(url: str) -> tuple[str, str, str]:
    """Scheme, host, then port and path of an address; no host where it is none."""
    text = url.strip()
    with suppress(ValueError):
        parts = urlsplit(text if "://" in text else f"//{text}")
        host, path = (parts.hostname or "").rstrip("."), parts.path.rstrip("/")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.scheme in ("", "http", "https"):
            return parts.scheme, host, f":{port}{path}/"
    return "", "", ""
