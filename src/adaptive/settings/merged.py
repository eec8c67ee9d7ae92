"""The settings that one hook works with: valves and a user's own choices, merged and frozen.

Names in valves are read as admins write them: other names, spellings and plurals are understood,
and what is not understood is a value of its own, for the doctor and the log to tell. With them what
may not be shown: to models that are not on the admin's own machines, and at other places.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Self

from pydantic import BaseModel, ConfigDict

from adaptive.core import (
    CATEGORIES,
    CORE_CATEGORIES,
    Draft,
    JsonObject,
    Memory,
    Place,
    PlaceChoice,
    frozen,
    phrase,
)
from adaptive.settings.valves import (
    PERSONAL_KINDS,
    HistoryReach,
    UserValves,
    Valves,
)

_MOST_LISTS_READ = 200


@frozen
class NamesRead:
    """The names that a list was understood to hold, and what was not understood."""

    names: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()


@lru_cache(_MOST_LISTS_READ)
def read_names(listed: str, allowed: tuple[str, ...]) -> NamesRead:
    """Read a list of names with commas; the allowed names are given as they are to come out."""
    spelled = {_plain(name): name for name in allowed}
    for name in allowed:
        others = PERSONAL_KINDS.get(name, ())
        spelled.update({_plain(other): name for other in others})
    understood = set[str]()
    unknown = list[str]()
    for written in split_names(listed):
        name = spelled.get(_plain(written))
        if name:
            understood.add(name)
        else:
            unknown.append(written)
    return NamesRead(frozenset(understood), tuple(unknown))


def split_names(listed: str) -> list[str]:
    """What stands between the commas."""
    return [name.strip() for name in listed.split(",") if name.strip()]


def _plain(name: str) -> str:
    """Letters and digits alone, in small letters and the singular; of signs alone the signs."""
    letters = "".join(filter(str.isalnum, name.casefold()))
    return letters.removesuffix("s") or name


# The narrowest first.
_SAVE_MODES = ("off", "suggest", "auto")
_HISTORY_REACHES = ("off", "chat", "all")
# The valves that list names, of which some may not be understood.
_LISTING = (
    "memory_categories",
    "refuse_in_memories",
    "mask_in_memories",
    "local_only_banks",
)


class Settings(Valves):
    """Valves and a user's own choices, merged and frozen for one hook."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = True
    user_timezone: str = ""
    index_past_chats: bool = False
    new_folders: PlaceChoice = "everywhere"
    allowed_history: HistoryReach = "off"  # as far as users may have it
    chose_history: bool = False  # the user has chosen how far

    @classmethod
    def merge(cls, valves: BaseModel, user_valves: object) -> Self:
        """Freeze the admin's valves, narrowed by the user's.

        Both may be classes of an older load of this plug-in, so they are read by field name; the
        user's may be missing.
        """
        own = UserValves()
        if isinstance(user_valves, BaseModel):
            own = UserValves(**user_valves.model_dump())
        admin = Valves(**valves.model_dump())
        reach = own.history_recall
        if reach == "default":
            reach = admin.history_recall_default
        merged: JsonObject = {
            **dict(admin),
            "show_status": admin.show_status and own.show_status,
            "show_memories": admin.show_memories and own.show_memories,
            "save_mode": min(
                admin.save_mode, own.save_mode, key=_SAVE_MODES.index
            ),
            "history_recall": min(
                admin.history_recall, reach, key=_HISTORY_REACHES.index
            ),
            "index_past_chats": own.index_past_chats,
            "new_folders": own.new_folders,
            "allowed_history": admin.history_recall,
            "chose_history": own.history_recall != "default",
            "enabled": own.enabled,
            "user_timezone": own.timezone,
        }
        # Validated above; doing it again would be most of what a hook costs before its work.
        return cls.model_construct(**merged)

    def names_in(self, valve: str) -> NamesRead:
        """What a valve that lists names is understood to say."""
        allowed = {
            "memory_categories": CATEGORIES,
            "local_only_banks": self.banks,
        }
        kinds = tuple(PERSONAL_KINDS)
        return read_names(getattr(self, valve), allowed.get(valve, kinds))

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories that may be learned, in their fixed order; all where none is known."""
        named = {*(self.names_in("memory_categories").names or CATEGORIES)}
        # A list from before health, work and home had names of their own: they were identity.
        if named.intersection(CORE_CATEGORIES) == {"identity"}:
            named.update(CORE_CATEGORIES)
        return tuple(name for name in CATEGORIES if name in named)

    @property
    def refused_kinds(self) -> frozenset[str]:
        """The kinds of personal data that refuse a memory: all, if a name is not known."""
        read = self.names_in("refuse_in_memories")
        return frozenset(PERSONAL_KINDS) if read.unknown else read.names

    @property
    def masked_kinds(self) -> frozenset[str]:
        """The kinds that are masked: all that are not refused, if a name is not known."""
        read = self.names_in("mask_in_memories")
        others = frozenset(PERSONAL_KINDS) - self.refused_kinds
        return others if read.unknown else read.names

    @property
    def misread(self) -> tuple[str, ...]:
        """What is not understood in the valves; a line for each valve."""
        lines = list[str]()
        for valve in _LISTING:
            unknown = ", ".join(self.names_in(valve).unknown)
            if unknown:
                lines.append(phrase("misread", valve=valve, names=unknown))
        return tuple(lines)

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
            "Also worth keeping": self.memory_keep,
            "Never keep": self.blacklist_topics,
        }
        return "\n".join(
            f"- {rule}: {words}" for rule, words in rules.items() if words
        )


@frozen
class HiddenMemories:
    """Memories that may not be shown to one model, or not at one place.

    By ``names`` are the banks that are kept from the model; where ``all_banks`` are, since one of
    the names is not known, it may see none. ``default`` is the bank that a memory without a bank of
    its own counts to. Names are compared as the store compares them: letter case and the number of
    blanks do not matter. The ``place`` hides what belongs to others.
    """

    names: frozenset[str] = frozenset()
    default: str = ""
    all_banks: bool = False
    place: Place = Place()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The banks that the valve names, or is near to naming, and former ones of those names."""
        read = settings.names_in("local_only_banks")
        written = split_names(settings.local_only_banks)
        return cls(
            names=frozenset(map(_bank_key, [*read.names, *written])),
            default=_bank_key(settings.default_bank),
            all_banks=bool(read.unknown),
        )

    def holds(self, memory: Memory | Draft) -> bool:
        """Whether a memory is one of them."""
        return self._hides(memory.bank, memory.scope)

    def without(self, memories: Iterable[Memory]) -> list[Memory]:
        """The memories that may be shown."""
        # Of many memories there are few banks and scopes.
        hides = cache(self._hides)
        return [one for one in memories if not hides(one.bank, one.scope)]

    def _hides(self, bank: str, scope: str) -> bool:
        """Whether the memories of a bank and a scope may not be shown."""
        is_elsewhere = not self.place.admits(scope)
        is_kept = (_bank_key(bank) or self.default) in self.names
        return self.all_banks or is_kept or is_elsewhere


NOTHING_HIDDEN = HiddenMemories()


def _bank_key(name: str) -> str:
    return " ".join(name.split()).casefold()
