"""Work on a turn, as a lesson sees it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Work:
    """Work in hand that is lost after ``losing`` questions."""

    journal: str = ""
    calls: int = 0
    losing: int = 1000

    async def held(self) -> bool:
        """Whether it is not lost yet."""
        self.losing -= 1
        return self.losing >= 0

    async def keep(self, journal: str) -> bool:
        """Keep it, if it is not lost yet."""
        self.journal = journal
        return await self.held()


async def always() -> bool:
    """There is a model call left."""
    return True
