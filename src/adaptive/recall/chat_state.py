"""What a chat was given, as it is kept from turn to turn, and what of past conversation joins it."""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from adaptive.core import (
    Embedder,
    HostError,
    KeyedLocks,
    UserCache,
    log_failure,
)
from adaptive.memory import Addition, ChatTable, Entry, read_as
from adaptive.recall.chat_so_far import ChatSoFar, joined_additions
from adaptive.recall.placement import Placed
from adaptive.recall.question import Question
from adaptive.recall.request import RequestWindow
from adaptive.search import PastQuestion, Quotation
from adaptive.settings import Hook

_MOST_CHATS = 2000
_LONGEST_WRITING_SECONDS = 60.0


class PastSection(Protocol):
    """What of past conversation stands in a prompt, and what the user is told of it."""

    @property
    def text(self) -> str: ...
    @property
    def quoted(self) -> Sequence[Quotation]: ...
    @property
    def note(self) -> str: ...


class PastRecall(Protocol):
    """Finds past conversation for a turn."""

    def recalls(self, hook: Hook) -> bool:
        """Whether a turn is given any of the past."""
        ...

    async def standing(
        self, hook: Hook, quoted: Collection[Quotation]
    ) -> frozenset[Quotation]:
        """Those of quoted messages that stand as they did; raises ``HostError``."""
        ...

    async def recalled(
        self, hook: Hook, question: PastQuestion, embedder: Embedder
    ) -> PastSection:
        """The section for a turn; its text is empty where nothing fits or its search fails."""
        ...


@dataclass
class ChatState:
    """Reads and keeps what chats were given, and asks for their past.

    ``behind`` does work that no answer waits for.
    """

    table: ChatTable
    past: PastRecall
    behind: Callable[..., None]

    def __post_init__(self) -> None:
        # What may not stand in the table yet when the next message comes.
        self._newest = UserCache[Mapping[str, Addition]](
            _MOST_CHATS, seconds=_LONGEST_WRITING_SECONDS
        )
        self.forget = self._newest.forget
        self._writing = KeyedLocks()

    async def so_far(
        self, hook: Hook, window: RequestWindow, question: Question
    ) -> ChatSoFar:
        """What a chat was given, as far as that is known and may stand there still."""
        chat = hook.user_id, question.chat_id
        read = [Entry("", hook.given, 0)] if question.chat_id else ()
        [former] = read_as(dict[str, Addition], read) or [{}]
        so_far = ChatSoFar.of(
            {**former, **(self._newest.get(chat) or {})},
            window.keys,
            window.sent_keys,
            window.text_tokens,
            in_system=hook.settings.memory_placement == "system",
        )
        quoted = so_far.quoted()
        standing = frozenset[Quotation]()
        if quoted and await self._recalls_past(hook):
            try:
                standing = await self.past.standing(hook, quoted)
            except HostError as error:
                log_failure("what was quoted is left out", error)
        return so_far.without_quotes_of(quoted - standing)

    def keep(self, hook: Hook, question: Question, newest: Placed) -> None:
        """Keep what the newest message of a saved chat is given; it is written behind."""
        if not question.chat_id or not (newest.entries or newest.texts):
            return
        chat = hook.user_id, question.chat_id
        addition = newest.addition()
        former = self._newest.get(chat) or {}
        known = question.so_far.with_addition(addition)
        self._newest.put(chat, joined_additions(former, known))
        writing = self._write(chat, {question.so_far.key: addition})
        self.behind(writing, "keeping what a chat was given", gently=True)

    async def _write(
        self, chat: tuple[str, str], newest: Mapping[str, Addition]
    ) -> None:
        """Add to what the table holds of a chat, which this turn need not have seen."""
        async with self._writing.of("\0".join(chat)):
            former = await self.table.read(*chat)
            additions = joined_additions(former, newest)
            await self.table.write(*chat, additions, int(time.time()))

    async def past_section(
        self,
        hook: Hook,
        window: RequestWindow,
        question: Question,
        embedder: Embedder,
        reading: Awaitable[ChatSoFar],
    ) -> PastSection | None:
        """Past conversation for a question that was not asked before."""
        if question.to_forget or not await self._recalls_past(hook):
            return None
        so_far = await reading
        if so_far.again is not None:
            return None
        asked = PastQuestion(
            text=question.text,
            previous=question.previous,
            first=question.first,
            messages=window.messages,
            complete=question.complete,
            tokens=so_far.tokens_for_text(window.text_tokens),
            shown={
                (chat_id, message_id)
                for chat_id, message_id, _ in so_far.quoted()
            },
        )
        return await self.past.recalled(hook, asked, embedder)

    async def _recalls_past(self, hook: Hook) -> bool:
        """Whether a turn is given past conversation: not for a model that banks are kept from."""
        return self.past.recalls(hook) and not (await hook.hidden_from()).names
