"""The index of past conversation, kept behind the answers in the host's vector database.

What stands in the index is compared with the chat as it is now: new and changed messages are
embedded, those that were deleted or left behind on another branch are removed. So no message is
embedded twice, whichever worker did it first, and work that was broken off goes on where it was.

Each message is embedded with the one before it: a short answer ("The Minnesota Wolves!") says what
it is about only together with the question. The unit ends with the message, so that one that is
added changes no vector but its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from adaptive.core.embedding import Embedder
from adaptive.core.messages import has_words, head_and_tail, message_text
from adaptive.core.model import (
    AdaptiveMemoryError,
    HostError,
    Vectors,
    frozen,
    log_failure,
)
from adaptive.core.runtime import UserCache, portions
from adaptive.history.section import (
    HistoryLevels,
    MessageFilter,
    PastMessage,
    past_messages,
    secretless,
)
from adaptive.search.calibration import NULL_PROMPTS, null_levels
from adaptive.search.history_ports import (
    HistoryUnit,
    HistoryVectors,
    PastChats,
)
from adaptive.search.vectors import content_hash, normalised
from adaptive.settings.hook import Hook

# A batch takes a model on a slow CPU about a second, in which no memory is embedded beside it.
_UNITS_EMBEDDED_AT_ONCE = 32
# Embedding models read a few hundred tokens; head and tail of a long message tell its subject.
LONGEST_EMBEDDED = 1500
_REST_BETWEEN_CHATS = 0.05
# The host stores the whole answer before or soon after its outlet; 13 seconds in all.
_ANSWER_LOOKS = (0.3, 0.4, 0.8, 1.6, 3.0, 7.0)
# Enough to tell which way an engine's measure goes.
_NULL_HITS = 5
_MOST_CALIBRATED = 1000
# A past that has grown by half has other nearest neighbours.
_PAST_GROWN = 1.5

TellUser = Callable[[str], Awaitable[None]]
# Brings an embedder's vectors of the null prompts.
NullsOf = Callable[[Embedder], Awaitable[Vectors]]


@frozen
class HistoryCalibration:
    """The null distribution of a user's past, and of how many chats that was."""

    levels: HistoryLevels
    chats: int


