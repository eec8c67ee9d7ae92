"""The index of past conversation, kept behind the answers in the host's vector database.

What is due is asked of the database: chats that have changed since it was noted that they are
indexed. What stands in the index is compared with such a chat as it is now: new and changed
messages are embedded, those that were deleted or left behind on another branch are removed. So no
message is embedded twice, whichever worker did it first, and work that was broken off goes on where
it was.

Each message is embedded with the one before it: a short answer ("The Minnesota Wolves!") says what
it is about only together with the question. The unit ends with the message, so that one that is
added changes no vector but its own.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from adaptive.core import (
    AdaptiveMemoryError,
    Embedder,
    HostError,
    Message,
    MessageFilter,
    frozen,
    has_words,
    head_and_tail,
    log_failure,
    message_text,
    phrase,
    portions,
)
from adaptive.history.section import (
    PastMessage,
    past_messages,
    secretless,
)
from adaptive.memory import Entries, Entry, Leases
from adaptive.search import (
    HistoryUnit,
    HistoryVectors,
    PastChats,
    content_hash,
    normalised,
)
from adaptive.settings import Hook

# A batch takes a model on a slow CPU about a second, in which no memory is embedded beside it.
_UNITS_EMBEDDED_AT_ONCE = 32
# Embedding models read a few hundred tokens; head and tail of a long message tell its subject.
LONGEST_EMBEDDED = 1500
_REST_BETWEEN_CHATS = 0.05
# Between two looks whether the user still wants it.
_CHATS_AT_ONCE = 10
# So many other chats are looked at whoever else does: titles and tags change a chat, too.
_FEW_CHATS = 3
_LEASE_SECONDS = 1800.0
# The host stores the whole answer before or soon after its outlet; 13 seconds in all.
_ANSWER_LOOKS = (0.3, 0.4, 0.8, 1.6, 3.0, 7.0)

# Some chats have nothing to index, as those that hold commands alone.
_NOTES_READ = 20

TellUser = Callable[[str], Awaitable[None]]


@frozen
class IndexedChat:
    """How many units of a chat the index has now, and how many of them were embedded for it."""

    embedded: int
    units: int


@dataclass(eq=False)
class HistoryIndex:
    """Indexes chats and removes them; the database is the truth, so two workers do no harm.

    ``rememberable`` takes out of a chat what its user has not given to be remembered.
    """

    vectors: HistoryVectors
    chats: PastChats
    entries: Entries
    leases: Leases
    rememberable: MessageFilter
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    def __post_init__(self) -> None:
        self._running: dict[asyncio.Task[None], str] = {}

    def keeps(self, hook: Hook) -> bool:
        """Whether a turn's chat is to be indexed."""
        recalls = hook.settings.history_recall != "off"
        return recalls and hook.told_kind == "saved"

    async def keep(self, hook: Hook, tell: TellUser) -> None:
        """Bring the index up to the turn, then do what else is due; nobody waits for it.

        ``tell`` shows a line with the answer. May raise ``HostError`` and ``EmbeddingError``.
        """
        keeping = asyncio.create_task(self._keep(hook, tell))
        self._running[keeping] = hook.user_id
        keeping.add_done_callback(self._running.pop)
        await keeping

    async def _keep(self, hook: Hook, tell: TellUser) -> None:
        if await hook.kind() != "saved":
            return
        settings = hook.settings
        embedder = (await hook.sources()).embedder
        keeps_all = (
            settings.index_past_chats and settings.history_recall == "all"
        )
        await self.sleep(_ANSWER_LOOKS[0])
        # A filter hears nothing of a chat's deletion (host: events.py, CHAT_DELETED goes to Event
        # functions and webhooks only), so what is gone is looked for as well.
        due = await self.chats.to_index(
            hook.user_id, "" if keeps_all else hook.chat_id
        )
        others = [chat_id for chat_id in due if chat_id != hook.chat_id]
        if len(others) <= _FEW_CHATS:
            await self._index(hook, embedder, [hook.chat_id, *others], due)
            return
        await self._index(hook, embedder, [hook.chat_id], due)
        lease = f"history:{hook.user_id}"
        if await self.leases.acquire(lease, time.time(), _LEASE_SECONDS):
            try:
                embedded = await self._index(hook, embedder, others, due)
                if embedded:
                    await tell(phrase("indexed", n=len(due)))
            except AdaptiveMemoryError as error:
                log_failure("past chats are not indexed yet", error)
                await tell(f"{phrase('not_indexed')}: {error}")
            finally:
                await self.leases.end([lease])

    async def _index(
        self,
        hook: Hook,
        embedder: Embedder,
        chat_ids: Sequence[str],
        due: Mapping[str, int],
    ) -> int:
        """Index chats while the user wants it, and note that; how many units were embedded."""
        embedded = 0
        for some in portions(chat_ids, _CHATS_AT_ONCE):
            if not await hook.wants_memory():
                break
            noted = list[Entry]()
            for chat_id in some:
                answer_id = ""
                if chat_id == hook.chat_id:
                    answer_id = hook.answer_id
                else:
                    await self.sleep(_REST_BETWEEN_CHATS)
                indexed = await self.index_chat(
                    hook.user_id, embedder, chat_id, answer_id
                )
                embedded += indexed.embedded
                if due.get(chat_id):
                    note = Entry(chat_id, indexed.units, due[chat_id], chat_id)
                    noted.append(note)
            await self.entries.put("history", hook.user_id, noted)
            gone = [chat_id for chat_id in some if due.get(chat_id) == 0]
            if gone:
                await self.entries.drop("history", hook.user_id, gone)
        return embedded

    async def index_chat(
        self,
        user_id: str,
        embedder: Embedder,
        chat_id: str,
        answer_id: str = "",
    ) -> IndexedChat:
        """Bring the index up to a chat as it stands.

        ``answer_id`` names the answer that ends the branch, which is waited for. A chat that is
        gone is removed. May raise ``HostError`` and ``EmbeddingError``; what was embedded before
        stands.
        """
        name = await embedder.name()
        # Read first: what another turn adds meanwhile is not taken for something that has gone.
        digests = await self.vectors.digests(user_id, chat_id)
        stored = await self._stored_messages(user_id, chat_id, answer_id)
        # In a thread, as a long chat takes a moment.
        units = await asyncio.to_thread(
            lambda: message_units(
                past_messages(chat_id, stored, self.rememberable, answer_id),
                name,
            )
        )
        new = [unit for unit in units if digests.get(unit.id) != unit.digest]
        is_whole = len(new) < max(len(units), 1) or await self._is_whole(
            user_id, name
        )
        if not is_whole:
            standing = await self.vectors.standing_embedder(user_id)
            if standing not in ("", content_hash(name)):
                await self.vectors.delete_all(user_id)
        # What goes is gone at once, and what comes is written batch by batch.
        gone = digests.keys() - {unit.id for unit in units}
        if gone:
            await self.vectors.delete(user_id, gone)
        for batch in portions(new, _UNITS_EMBEDDED_AT_ONCE):
            # In a thread, as looking for secrets takes a moment.
            texts = await asyncio.to_thread(unit_texts, batch)
            vectors = normalised(await embedder.embed(texts, query=False))
            await self.vectors.upsert(user_id, name, batch, vectors)
        # Only now is it sure that the database answers, and that there was nothing of this model.
        if not is_whole:
            await self._compare_all(user_id)
        return IndexedChat(embedded=len(new), units=len(units))

    async def _is_whole(self, user_id: str, name: str) -> bool:
        """Whether the index has, of this embedder, what was indexed last; not one out of a backup."""
        noted = await self.entries.read("history", user_id, most=_NOTES_READ)
        newest = next((note.key for note in noted if note.body), "")
        standing = await self.vectors.standing_embedder(user_id, newest)
        return standing == content_hash(name)

    async def _compare_all(self, user_id: str) -> None:
        """Have each chat that was indexed compared with the index, whichever these are."""
        keys = await self.entries.keys("history", user_id)
        due = [Entry(key, None, 0, key) for key in keys]
        await self.entries.put("history", user_id, due)

    async def _stored_messages(
        self, user_id: str, chat_id: str, answer_id: str
    ) -> Sequence[Message]:
        """A chat's messages, once an answer stands there whole, or has not come for long."""
        for seconds in _ANSWER_LOOKS[1:]:
            stored = await self.chats.messages(user_id, chat_id)
            if not answer_id or _has_ended(stored, answer_id):
                return stored
            await self.sleep(seconds)
        return await self.chats.messages(user_id, chat_id)

    async def erase(self, user_id: str, chat_id: str = "") -> None:
        """Remove a user's index, or what of it is of one chat.

        What is being indexed is stopped first. The chats themselves stay, so one is indexed again
        when it goes on while recall is on. Raises ``HostError`` where something is left.
        """
        note = Entry(chat_id, None, int(time.time()), chat_id)
        if chat_id:
            # Nothing is learned from it later either.
            await self.entries.put("erased_history", user_id, [note])
        running = [
            keeping
            for keeping, owner in self._running.items()
            if owner == user_id
        ]
        for keeping in running:
            keeping.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        units = await self.vectors.digests(user_id, chat_id)
        if not units and not await self.vectors.standing_embedder(user_id):
            return
        if chat_id:
            await self.vectors.delete(user_id, units)
            return
        await self.entries.put("erased_history", user_id, [note])
        await self.vectors.delete_all(user_id)
        if await self.vectors.standing_embedder(user_id):
            raise HostError(
                detail="the vector database still holds some of it"
            )


def _has_ended(messages: Sequence[Message], answer_id: str) -> bool:
    """Whether an answer is among messages that has ended."""
    return any(
        message["id"] == answer_id
        and message.get("done") is True
        and bool(message.get("error") or has_words(message_text(message)))
        for message in messages
    )


def message_units(
    messages: Sequence[PastMessage], embedder: str
) -> list[HistoryUnit]:
    """The units of a chat's messages, oldest first."""
    units: list[HistoryUnit] = []
    previous_id = ""
    texts: list[str] = []
    for message in messages:
        texts = [*texts[-1:], message.text]
        units.append(
            HistoryUnit(
                chat_id=message.chat_id,
                message_id=message.id,
                previous_id=previous_id,
                texts=texts,
                digest=content_hash(
                    "\0".join([embedder, previous_id, *texts])
                ),
            )
        )
        previous_id = message.id
    return units


def unit_texts(units: Sequence[HistoryUnit]) -> list[str]:
    """What is embedded of units: head and tail of their messages, without secrets."""
    return [
        "\n".join(
            head_and_tail(
                secretless(text), LONGEST_EMBEDDED // len(unit.texts)
            )
            for text in unit.texts
        )
        for unit in units
    ]
