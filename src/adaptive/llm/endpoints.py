"""Models outside the host: any OpenAI-compatible endpoint, and Ollama.

The host speaks the OpenAI chat-completion format, too: a request's body, and the reply's text.
"""

import itertools
import json

from adaptive.core import (
    Completion,
    CompletionRequest,
    JsonMapping,
    JsonObject,
    ModelRejected,
    Phrase,
    ReplyUnusable,
    ResponseFormat,
    endpoint,
    estimated_tokens,
    failure,
    frozen,
    listing,
    mapping,
    post_json,
    text_field,
)
from adaptive.llm.reply import ONLY_REASONING

# At its window Ollama cuts a prompt silently; this is the shortest that it has by itself.
_OLLAMA_WINDOW = 4096
_ANSWER_TOKENS = 1024
# Of DeepSeek and older servers, of vLLM, of Ollama, and of OpenRouter, which repeats the second.
_REASONING_FIELDS = (
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
)


@frozen
class _Endpoint:
    url: str
    model: str
    api_key: str = ""

    @property
    def key(self) -> str:
        return f"{type(self).__name__}:{self.url}:{self.model}"

    async def _answer(self, path: str, body: JsonObject) -> JsonObject:
        """What comes back; an empty valve is named rather than let fail somewhere deep."""
        valves = {
            "llm_api_endpoint_url": self.url,
            "llm_model_name": self.model,
        }
        for valve, value in valves.items():
            if not value.strip():
                raise ModelRejected(Phrase("valve_empty", valve=valve))
        return await post_json(endpoint(self.url, path), body, self.api_key)


class OpenAICompleter(_Endpoint):
    """A model behind an OpenAI-compatible endpoint, OpenRouter included."""

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask the model once (see ``Completer``)."""
        body = chat_body(self.model, request, response_format)
        return chat_text(await self._answer("chat/completions", body))


class OllamaCompleter(_Endpoint):
    """A model of an Ollama server, through its own API (ollama: docs/api.md, "chat")."""

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask the model once (see ``Completer``)."""
        body: JsonObject = {
            "model": self.model,
            "messages": _messages(request),
            "stream": False,
            "options": ollama_options(request, response_format),
        }
        if "think" in body["options"]:
            body["think"] = body["options"].pop("think")
        if response_format == "json_schema":
            body["format"] = request.schema
        elif response_format == "json_object":
            body["format"] = "json"
        reply = await self._answer("api/chat", body)
        return _completion(
            mapping(reply, "message"),
            cut=reply.get("done_reason") == "length",
            tokens=_counted(reply, "prompt_eval_count", "eval_count"),
        )


def ollama_options(
    request: CompletionRequest, response_format: ResponseFormat
) -> JsonObject:
    """Ollama's options and ``think``; a window only for a prompt that its shortest one would cut.

    Another window than the chat's, or another ``keep_alive``, would have the model loaded anew for
    our call and once more for the next message.
    """
    options: JsonObject = {}
    if response_format != "text":
        # Servers and models that know no thinking ignore its being off.
        options = {
            "temperature": 0,
            "num_predict": request.max_tokens,
            "think": False,
        }
    prompt = "".join(one["content"] for one in _messages(request))
    needed = estimated_tokens(prompt) + _ANSWER_TOKENS
    if needed > _OLLAMA_WINDOW:
        # Few different ones, for the same reason.
        options["num_ctx"] = 1 << (needed - 1).bit_length()
    return options


def _messages(request: CompletionRequest) -> list[dict[str, str]]:
    """The messages of a request."""
    turns = zip(
        itertools.cycle(("user", "assistant")),
        (*request.earlier, request.user),
    )
    return [
        {"role": "system", "content": request.system},
        *({"role": role, "content": content} for role, content in turns),
    ]


def chat_body(
    model: str, request: CompletionRequest, response_format: ResponseFormat
) -> JsonObject:
    """A non-streaming chat-completion body in the OpenAI format."""
    body: JsonObject = {
        "model": model,
        "messages": _messages(request),
        "stream": False,
    }
    if response_format != "text":
        body |= {"temperature": 0, "max_tokens": request.max_tokens}
    if not request.thinking:  # vLLM, SGLang, llama.cpp
        body["chat_template_kwargs"] = {"enable_thinking": False}
    if response_format == "json_schema":
        schema = {"name": request.schema_name, "schema": request.schema}
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": schema,
        }
    elif response_format == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def chat_text(reply: object) -> Completion:
    """The text of a chat completion; a list of one and pipes' error objects are understood.

    Raises:
        ReplyUnusable: there is no text; the detail quotes the provider's error if it sent one.
    """
    if len(listing(reply)) == 1:
        reply = listing(reply)[0]
    if isinstance(reply, str):
        return Completion(reply)
    fields = mapping(reply)
    choices = listing(fields.get("choices"))
    if fields.get("error") and not choices:
        error = fields["error"]
        status = mapping(error).get("code")
        if isinstance(status, int) and status >= 400:
            raise failure(status, json.dumps(error))
        raise ReplyUnusable(detail=str(error))
    choice = mapping(next(iter(choices), None))
    return _completion(
        mapping(choice, "message"),
        cut=choice.get("finish_reason") == "length",
        tokens=_counted(
            mapping(fields, "usage"), "prompt_tokens", "completion_tokens"
        ),
    )


def _completion(
    message: JsonMapping, *, cut: bool, tokens: tuple[int, int]
) -> Completion:
    """A message as an answer: its content, else a tool call's arguments, else its reasoning.

    Raises:
        ReplyUnusable: there is nothing of these; of reasoning that was cut the answer is missing.
    """
    reasonings = [_content(message.get(name)) for name in _REASONING_FIELDS]
    reasoning = next(filter(None, reasonings), "")
    answer = _content(message.get("content")) or _arguments(message)
    text = answer or ("" if cut else reasoning)
    if not text.strip():
        raise ReplyUnusable(
            ONLY_REASONING if reasoning else "", detail="it holds no text"
        )
    return Completion(text, cut, tokens, reasoned=bool(reasoning))


def _arguments(message: JsonMapping) -> str:
    """What a model gave to a tool that it made up for its answer."""
    for call in listing(message.get("tool_calls")):
        arguments = mapping(call, "function").get("arguments")
        if isinstance(arguments, str):
            return arguments
        if arguments:  # by Ollama
            return json.dumps(arguments)
    return ""


def _counted(usage: JsonMapping, sent: str, received: str) -> tuple[int, int]:
    """Tokens sent and received, zeros where a provider tells no usable numbers."""
    tokens_in = usage.get(sent)
    tokens_out = usage.get(received)
    if isinstance(tokens_in, int) and isinstance(tokens_out, int):
        return (tokens_in, tokens_out)
    return (0, 0)


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    return "".join(
        text_field(mapping(part), "text") for part in listing(content)
    )
