"""Memories as a user names them: by the numbers that they are listed with, or by words."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from adaptive.core.model import JsonObject, Memory, frozen
from adaptive.memory.user_memory import Memories
from adaptive.search.index import FoundMemory
from adaptive.settings.hook import Hook

_NUMBER = re.compile(r"[#(\s]*(\d{1,9})[.):\s]*")


class MemorySearch(Protocol):
    """Finds memories by words, and says why some came; each may raise ``HostError``."""

    async def found(self, hook: Hook, words: str) -> Sequence[FoundMemory]:
        """The memories that words name, best first."""
        ...

    async def named(self, hook: Hook, memory: Memory) -> FoundMemory:
        """A memory that its user has named, with what keeps it from being repeated."""
        ...

    async def why(
        self,
        hook: Hook,
        messages: list[JsonObject],
        numbers: Mapping[str, int],
    ) -> str:
        """Why memories come for the newest message, with the numbers of memories by their ids."""
        ...


def number_in(words: str) -> int | None:
    """The number that words are, be it with a sign around it: ``3``, ``#3``, ``3.``."""
    match = _NUMBER.fullmatch(words)
    return int(match[1]) if match else None


@frozen
class NumberedMemories:
    """Finds what a user means by a number of the list, or by words."""

    memories: Memories
    search: MemorySearch

    async def meant(self, hook: Hook, words: str) -> Sequence[FoundMemory]:
        """The memory of a number that was given, if it stands, else what words name, best first."""
        number = number_in(words)
        if number is not None:
            memory = await self.memories.of(hook)
            given = await memory.numbers()
            ids = [each for each in given if given[each] == number]
            if ids:
                rows = await memory.store.read(ids)
                return [await self.search.named(hook, row) for row in rows]
        return await self.search.found(hook, words)
