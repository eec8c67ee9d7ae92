"""Summaries of the finished topics of a user's chats: who makes them, and who may see them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request

from adaptive.clock import local_time
from adaptive.conversation.topic_summary import TopicSummariser
from adaptive.conversation.topics import Topic
from adaptive.conversation_ports import ChatNotesTable
from adaptive.errors import LeaseLost, TablesUnavailable
from adaptive.host.hook import Hook
from adaptive.host.locality import kept_from_completer
from adaptive.llm.ask import AnswerFormats
from adaptive.ports import Completer
from adaptive.table_ports import Leases

log_topic_summaries = logging.getLogger("adaptive_memory")

_TOPIC_SECONDS = 60.0
_TOPIC_LEASE_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class TopicSummaries:
    """Summaries of a user's topics: the chat's own where it is one topic, else by a model.

    The model is asked under a lease of ``owner``, which stands for this load of the plug-in: others
    that come upon the same topic leave it.
    """

    hook: Hook
    request: Request
    completer: Callable[[], Awaitable[Completer]]
    notes: ChatNotesTable
    formats: AnswerFormats
    leases: Leases
    owner: str

    async def of_topic(self, topic: Topic, alone: bool) -> str:
        """See ``Summaries``; empty where the model may not see the topic."""
        if alone and (noted := await self._noted(topic.messages[0].chat_id)):
            return noted
        if not await self._leased():
            raise LeaseLost("another worker summarises topics of the user")
        completer = await self.completer()
        if (await kept_from_completer(completer, self.request, self.hook.settings)).names:
            return ""
        model = TopicSummariser(completer, self.formats, _TOPIC_SECONDS)
        return await model.summary(topic, await asyncio.to_thread(zone_of, self.hook))

    async def _leased(self) -> bool:
        """Whether nobody else asks about this user's topics; it ends behind the summary's write."""
        name, now = f"topics:{self.hook.user_id}", time.time()
        try:
            return await self.leases.acquire(name, self.owner, now, _TOPIC_LEASE_SECONDS)
        except TablesUnavailable as error:
            log_topic_summaries.debug("a topic may be summarised twice: %s", error)
            return True

    async def _noted(self, chat_id: str) -> str:
        """What is noted of a whole chat, empty where nothing is."""
        try:
            return (await self.notes.read(self.hook.user_id, chat_id)).summary
        except TablesUnavailable as error:
            log_topic_summaries.info("a chat's notes can't be read: %s", error)
            return ""


def zone_of(hook: Hook) -> str:
    """The name of the user's time zone, empty for UTC; for a thread, as it reads a file.

    The interpreter keeps zones that were read, so that the loop reads none afterwards.
    """
    return str(getattr(local_time(0, *hook.time_zones).tzinfo, "key", ""))
