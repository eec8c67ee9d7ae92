"""Measures of each turn for the admin: a line in the log, and metrics where the host collects any.

One line for the inlet, one for all that goes on behind the answer; both name the turn alike.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass

from adaptive.host.hook import Hook
from adaptive.host.telemetry import Telemetry
from adaptive.measures import TurnMeasures, measured
from adaptive.turn_state import turn_state

log_measures = logging.getLogger("adaptive_memory.measures")

# Names of what was found in the answer.
_MOST_ANOMALIES = 20
# The host makes the model's request first: that is what the user waits for.
_TELL_AFTER_SECONDS = 0.1


@dataclass(slots=True)
class _Shared:
    """Measures of one turn's background, and how many works of it still run."""

    measures: TurnMeasures
    running: int = 0


class Measuring:
    """Begins and ends the measures of turns; what it holds of a turn goes with its last work."""

    def __init__(
        self, telemetry: Telemetry | None = None, tell_after: float = _TELL_AFTER_SECONDS
    ) -> None:
        self._telemetry, self._tell_after = telemetry or Telemetry(), tell_after
        self._background: dict[tuple[str, str], _Shared] = {}

    def inlet(self, hook: Hook) -> AbstractAsyncContextManager[None]:
        """Around the work of an inlet, its time limit included."""
        return self._inlet(hook) if self._wanted(hook) else nullcontext()

    def background(self, hook: Hook) -> AbstractAsyncContextManager[None]:
        """Around one work behind a turn's answer; the last of those that run tells of all.

        A turn that nothing was done for gets no line.
        """
        return self._behind(hook) if self._wanted(hook) else nullcontext()

    def _wanted(self, hook: Hook) -> bool:
        return self._tells(hook) or self._telemetry.on

    def _tells(self, hook: Hook) -> bool:
        return hook.settings.log_measures and log_measures.isEnabledFor(logging.INFO)

    @asynccontextmanager
    async def _inlet(self, hook: Hook) -> AsyncGenerator[None]:
        measures = TurnMeasures("inlet")
        try:
            with measured(measures), _FaultTold(measures):
                yield
        finally:
            measures.outcome = measures.outcome or "skipped"
            measures.end()
            loop = asyncio.get_running_loop()
            loop.call_later(self._tell_after, self._tell, hook, measures)

    @asynccontextmanager
    async def _behind(self, hook: Hook) -> AsyncGenerator[None]:
        key = (hook.user_id, _turn_id(hook))
        shared = self._background.get(key) if key[1] else None
        if shared is None:
            shared = _Shared(TurnMeasures("learning"))
            if key[1]:
                self._background[key] = shared
        shared.running += 1
        try:
            with measured(shared.measures), _FaultTold(shared.measures):
                yield
        finally:
            shared.running -= 1
            if not shared.running:
                self._background.pop(key, None)
                found = turn_state(hook.metadata).pop("anomalies", [])
                shared.measures.anomalies.update(found[:_MOST_ANOMALIES])
                if not shared.measures.idle:
                    shared.measures.end()
                    self._tell(hook, shared.measures)

    def _tell(self, hook: Hook, measures: TurnMeasures) -> None:
        """Tell of a turn; failed calls and failed works are anomalies, too."""
        failed = sum(use.failed for use in measures.models.values())
        retried = sum(use.retries for use in measures.models.values())
        broken = int(bool(measures.reason))
        counts = {"failed": broken, "model_failed": failed, "model_retried": retried}
        measures.anomalies.update({name: count for name, count in counts.items() if count})
        self._telemetry.record(measures)
        if self._tells(hook):
            fields = measures.fields(hook.user_id, _turn_id(hook))
            log_measures.info("%s", json.dumps(fields, separators=(",", ":")))


@dataclass(frozen=True, slots=True)
class _FaultTold:
    """Names the class of what goes wrong: the texts of errors may quote somebody."""

    measures: TurnMeasures

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            return
        cancelled = issubclass(kind, asyncio.CancelledError)
        self.measures.outcome = "cancelled" if cancelled else "failed"
        self.measures.reason = "" if cancelled else kind.__name__


def _turn_id(hook: Hook) -> str:
    """The answer's id, which the inlet is told as well; empty for a plain API call."""
    return str(hook.metadata.get("message_id") or "")
