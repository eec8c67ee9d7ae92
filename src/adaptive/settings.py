"""The settings that one hook works with: valves and a user's own choices, merged and frozen."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict

from adaptive.model import CATEGORIES
from adaptive.user_valves import UserValves
from adaptive.valves import Valves


class Settings(Valves):
    """Valves and a user's own choices, merged and frozen for one hook."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = True
    user_timezone: str = ""

    @classmethod
    def merge(cls, valves: BaseModel, user_valves: object) -> Self:
        """Freeze the admin's valves, narrowed by the user's.

        Both may be classes of an older load of this plug-in, so they are read by field name;
        ``user_valves`` may even be another filter's, which the host leaves in the shared user
        dict when ours fail to load (host: utils/filter.py), or missing.
        """
        theirs = user_valves.model_dump() if isinstance(user_valves, BaseModel) else {}
        if set(theirs) != set(UserValves.model_fields):
            theirs = {}
        own = UserValves(**theirs)
        admin = valves if type(valves) is Valves else Valves(**valves.model_dump())
        merged = dict(admin)
        merged["show_status"] = admin.show_status and own.show_status
        merged["show_memories"] = admin.show_memories and own.show_memories
        merged["save_mode"] = "off" if "off" in (admin.save_mode, own.save_mode) else "auto"
        # Validated above; doing it again would be most of what a hook costs before its work.
        return cls.model_construct(**merged, enabled=own.enabled, user_timezone=own.timezone)

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories that may be learned, in their fixed order."""
        return tuple(name for name in CATEGORIES if getattr(self, f"enable_{name}_memory"))

    @property
    def default_bank(self) -> str:
        """The bank of a memory for which none of the allowed ones is named."""
        return self.default_memory_bank.strip() or "General"

    @property
    def index_cache_bytes(self) -> int:
        """What the indexes of all users may take in this process."""
        return self.index_cache_megabytes * 2**20

    @property
    def banks(self) -> tuple[str, ...]:
        """The allowed banks; the default one is always among them."""
        names = [name.strip() for name in self.allowed_memory_banks.split(",")]
        return tuple(dict.fromkeys([*(name for name in names if name), self.default_bank]))
