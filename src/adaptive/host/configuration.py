"""Settings of the host, which moved from ``app.state.config`` to a table in release 0.10."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

# Our name -> (attribute up to 0.9, key from 0.10 on); host: config.py.
_NAMES: Mapping[str, tuple[str, str]] = {
    "embedding_engine": ("RAG_EMBEDDING_ENGINE", "rag.embedding_engine"),
    "embedding_model": ("RAG_EMBEDDING_MODEL", "rag.embedding_model"),
    "task_model": ("TASK_MODEL", "task.model.default"),
    "task_model_external": ("TASK_MODEL_EXTERNAL", "task.model.external"),
    "memory_context": ("", "memories.system_context.enable"),
    "titles": ("ENABLE_TITLE_GENERATION", "task.title.enable"),
    "follow_ups": ("ENABLE_FOLLOW_UP_GENERATION", "task.follow_up.enable"),
    "context_compaction": ("", "chat.context_compaction.enable"),
    "openai_urls": ("OPENAI_API_BASE_URLS", "openai.api_base_urls"),
    "ollama_urls": ("OLLAMA_BASE_URLS", "ollama.base_urls"),
    "ollama_configs": ("OLLAMA_API_CONFIGS", "ollama.api_configs"),
}


async def host_settings(request: Request, *names: str) -> dict[str, Any]:
    """Values of host settings by our names; ``None`` where the release has no such setting."""
    config = getattr(request.app.state, "config", None)
    if config is not None:
        return {name: getattr(config, _NAMES[name][0] or "?", None) for name in names}
    from open_webui.models.config import Config

    stored = await Config.get_many(*(_NAMES[name][1] for name in names))
    return {name: stored.get(_NAMES[name][1]) for name in names}
