"""Models outside the host: any OpenAI-compatible endpoint, and Ollama."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adaptive.core.errors import ModelRejected, ReplyUnusable
from adaptive.core.http import endpoint, post_json
from adaptive.core.model import Completion, CompletionRequest
from adaptive.core.ports import ResponseFormat
from adaptive.core.shapes import mapping
from adaptive.llm.openai_wire import chat_body, chat_text, token_usage

# Ollama cuts prompts silently at its default window; a longer one costs memory only when used.
_OLLAMA_CONTEXT = 16384


@dataclass(frozen=True, slots=True)
class OpenAICompleter:
    """A model behind an OpenAI-compatible endpoint, OpenRouter included."""

    url: str
    model: str
    api_key: str = ""

    @property
    def key(self) -> str:
        return f"openai:{self.url}:{self.model}"

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask the model once (see ``Completer``)."""
        _require(self.url, self.model)
        body = chat_body(self.model, request, response_format)
        address = endpoint(self.url, "chat/completions")
        return chat_text(await post_json(address, body, self.api_key))


@dataclass(frozen=True, slots=True)
class OllamaCompleter:
    """A model of an Ollama server, through its own API (ollama: docs/api.md, "chat")."""

    url: str
    model: str
    api_key: str = ""

    @property
    def key(self) -> str:
        return f"ollama:{self.url}:{self.model}"

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask the model once (see ``Completer``)."""
        _require(self.url, self.model)
        body: dict[str, Any] = {
            "model": self.model,
            "messages": chat_body(self.model, request, "text")["messages"],
            "stream": False,
            "options": {
                "temperature": 0,
                "num_predict": request.max_tokens,
                "num_ctx": _OLLAMA_CONTEXT,
            },
        }
        if response_format == "json_schema":
            body["format"] = dict(request.schema)
        elif response_format == "json_object":
            body["format"] = "json"
        reply = await post_json(endpoint(self.url, "api/chat"), body, self.api_key)
        text = str(mapping(reply.get("message")).get("content") or "")
        if not text:
            raise ReplyUnusable("Ollama's answer holds no text")
        usage = token_usage(reply.get("prompt_eval_count"), reply.get("eval_count"))
        return Completion(text, reply.get("done_reason") == "length", usage)


def _require(url: str, model: str) -> None:
    """Say which valve is empty, rather than let an empty address fail somewhere deep."""
    if not url.strip():
        raise ModelRejected("the valve `llm_api_endpoint_url` is empty", 0)
    if not model.strip():
        raise ModelRejected("the valve `llm_model_name` is empty", 0)
