"""Asking the model what a turn holds: once, and once more where its answer can't be used."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from adaptive.errors import ModelError, ReplyUnusable
from adaptive.learn.commanded import commanded
from adaptive.learn.commands import MemoryCommand
from adaptive.learn.operations import Extraction, read_extraction, retry_note
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.measures import staged
from adaptive.model import CompletionRequest, Memory
from adaptive.ports import Completer
from adaptive.privacy.secrets import without_secrets
from adaptive.retry import RetryPolicy
from adaptive.settings import Settings

log_inquiry = logging.getLogger("adaptive_memory.learn")


class LessonWork(Protocol):
    """The work in hand, which may have been begun before (see ``TurnWork``)."""

    journal: str
    calls: int

    async def held(self) -> bool:
        """Whether it is this worker's still."""
        ...

    async def keep(self, journal: str) -> bool:
        """Keep what is to be done before it is begun."""
        ...


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One question on one turn; its model calls are counted in ``work``."""

    completer: Completer
    formats: AnswerFormats
    settings: Settings
    offered: Sequence[Memory]
    work: LessonWork

    @staged("extraction")
    async def extraction(
        self, request: CompletionRequest, commands: Sequence[MemoryCommand]
    ) -> Extraction:
        """What the model finds; what the user asked for in so many words also without it.

        Raises:
            ModelError: there is no usable answer, and nothing that could be done without one.
        """
        try:
            found = await self._asked_twice(request)
        except ModelError as error:
            done = commanded(commands, self.offered, self.settings)
            if not done:
                raise
            log_inquiry.warning("done without the model: %s", error)
            return done
        return found or commanded(commands, self.offered, self.settings)

    async def _asked_twice(self, request: CompletionRequest) -> Extraction:
        """The answer, and where it could not be used as it was, what a second one adds to it."""
        first: Extraction | None = None
        try:
            first = await self._answered(request)
            note = retry_note(first)
        except ReplyUnusable as error:
            note = retry_note(error)
        if first is not None and not note:
            return first
        try:
            second = await self._answered(replace(request, user=f"{request.user}\n\n{note}"))
        except ModelError:
            if first is None:
                raise
            return first
        return first.joined(second) if first else second

    async def _answered(self, request: CompletionRequest) -> Extraction:
        settings = self.settings
        self.work.calls += 1
        policy = RetryPolicy(settings.max_retries, settings.retry_delay)
        completion = await ask(
            self.completer, request, self.formats, policy, settings.llm_timeout_seconds
        )
        if log_inquiry.isEnabledFor(logging.DEBUG):
            log_inquiry.debug("the model's reply: %r", without_secrets(completion.text))
        return read_extraction(completion, self.offered, settings)
