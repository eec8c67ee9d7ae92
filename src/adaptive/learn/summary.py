"""One memory in the place of several: asked of a model, and believed only if nothing is lost.

What may not be lost is told by form, in any language that writes names with a capital letter.
Where the form leaves a doubt, as with the word that opens a sentence, it must be kept: a summary
that is refused costs a model call, one that lost a fact costs the fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.learn.archive import said_at_of
from adaptive.learn.duplicates import NEGATIONS, counted_words
from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply import read_object
from adaptive.model import Completion, CompletionRequest, Draft, Memory, Provenance
from adaptive.privacy.escaping import escaped_entry
from adaptive.search.tokens import tokens
from adaptive.shapes import listing, mapping

# Of the telling words of each memory this share must stand in the summary.
_KEPT_WORDS = 0.6
# Numbers of four digits are years, longer ones and fractions amounts: several facts share them.
_SHARED_FROM_DIGITS = 4
_SUMMARY_WORDS = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+")
_ENDS_OF_SENTENCE = frozenset(".!?…:。")

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

    Half an object is none: the cluster can wait.

    Raises:
        ReplyUnusable: there is no such object.
    """
    fields = read_object(
        Completion(text), "summary", lambda fields: isinstance(fields.get("summary"), str)
    )
    return Summary(" ".join(fields["summary"].split()), fields.get("complete") is True)


def refusal_of(summary: Summary, cluster: Sequence[Memory]) -> str:
    """Why a summary may not stand for its originals; empty if it may."""
    if not summary.text:
        return "it is empty"
    if not summary.complete:
        return "the model could not keep every fact"
    if len(summary.text) >= sum(len(memory.content) for memory in cluster):
        return "it is not shorter than the memories"
    return _loss([memory.content for memory in cluster], summary.text)


def has_capitals(text: str) -> bool:
    """Whether names can be told by their capitals: not in Chinese, Arabic, Hindi and others."""
    letters = [letter for letter in text if letter.isalpha()]
    return bool(letters) and all(letter.lower() != letter.upper() for letter in letters)


def _loss(originals: Sequence[str], summary: str) -> str:
    """What a summary lost or added, in a few words; empty if nothing."""
    said, known = _numbers(summary), [_numbers(one) for one in originals]
    for number, times in sum(known, Counter[str]()).items():
        shared = len(number) >= _SHARED_FROM_DIGITS or not number.isdigit()
        if said[number] < (1 if shared else times):
            return "a number is missing"
    if any(not _names(one, openings=True) <= _words(summary) for one in originals):
        return "a name is missing"
    negations = [_negations(one) for one in originals]
    if _negations(summary) < sum(map(bool, negations)):
        return "a negation is missing"
    told = _names(summary, openings=False) | set(said)
    if not told <= _words(" ".join(originals)) or _negations(summary) > sum(negations):
        return "it says more than the memories do"
    kept = set(tokens(summary))
    if any(len(kept & set(tokens(one))) < _KEPT_WORDS * len(set(tokens(one))) for one in originals):
        return "a memory is left out"
    return ""


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _SUMMARY_WORDS.findall(_plain(text))}


def _numbers(text: str) -> Counter[str]:
    """Numbers, and words with one in them as "B12"."""
    words = map(str.casefold, _SUMMARY_WORDS.findall(_plain(text)))
    return Counter(word for word in words if any(sign.isdigit() for sign in word))


def _negations(text: str) -> int:
    return sum(word in NEGATIONS for word in counted_words(text))


def _names(text: str, *, openings: bool) -> set[str]:
    """Words with a capital letter in the middle of a sentence, case-folded, but for "I".

    With ``openings`` also those words that open one and are no function words.
    """
    names: set[str] = set()
    text, end = _plain(text), 0
    for match in _SUMMARY_WORDS.finditer(text):
        word = match[0].casefold()
        opens = not end or not _ENDS_OF_SENTENCE.isdisjoint(text[end : match.start()])
        end = match.end()
        capital = match[0] != match[0].lower() and word != "i"
        if capital and (not opens or (openings and tokens(word))):
            names.add(word)
    return names


def summary_draft(summary: Summary, cluster: Sequence[Memory]) -> Draft:
    """What the row is to say: as important as its weightiest original, as sure as its weakest."""
    counted = Counter(tag for memory in cluster for tag in memory.tags).most_common()
    tags = tuple(tag for tag, count in counted if count * 2 >= len(cluster))
    return Draft(
        summary.text,
        tags or tuple(tag for tag, _ in counted[:1]),
        cluster[0].bank,
        min(memory.confidence for memory in cluster),
        max(memory.importance for memory in cluster),
        cluster[0].until,
    )


def summary_provenance(cluster: Sequence[Memory]) -> Provenance:
    """When the newest original was said; a summary was said in no one chat."""
    return Provenance("", "", max(said_at_of(memory) for memory in cluster))


def summary_meta(cluster: Sequence[Memory], now: int) -> dict[str, Any]:
    """What the row's meta says of its originals: ids and dates, in epoch seconds."""
    originals = [
        {"id": one.id, "created_at": one.created_at, "said_at": said_at_of(one)} for one in cluster
    ]
    return {"summary_of": originals, "summarised_at": now}


def originals_of(memory: Memory) -> frozenset[str]:
    """Ids of the memories that this one is a summary of; none if it is no summary."""
    return frozenset(
        str(mapping(one).get("id") or "") for one in listing(memory.meta.get("summary_of"))
    ) - {""}
