"""A user's page and store, as far as what is asked of the memory itself needs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from adaptive.core.errors import StoreError
from adaptive.core.locks import UserLocks
from adaptive.core.model import ConversationKind, Memory
from adaptive.host.page import PageDialog
from adaptive.privacy.kept import ArchivedMemory
from adaptive.settings.hook import Hook
from adaptive.settings.merged import Settings
from tests.fakes import ListedMemories, hook_settings, memory
from tests.learn.world import ArchivedRows


@dataclass
class Page:
    """What the page answers and what it was asked; as a hook of Ada's in the chat ``c``."""

    answer: object = "erase"
    told_kind: ConversationKind = "saved"
    owned_kind: ConversationKind = "saved"
    can_ask: bool = True
    settings: Settings = field(default_factory=hook_settings)
    time_zones: tuple[str, str, str] = ("Asia/Tokyo", "", "")
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    user_id: str = "ada"
    chat_id: str = "c"

    @property
    def hook(self) -> Hook:
        """Itself, of which no more is used than is here."""
        return cast(Hook, self)

    @property
    def dialog(self) -> PageDialog:
        """Answered at once."""
        return PageDialog(self._call)

    async def kind(self) -> ConversationKind:
        """The kind once the owner of the chat was looked up."""
        return self.owned_kind

    async def _call(self, event: dict[str, Any]) -> object:
        self.asked.append(event["data"])
        return self.answer


@dataclass
class Room:
    """Ada's store and archive, and a ``Learner`` that holds them."""

    store: ListedMemories = field(default_factory=ListedMemories)
    archive: ArchivedRows = field(default_factory=ArchivedRows)
    lines: list[str] = field(default_factory=list[str])
    locks: UserLocks = field(default_factory=UserLocks)
    broken: str = ""

    @property
    def status(self) -> Room:
        """Itself, which shows replies."""
        return self

    async def reply(self, hook: Any, line: str) -> None:
        """Show a line; nobody may hold the right to write then, since the host stores it."""
        assert hook.user_id == "ada"
        assert not self.locks.of("ada").locked()
        self.lines.append(line)

    async def user_store(self, hook: Any) -> Any:
        """This one."""
        assert hook.user_id == "ada"
        return self

    async def restore_memory(self, room: Any, memory_id: str, now: int, step: str) -> Memory | None:
        """Bring one back, as learning does it."""
        assert room is self
        assert step
        assert self.locks.of("ada").locked()
        if memory_id == self.broken:
            raise StoreError("the row is stuck")
        archived = self.archive.rows.pop(memory_id, None)
        if archived is None:
            return None
        self.store.rows[memory_id] = archived.memory
        return archived.memory


def put_away(id: str, content: str = "", at: int = 9, summary: str = "", **more: Any) -> Any:
    """A memory that was archived."""
    return ArchivedMemory(memory(id, content or f"User likes {id}.", **more), "why", at, summary)
