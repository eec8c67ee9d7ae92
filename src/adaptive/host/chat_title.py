"""The title of a chat, where the host makes none itself: stored and shown as the host's own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from adaptive.errors import AdaptiveMemoryError, HostError
from adaptive.host.configuration import host_settings
from adaptive.host.events import EventEmitter
from adaptive.host.faults import HostFaults
from adaptive.host.hook import Hook
from adaptive.host.uninterrupted import uninterrupted
from adaptive.messages import Message, message_text
from adaptive.privacy.gate import gate_policy, is_safe_label
from adaptive.shapes import mapping

log_chat_title = logging.getLogger("adaptive_memory.host")

# The host's event (host: utils/middleware.py, background_tasks_handler, 0.9.6 to 0.12.4).
_TITLE_EVENT = "chat:title"
# What the page calls a chat until there is a title (host: models/chats.py, get_chat_title_by_id).
_UNTITLED = ("", "New Chat")
# The host puts the first message in place of a title when its other tasks are done; up to 0.11
# it does so behind the outlet, and its own suggestions of what to ask next come first.
_TITLE_LOOKS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)


async def titles_are_wanted(hook: Hook) -> bool:
    """Whether ours may be given: the host makes none itself, and the user has not refused them.

    Who has switched off "Title Auto-Generation" in the interface settings wants nobody's.

    Raises:
        HostError: the host does not tell.
    """
    interface = mapping(mapping(hook.user.get("settings")).get("ui"))
    if mapping(interface.get("title")).get("auto") is False:
        return False
    with HostFaults("reading who gives chats their titles"):
        told = await host_settings(hook.request, "titles")
    return told["titles"] is False


async def name_chat(
    hook: Hook, title: str, messages: Sequence[Message], title_of: TitleOf | None = None
) -> None:
    """Give a chat that begins its title, behind the first answer; raises nothing of ours.

    Only where nobody else gives one: a title that somebody has chosen stays.
    """
    first = next((one for one in messages if one.get("role") == "user"), None)
    if first is None:
        return
    try:
        if not await titles_are_wanted(hook) or await hook.kind() != "saved":
            return
        if await asyncio.to_thread(is_safe_label, title, gate_policy(hook.settings)):
            given = (title_of or ChatTitle)(hook.chat_id, hook.emitter)
            await given.give(title, message_text(first))
    except AdaptiveMemoryError as error:
        log_chat_title.warning("a chat has no title of ours: %s", error)


class StoredTitles(Protocol):
    """Titles of chats as they are stored."""

    async def read(self, chat_id: str) -> str | None:
        """The title of a chat, ``None`` where there is no such chat."""
        ...

    async def write(self, chat_id: str, title: str) -> bool:
        """Give a chat a title; whether it has it now."""
        ...


class HostTitles:
    """Titles in the host's own table."""

    @uninterrupted
    async def read(self, chat_id: str) -> str | None:
        """See ``StoredTitles``."""
        from open_webui.models.chats import Chats

        return await Chats.get_chat_title_by_id(chat_id)

    @uninterrupted
    async def write(self, chat_id: str, title: str) -> bool:
        """See ``StoredTitles``."""
        from open_webui.models.chats import Chats

        return await Chats.update_chat_title_by_id(chat_id, title) is not None


@dataclass(frozen=True, slots=True)
class ChatTitle:
    """The title of a saved chat; ``emitter`` reaches the pages that show it."""

    chat_id: str
    emitter: EventEmitter | None
    stored: StoredTitles = field(default_factory=HostTitles)
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def give(self, title: str, first_words: str) -> bool:
        """Give a chat its title, in place of its first message; whether it has it now.

        Waits for the host, which would put the first message there afterwards. A title that
        somebody has chosen stays.

        Raises:
            HostError: the title can't be read, or not be written.
        """
        standing: str | None = ""
        for seconds in _TITLE_LOOKS:
            await self.sleep(seconds)
            with HostFaults("reading the title of a chat"):
                standing = await self.stored.read(self.chat_id)
            if standing is None or standing.strip() not in _UNTITLED:
                break
        if standing is None or not _is_nobodys(standing, first_words):
            return False
        with HostFaults("giving a chat its title"):
            if not await self.stored.write(self.chat_id, title):
                return False
        await self._show(title)
        return True

    async def _show(self, title: str) -> None:
        if self.emitter is None:
            return
        try:
            with HostFaults("showing the title of a chat"):
                await self.emitter({"type": _TITLE_EVENT, "data": title})
        except HostError as error:
            log_chat_title.debug("%s", error)


TitleOf = Callable[[str, EventEmitter | None], ChatTitle]


def _is_nobodys(standing: str, first_words: str) -> bool:
    """Whether a title is the host's stand-in: none, or the chat's first message."""
    told = standing.strip()
    return told in _UNTITLED or told == first_words.strip()
