"""Scripted conversations: what is known after each is what a person would remember of it.

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

A reply that is no text is written as JSON. Each operation in it that names no ``evidence`` quotes
the whole message. The question what no longer holds is answered with nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from adaptive.core.model import (
    AdaptiveMemoryError,
    Memory,
    Provenance,
    Turn,
    Utterance,
)
from adaptive.core.providers import (
    Completion,
    CompletionRequest,
    ModelRejected,
    ResponseFormat,
)
from adaptive.core.texts import phrase
from adaptive.learn.lesson import learn_turn
from adaptive.learn.suggestions import failure_line
from adaptive.search.indexes import MemoryIndexes
from tests.fakes import hook_settings, memory
from tests.learn.world import Work, World
from tests.minilm import MINILM
from tests.rates import over

FILES = sorted((Path(__file__).parent / "dialogues").glob("*.json"))
DIALOGUES = [
    one for file in FILES for one in json.loads(file.read_text("utf-8"))
]
Data = Mapping[str, Any]
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
BETWEEN_KINDS = " · "
EARLIER_TURNS = 6
SHOWN_MEMORY = re.compile(r"^#(\d+) (.*)$", re.MULTILINE)
REFERENCE = re.compile(r"\{\{(.+?)\}\}")


class ReplyingModel:
    """A ``Completer`` that gives the replies of one turn, with the ids that it was shown."""

    key = "scripted"

    def __init__(self, replies: Sequence[str | None]) -> None:
        self.replies = list(replies)
        # Whether a message is worth a question is judged elsewhere.
        self.reply_to_more = None if replies else '{"operations": []}'
        self.prompts: list[str] = []

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """The next reply, or a failure where the script has none."""
        if request.system.startswith("# Check what no longer holds"):
            return Completion('{"outdated": []}')
        self.prompts.append(
            "\n\n".join((request.system, *request.earlier[-2:], request.user))
        )
        reply = self.replies.pop(0) if self.replies else self.reply_to_more
        if reply is None:
            raise ModelRejected("the provider has no credit left", 402)
        shown = SHOWN_MEMORY.findall(request.earlier[-2])
        return Completion(
            REFERENCE.sub(lambda found: id_of(found[1], shown), reply)
        )


def id_of(fragment: str, shown: Sequence[tuple[str, str]]) -> str:
    """The id of the memory that is meant."""
    found = [id for id, content in shown if fragment in content]
    assert len(found) == 1, (
        f"{len(found)} shown memories hold {fragment!r}: {shown}"
    )
    return found[0]


class Replay(World):
    """One user's conversation with everything that outlives a turn."""

    def __init__(self, dialogue: Data) -> None:
        self.now, self.zone = 0, ZoneInfo(dialogue.get("zone", "UTC"))
        known = enumerate(dialogue.get("memories", []), start=1)
        super().__init__(
            *(self.known(*one) for one in known), clock=lambda: self.now
        )
        self.settings = hook_settings(**dialogue.get("valves", {}))
        self.indexes, self.earlier = MemoryIndexes(), list[Utterance]()

    def moment(self, date: str) -> datetime:
        """A date where the user lives."""
        return datetime.fromisoformat(date).replace(tzinfo=self.zone)

    def known(self, number: int, data: Data) -> Memory:
        """What is known at the start."""
        at = int(self.moment(data.get("when", "2025-01-15")).timestamp())
        tags, bank = tuple(data.get("tags", ())), data.get("bank", "")
        return memory(
            f"known-{number}",
            data["content"],
            created_at=at,
            tags=tags,
            bank=bank,
        )

    async def learn(self, said: Data) -> tuple[dict[str, str], ReplyingModel]:
        """What the line tells of the next turn, by kind of outcome, and the model of the turn."""
        when, words = self.moment(said["date"]), said["said"]
        self.now = int(when.timestamp())
        source = Provenance("chat-1", f"message-{len(self.earlier)}", self.now)
        turn = Turn(
            "ada", "saved", words, tuple(self.earlier[-EARLIER_TURNS:]), source
        )
        model = ReplyingModel(
            [written(one, words) for one in said.get("replies", [])]
        )
        room = self.resources(
            completer=model,
            settings=self.settings,
            indexes=self.indexes,
            embedder=MINILM,
        )
        await room.indexes.warm_up(MINILM, room.sources.table)
        try:
            lesson = await learn_turn(room, turn, when, Work())
            line = (
                BETWEEN_KINDS.join(lesson.report.details) or lesson.report.line
            )
        except AdaptiveMemoryError as error:
            line = failure_line(str(error))
        answer = Utterance("assistant", said.get("answer", "I see."))
        self.earlier += Utterance("user", words), answer
        told: dict[str, str] = {}
        for part in (
            line.split(BETWEEN_KINDS) if line != phrase("nothing_new") else ()
        ):
            kind = next(
                (
                    one
                    for one, begins in TOLD.items()
                    if part.startswith(begins)
                ),
                part,
            )
            told[kind] = BETWEEN_KINDS.join(
                filter(None, [told.get(kind), part])
            )
        return told, model


def written(reply: Any, words: str) -> str | None:
    """A reply as text, each operation in it with the message as evidence unless it has its own."""
    if reply is None or isinstance(reply, str):
        return reply
    items = reply.get("operations") if isinstance(reply, dict) else None
    if isinstance(items, list):
        proof = {"about": "user", "kind": "FACT", "evidence": words}
        items = [
            {**proof, **one} if isinstance(one, dict) else one for one in items
        ]
        reply = {**reply, "operations": items}
    return json.dumps(reply, ensure_ascii=False)


def check_store(replay: Replay, expected: Sequence[Data]) -> None:
    """Exactly the expected rows are there, each with its expected fields and history."""
    assert replay.contents == sorted(one["content"] for one in expected)
    by_content = {row.content: row for row in replay.store.rows.values()}
    for one in expected:
        row = by_content[one["content"]]
        former = {
            old[
                "content"
            ]: f"{datetime.fromtimestamp(old['until'], replay.zone):%Y-%m-%d}"
            for old in row.meta.get("history", [])
        }
        assert former == one.get("history", {})
        assert list(row.tags) == one.get("tags", list(row.tags))
        assert row.bank == one.get("bank", row.bank)


@pytest.mark.timeout(600)
@over("dialogue", DIALOGUES, at_least=0.88)
async def test_dialogue(dialogue: Data) -> None:
    """After the last turn the store is the expected one, and each turn's line tells the truth."""
    replay = Replay(dialogue)
    for said in dialogue["turns"]:
        told, model = await replay.learn(said)
        is_spared = not model.prompts and said["tells"].keys() <= {"rejected"}
        if is_spared and not told:
            continue  # what tells nothing need not be asked about
        assert told.keys() == said["tells"].keys(), told
        for kind, fragments in said["tells"].items():
            for fragment in fragments:
                assert fragment in told[kind]
        assert model.replies == []
        for fragment in said.get("prompt", ()):
            assert fragment in "\n".join(model.prompts)
    check_store(replay, dialogue["store"])
