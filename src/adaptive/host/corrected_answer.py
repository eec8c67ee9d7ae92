"""An answer of the host with its text changed, wherever the host keeps that text.

Open WebUI shows ``content`` up to 0.9 and ``output`` from 0.10 on; on every release a message may
hold both, and 0.9 makes ``content`` anew from a changed ``output`` (host: utils/middleware.py,
outlet_filter_handler and serialize_output).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adaptive.messages import Message
from adaptive.shapes import listing, mapping

# What the text was, and what it is.
_Rewriting = tuple[str, str]


def rewritten_answer(message: Message, rewrite: Callable[[str], str]) -> dict[str, Any]:
    """The fields of an answer that change when what the model says in it is rewritten.

    Empty where nothing changes. Reasoning, calls of tools and their results stay as they are. What
    ``output`` says is rewritten part by part, and ``content``, which repeats it, follows; where it
    says something else, as another filter may have it, it is rewritten for itself.
    """
    output, made = _rewritten_output(listing(message.get("output")), rewrite)
    content = message.get("content")
    told: object = content
    if isinstance(content, str) and content:
        followed = _followed_text(content, made)
        told = rewrite(content) if followed is None else followed
    elif parts := listing(content):
        told, _ = _rewritten_parts(parts, rewrite)
    fields = {"content": told} if told != content else {}
    changed = any(before != after for before, after in made)
    return {**fields, "output": output} if changed else fields


def _rewritten_output(
    items: Sequence[Any], rewrite: Callable[[str], str]
) -> tuple[list[Any], list[_Rewriting]]:
    output: list[Any] = []
    made: list[_Rewriting] = []
    for item in items:
        known = mapping(item)
        if known.get("type") != "message":
            output.append(item)
            continue
        parts, here = _rewritten_parts(listing(known.get("content")), rewrite)
        made += here
        output.append({**known, "content": parts} if here else item)
    return output, made


def _rewritten_parts(
    parts: Sequence[Any], rewrite: Callable[[str], str]
) -> tuple[list[Any], list[_Rewriting]]:
    found: list[Any] = []
    made: list[_Rewriting] = []
    for part in parts:
        known = mapping(part)
        text = known.get("text")
        if not isinstance(text, str) or not text:
            found.append(part)
            continue
        after = rewrite(text)
        made.append((text, after))
        found.append({**known, "text": after} if after != text else part)
    return found, made


def _followed_text(content: str, made: Sequence[_Rewriting]) -> str | None:
    """A content with its parts rewritten, ``None`` where it does not hold them all.

    The host strips the parts that it puts together.
    """
    kept: list[str] = []
    position = 0
    texts = [(before.strip(), after.strip()) for before, after in made if before.strip()]
    for before, after in texts:
        start = content.find(before, position)
        if start < 0:
            return None
        kept += [content[position:start], after]
        position = start + len(before)
    return "".join([*kept, content[position:]]) if texts else None
