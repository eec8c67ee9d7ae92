"""What the host hands to one hook, as the rooms see it; ``host`` implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from adaptive.core.messages import Message
from adaptive.core.model import ConversationKind, Memory, TurnState
from adaptive.core.ports import Completer, Dialog, Embedder, Notifier, StoredAnswer
from adaptive.core.table_ports import Sources
from adaptive.settings.local_only import LocalOnlyBanks
from adaptive.settings.merged import Settings


class Hook(Protocol):
    """One hook of one turn: whose it is, how it is to be served, and by whom.

    What asks the host may raise ``HostError``. Ids are empty where nothing is stored.
    """

    @property
    def settings(self) -> Settings:
        """Valves and the user's own choices, frozen."""
        ...

    @property
    def user_id(self) -> str:
        """Id of the user whose turn it is."""
        ...

    @property
    def chat_id(self) -> str:
        """Id of the chat as the host names it, empty for a plain API call."""
        ...

    @property
    def question_id(self) -> str:
        """Id of the user's message."""
        ...

    @property
    def answer_id(self) -> str:
        """Id of the answer, which the inlet is told as well."""
        ...

    @property
    def state(self) -> TurnState:
        """What the hooks of this turn tell each other."""
        ...

    @property
    def time_zones(self) -> tuple[str, str, str]:
        """Names of time zones: the user's choice, then the browser's, then the admin's."""
        ...

    @property
    def told_kind(self) -> ConversationKind:
        """The kind of conversation, as far as it can be told without the database."""
        ...

    @property
    def is_recalled(self) -> bool:
        """Whether memories may go into this kind of conversation."""
        ...

    @property
    def is_learned_from(self) -> bool:
        """Whether what the user types in this kind of conversation may be learned."""
        ...

    @property
    def has_page(self) -> bool:
        """Whether there is a page that shows lines with the answer."""
        ...

    @property
    def can_ask(self) -> bool:
        """Whether there is a page that can show a dialog."""
        ...

    @property
    def notifier(self) -> Notifier:
        """Shows lines with the answer, unless the user or the admin wants none."""
        ...

    @property
    def dialog(self) -> Dialog:
        """Asks the user; nobody answers where there is no page."""
        ...

    def with_settings(self, settings: Settings) -> Self:
        """The same hook under other settings."""
        ...

    async def kind(self) -> ConversationKind:
        """The kind of conversation; a saved chat that somebody else owns is a shared one."""
        ...

    async def other_authors(self) -> bool:
        """Whether somebody else wrote a message of the chat; on doubt, yes."""
        ...

    async def wants_memory(self) -> bool:
        """Whether the user has not switched memory off in the host's settings by now."""
        ...

    async def compacts(self) -> bool:
        """Whether the host compacts chats itself (since 0.10)."""
        ...

    async def sources(self) -> Sources:
        """Where the user's memories are, behind the gate, and who makes their vectors."""
        ...

    async def embedder(self) -> Embedder:
        """Who makes vectors."""
        ...

    async def completer(self) -> Completer:
        """The model for learning, behind redaction.

        Raises:
            ModelRejected: no model is known; the text says which valve helps.
        """
        ...

    async def hidden_from(self, completer: Completer | None = None) -> LocalOnlyBanks:
        """Banks that a model may not see: the chat's own one, or the one of a completer."""
        ...

    @property
    def stored_answer(self) -> StoredAnswer:
        """The answer of the turn, where the host stores it."""
        ...

    async def name_chat(self, title: str, messages: Sequence[Message]) -> bool:
        """Give the user's own new chat a title, where nobody else does; whether it was given."""
        ...

    async def suggest(self, lines: Sequence[str]) -> bool:
        """Show what to ask next below the answer, where the host makes none itself; whether so."""
        ...

    @property
    def regenerated_message(self) -> Mapping[str, Any]:
        """The user's message whose answer is made anew, empty where none is."""
        ...

    async def not_injected(
        self, body: Mapping[str, Any], memories: Sequence[Memory]
    ) -> list[Memory]:
        """Those of the memories that the host's own memory adds to no prompt of this request."""
        ...

    async def add_note(self, line: str) -> bool:
        """Add a line below the stored answer; ``False`` where it does not stand there then."""
        ...

    async def of_answer(self, chat_id: str, answer_id: str) -> Self:
        """The user's hook for an answer in a saved chat that another process has given."""
        ...
