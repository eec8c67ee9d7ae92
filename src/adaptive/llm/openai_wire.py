"""The OpenAI chat-completion format: request body, and text out of whatever comes back."""

from __future__ import annotations

from typing import Any, cast

from adaptive.core.errors import ReplyUnusable
from adaptive.core.model import Completion, CompletionRequest, TokenUsage
from adaptive.core.ports import ResponseFormat
from adaptive.core.shapes import listing, mapping


def chat_body(
    model: str, request: CompletionRequest, response_format: ResponseFormat
) -> dict[str, Any]:
    """A non-streaming chat-completion body in the OpenAI format."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ],
        "stream": False,
    }
    if response_format != "text":
        # Reasoning models refuse both; the last format that is tried goes without.
        body |= {"temperature": 0, "max_tokens": request.max_tokens}
    if response_format == "json_schema":
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": request.schema_name, "schema": dict(request.schema)},
        }
    elif response_format == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def chat_text(reply: object) -> Completion:
    """The text of a chat completion; a list of one and pipes' error objects are understood.

    Raises:
        ReplyUnusable: there is no text; the message quotes the provider's error if it sent one.
    """
    if len(listing(reply)) == 1:
        reply = listing(reply)[0]
    if isinstance(reply, str):
        return Completion(reply)
    if not isinstance(reply, dict):
        raise ReplyUnusable(f"the model's answer is a {type(reply).__name__}, not an object")
    fields = mapping(cast(object, reply))
    if fields.get("error") and not fields.get("choices"):
        raise ReplyUnusable(f"the model answered with an error: {str(fields['error'])[:200]!r}")
    try:
        choice = fields["choices"][0]
        message = mapping(choice["message"])
    except (KeyError, IndexError, TypeError) as error:
        raise ReplyUnusable("the model's answer holds no message") from error
    text = _content(message.get("content")) or _content(message.get("reasoning_content"))
    if not text:
        raise ReplyUnusable("the model's answer holds no text")
    told = mapping(fields.get("usage"))
    usage = token_usage(told.get("prompt_tokens"), told.get("completion_tokens"))
    return Completion(text, choice.get("finish_reason") == "length", usage)


def token_usage(sent: object, received: object) -> TokenUsage | None:
    """Tokens as a provider tells them, ``None`` where one of the two is no usable number."""
    if not isinstance(sent, int) or not isinstance(received, int) or min(sent, received) < 0:
        return None
    return TokenUsage(sent, received)


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = [mapping(part) for part in listing(content)]
    return "".join(str(part.get("text") or "") for part in parts)
