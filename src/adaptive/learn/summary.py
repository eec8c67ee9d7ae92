"""One memory in the place of several: asked of a model, and believed only if nothing is lost."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.errors import ReplyUnusable
from adaptive.learn.archive import said_at_of
from adaptive.learn.particulars import loss, particulars
from adaptive.llm.prompts import render_prompt
from adaptive.model import CompletionRequest, Draft, Memory, Provenance
from adaptive.privacy.escaping import escaped_entry
from adaptive.shapes import listing, mapping

_LONGEST_SUMMARY_REPLY = 64 * 1024
_MOST_SUMMARY_OBJECTS = 64

SUMMARY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}, "complete": {"type": "boolean"}},
    "required": ["summary", "complete"],
}


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model made of a cluster; ``complete`` is what it says of itself."""

    text: str
    complete: bool


def summary_request(cluster: Sequence[Memory], prompt: str) -> CompletionRequest:
    """The question to the model; ``prompt`` replaces the built-in one unless it is empty.

    Dates are left out: a model that saw them would write them into the summary.
    """
    lines = [f"- {escaped_entry(' '.join(memory.content.split()))}" for memory in cluster]
    system = render_prompt("summarise_memories", prompt, {})
    return CompletionRequest(
        system, "## Memories\n" + "\n".join(lines), "memory_summary", SUMMARY_SCHEMA
    )


def read_summary(text: str) -> Summary:
    """The last object with a summary in a model's reply, which reasoning and prose may precede.

    A reply that breaks off, or is not JSON, is not repaired: the cluster can wait.

    Raises:
        ReplyUnusable: there is no such object.
    """
    if len(text) > _LONGEST_SUMMARY_REPLY:
        raise ReplyUnusable(f"the model's reply has {len(text)} characters")
    found: Summary | None = None
    position = 0
    for _ in itertools.repeat(None, _MOST_SUMMARY_OBJECTS):
        position = text.find("{", position)
        if position < 0:
            break
        value, position = _summary_object_at(text, position)
        said = value.get("summary")
        if isinstance(said, str):
            found = Summary(" ".join(said.split()), value.get("complete") is True)
    if found is None:
        raise ReplyUnusable("the model's reply holds no summary")
    return found


def _summary_object_at(text: str, position: int) -> tuple[Mapping[str, Any], int]:
    """The JSON object that begins there and its end; else nothing, and the next place."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, position)
    except (ValueError, RecursionError):
        return {}, position + 1
    return mapping(value), end


def refusal_of(summary: Summary, cluster: Sequence[Memory]) -> str:
    """Why a summary may not stand for its originals; empty if it may."""
    if not summary.text:
        return "it is empty"
    if not summary.complete:
        return "the model could not keep every fact"
    if len(summary.text) >= sum(len(memory.content) for memory in cluster):
        return "it is not shorter than the memories"
    return loss([particulars(memory.content) for memory in cluster], particulars(summary.text))


def summary_draft(summary: Summary, cluster: Sequence[Memory]) -> Draft:
    """What the row is to say: as important as its weightiest original, as sure as its weakest."""
    counted = Counter(tag for memory in cluster for tag in memory.tags)
    tags = tuple(tag for tag, count in counted.most_common() if count * 2 >= len(cluster))
    return Draft(
        summary.text,
        tags or tuple(tag for tag, _ in counted.most_common(1)),
        cluster[0].bank,
        min(memory.confidence for memory in cluster),
        max(memory.importance for memory in cluster),
    )


def summary_provenance(cluster: Sequence[Memory]) -> Provenance:
    """When the newest original was said; a summary was said in no one chat."""
    return Provenance("", "", max(said_at_of(memory) for memory in cluster))


def summary_meta(cluster: Sequence[Memory], now: int) -> dict[str, Any]:
    """What the row's meta says of its originals: ids and dates, in epoch seconds."""
    originals = [
        {
            "id": memory.id,
            "created_at": memory.created_at,
            "updated_at": memory.updated_at,
            "said_at": said_at_of(memory),
        }
        for memory in cluster
    ]
    return {"summary_of": originals, "summarised_at": now}


def originals_of(memory: Memory) -> frozenset[str]:
    """Ids of the memories that this one is a summary of; none if it is no summary."""
    return frozenset(
        str(mapping(one).get("id") or "") for one in listing(memory.meta.get("summary_of"))
    ) - {""}
