"""A table of suggestions in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from adaptive.core.errors import TablesUnavailable
from adaptive.core.kept import WaitingSuggestion


class ListedSuggestions:
    """A ``SuggestionTable`` of one user, without a clock.

    Each call fails while ``unavailable``, those that end a suggestion's waiting while
    ``read_only``. ``asked`` are those asked about once, in which chat; ``busy`` those in a dialog.
    """

    def __init__(self, *rejected: str) -> None:
        self.digests = set(rejected)
        self.rows: dict[str, WaitingSuggestion] = {}
        self.asked: dict[str, str] = {}
        self.busy: set[str] = set()
        self.unavailable = self.read_only = False

    def _check(self, *, writing: bool = False) -> None:
        if self.unavailable or (writing and self.read_only):
            raise TablesUnavailable("no table can be created")

    async def put(self, user_id: str, waiting: Sequence[WaitingSuggestion], now: int) -> None:
        """Keep those that were not rejected."""
        self._check()
        self.rows.update({one.digest: one for one in waiting if one.digest not in self.digests})

    async def waiting(self, user_id: str) -> tuple[WaitingSuggestion, ...]:
        """All of them."""
        self._check()
        return tuple(self.rows.values())

    async def claim(
        self, user_id: str, chat_id: str, now: int, most: int
    ) -> tuple[WaitingSuggestion, ...]:
        """The newest that were not asked about in the chat."""
        self._check()
        due = [
            one
            for digest, one in reversed(self.rows.items())
            if self.asked.get(digest) != chat_id and digest not in self.busy
        ][:most]
        self.asked.update({one.digest: chat_id for one in due})
        self.busy.update(one.digest for one in due)
        return tuple(due)

    async def release(self, user_id: str, chat_id: str, digests: Collection[str]) -> None:
        """No dialog for them."""
        self._check()
        self.busy.difference_update(digests)

    async def discard(self, user_id: str, digests: Collection[str]) -> None:
        """Fewer of them."""
        self._check(writing=True)
        for digest in digests:
            self.rows.pop(digest, None)

    async def reject(self, user_id: str, digest: str, now: int) -> None:
        """One less, for good."""
        self._check(writing=True)
        self.digests.add(digest)
        self.rows.pop(digest, None)

    async def rejected(self, user_id: str, digests: Collection[str]) -> frozenset[str]:
        """Those of them that are."""
        self._check()
        return frozenset(self.digests & set(digests))
