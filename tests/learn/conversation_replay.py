"""Scripted conversations as data, and their replay through the real way from a turn to the store.

A file of ``dialogues/`` is a list of objects:

- ``id``, and ``shows``: in one sentence what it shows;
- ``memories`` (optional): what is known at its start, each ``content``, ``tags``, ``bank``,
  ``when`` (a date);
- ``valves`` (optional): valves that differ from their defaults; ``zone`` (optional): time zone;
- ``turns``: each the ``date`` of the message, what the user ``said``, the model's ``replies`` to
  our questions as it wrote them (``null``: it fails), and what the status line ``tells``: fragments
  by kind of outcome, none where nothing came of it. ``answer`` is what the assistant said then;
  ``prompt`` are fragments of what the model is shown. In a reply ``{{fragment}}`` stands for the id
  under which the model is shown the memory that holds this fragment;
- ``store``: what is known at the end, each its ``content``; ``tags`` and ``bank`` where they
  matter; ``history``: former contents with the date until which each held, none if left out.

A reply that is no text is written as JSON. Each operation in it that the dialogue expects to be
carried out, and that names no ``evidence``, gets what a model is asked for: the sentence of the
message that shares most words with it. One that is to be refused stays as a careless model wrote
it. The question what no longer holds is answered with nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from adaptive.core.errors import AdaptiveMemoryError, ModelRejected
from adaptive.core.model import (
    Completion,
    CompletionRequest,
    Draft,
    Memory,
    Provenance,
    Turn,
    Utterance,
)
from adaptive.core.ports import Embedder, ResponseFormat
from adaptive.learn.grounding import beginnings
from adaptive.learn.lesson import learn_turn
from adaptive.learn.report import NOTHING_NEW, failure_line
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.merged import Settings
from tests.fakes import ListedMemories, hook_settings, memory
from tests.learn.work_in_hand import Work, lesson_room

DIALOGUES = Path(__file__).parent / "dialogues"
# How the status line begins what it says of each kind of outcome.
TOLD = {
    "saved": "Saved: ",
    "updated": "Updated: ",
    "deleted": "Deleted: ",
    "unchanged": "Already known: ",
    "kept": "Not deleted: ",
    "ended": "Also no longer true: ",
    "rejected": "Not saved: ",
    "failed": "Nothing saved: ",
}
_BETWEEN_KINDS = " · "
_EARLIER_TURNS = 6
_SHOWN_MEMORY = re.compile(r"^- id=(\S+) \| (.*)$", re.MULTILINE)
_REFERENCE = re.compile(r"\{\{(.+?)\}\}")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_CHECK = "# Check what no longer holds"
_DONE = ("saved", "updated", "deleted", "unchanged")


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of a dialogue."""

    date: str
    words: str
    answer: str
    replies: tuple[str | None, ...]
    prompt: tuple[str, ...]
    tells: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A scripted conversation and the store that it must lead to."""

    id: str
    shows: str
    zone: ZoneInfo
    settings: Settings
    memories: tuple[Memory, ...]
    turns: tuple[Said, ...]
    store: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What came of one turn: the status line, and all that the model was shown for it."""

    line: str
    prompts: tuple[str, ...]
    unused_replies: int

    @property
    def kinds(self) -> dict[str, str]:
        """What the line says, by kind of outcome."""
        parts = self.line.split(_BETWEEN_KINDS) if self.line != NOTHING_NEW else []
        named = {part: kind for part in parts for kind in TOLD if part.startswith(TOLD[kind])}
        return {
            kind: _BETWEEN_KINDS.join(part for part in parts if named.get(part, part) == kind)
            for kind in (named.get(part, part) for part in parts)
        }


def load_dialogues() -> list[Dialogue]:
    """All dialogues, in the order of their files."""
    files = sorted(DIALOGUES.glob("*.json"))
    return [_dialogue(one) for file in files for one in json.loads(file.read_text("utf-8"))]


