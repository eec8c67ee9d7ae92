"""A user's page and store, as far as what is asked of the memory itself needs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from adaptive.core.embedding import Sources
from adaptive.core.marks import Place
from adaptive.core.model import ConversationKind
from adaptive.host.dialog import PageDialog
from adaptive.memory.tables import ArchivedMemory
from adaptive.settings.hook import Hook
from adaptive.settings.merged import Settings
from tests.fakes import (
    ListedMemories,
    ShelvedVectors,
    WordEmbedder,
    hook_settings,
    memory,
)
from tests.learn.world import World


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
    store: ListedMemories | None = None
    embedded: list[str] = field(default_factory=list[str])
    attached: list[str] = field(default_factory=list[str])
    place: Place = field(default_factory=Place)

    @property
    def hook(self) -> Hook:
        """Itself, of which no more is used than is here."""
        return cast(Hook, self)

    @property
    def replies(self) -> Page:
        """Itself."""
        return self

    async def embed(self, document: str) -> None:
        """Show a document."""
        self.embedded.append(document)

    @property
    def dialog(self) -> PageDialog:
        """Answered at once."""
        files = [{"content": text} for text in self.attached]
        return PageDialog(self._call, message={"files": files})

    async def kind(self) -> ConversationKind:
        """The kind once the owner of the chat was looked up."""
        return self.owned_kind

    async def sources(self) -> Sources:
        """The store of the house, if it has one."""
        store: Any = self.store
        return Sources(
            self.user_id, store, WordEmbedder(), ShelvedVectors(), self.place
        )

    async def wants_memory(self) -> bool:
        """Ada does."""
        return True

    async def _call(self, event: dict[str, Any]) -> object:
        self.asked.append(event["data"])
        return self.answer


class Room(World):
    """Ada's store and archive, and the lines that are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.everybody = self.memories()

    async def reply(self, hook: Any, line: str) -> None:
        """Show a line."""
        assert hook.user_id == "ada"
        self.lines.append(line)

    @property
    def is_held(self) -> bool:
        """Whether somebody holds the right to write into Ada's memory."""
        sources = Sources("ada", self.store, self.embedder, ShelvedVectors())
        return self.everybody.over(sources, hook_settings()).lock.locked()


def put_away(
    id: str, content: str = "", at: int = 9, summary_id: str = "", **more: Any
) -> Any:
    """A memory that was archived."""
    return ArchivedMemory(
        memory(id, content or f"User likes {id}.", **more),
        "why",
        at,
        summary_id,
    )
