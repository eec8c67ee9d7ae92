"""Erasing the index of past conversation."""

from __future__ import annotations

from dataclasses import dataclass, field

from adaptive.errors import HostError
from adaptive.host.history_erasure import HistoryErasure


@dataclass
class Held:
    """``HeldHistory`` of two chats of Ada's; it fails while ``failing``."""

    chats: set[str] = field(default_factory=lambda: {"c", "d"})
    failing: bool = False

    async def held(self, user_id: str, chat_id: str = "") -> int:
        """How many."""
        if self.failing:
            raise HostError("the vector database is away")
        assert user_id == "ada"
        return len(self.chats & {chat_id} if chat_id else self.chats)

    async def erase(self, user_id: str, chat_id: str = "") -> int:
        """Remove them."""
        count = await self.held(user_id, chat_id)
        self.chats -= {chat_id} if chat_id else self.chats
        return count


async def test_everything() -> None:
    """What goes is counted before and after, and it is told that chats come in again."""
    erasure = HistoryErasure(Held(), "ada", "", goes_on=True)
    assert (await erasure.forecast()).counts == {"history": 2}
    report = await erasure.erase()
    assert report.line == "Erased: chats in the index of past conversation (2)."
    assert report.notes == (
        "A chat is indexed again when it goes on, as long as past conversation is recalled.",
    )
    assert (await erasure.forecast()).empty
    assert (await erasure.erase()).notes == ()


async def test_one_chat() -> None:
    """Of one chat only that goes; where recall is off, no more is to be said."""
    held = Held()
    report = await HistoryErasure(held, "ada", "c", goes_on=False).erase()
    assert held.chats == {"d"}
    assert report.notes == ()


async def test_failure() -> None:
    """What can't be looked at or removed is told with its reason, and nothing is raised."""
    erasure = HistoryErasure(Held(failing=True), "ada", "", goes_on=True)
    assert not (await erasure.forecast()).empty
    report = await erasure.erase()
    told = "Not erased: chats in the index of past conversation (the vector database is away)."
    assert report.line.endswith(told)