class HostTable(ListedMemories):
    """The host's memory table: an update keeps the former content in the row's meta.

    As ``adaptive.host.memories`` writes it, with times by the dialogue's own clock.
    """

    def __init__(self, *memories: Memory) -> None:
        self.now = 0
        super().__init__(*memories, clock=lambda: self.now)

    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        """A new row, which knows when it was said."""
        return self._dated(await super().add(draft, source, extra), source)

    async def update(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """A row with another content and a longer history."""
        former = self.rows[memory.id]
        entry = {"content": former.content, "said_at": former.created_at, "until": self.now}
        await super().update(memory, draft, source)
        meta = {**former.meta, "history": [*former.meta.get("history", []), entry]}
        return self._dated(replace(self.rows[memory.id], meta=meta), source)

    def _dated(self, row: Memory, source: Provenance) -> Memory:
        row = replace(row, meta={**row.meta, "said_at": source.said_at})
        self.rows[row.id] = row
        return row


class ReplyingModel:
    """A ``Completer`` that gives the replies of one turn, with the ids that it was shown."""

    key = "scripted"

    def __init__(self, replies: Sequence[str | None]) -> None:
        # Whether a message is worth a question is judged elsewhere.
        self.replies = list(replies) or ['{"operations": []}']
        self.prompts: list[str] = []

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """The next reply, or a failure where the script has none."""
        if request.system.startswith(_CHECK):
            return Completion('{"outdated": []}')
        self.prompts.append(f"{request.system}\n\n{request.user}")
        reply = self.replies.pop(0) if self.replies else None
        if reply is None:
            raise ModelRejected("the provider has no credit left", 402)
        shown = _SHOWN_MEMORY.findall(request.user)
        return Completion(_REFERENCE.sub(lambda found: _id_of(found[1], shown), reply))


class Replay:
    """One user's conversation with everything that outlives a turn."""

    def __init__(self, dialogue: Dialogue, embedder: Embedder) -> None:
        self.store = HostTable(*dialogue.memories)
        self._dialogue = dialogue
        self._earlier: list[Utterance] = []
        self._number = 0
        self._embedder = embedder
        self._indexes = MemoryIndexes()

    async def learn(self, said: Said) -> Told:
        """What comes of the next turn."""
        now = datetime.fromisoformat(said.date).replace(tzinfo=self._dialogue.zone)
        self.store.now = int(now.timestamp())
        self._number += 1
        source = Provenance("chat-1", f"message-{self._number}", self.store.now)
        earlier = tuple(self._earlier[-_EARLIER_TURNS:])
        model = ReplyingModel(said.replies)
        line = await self._lesson(model, Turn("ada", "saved", said.words, earlier, source), now)
        self._earlier.append(Utterance("user", said.words))
        self._earlier.append(Utterance("assistant", said.answer))
        return Told(line, tuple(model.prompts), len(model.replies))

    async def _lesson(self, model: ReplyingModel, turn: Turn, now: datetime) -> str:
        """The only place that knows how the product is called: its line for the user."""
        settings, indexes = self._dialogue.settings, self._indexes
        room = lesson_room(
            self.store, model, settings=settings, indexes=indexes, embedder=self._embedder
        )
        try:
            lesson = await learn_turn(room, turn, now, Work())
        except AdaptiveMemoryError as error:
            return failure_line(str(error))
        return _BETWEEN_KINDS.join(lesson.details) or lesson.line


def _dialogue(data: Mapping[str, Any]) -> Dialogue:
    zone = ZoneInfo(data.get("zone", "UTC"))
    known = enumerate(data.get("memories", []), start=1)
    return Dialogue(
        id=data["id"],
        shows=data["shows"],
        zone=zone,
        settings=hook_settings(**data.get("valves", {})),
        memories=tuple(_known(number, one, zone) for number, one in known),
        turns=tuple(_said(one, _kept(data)) for one in data["turns"]),
        store=tuple(data["store"]),
    )


def _known(number: int, data: Mapping[str, Any], zone: ZoneInfo) -> Memory:
    when = datetime.fromisoformat(data.get("when", "2025-01-15")).replace(tzinfo=zone)
    tags, bank = tuple(data.get("tags", ())), data.get("bank", "")
    at = int(when.timestamp())
    return memory(f"known-{number}", data["content"], created_at=at, tags=tags, bank=bank)


def _kept(data: Mapping[str, Any]) -> frozenset[str]:
    """What is known at the end of a dialogue, or was for a while."""
    return frozenset(
        content for one in data["store"] for content in (one["content"], *one.get("history", ()))
    )


def _said(data: Mapping[str, Any], kept: frozenset[str]) -> Said:
    replies = (
        one
        if one is None or isinstance(one, str)
        else json.dumps(_proven(one, data, kept), ensure_ascii=False)
        for one in data.get("replies", [])
    )
    return Said(
        date=data["date"],
        words=data["said"],
        answer=data.get("answer", "I see."),
        replies=tuple(replies),
        prompt=tuple(data.get("prompt", ())),
        tells=data["tells"],
    )


def _proven(reply: Any, data: Mapping[str, Any], kept: frozenset[str]) -> Any:
    """A reply with the user's words for each operation that is to be carried out."""
    if not isinstance(reply, dict) or not isinstance(reply.get("operations"), list):
        return reply
    done = [one for kind in _DONE for one in data["tells"].get(kind, ())]
    return {
        **reply,
        "operations": [_with_proof(one, data, done, kept) for one in reply["operations"]],
    }


def _with_proof(
    operation: Any, data: Mapping[str, Any], done: Sequence[str], kept: frozenset[str]
) -> Any:
    if not isinstance(operation, dict) or "evidence" in operation:
        return operation
    said = str(operation.get("content") or operation.get("id") or "")
    if said not in kept and not any(one in said or said.strip("{}") in one for one in done):
        return operation
    about = beginnings(said)
    sentences = [one.strip() for one in _SENTENCE_END.split(data["said"]) if one.strip()]
    evidence = max(sentences, key=lambda one: len(beginnings(one) & about), default="")
    return {"about": "user", "kind": "FACT", **operation, "evidence": evidence}


def _id_of(fragment: str, shown: Sequence[tuple[str, str]]) -> str:
    """The id of the memory that is meant."""
    found = [id for id, content in shown if fragment in content]
    assert len(found) == 1, f"{len(found)} shown memories hold {fragment!r}: {shown}"
    return found[0]
