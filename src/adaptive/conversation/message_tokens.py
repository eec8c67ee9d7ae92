"""How many tokens texts and messages take, roughly and without a tokeniser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adaptive.messages import message_text
from adaptive.shapes import listing, mapping

_LETTERS_PER_TOKEN = 4
# Role and separators (host: utils/context_compaction.py, _estimate_messages_tokens).
_TOKENS_AROUND_MESSAGE = 4
# What providers charge for a picture of common size; the host counts the same.
_TOKENS_OF_PICTURE = 1000
_PICTURES = frozenset({"image", "image_url", "input_image"})


def counted_tokens(text: str) -> int:
    """Four ASCII characters are one token, every other character is one by itself."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // _LETTERS_PER_TOKEN) + len(text) - plain


def message_tokens(message: Mapping[str, Any]) -> int:
    """Tokens of one message of a request: text, pictures, tool calls, and what goes around."""
    parts = listing(message.get("content"))
    pictures = sum(mapping(part).get("type") in _PICTURES for part in parts)
    calls = message.get("tool_calls")
    called = counted_tokens(json.dumps(calls, default=str)) if calls else 0
    text = counted_tokens(message_text(message))
    return _TOKENS_AROUND_MESSAGE + text + called + pictures * _TOKENS_OF_PICTURE
