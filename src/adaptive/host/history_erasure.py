"""Forgetting past conversation: the index goes, the chats themselves stay in the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from adaptive.host.erasure import ErasureForecast, ErasureReport, ErasureTally

_INDEXED_ANEW = "A chat is indexed again when it goes on, as long as past conversation is recalled."


class HeldHistory(Protocol):
    """What is indexed of users' conversations; any call may raise ``HostError``."""

    async def held(self, user_id: str, chat_id: str = "") -> int:
        """How many chats of a user are indexed, or whether that one is."""
        ...

    async def erase(self, user_id: str, chat_id: str = "") -> int:
        """Remove them; how many chats there were."""
        ...


@dataclass(frozen=True, slots=True)
class HistoryErasure:
    """The erasure of what is indexed of a user, or of one chat; ``goes_on``: recall is on."""

    history: HeldHistory
    user_id: str
    chat_id: str
    goes_on: bool

    async def forecast(self) -> ErasureForecast:
        """What there is; raises nothing of ours."""
        tally = ErasureTally()
        held = self.history.held(self.user_id, self.chat_id)
        tally.count("history", await tally.tried("history", held, 0))
        return ErasureForecast((), tally.removed, tally.failed)

    async def erase(self) -> ErasureReport:
        """What was removed; raises nothing of ours."""
        tally = ErasureTally()
        await tally.removing("history", self.history.erase(self.user_id, self.chat_id))
        if self.goes_on and tally.removed["history"]:
            tally.notes.append(_INDEXED_ANEW)
        return tally.report()
