"""What the host hands to one hook, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from fastapi import Request

from adaptive.host.dialog import EventCaller
from adaptive.host.events import EventEmitter, PageNotifier
from adaptive.host.kind import LEARNED_KINDS, RECALLED_KINDS, conversation_kind, owns_chat
from adaptive.host.locked_status import locking_emitter
from adaptive.model import ConversationKind
from adaptive.settings import Settings


@dataclass(frozen=True, slots=True)
class Hook:
    """The arguments of one hook; the host's objects are shared and change underfoot."""

    settings: Settings
    user: Mapping[str, Any]
    metadata: dict[str, Any]
    request: Request
    emitter: EventEmitter | None
    chat_model: Any
    caller: EventCaller | None = None

    @property
    def user_id(self) -> str:
        """Id of the user whose turn it is, empty where there is none."""
        return str(self.user.get("id") or "")

    @property
    def chat_id(self) -> str:
        """Id of the chat as the host names it, empty for a plain API call."""
        return str(self.metadata.get("chat_id") or "")

    @property
    def notifier(self) -> PageNotifier:
        """Shows lines with the answer, unless the user or the admin wants none."""
        emitter = None if self.emitter is None else self._emit
        return PageNotifier(emitter, self.settings.show_status)

    @property
    def time_zones(self) -> tuple[str, str, str]:
        """Names of time zones: the user's choice, then the browser's, then the admin's."""
        variables: Mapping[str, Any] = self.metadata.get("variables") or {}
        browser = str(variables.get("{{CURRENT_TIMEZONE}}") or "")
        return (self.settings.user_timezone, browser, self.settings.timezone)

    @property
    def told_kind(self) -> ConversationKind:
        """The kind of conversation, as far as it can be told without the database."""
        return conversation_kind(self.metadata)

    @property
    def is_recalled(self) -> bool:
        """Whether memories may go into this kind of conversation."""
        temporary = self.told_kind == "temporary" and self.settings.inject_in_temporary_chats
        return self.told_kind in RECALLED_KINDS or temporary

    @property
    def is_learned_from(self) -> bool:
        """Whether what the user types in this kind of conversation may be learned."""
        api = self.told_kind == "api" and self.settings.learn_from_api_calls
        return self.settings.save_mode != "off" and (self.told_kind in LEARNED_KINDS or api)

    async def _emit(self, event: dict[str, Any]) -> None:
        """Show an event; statuses of a saved chat are stored under a lock if the host has none."""
        emitter = cast(EventEmitter, self.emitter)
        if self.told_kind == "saved":
            answer_id = str(self.metadata.get("message_id") or "")
            emitter = locking_emitter(emitter, self.user_id, self.chat_id, answer_id)
        await emitter(event)

    async def kind(self) -> ConversationKind:
        """The kind of conversation; a saved chat that somebody else owns is a shared one."""
        kind = self.told_kind
        if kind == "saved" and not await owns_chat(self.chat_id, self.user_id):
            return "shared"
        return kind
