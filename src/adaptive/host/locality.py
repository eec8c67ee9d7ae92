"""Whether a model runs on the admin's own machines; what can't be told is taken for no."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import Request

from adaptive.core.errors import HostError, with_detail
from adaptive.core.ports import Completer
from adaptive.core.shapes import listing, mapping
from adaptive.host.faults import HostFaults
from adaptive.host.providers import HostCompleter
from adaptive.host.requests import host_settings
from adaptive.llm.endpoints import LocalAddresses, OllamaCompleter, OpenAICompleter, is_cloud_name
from adaptive.privacy.redaction import RedactingCompleter
from adaptive.settings.merged import Settings

log_locality = logging.getLogger("adaptive_memory.host")


class Locality:
    """Tells models on the admin's own machines, by the valves and the host's connections."""

    def __init__(self, settings: Settings, request: Request) -> None:
        self._request = request
        self._local = LocalAddresses(settings.local_connections)

    async def of_completer(self, completer: Completer) -> bool:
        """Whether the model of our own calls is local."""
        if isinstance(completer, RedactingCompleter):
            completer = completer.completer
        if isinstance(completer, HostCompleter):
            return await self.of_chat({"id": completer.model})
        if isinstance(completer, OllamaCompleter):
            return not is_cloud_name(completer.model) and self._local.holds_ollama(completer.url)
        return isinstance(completer, OpenAICompleter) and self._local.lists(completer.url)

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
                    return self._local.lists(_address_at(urls, raw.get("urlIdx")))
        except HostError as error:
            log_locality.warning("a model counts as not local: %s", with_detail(error))
        return False

    async def _of_ollama(self, id: str, raw: Mapping[str, Any]) -> bool:
        """Whether an Ollama model is local at all connections that the host may choose for it."""
        names = (id, str(raw.get("model") or ""), str(raw.get("name") or ""))
        # So Ollama lists what it hands on to its own cloud (ollama: docs/api.md).
        if raw.get("remote_host") or raw.get("remote_model") or any(map(is_cloud_name, names)):
            return False
        urls = (await host_settings(self._request, "ollama_urls"))["ollama_urls"]
        at = listing(raw.get("urls")) or [None]
        return all(self._local.holds_ollama(_address_at(urls, number)) for number in at)

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


def _address_at(urls: object, number: object) -> str:
    held = listing(urls)
    return str(held[number]) if type(number) is int and 0 <= number < len(held) else ""