@dataclass(eq=False)
class HistoryIndex:
    """Indexes chats and removes them; the database is the truth, so two workers do no harm.

    ``rememberable`` takes out of a chat what its user has not given to be remembered.
    """

    vectors: HistoryVectors
    chats: PastChats
    nulls: NullsOf
    rememberable: MessageFilter
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    def __post_init__(self) -> None:
        self._calibrations = UserCache[HistoryCalibration](_MOST_CALIBRATED)
        self._running: dict[asyncio.Task[None], str] = {}
        # Users whose past chats this process has indexed, and those who had them erased.
        self._backfilled = set[str]()
        self._erased = set[str]()

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
        if await hook.kind() != "saved" or not await hook.wants_memory():
            return
        user_id = hook.user_id
        embedder = (await hook.sources()).embedder
        await self._until_answer_is_stored(hook)
        # A filter hears nothing of a chat's deletion (host: events.py, CHAT_DELETED goes to Event
        # functions and webhooks only).
        indexed = await self.vectors.chats(user_id)
        titles = await self.chats.titles(user_id)
        for chat_id in indexed - titles.keys():
            await self._remove(user_id, chat_id)
        await self.index_chat(user_id, embedder, hook.chat_id, hook.answer_id)
        # Without any chat, the collection was deleted by others since.
        is_due = user_id not in self._backfilled or not indexed
        if (
            hook.settings.index_past_chats
            and hook.settings.history_recall == "all"
            and is_due
            and user_id not in self._erased
        ):
            others = [id_ for id_ in titles if id_ != hook.chat_id]
            await self._backfill(hook, embedder, others, tell)
            indexed = await self.vectors.chats(user_id)
        chats = len(indexed | {hook.chat_id})
        await self._calibrate(user_id, embedder, chats)

    async def _until_answer_is_stored(self, hook: Hook) -> None:
        """Wait until the turn is over and its whole answer stands in the host's table."""
        key = (hook.chat_id, hook.answer_id)
        for seconds in _ANSWER_LOOKS if hook.answer_id else ():
            await self.sleep(seconds)
            current = await self.chats.current(hook.user_id, [key])
            answer = current.get(key, {})
            has_ended = answer.get("error") or has_words(message_text(answer))
            if answer.get("done") is True and has_ended:
                return

    async def index_chat(
        self,
        user_id: str,
        embedder: Embedder,
        chat_id: str,
        newest_id: str = "",
    ) -> int:
        """Bring the index up to a chat as it stands; how many units were embedded.

        ``newest_id`` names the message that ends the branch. A chat that is gone is removed. May
        raise ``HostError`` and ``EmbeddingError``; what was embedded before stands.
        """
        name = await embedder.name()
        # Read first: what another turn adds meanwhile is not taken for something that has gone.
        digests = await self.vectors.digests(user_id, chat_id)
        stored = await self.chats.messages(user_id, chat_id)
        messages = past_messages(chat_id, stored, self.rememberable, newest_id)
        units = message_units(messages, name)
        # What goes is gone at once, and what comes is written batch by batch.
        if gone := digests.keys() - {unit.id for unit in units}:
            await self.vectors.delete(user_id, gone)
        new = [unit for unit in units if digests.get(unit.id) != unit.digest]
        for batch in portions(new, _UNITS_EMBEDDED_AT_ONCE):
            # In a thread, as looking for secrets takes a moment.
            texts = await asyncio.to_thread(unit_texts, batch)
            vectors = normalised(await embedder.embed(texts, query=False))
            await self.vectors.upsert(user_id, name, batch, vectors)
        return len(new)

    async def _backfill(
        self,
        hook: Hook,
        embedder: Embedder,
        chat_ids: Sequence[str],
        tell: TellUser,
    ) -> None:
        """Index all other chats of a user, the newest first, and tell unless none was left.

        It is done once, and tried again with a later turn where it comes to nothing. What stands in
        the index is passed over, so one that was stopped goes on.
        """
        embedded = 0
        try:
            for chat_id in chat_ids:
                if not await hook.wants_memory():
                    return
                embedded += await self.index_chat(
                    hook.user_id, embedder, chat_id
                )
                await self.sleep(_REST_BETWEEN_CHATS)
        except AdaptiveMemoryError as error:
            log_failure("past chats are not indexed yet", error)
            await tell(f"Past chats are not all indexed yet: {error}")
            return
        self._backfilled.add(hook.user_id)
        if embedded:
            await tell(f"Past chats indexed: {len(chat_ids) + 1}")

    async def _calibrate(
        self, user_id: str, embedder: Embedder, chats: int
    ) -> None:
        """Find out how near a past comes to each null prompt, where that is not known yet."""
        name = await embedder.name()
        former = self._calibrations.get((user_id, name))
        if former is not None and chats <= former.chats * _PAST_GROWN:
            return
        nearest: list[float] = []
        for vector in await self.nulls(embedder):
            hits = await self.vectors.search(user_id, name, vector, _NULL_HITS)
            nearest += [hit.score for hit in hits[:1]]
        if len(nearest) == len(NULL_PROMPTS):
            levels = null_levels(np.array(nearest, dtype=np.float32))
            calibration = HistoryCalibration(levels, chats)
            self._calibrations.put((user_id, name), calibration)

    def levels(self, user_id: str, embedder: str) -> HistoryLevels:
        """How near a user's past comes to what has nothing to do with it; empty if not known."""
        calibration = self._calibrations.get((user_id, embedder))
        return calibration.levels if calibration else {}

    async def held(self, user_id: str, chat_id: str = "") -> int:
        """How many chats of a user are indexed, or whether that one is; may raise ``HostError``."""
        indexed = await self.vectors.chats(user_id)
        return len(indexed & {chat_id} if chat_id else indexed)

    async def erase(self, user_id: str, chat_id: str = "") -> None:
        """Remove a user's index, or what of it is of one chat.

        What is being indexed is stopped first. The chats themselves stay, so one is indexed again
        when it goes on while recall is on. Raises ``HostError`` where something is left.
        """
        running = [
            keeping
            for keeping, owner in self._running.items()
            if owner == user_id
        ]
        for keeping in running:
            keeping.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if chat_id:
            await self._remove(user_id, chat_id)
            return
        await self.vectors.delete_all(user_id)
        if await self.held(user_id):
            raise HostError("the vector database still holds some of it")
        self._erased.add(user_id)
        self._calibrations.forget(user_id)

    async def _remove(self, user_id: str, chat_id: str) -> None:
        digests = await self.vectors.digests(user_id, chat_id)
        await self.vectors.delete(user_id, digests)


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
