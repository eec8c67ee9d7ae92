"""A hook of Ada's without a host, for what happens before and after an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import FastAPI, Request

from adaptive.core.marks import Place
from adaptive.core.model import ConversationKind
from adaptive.core.providers import Completer
from adaptive.host.history_chats import MessageChange
from adaptive.host.hook import HookArguments, HostHook
from adaptive.host.page import EventEmitter, HostAnswer
from adaptive.host.tables import HostTables
from adaptive.privacy.sealing import Sealer
from tests.fakes import ScriptedModel, hook_settings

SAVED = {
    "chat_id": "c",
    "session_id": "s",
    "message_id": "a",
    "user_message_id": "m",
}


class Shelf:
    """One stored answer, as a host keeps it, and what its page was shown."""

    def __init__(self, content: str = "", **fields: Any) -> None:
        self.message: dict[str, Any] = {
            "id": "a",
            "role": "assistant",
            "content": content,
        }
        self.message.update({"done": True, **fields})
        self.events: list[dict[str, Any]] = []

    async def change(
        self, chat_id: str, message_id: str, change: MessageChange
    ) -> dict[str, Any] | None:
        assert (chat_id, message_id) == ("c", "a")
        fields = change(self.message)
        self.message.update(fields or {})
        return fields

    async def emit(self, event: dict[str, Any]) -> None:
        self.events.append(event)

    @property
    def statuses(self) -> list[str]:
        return [
            one["data"]["description"]
            for one in self.events
            if one["type"] == "status"
        ]


@dataclass(frozen=True, kw_only=True)
class AnswerHook(HostHook):
    """A hook with a scripted model; somebody else's chat is ``shared``."""

    model: ScriptedModel = field(default_factory=ScriptedModel)
    refusal: Exception | None = None
    shared: bool = False
    shelf: Shelf = field(default_factory=Shelf)

    async def kind(self) -> ConversationKind:
        """The kind that metadata tells, but for somebody else's chat."""
        return "shared" if self.shared else self.told_kind

    async def completer(self) -> Completer:
        if self.refusal is not None:
            raise self.refusal
        return self.model

    async def suggest(self, lines: Sequence[str]) -> None:
        """As on a host that suggests nothing itself."""
        await self.stored_answer.add_follow_ups(lines)


def a_hook(
    metadata: dict[str, Any] | None = None,
    *,
    model: ScriptedModel | None = None,
    refusal: Exception | None = None,
    shared: bool = False,
    shelf: Shelf | None = None,
    **valves: Any,
) -> AnswerHook:
    """A hook in a saved chat, unless the test says otherwise."""
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    shelf = shelf or Shelf()
    emitter: EventEmitter = shelf.emit
    told = dict(SAVED if metadata is None else metadata)
    arguments = HookArguments(
        user={"id": "ada"}, metadata=told, request=request, emitter=emitter
    )
    hook = AnswerHook.of(
        hook_settings(**valves),
        arguments,
        request,
        HostTables(Sealer("")),
    )
    return replace(
        hook,
        place=Place(),
        model=model or ScriptedModel(),
        refusal=refusal,
        shared=shared,
        shelf=shelf,
        stored_answer=HostAnswer("c", "a", shelf.emit, shelf.change),
    )
