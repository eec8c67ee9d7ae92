"""What the host hands to one hook, read once."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, cast

from fastapi import Request
from sqlalchemy import select

from adaptive.core.errors import HostError
from adaptive.core.markdown import within_spans
from adaptive.core.messages import Message, message_text, newest_user_message
from adaptive.core.model import ConversationKind, Memory
from adaptive.core.ports import Completer, Sources
from adaptive.core.shapes import listing, mapping
from adaptive.host.audience import has_request_hook, is_read_by_others, task_that_reads
from adaptive.host.entries import HostLeases
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.host.history_chats import former_versions
from adaptive.host.locality import Locality
from adaptive.host.memories import HostMemoryStore
from adaptive.host.own_table import host_rows
from adaptive.host.page import (
    EventCaller,
    EventEmitter,
    PageDialog,
    PageNotifier,
    emitter_to,
    is_temporary,
)
from adaptive.host.providers import chosen_completer, chosen_embedder, known_model
from adaptive.host.requests import account, host_settings, isolated_request
from adaptive.host.stored_answer import HostAnswer, answer_of, emit_status, give_title
from adaptive.host.switches import allows_memory, has_memory_on, memory_switch
from adaptive.host.tables import HostVectorTable
from adaptive.privacy.gate import GuardedStore, gate_policy
from adaptive.settings.hook import (
    COMMANDED_KINDS,
    KINDS_AFTER_COMMANDS,
    LEARNED_KINDS,
    RECALLED_KINDS,
    TurnState,
    turn_state,
)
from adaptive.settings.merged import NOTHING_HIDDEN, LocalOnlyBanks, Settings

SWITCHED_OFF = (
    "Memory is off in your settings (Settings > Personalization > Memory), so nothing is recalled "
    "or saved."
)
_TOLD_AGAIN_SECONDS = 30 * 24 * 3600.0
# The host ends the turn first: what follows the outlet is what its user waits for.
_TOLD_AFTER_SECONDS = 0.1


def conversation_kind(metadata: Mapping[str, Any]) -> ConversationKind:
    """The kind as far as metadata tells it; whose chat it is, only the database knows."""
    chat_id = str(metadata.get("chat_id") or "")
    session_id = str(metadata.get("session_id") or "")
    message = mapping(metadata.get("user_message"))
    if metadata.get("internal") is True:
        return "subagent"
    if metadata.get("automation_id") or session_id.startswith("automation:"):
        return "automation"
    if chat_id.startswith("channel:"):
        return "channel"
    # A wake-up of a timer or a sub-agent's result stands where the user's message would.
    if mapping(message.get("meta")).get("internal") is True:
        return "timer"
    if is_temporary(chat_id):
        return "temporary"
    # The page always names its socket session; a program that calls the API has none.
    return "saved" if chat_id and session_id else "api"


def takes_commands(metadata: Mapping[str, Any]) -> bool:
    """Whether a turn has a page on which the memory can answer in the model's place."""
    return conversation_kind(metadata) in COMMANDED_KINDS and bool(metadata.get("message_id"))


def may_hold_commands(metadata: Mapping[str, Any]) -> bool:
    """Whether the memory may have answered former messages of a turn's chat."""
    return conversation_kind(metadata) in KINDS_AFTER_COMMANDS and bool(metadata.get("message_id"))


