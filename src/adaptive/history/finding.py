"""Past chats as their user looks for them, and the one offer to recall them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.core import Message, clipped_line, message_text, phrase
from adaptive.history.conversation import HITS, PastConversation
from adaptive.memory import Leases
from adaptive.search import (
    ListedChat,
    PastChats,
    normalised,
    query_vectors,
    tokens,
)
from adaptive.settings import Hook, StatusLines

_PATIENCE_SECONDS = 5.0
_FOR_GOOD_SECONDS = 100 * 365 * 24 * 3600.0
_LONGEST_TITLE = 60
# Of the words of a title, in a message that resembles its chat.
_LEAST_SHARED = 2
_LEAST_SHARE = 0.5


def titled_like(
    chats: Sequence[ListedChat], words: str
) -> list[tuple[int, ListedChat]]:
    """Chats with how many words of a text their titles share, the most first; at least one."""
    asked = frozenset(tokens(words))
    shared = [
        (len(asked.intersection(tokens(one.title))), one) for one in chats
    ]
    shared.sort(key=lambda each: -each[0])
    return [each for each in shared if each[0]]


@dataclass(eq=False)
class ChatFinder:
    """Finds past chats; nothing in it belongs to one user."""

    past: PastConversation
    chats: PastChats
    leases: Leases
    status: StatusLines

    async def titled(
        self, hook: Hook, words: str, since: float, until: float
    ) -> Sequence[ListedChat]:
        """Chats with messages of a time, the newest first, or those best titled for words."""
        chats = await self._listed(hook, since, until)
        if not words:
            return chats
        return [chat for _, chat in titled_like(chats, words)]

    async def about(
        self, hook: Hook, words: str, since: float, until: float
    ) -> Sequence[ListedChat]:
        """Indexed chats in which something of a time is about words, the best first."""
        embedder = (await hook.sources()).embedder
        vectors = await query_vectors(embedder, [words], _PATIENCE_SECONDS)
        if vectors is None:
            return ()
        name = await embedder.name()
        nearest = normalised(vectors)[0]
        hits = await self.past.vectors.search(
            hook.user_id, name, nearest, HITS
        )
        ranked = await self.past.ranked(hook, words, name, hits, gate=0.0)
        found: dict[str, ListedChat] = {}
        for message in ranked:
            is_elsewhere = message.chat_id != hook.chat_id
            if is_elsewhere and since <= message.said_at < until:
                chat = ListedChat(
                    id=message.chat_id,
                    title=message.chat_title,
                    said_at=message.said_at,
                )
                found.setdefault(chat.id, chat)
        return [*found.values()]

    async def offer(self, hook: Hook, messages: Sequence[Message]) -> None:
        """Offer recall once where a first message is like the title of an earlier chat.

        Titles alone are compared: what nobody has switched on is not indexed.
        """
        settings = hook.settings
        typed = [one for one in messages if one.get("role") == "user"]
        may_be_offered = (
            settings.allowed_history == "all"
            and not settings.chose_history
            and hook.told_kind == "saved"
            and len(typed) == 1
        )
        lease = f"chats_offered:{hook.user_id}"
        if not may_be_offered or await self.leases.is_taken(lease):
            return
        # Other people read what is shown in a chat that is shared.
        if await hook.kind() != "saved":
            return
        words = message_text(typed[0])
        chats = await self._listed(hook, 0, time.time())
        others = [chat for chat in chats if chat.id != hook.chat_id]
        for shared, chat in titled_like(others, words):
            least = _LEAST_SHARE * len({*tokens(chat.title)})
            if shared < max(_LEAST_SHARED, least):
                continue
            now = time.time()
            if await self.leases.acquire(lease, now, _FOR_GOOD_SECONDS):
                title = clipped_line(chat.title, _LONGEST_TITLE)
                await self.status.notice(
                    hook, phrase("offer_chats", title=title)
                )
            return

    async def _listed(
        self, hook: Hook, since: float, until: float
    ) -> list[ListedChat]:
        """Chats of a time, as far as they may be named where the hook's chat is."""
        chats = await self.chats.listed(hook.user_id, since, until)
        named = await self.past.quotable(hook, [chat.id for chat in chats])
        return [chat for chat in chats if chat.id in named]
