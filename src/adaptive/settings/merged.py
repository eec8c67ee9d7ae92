"""The settings that one hook works with: valves and a user's own choices, merged and frozen.

With them the banks whose memories only models on the admin's own machines may see.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel, ConfigDict

from adaptive.core.model import CATEGORIES, Memory
from adaptive.settings.names import (
    PERSONAL_KINDS,
    not_understood,
    read_kinds,
    read_names,
    split_names,
)
from adaptive.settings.valves import UserValves, Valves

# What users could choose in the first release; ours all the same, where they come from then.
_OLDEST_USER_VALVES = {
    "enabled",
    "show_memories",
    "save_mode",
    "show_status",
    "timezone",
}
# The narrowest first.
_SAVE_MODES = ("off", "suggest", "auto")
_HISTORY_REACHES = ("off", "chat", "all")


class Settings(Valves):
    """Valves and a user's own choices, merged and frozen for one hook."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = True
    user_timezone: str = ""
    index_past_chats: bool = False

    @classmethod
    def merge(cls, valves: BaseModel, user_valves: object) -> Self:
        """Freeze the admin's valves, narrowed by the user's.

        Both may be classes of an older load of this plug-in, so they are read by field name;
        ``user_valves`` may even be another filter's, which the host leaves in the shared user
        dict when ours fail to load (host: utils/filter.py), or missing.
        """
        theirs = (
            user_valves.model_dump()
            if isinstance(user_valves, BaseModel)
            else {}
        )
        if (
            not _OLDEST_USER_VALVES
            <= set(theirs)
            <= set(UserValves.model_fields)
        ):
            theirs = {}
        own = UserValves(**theirs)
        admin = (
            valves if type(valves) is Valves else Valves(**valves.model_dump())
        )
        reach = own.history_recall
        if reach == "default":
            reach = admin.history_recall_default
        merged = dict(admin)
        merged["show_status"] = admin.show_status and own.show_status
        merged["show_memories"] = admin.show_memories and own.show_memories
        merged["save_mode"] = min(
            admin.save_mode, own.save_mode, key=_SAVE_MODES.index
        )
        merged["history_recall"] = min(
            admin.history_recall, reach, key=_HISTORY_REACHES.index
        )
        merged["index_past_chats"] = own.index_past_chats
        # Validated above; doing it again would be most of what a hook costs before its work.
        return cls.model_construct(
            **merged, enabled=own.enabled, user_timezone=own.timezone
        )

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories that may be learned, in their fixed order; all where none is known."""
        named = read_names(self.memory_categories, CATEGORIES).names
        return (
            tuple(name for name in CATEGORIES if name in named) or CATEGORIES
        )

    @property
    def refused_kinds(self) -> frozenset[str]:
        """The kinds of personal data that refuse a memory: all, if a name is not known."""
        read = read_kinds(self.refuse_in_memories)
        return frozenset(PERSONAL_KINDS) if read.unknown else read.names

    @property
    def masked_kinds(self) -> frozenset[str]:
        """The kinds that are masked: all that are not refused, if a name is not known."""
        read = read_kinds(self.mask_in_memories)
        return (
            frozenset(PERSONAL_KINDS) - self.refused_kinds
            if read.unknown
            else read.names
        )

    @property
    def misread(self) -> tuple[str, ...]:
        """What is not understood in the valves, and what is done instead; a line for each valve."""
        return (
            *not_understood(
                "memory_categories",
                read_names(self.memory_categories, CATEGORIES),
                f"these are learned: {', '.join(self.categories)}",
            ),
            *not_understood(
                "refuse_in_memories",
                read_kinds(self.refuse_in_memories),
                "all personal data is refused",
            ),
            *not_understood(
                "mask_in_memories",
                read_kinds(self.mask_in_memories),
                "all personal data that is not refused is masked",
            ),
            *not_understood(
                "local_only_banks",
                read_names(self.local_only_banks, self.banks),
                "every memory is kept from models that are not local",
            ),
        )

    @property
    def banks(self) -> tuple[str, ...]:
        """The allowed banks, at least one."""
        return tuple(
            dict.fromkeys(split_names(self.allowed_memory_banks))
        ) or ("General",)

    @property
    def default_bank(self) -> str:
        """The bank of a memory for which none of the allowed ones is named."""
        return self.banks[0]

    @property
    def keeping_rules(self) -> str:
        """What to keep and what never, in the admin's own words; lines of a prompt."""
        rules = {
            "Also worth keeping": self.memory_keep.strip(),
            "Never keep": self.blacklist_topics.strip(),
        }
        return "\n".join(
            f"- {rule}: {words}" for rule, words in rules.items() if words
        )


@dataclass(frozen=True, slots=True)
class LocalOnlyBanks:
    """Banks that are kept from one model; without names it may see every memory.

    Where ``all_banks`` are, since one that is named is not known, it may see none. ``default`` is
    the bank that a memory without a bank of its own counts to. Names are compared as the store
    compares them: letter case and the number of blanks do not matter.
    """

    names: frozenset[str] = frozenset()
    default: str = ""
    all_banks: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The banks that the valve names, or is near to naming."""
        read = read_names(settings.local_only_banks, settings.banks)
        written = split_names(settings.local_only_banks)
        names = frozenset(map(_bank_key, (*read.names, *written)))
        return cls(names, _bank_key(settings.default_bank), bool(read.unknown))

    def holds(self, memory: Memory) -> bool:
        """Whether a memory is in one of them."""
        bank = _bank_key(memory.bank) or self.default
        return self.all_banks or bank in self.names

    def without(self, memories: Iterable[Memory]) -> list[Memory]:
        """The memories that are in none of them."""
        return [memory for memory in memories if not self.holds(memory)]


NOTHING_HIDDEN = LocalOnlyBanks()


def _bank_key(name: str) -> str:
    return " ".join(name.split()).casefold()
