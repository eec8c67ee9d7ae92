"""What conversation recall brings of a long past, within its budget; no host, no model call.

A conversation of LoCoMo is replayed as chats: each session is one, dated as it is there, the first
speaker as the user and the other as the assistant. A question counts if its category is 1 to 4 and
its evidence names turns that exist. Measured is the share of a question's evidence turns whose
whole text stands in the section, averaged over questions; the section is written as it is injected.
The vector database is imitated exactly: the nearest units in order, with their closeness.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.core.messages import estimated_tokens
from adaptive.core.model import Vectors
from adaptive.history.conversation import HITS
from adaptive.history.indexing import message_units, unit_texts
from adaptive.history.section import (
    HISTORY_GATE,
    HistoryLevels,
    HistorySection,
    PastMessage,
    packed_section,
    rank_messages,
)
from adaptive.privacy.injection import escaped_entry
from adaptive.search.calibration import NULL_PROMPTS, null_levels
from adaptive.search.history_ports import HistoryHit, HistoryUnit
from adaptive.search.tokens import keyword_index
from adaptive.search.tokens import tokens as words_of
from benchmarks.figures import say, spread, write_results
from benchmarks.locomo import (
    CONVERSATIONS,
    DEFAULT_DATA,
    WHERE_TO_GET_IT,
    Encode,
    load_off_topic,
    minilm,
)
from benchmarks.personal import UNRELATED

BUDGETS = (2000, 500)
GATES = (0.0, 1.0, 2.0, 2.5, 3.0, 3.25, 3.5, 3.75, 4.0, 4.5, 5.0, 6.0)
# The weights were chosen on these; the others were only measured.
TUNED_ON = frozenset({"conv-26", "conv-30"})
LARGE = 20_000
_SECONDS_BETWEEN = 60


@dataclass(frozen=True, slots=True)
class Replayed:
    """A conversation as chats, its questions, and the evidence of each as message ids."""

    name: str
    messages: tuple[PastMessage, ...]
    questions: tuple[str, ...]
    evidence: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class IndexedPast:
    """The same with its units and all vectors."""

    about: Replayed
    said: Mapping[str, PastMessage]
    units: Sequence[HistoryUnit]
    vectors: Vectors
    questions: Vectors
    levels: HistoryLevels

    def nearest(self, vector: Vectors) -> list[HistoryHit]:
        """The nearest units, with their cosines."""
        cosines = self.vectors @ vector
        best = np.argpartition(-cosines, min(HITS, len(cosines) - 1))[:HITS]
        return [
            HistoryHit(
                chat_id=self.units[at].chat_id,
                message_id=self.units[at].message_id,
                previous_id=self.units[at].previous_id,
                cosine=float(cosines[at]),
            )
            for at in best[np.argsort(-cosines[best])].tolist()
        ]

    def ranked(
        self, text: str, hits: Sequence[HistoryHit], gate: float
    ) -> list[PastMessage]:
        """The messages that come for a text, best first."""
        ids = {hit.message_id for hit in hits}
        ids |= {hit.previous_id for hit in hits} - {""}
        messages = [self.said[message_id] for message_id in ids]
        return [*rank_messages(text, hits, messages, self.levels, gate)]

    def passes(
        self, texts: Sequence[str], vectors: Vectors, gates: Sequence[float]
    ) -> list[list[bool]]:
        """Which prompts get a section, by gate."""
        hits = [self.nearest(vector) for vector in vectors]
        return [
            [
                bool(self.ranked(text, found, gate))
                for text, found in zip(texts, hits, strict=True)
            ]
            for gate in gates
        ]


def replayed(folder: Path, *, named: bool = False) -> list[Replayed]:
    """All conversations of the data folder as chats; ends the program if there are none.

    With ``named`` each message begins with its speaker's name, by which most questions ask; without
    it only what others say tells who is who, as in a chat of one user.
    """
    path = folder / CONVERSATIONS
    if not path.is_file():
        sys.exit(f"{path} is missing.\n{WHERE_TO_GET_IT}")
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [_replayed(one, named=named) for one in found]


def _replayed(data: Mapping[str, Any], *, named: bool) -> Replayed:
    conversation = data["conversation"]
    sessions = sorted(
        (key for key in conversation if re.fullmatch(r"session_\d+", key)),
        key=lambda key: int(key.removeprefix("session_")),
    )
    messages: list[PastMessage] = []
    for session in sessions:
        began = _session_time(conversation[f"{session}_date_time"])
        for number, turn in enumerate(conversation[session]):
            role = (
                "user"
                if turn["speaker"] == conversation["speaker_a"]
                else "assistant"
            )
            moment = began + number * _SECONDS_BETWEEN
            id_ = turn["dia_id"]
            text = (
                f"{turn['speaker']}: {turn['text']}" if named else turn["text"]
            )
            messages.append(PastMessage(id_, session, role, text, moment))
    ids = {message.id for message in messages}
    questions: list[str] = []
    evidence: list[frozenset[str]] = []
    for asked in data["qa"]:
        turns = {
            name
            for entry in asked["evidence"]
            for name in re.findall(r"D\d+:\d+", entry)
        }
        if asked["category"] in (1, 2, 3, 4) and turns & ids:
            questions.append(asked["question"])
            evidence.append(frozenset(turns & ids))
    return Replayed(
        data["sample_id"], tuple(messages), tuple(questions), tuple(evidence)
    )


def _session_time(date: str) -> int:
    """Dates read as "1:56 pm on 8 May, 2023"."""
    moment = datetime.strptime(date, "%I:%M %p on %d %B, %Y")
    return int(moment.replace(tzinfo=UTC).timestamp())


def indexed(about: Replayed, encode: Encode) -> IndexedPast:
    """A conversation with all its vectors."""
    units = [
        unit
        for chat in by_chat(about.messages)
        for unit in message_units(chat, "minilm")
    ]
    vectors = encode(unit_texts(units))
    nulls = encode(NULL_PROMPTS)
    to_one_another = nulls @ nulls.T
    np.fill_diagonal(to_one_another, -1.0)
    return IndexedPast(
        about=about,
        said={message.id: message for message in about.messages},
        units=units,
        vectors=vectors,
        questions=encode(about.questions),
        levels=null_levels(to_one_another.max(axis=1)),
    )


def by_chat(messages: Sequence[PastMessage]) -> list[list[PastMessage]]:
    """The chats of a conversation."""
    chats: dict[str, list[PastMessage]] = {}
    for message in messages:
        chats.setdefault(message.chat_id, []).append(message)
    return list(chats.values())


def recalled(
    past: IndexedPast, at: int, budgets: Sequence[int]
) -> tuple[list[HistorySection], float]:
    """A question's section for each budget, and the milliseconds after the vector search.

    The gate is left open. The time is that of ranking and of the first section.
    """
    hits = past.nearest(past.questions[at])
    question = past.about.questions[at]
    begin = time.perf_counter()
    messages = past.ranked(question, hits, 0.0)
    taken = 0.0
    sections: list[HistorySection] = []
    for tokens in budgets:
        sections.append(packed_section(question, messages, [], tokens))
        taken = taken or (time.perf_counter() - begin) * 1000
    return sections, taken


def shares(past: IndexedPast) -> list[tuple[float, ...]]:
    """Of each question, the share of its evidence turns whose whole text comes, by budget."""
    texts = {one.id: escaped_entry(one.text) for one in past.about.messages}
    found: list[tuple[float, ...]] = []
    for at, evidence in enumerate(past.about.evidence):
        told = [one.text for one in recalled(past, at, BUDGETS)[0]]
        for text, tokens in zip(told, BUDGETS, strict=True):
            if estimated_tokens(text) > tokens:
                sys.exit(
                    f"a section of {estimated_tokens(text)} tokens exceeds its budget"
                )
        found.append(
            tuple(
                sum(texts[one] in text for one in evidence) / len(evidence)
                for text in told
            )
        )
    return found


def quality(
    pasts: Sequence[IndexedPast],
    found: Sequence[Sequence[tuple[float, ...]]],
    gate: float = HISTORY_GATE,
) -> dict[str, Any]:
    """Mean shares by budget: of all questions, of conversations tuned on and others, and of each.

    A question that does not pass the gate gets nothing.
    """
    figures: dict[str, Any] = {}
    passed = [
        past.passes(past.about.questions, past.questions, [gate])[0]
        for past in pasts
    ]
    for number, tokens in enumerate(BUDGETS):
        measured = {
            past.about.name: [
                share[number] * passes
                for share, passes in zip(some, gates, strict=True)
            ]
            for past, some, gates in zip(pasts, found, passed, strict=True)
        }
        tuned = [
            one
            for name, some in measured.items()
            if name in TUNED_ON
            for one in some
        ]
        others = [
            one
            for name, some in measured.items()
            if name not in TUNED_ON
            for one in some
        ]
        figures[str(tokens)] = {
            "all": _mean([*tuned, *others]),
            "tuned_on": _mean(tuned),
            "held_out": _mean(others),
            "by_conversation": {
                name: _mean(some) for name, some in measured.items()
            },
        }
    return figures


def gate_curve(
    pasts: Sequence[IndexedPast],
    found: Sequence[Sequence[tuple[float, ...]]],
    off_topic: Sequence[str],
    encode: Encode,
) -> list[dict[str, Any]]:
    """For each gate the evidence that comes, and the share of prompts that get a section.

    ``off_topic`` prompts and the short everyday ones of ``personal`` are asked of each past.
    """
    idle: dict[str, list[list[bool]]] = {}
    for name, prompts in (("off_topic", off_topic), ("everyday", UNRELATED)):
        served = [
            past.passes(prompts, encode(prompts), GATES) for past in pasts
        ]
        idle[name] = [
            [passes for of_past in served for passes in of_past[number]]
            for number in range(len(GATES))
        ]
    return [
        {
            "gate": gate,
            "evidence": {
                tokens: {
                    name: one[name] for name in ("all", "tuned_on", "held_out")
                }
                for tokens, one in quality(pasts, found, gate).items()
            },
            **{
                f"{name}_served": _mean([*map(float, by_gate[number])])
                for name, by_gate in idle.items()
            },
        }
        for number, gate in enumerate(GATES)
    ]


def _mean(shares_: Sequence[float]) -> float | None:
    return round(statistics.fmean(shares_), 3) if shares_ else None


def first_shares(past: IndexedPast, count: int, *, fused: bool) -> list[float]:
    """The simple ways: the nearest messages by vectors, or by 0.8 cosine + 0.2 BM25."""
    names = [unit.message_id for unit in past.units]
    keywords = keyword_index(
        [words_of(past.said[name].text) for name in names]
    )
    found: list[float] = []
    for question, text, evidence in zip(
        past.questions, past.about.questions, past.about.evidence, strict=True
    ):
        scores = past.vectors @ question
        if fused:
            matched = keywords.matches(words_of(text)).scores
            scores = 0.8 * scores + 0.2 * matched / max(
                float(matched.max()), 1e-9
            )
        first = {
            names[int(at)] for at in np.argsort(-scores, kind="stable")[:count]
        }
        found.append(len(evidence & first) / len(evidence))
    return found


def repeated(pasts: Sequence[IndexedPast], size: int) -> IndexedPast:
    """A past of at least so many messages: the conversations again and again, without evidence.

    Each repetition is a chat of its own, with vectors a little off, so that no two are the same.
    """
    chance = np.random.default_rng(5)
    messages: list[PastMessage] = []
    units: list[HistoryUnit] = []
    rows: list[Vectors] = []
    copy = 0
    while len(messages) < size:
        past = pasts[copy % len(pasts)]
        mark = f"{copy}-"
        messages += [
            replace(
                one,
                id=mark + one.id,
                chat_id=mark + one.chat_id,
                text=f"{one.text} ({copy})",
            )
            for one in past.about.messages
        ]
        units += [
            replace(
                one,
                message_id=mark + one.message_id,
                previous_id=one.previous_id and mark + one.previous_id,
                chat_id=mark + one.chat_id,
            )
            for one in past.units
        ]
        noise = chance.normal(scale=0.02, size=past.vectors.shape)
        rows.append((past.vectors + noise).astype(np.float32))
        copy += 1
    about = Replayed("large", tuple(messages), pasts[0].about.questions, ())
    vectors = np.vstack(rows)
    first = pasts[0]
    return IndexedPast(
        about=about,
        said={message.id: message for message in messages},
        units=units,
        vectors=vectors,
        questions=first.questions,
        levels=first.levels,
    )


def large_past(pasts: Sequence[IndexedPast]) -> dict[str, Any]:
    """Time that a past of 20,000 messages takes, without any database."""
    large = repeated(pasts, LARGE)
    times = [
        recalled(large, at, BUDGETS[:1])[1]
        for at in range(len(large.questions))
    ]
    return {
        "messages": len(large.about.messages),
        "rank_and_pack_ms": spread(times),
    }


def measure(folder: Path) -> dict[str, Any]:
    """All figures."""
    encode = minilm()
    pasts = [indexed(one, encode) for one in replayed(folder)]
    figures: dict[str, Any] = {
        "model": "all-MiniLM-L6-v2",
        "questions": sum(len(past.about.questions) for past in pasts),
        "messages": {
            past.about.name: len(past.about.messages) for past in pasts
        },
        "tuned_on": sorted(TUNED_ON),
        "simple": {},
    }
    for count in (10, 40):
        for fused in (False, True):
            name = f"{'fused' if fused else 'vectors'}, first {count} messages"
            each = [
                share
                for past in pasts
                for share in first_shares(past, count, fused=fused)
            ]
            figures["simple"][name] = _mean(each)
            say(f"{name}: {figures['simple'][name]}")
    found = [shares(past) for past in pasts]
    figures["open"] = quality(pasts, found, 0.0)
    say(f"with an open gate: {figures['open']}")
    figures["gated"] = quality(pasts, found)
    say(f"as it is: {figures['gated']}")
    figures["gate_curve"] = gate_curve(
        pasts, found, load_off_topic(folder), encode
    )
    figures["gate"] = HISTORY_GATE
    for point in figures["gate_curve"]:
        say(f"{point}")
    named = [indexed(one, encode) for one in replayed(folder, named=True)]
    figures["speakers_named"] = quality(
        named, [shares(past) for past in named]
    )
    say(f"speakers named: {figures['speakers_named']}")
    times = [
        recalled(past, at, BUDGETS[:1])[1]
        for past in pasts
        for at in range(len(past.about.questions))
    ]
    figures["rank_and_pack_ms"] = spread(times)
    figures["large"] = large_past(pasts)
    say(f"{figures['rank_and_pack_ms']} {figures['large']}")
    return figures


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/history.json``."""
    say(f"written: {write_results('history', measure(folder))}")


if __name__ == "__main__":
    main()
