"""What the host hands to one hook, read once."""

import time
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Sequence,
)
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from fastapi import Request
from sqlalchemy import select

from adaptive.core.embedding import Sources
from adaptive.core.marks import NOWHERE, Place, scope_of
from adaptive.core.messages import (
    Message,
    is_of_user,
    mapping,
    message_text,
    messages_of,
    newest_user_message,
    text_field,
)
from adaptive.core.model import ConversationKind, JsonMapping, JsonObject
from adaptive.core.providers import Completer
from adaptive.core.runtime import USER_ID, turn_state
from adaptive.core.texts import LANGUAGE, language_of, phrase
from adaptive.host.application import (
    NativeFeatures,
    account,
    allows_memory,
    expire_settings,
    has_memory_on,
    has_request_hook,
    isolated_request,
    memory_switch,
    page_lists,
    save_user_valves,
)
from adaptive.host.audience import (
    Locality,
    conversation_kind,
    is_read_by_others,
    located_chat,
)
from adaptive.host.database import HOST_DATABASE
from adaptive.host.dialog import EventCaller, PageDialog
from adaptive.host.embedding import chosen_model, proven
from adaptive.host.faults import HostFaults, faults_logged, uninterrupted
from adaptive.host.history_chats import HostPastChats
from adaptive.host.memories import HostMemoryStore
from adaptive.host.page import (
    EventEmitter,
    HostAnswer,
    PageNotifier,
    emitter_to,
)
from adaptive.host.providers import chosen_completer, known_model
from adaptive.host.tables import HostLeases, HostTables
from adaptive.settings.hook import COMMANDED_KINDS, Hook
from adaptive.settings.merged import NOTHING_HIDDEN, HiddenMemories, Settings
from adaptive.settings.valves import Valves

_TOLD_AGAIN_SECONDS = 30 * 24 * 3600.0

Plugin = TypeVar("Plugin")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookArguments:
    """The arguments of an inlet or an outlet, shared and changing underfoot."""

    user: JsonMapping
    metadata: JsonObject
    request: Request | None
    emitter: EventEmitter | None = None
    chat_model: object = None
    caller: EventCaller | None = None
    function_id: str = ""