@dataclass(frozen=True, slots=True)
class HostHook:
    """A ``Hook`` of the arguments that the host hands over, shared and changing underfoot."""

    settings: Settings
    user: Mapping[str, Any]
    metadata: dict[str, Any]
    request: Request
    emitter: EventEmitter | None
    chat_model: Any
    caller: EventCaller | None = None
    vectors: HostVectorTable = field(default_factory=HostVectorTable)

    @property
    def user_id(self) -> str:
        return str(self.user.get("id") or "")

    @property
    def is_admin(self) -> bool:
        return self.user.get("role") == "admin"

    @property
    def chat_id(self) -> str:
        return str(self.metadata.get("chat_id") or "")

    @property
    def question_id(self) -> str:
        return str(self.metadata.get("user_message_id") or "")

    @property
    def answer_id(self) -> str:
        return str(self.metadata.get("message_id") or "")

    @property
    def state(self) -> TurnState:
        return turn_state(self.metadata)

    @property
    def has_page(self) -> bool:
        return self.emitter is not None

    @property
    def can_ask(self) -> bool:
        return self.caller is not None

    @property
    def dialog(self) -> PageDialog:
        return PageDialog(self.caller)

    @property
    def notifier(self) -> PageNotifier:
        return self.replies if self.settings.show_status else PageNotifier(None)

    @property
    def replies(self) -> PageNotifier:
        return PageNotifier(self._emit if self.has_page else None)

    @property
    def time_zones(self) -> tuple[str, str, str]:
        variables: Mapping[str, Any] = self.metadata.get("variables") or {}
        browser = str(variables.get("{{CURRENT_TIMEZONE}}") or "")
        return (self.settings.user_timezone, browser, self.settings.timezone)

    @property
    def told_kind(self) -> ConversationKind:
        return conversation_kind(self.metadata)

    @property
    def is_served(self) -> bool:
        """Whether memory is on for the user, and for the chat's model."""
        return self.settings.enabled and allows_memory(self.chat_model)

    @property
    def is_recalled(self) -> bool:
        temporary = self.told_kind == "temporary" and self.settings.inject_in_temporary_chats
        return self.told_kind in RECALLED_KINDS or temporary

    @property
    def is_learned_from(self) -> bool:
        api = self.told_kind == "api" and self.settings.learn_from_api_calls
        return self.settings.save_mode != "off" and (self.told_kind in LEARNED_KINDS or api)

    async def _emit(self, event: dict[str, Any]) -> None:
        """Show an event; statuses of a saved chat are stored under a lock if the host has none."""
        emitter = cast(EventEmitter, self.emitter)
        if event.get("type") == "status" and self.told_kind == "saved" and self.answer_id:
            await emit_status(emitter, event, self.user_id, self.chat_id, self.answer_id)
        else:
            await emitter(event)

    def with_settings(self, settings: Settings) -> Self:
        """The same hook under other settings."""
        return replace(self, settings=settings)

    @uninterrupted
    async def kind(self) -> ConversationKind:
        """The kind of conversation; a saved chat that somebody else may read is a shared one.

        That is so where a timer goes off in it, too. Since 0.12 such readers are sent status lines
        and sources as well, and a user may answer in another user's chat (host: socket/main.py,
        main.py).
        """
        if self.told_kind not in ("saved", "timer"):
            return self.told_kind
        if "shared" not in self.state:
            with HostFaults("reading who may open a chat"):
                shared = await is_read_by_others(self.chat_id, self.user_id)
            self.state["shared"] = shared
        return "shared" if self.state["shared"] else self.told_kind

    @uninterrupted
    async def other_authors(self) -> bool:
        """Whether somebody else wrote a message of the chat; on doubt, yes."""
        from open_webui.models.chats import Chats

        if not hasattr(Chats, "get_accessible_chat_by_id"):
            return False
        with suppress(HostError), HostFaults("reading the chat's authors"):
            stored = await Chats.get_messages_map_by_chat_id(self.chat_id)
            messages = map(mapping, mapping(stored).values())
            authors = {one.get("user_id") for one in messages if one.get("role") == "user"}
            return bool(authors - {self.user_id, None, ""})
        return True

    async def former_versions(self) -> frozenset[str]:
        """Ids of what the user's message was before it was edited; others of the same parent."""
        return await former_versions(self.chat_id, self.question_id)

    async def wants_memory(self) -> bool:
        """Whether memory is on for the user by now: for work that goes on behind a turn.

        Where the host can't tell, it is as it was for the turn, or there would be no such work.
        """
        with suppress(HostError), HostFaults("reading a user's settings"):
            from open_webui.models.users import User

            # The whole account would bring its picture along.
            query = select(User.settings).where(User.id == self.user_id)
            found = await host_rows("reading a user's settings", query)
            for row in found:
                return await has_memory_on(self.request, {"settings": row.settings})
        return True

    async def see_switch(self, writing: asyncio.Lock, table: HostLeases) -> None:
        """Tell a user who has switched memory off, once in a month, that nothing is remembered.

        Who was told stands in the table of leases: of two workers or tabs one gets it. ``writing``
        is held while the line is shown: the host stores it with the chat.
        """
        paged = self.told_kind in ("saved", "temporary") and self.has_page
        if memory_switch(self.user) is False and paged and self.settings.show_status:
            await asyncio.sleep(_TOLD_AFTER_SECONDS)
            name, owner = f"switched_off:{self.user_id}", uuid.uuid4().hex
            if await table.acquire(name, owner, time.time(), _TOLD_AGAIN_SECONDS):
                async with writing:
                    await self.notifier.status(SWITCHED_OFF)

    @property
    def chat_model_id(self) -> str:
        return str(mapping(self.chat_model).get("id") or "")

    @property
    def is_direct(self) -> bool:
        return bool(self.metadata.get("direct"))

    async def typed_to(self, model_id: str, *, is_direct: bool) -> Self:
        """The same hook for words that were typed to another chat model, if that is there."""
        if is_direct:
            chat_model: Mapping[str, Any] = {"id": model_id}
        else:
            chat_model = await known_model(self.request, model_id)
        metadata = {**self.metadata, "direct": is_direct}
        return replace(self, chat_model=chat_model, metadata=metadata)

    @property
    def adds_behind_tasks(self) -> bool:
        return has_request_hook()

    async def task_that_reads(self, body: Mapping[str, Any]) -> str:
        """The host's own task that would read what is added to a request, for people; or none."""
        return await task_that_reads(
            body, self.metadata, self.told_kind, self.chat_model, self.request
        )

    async def compacts(self) -> bool:
        """Whether the host compacts chats (host: utils/context_compaction.py, since 0.10)."""
        with HostFaults("reading whether chats are compacted"):
            found = await host_settings(self.request, "context_compaction")
        return bool(found["context_compaction"])

    async def _asker(self) -> tuple[Request, Any]:
        """A request of our own, and the account in whose name the host is asked."""
        return isolated_request(self.request), await account(self.user)

    async def sources(self) -> Sources:
        """Where the user's memories are, behind the gate, and who makes their vectors."""
        request, user = await self._asker()
        embedder = chosen_embedder(self.settings, request, user)
        store = HostMemoryStore(request, user, embedder)
        guarded = GuardedStore(store, gate_policy(self.settings))
        return Sources(self.user_id, guarded, embedder, self.vectors)

    async def completer(self) -> Completer:
        """The model for learning, behind redaction."""
        asker, direct = await self._asker(), self.is_direct
        return await chosen_completer(self.settings, *asker, self.chat_model, direct=direct)

    async def hidden_from(self, completer: Completer | None = None) -> LocalOnlyBanks:
        """Banks that a model may not see: the chat's own one, or the one of a completer."""
        banks = LocalOnlyBanks.of(self.settings)
        if not banks.names:
            return banks
        where = Locality(self.settings, self.request)
        if completer is not None:
            local = await where.of_completer(completer)
        else:
            # Where the browser asks itself is the user's to set, not the admin's.
            local = not self.metadata.get("direct") and await where.of_chat(self.chat_model)
        return NOTHING_HIDDEN if local else banks

    @property
    def stored_answer(self) -> HostAnswer:
        """The answer of the turn, where the host stores it."""
        return answer_of(self.metadata, self.emitter)

    async def _left_to_us(self, task: Literal["titles", "follow_ups"]) -> bool:
        """Whether the host makes none itself, and the user has not refused anybody's.

        That is "Title Auto-Generation" and "Follow-Up Auto-Generation" in the interface settings.
        """
        ui = mapping(mapping(self.user.get("settings")).get("ui"))
        titled, suggested = mapping(ui.get("title")).get("auto"), ui.get("autoFollowUps")
        if (titled if task == "titles" else suggested) is False:
            return False
        with HostFaults(f"reading who makes {task}"):
            return (await host_settings(self.request, task))[task] is False

    async def name_chat(self, title: str, messages: Sequence[Message]) -> bool:
        """Give the user's own new chat a title, where nobody else does; whether it was given."""
        first = next((one for one in messages if one.get("role") == "user"), None)
        if first is None or not await self._left_to_us("titles") or await self.kind() != "saved":
            return False
        return await give_title(self.chat_id, title, message_text(first), self.emitter)

    async def suggest(self, lines: Sequence[str]) -> bool:
        """Show what to ask next below the answer, where the host makes none itself; whether so."""
        left = bool(lines) and await self._left_to_us("follow_ups")
        return left and await self.stored_answer.add_follow_ups(lines)

    @property
    def regenerated_message(self) -> Mapping[str, Any]:
        """The user's message whose answer is made anew, empty where none is."""
        anew = self.metadata.get("regeneration_message_id")
        return mapping(self.metadata.get("user_message")) if anew else {}

    async def not_injected(
        self, body: Mapping[str, Any], memories: Sequence[Memory]
    ) -> list[Memory]:
        """Those of the memories that the host will not inject; all, if it can't be told."""
        native = ""
        if mapping(body.get("features")).get("memory"):
            with suppress(HostError), HostFaults("asking what the host's own memory injects"):
                native = await self._natively_injected(listing(body.get("messages")))
        lines = [line.strip() for line in native.splitlines()]
        return [one for one in memories if not any(one.content in line for line in lines)]

    async def _natively_injected(self, messages: list[Any]) -> str:
        """What the host's own memory is going to add to these messages."""
        request, user = await self._asker()
        try:
            from open_webui.utils.memory import add_memory_context
        except ImportError:  # up to 0.9
            if mapping(self.metadata.get("params")).get("function_calling") == "native":
                return ""
            from open_webui.routers.memories import QueryMemoryForm, query_memory

            newest = message_text(newest_user_message(messages) or {})
            form = QueryMemoryForm(content=newest, k=3)  # (host: utils/middleware.py)
            found = await query_memory(request, form, user)
            return "\n".join(found.documents[0] if found and found.documents else [])
        if (await host_settings(request, "memory_context"))["memory_context"] is False:
            return ""
        # The host's own function on a copy: its choice of entries can't be told better.
        copied = {"messages": [dict(message) for message in messages]}
        filled = await add_memory_context(request, copied, user, self.chat_model)
        text = "\n".join(message_text(message) for message in filled["messages"])
        return "\n".join(within_spans(text, "memory_context"))

    async def of_answer(self, chat_id: str, answer_id: str) -> Self:
        """The user's hook for an answer in a saved chat that another process has given."""
        session_id = str(self.metadata.get("session_id") or "unknown")
        metadata: dict[str, Any] = {"chat_id": chat_id, "message_id": answer_id}
        metadata |= {"session_id": session_id, "direct": self.metadata.get("direct")}
        emitter = await emitter_to(self.user_id, chat_id, answer_id) if answer_id else None
        return replace(self, metadata=metadata, emitter=emitter, caller=None)
