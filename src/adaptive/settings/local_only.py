"""Banks whose memories only models on the admin's own machines may see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from adaptive.core.model import Memory
from adaptive.settings.merged import Settings


@dataclass(frozen=True, slots=True)
class LocalOnlyBanks:
    """Banks that are kept from one model; without names it may see every memory.

    ``default`` is the bank that a memory without a bank of its own counts to. Names are compared as
    the store compares them: letter case and the number of blanks do not matter.
    """

    names: frozenset[str] = frozenset()
    default: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The banks that the valve names."""
        names = map(_bank_key, settings.local_only_banks.split(","))
        return cls(frozenset(filter(None, names)), _bank_key(settings.default_bank))

    def holds(self, memory: Memory) -> bool:
        """Whether a memory is in one of them."""
        return bool(self.names) and (_bank_key(memory.bank) or self.default) in self.names

    def without(self, memories: Iterable[Memory]) -> list[Memory]:
        """The memories that are in none of them."""
        return [memory for memory in memories if not self.holds(memory)]


NOTHING_HIDDEN = LocalOnlyBanks()


def _bank_key(name: str) -> str:
    return " ".join(name.split()).casefold()