@dataclass(frozen=True, kw_only=True)
class HostHook(Hook):
    """A ``Hook`` of the arguments that the host hands over."""

    arguments: HookArguments
    request: Request
    chat_model: object
    tables: HostTables
    stored_answer: HostAnswer
    native: NativeFeatures

    @classmethod
    def of(
        cls,
        settings: Settings,
        arguments: HookArguments,
        request: Request,
        tables: HostTables,
    ) -> Self:
        """Read what a hook needs of its arguments; where the chat is they don't tell."""
        metadata = arguments.metadata
        emitter = arguments.emitter
        kind = conversation_kind(metadata)
        answer = HostAnswer.of(metadata, emitter, arguments.user)
        is_stored = (
            kind == "saved" and bool(answer.message_id) and emitter is not None
        )
        replies = PageNotifier(answer.emit if is_stored else emitter)
        variables = mapping(metadata, "variables")
        message = mapping(metadata, "user_message")
        is_made_anew = bool(metadata.get("regeneration_message_id"))
        return cls(
            settings=settings,
            user_id=answer.user_id,
            is_admin=arguments.user.get("role") == "admin",
            chat_id=answer.chat_id,
            question_id=text_field(metadata, "user_message_id"),
            answer_id=answer.message_id,
            chat_model_id=text_field(mapping(arguments.chat_model), "id"),
            is_direct=bool(metadata.get("direct")),
            told_kind=kind,
            state=turn_state(metadata),
            time_zones=(
                settings.user_timezone,
                text_field(variables, "{{CURRENT_TIMEZONE}}"),
                settings.timezone,
            ),
            interface_language=text_field(variables, "{{USER_LANGUAGE}}"),
            adds_behind_tasks=has_request_hook(),
            regenerated_message=message if is_made_anew else {},
            has_page=emitter is not None,
            can_ask=arguments.caller is not None,
            notifier=replies if settings.show_status else PageNotifier(None),
            replies=replies,
            dialog=PageDialog(
                arguments.caller,
                lists=page_lists(request),
                user_id=answer.user_id,
                message=message,
            ),
            stored_answer=answer,
            native=NativeFeatures(
                request=request,
                user=arguments.user,
                metadata=metadata,
                chat_model=arguments.chat_model,
                kind=kind,
            ),
            arguments=arguments,
            request=request,
            chat_model=arguments.chat_model,
            tables=tables,
            place=NOWHERE,
        )

    @property
    def is_served(self) -> bool:
        """Whether memory is on for the user, and for the chat's model."""
        return self.settings.enabled and allows_memory(self.chat_model)

    async def typed_to(self, model_id: str, *, is_direct: bool) -> Self:
        """The same hook for words that were typed to another chat model, if that is there."""
        chat_model: JsonMapping = {"id": model_id}
        if not is_direct:
            chat_model = await known_model(self.request, model_id)
        return replace(
            self,
            chat_model=chat_model,
            chat_model_id=text_field(chat_model, "id"),
            is_direct=is_direct,
        )

    async def of_answer(
        self, chat_id: str, answer_id: str, place: Place
    ) -> Self:
        """The user's hook for an answer that another process has given (see ``Hook``)."""
        metadata = {
            "chat_id": chat_id,
            "message_id": answer_id,
            "session_id": "another process's",
            "direct": self.is_direct,
        }
        arguments = replace(
            self.arguments,
            metadata=metadata,
            emitter=await emitter_to(self.user_id, chat_id, answer_id)
            if answer_id
            else None,
            caller=None,
        )
        hook = self.of(self.settings, arguments, self.request, self.tables)
        return replace(hook, place=place)

    @uninterrupted
    async def kind(self) -> ConversationKind:
        """The kind of conversation; a saved chat that somebody else may read is a shared one.

        That is so where a timer goes off in it, too. Since 0.12 such readers are sent status lines
        and sources, and a user may answer in another user's chat (host: main.py, socket/main.py).
        """
        if self.told_kind not in ("saved", "timer"):
            return self.told_kind
        if "shared" not in self.state:
            with HostFaults("reading who may open a chat"):
                self.state["shared"] = await is_read_by_others(
                    self.chat_id, self.user_id
                )
        return "shared" if self.state["shared"] else self.told_kind

    async def other_authors(self) -> bool:
        """Whether somebody else wrote a message of the user's chat; on doubt, yes."""
        with faults_logged("reading the chat's authors"):
            typed = await self._typed_messages()
            authors = {message["user_id"] for message in typed.values()}
            return not authors <= {self.user_id, "", None}
        return True

    async def former_versions(self) -> frozenset[str]:
        """Ids of what the user's message was before it was edited; others of the same parent."""
        typed = await self._typed_messages()
        parents = {id_: typed[id_]["parentId"] for id_ in typed}
        parent = parents.pop(self.question_id, "")
        return frozenset(id_ for id_ in parents if parents[id_] == parent)

    async def _typed_messages(self) -> dict[str, JsonMapping]:
        """Where people's messages stand in the user's chat, by their ids."""
        outline = await HostPastChats().messages(
            self.user_id, self.chat_id, words=False
        )
        typed = filter(is_of_user, outline)
        return {message["id"]: message for message in typed}

    async def wants_memory(self) -> bool:
        """Whether memory is on for the user by now: for work that goes on behind a turn.

        Where the host can't tell, it is as it was for the turn, or there would be no such work.
        """
        doing = "reading a user's settings"
        with faults_logged(doing):
            from open_webui.models.users import User

            # The whole account would bring its picture along.
            query = select(User.settings).where(User.id == self.user_id)
            for row in await HOST_DATABASE.rows(doing, query):
                return await has_memory_on(self.request, row.settings)
        return True

    async def tell_switched_off(self, table: HostLeases) -> None:
        """Tell a user who has switched memory off, once in a month, that nothing is remembered.

        Who was told stands in the table of leases: of two workers or tabs one gets it.
        """
        interface = mapping(self.arguments.user, "settings", "ui")
        is_seen = self.has_page and self.told_kind in COMMANDED_KINDS
        is_told = is_seen and self.settings.show_status
        if not is_told or memory_switch(interface) is not False:
            return
        lease = f"switched_off:{self.user_id}"
        if await table.acquire(lease, time.time(), _TOLD_AGAIN_SECONDS):
            await self.notifier.status(phrase("switched_off"))

    async def sources(self) -> Sources:
        """Where the user's memories are, and who makes their vectors."""
        request = isolated_request(self.request)
        user = await account(self.arguments.user)
        model = await chosen_model(self.settings, request, user)
        return Sources(
            user_id=self.user_id,
            store=HostMemoryStore(request, user),
            embedder=proven(model, self.tables.vectors),
            table=self.tables.vectors,
            place=self.place,
        )

    async def completer(self) -> Completer:
        """The model for learning, behind redaction."""
        return await chosen_completer(
            self.settings,
            isolated_request(self.request),
            await account(self.arguments.user),
            self.chat_model,
            direct=self.is_direct,
        )

    async def hidden_from(
        self, completer: Completer | None = None
    ) -> HiddenMemories:
        """What may not be shown here, and to the chat's own model or the one of a completer."""
        hidden = HiddenMemories.of(self.settings)
        if hidden.names and await self._locality.holds(self._asked(completer)):
            hidden = NOTHING_HIDDEN
        return replace(hidden, place=self.place)

    async def standing_folders(
        self, scopes: Collection[str]
    ) -> frozenset[str]:
        """Those of the scopes of folders that the host has still."""
        return await HostPastChats().standing_folders(scopes)

    async def machine(self, completer: Completer | None = None) -> str:
        """The machine of a model, if it is in a network of one's own (see ``Hook``)."""
        return await self._locality.machine(self._asked(completer))

    def _asked(self, completer: Completer | None) -> object:
        """A completer, or the chat's model; where the browser asks is the user's to set."""
        return completer or (None if self.is_direct else self.chat_model)

    @property
    def _locality(self) -> Locality:
        return Locality(self.settings.local_connections, self.request)

    async def name_chat(self, title: str, messages: Sequence[Message]) -> None:
        """Give the user's own new chat a title, where nobody else does."""
        typed = [*map(message_text, filter(is_of_user, messages))]
        if not typed or not await self.native.leaves_to_us("titles"):
            return
        if await self.kind() == "saved":
            await self.stored_answer.name_chat(title, typed[0])

    async def choose(self, **valves: object) -> None:
        """Change valves of the user's own, where the host's page has them, too."""
        await save_user_valves(
            self.arguments.function_id, self.user_id, valves
        )

    async def suggest(self, lines: Sequence[str]) -> None:
        """Show what to ask next below the answer, where the host makes none itself."""
        if lines and await self.native.leaves_to_us("follow_ups"):
            await self.stored_answer.add_follow_ups(lines)


