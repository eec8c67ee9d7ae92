"""Memories that are proposed to users: those that wait for an answer, and what was rejected."""

from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import asdict, dataclass

from adaptive.core import Draft, Place, Provenance, frozen
from adaptive.memory.tables import Entry, EntryTable, Leases, read_as

# More would be a long list to answer.
MOST_WAITING_SUGGESTIONS = 20
# Longer than a dialog stays open; whoever left one unanswered is not asked with every turn.
ASKED_REST_SECONDS = 600


@frozen
class WaitingSuggestion:
    """A memory that is proposed to the user; its ``digest`` is what is left when it is rejected.

    ``memory_id`` is the row whose content it replaces, if any.
    """

    digest: str
    draft: Draft
    memory_id: str
    source: Provenance


# Saves what the user has said yes to; false where it is neither a memory nor refused as one.
KeepSuggestion = Callable[[WaitingSuggestion], Awaitable[bool]]


@dataclass(frozen=True)
class SuggestionTable(EntryTable):
    """Suggestions that wait for an answer, until they are answered.

    Of what was rejected the digest is kept, for good.
    """

    leases: Leases

    async def put(
        self, user_id: str, waiting: Iterable[WaitingSuggestion]
    ) -> None:
        """Let suggestions wait, replacing former ones of the same digest."""
        new = [
            Entry(
                key=suggestion.digest,
                body=asdict(suggestion),
                created_at=suggestion.source.said_at,
                chat_id=suggestion.source.chat_id,
                message_id=suggestion.source.message_id,
            )
            for suggestion in waiting
        ]
        await self.entries.put("suggestion", user_id, new)

    async def waiting(self, user_id: str) -> tuple[WaitingSuggestion, ...]:
        """A user's waiting suggestions, the newest first."""
        entries = await self.entries.read("suggestion", user_id)
        return read_as(WaitingSuggestion, entries)

    async def claim(
        self,
        user_id: str,
        but: Collection[str],
        now: int,
        most: int,
        place: Place,
    ) -> list[WaitingSuggestion]:
        """The newest suggestions for a place that nobody has asked about lately; then they rest."""
        claimed: list[WaitingSuggestion] = []
        for suggestion in await self.waiting(user_id):
            if len(claimed) == most:
                break
            is_wanted = suggestion.digest not in but and place.admits(
                suggestion.draft.scope
            )
            if is_wanted and await self.leases.acquire(
                f"asked:{suggestion.digest}:{user_id}",
                now,
                ASKED_REST_SECONDS,
            ):
                claimed.append(suggestion)
        return claimed

    async def release(self, user_id: str, digests: Iterable[str]) -> None:
        """Let suggestions rest no longer."""
        await self.leases.end(f"asked:{one}:{user_id}" for one in digests)

    async def discard(self, user_id: str, digests: Collection[str]) -> None:
        """Drop suggestions that wait."""
        await self.entries.drop("suggestion", user_id, digests)

    async def reject(self, user_id: str, digest: str, now: int) -> None:
        """Remember a digest for good, and drop everything else that is held of it."""
        rejection = Entry(key=digest, body=True, created_at=now)
        await self.entries.put("rejection", user_id, [rejection])
        await self.discard(user_id, [digest])

    async def rejected(
        self, user_id: str, digests: Collection[str]
    ) -> frozenset[str]:
        """Those of the digests that the user has rejected, by whatever secret it was written down."""
        rejected = await self.entries.keys("rejection", user_id)
        return frozenset(rejected).intersection(digests)