def with_arguments(
    work: Callable[[Plugin, JsonObject, HookArguments], Awaitable[JsonObject]],
) -> Callable[..., Coroutine[None, None, JsonObject]]:
    """A hook with the parameters by which the host chooses what it hands over."""

    async def hook(
        self: Plugin,
        body: JsonObject,
        __user__: JsonObject | None = None,
        __metadata__: JsonObject | None = None,
        __request__: Request | None = None,
        __event_emitter__: EventEmitter | None = None,
        __model__: object = None,
        __event_call__: EventCaller | None = None,
        __id__: str = "",
    ) -> JsonObject:
        """What the work makes of the body."""
        arguments = HookArguments(
            user=__user__ or {},
            metadata={} if __metadata__ is None else __metadata__,
            request=__request__,
            emitter=__event_emitter__,
            chat_model=__model__,
            caller=__event_call__,
            function_id=__id__,
        )
        variables = mapping(arguments.metadata, "variables")
        named = text_field(variables, "{{USER_LANGUAGE}}")
        newest = newest_user_message(messages_of(body)) or {}
        LANGUAGE.set(language_of(named, message_text(newest)))
        return await work(self, body, arguments)

    return hook


async def host_hook(
    arguments: HookArguments, valves: Valves, tables: HostTables
) -> HostHook | None:
    """The hook of a user; ``None`` where there is nobody to serve."""
    user = arguments.user
    request = arguments.request
    USER_ID.set(str(user.get("id", "")))
    if request is None or not user.get("id"):
        return None
    settings = Settings.merge(valves, user.get("valves"))
    expire_settings(request)
    if not await has_memory_on(request, user.get("settings")):
        settings = settings.model_copy(update={"enabled": False})
    hook = HostHook.of(settings, arguments, request, tables)
    located = await located_chat(
        entries=tables.entries,
        user_id=hook.user_id,
        metadata=arguments.metadata,
        place=Place(
            model=scope_of("model", hook.chat_model_id),
            new_folders=settings.new_folders,
        ),
    )
    if located.shared is not None:
        hook.state.setdefault("shared", located.shared)
    return replace(hook, place=located.place, given=located.given)
