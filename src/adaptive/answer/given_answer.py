"""Answers that we give in the chat model's place.

An inlet can't answer. So the model is asked for next to nothing, and what it says is replaced while
it streams and in what the host stores.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

from adaptive.core.markdown import rewritten_answer
from adaptive.core.messages import memory_is_off, without_commands
from adaptive.core.shapes import listing, mapping
from adaptive.settings.hook import turn_state

# The least that the Responses API takes is 16, and a model that reasons first needs room for it.
_LEAST_TOKENS = 512
_LEAST_MESSAGES = ({"role": "user", "content": "Answer with OK."},)
_NEEDLESS = ("tools", "tool_ids", "tool_choice", "files", "skill_ids", "reasoning_effort")
# A turn that was stopped or failed has no outlet, so nothing else would forget it.
_IDLE_SECONDS = 3600.0


def without_former_commands(body: dict[str, Any]) -> dict[str, Any]:
    """The request as if no command had been given, and without the host's memory after *off*."""
    messages = listing(body.get("messages"))
    kept = without_commands(messages)
    if len(kept) == len(messages):
        return body
    body = {**body, "messages": kept}
    if memory_is_off(messages):
        body["features"] = {**mapping(body.get("features")), "memory": False}
    return body


class GivenAnswers:
    """The turns under way that are answered by us; each answer stands in its turn's metadata."""

    def __init__(self) -> None:
        self._given_at: dict[str, float] = {}

    def __len__(self) -> int:
        """How many turns are under way, but for those that nobody waits for any more."""
        before = time.monotonic() - _IDLE_SECONDS
        self._given_at = {mark: at for mark, at in self._given_at.items() if at >= before}
        return len(self._given_at)

    def give(self, body: dict[str, Any], metadata: dict[str, Any], answer: str) -> dict[str, Any]:
        """The request for a turn that gets this answer."""
        state = turn_state(metadata)
        state["given"] = state["unshown"] = answer
        mark = state["given_mark"] = uuid.uuid4().hex
        self._given_at[mark] = time.monotonic()
        # Or 0.10 gives the model its own tools behind the inlet (host: utils/middleware.py).
        metadata["params"] = {**mapping(metadata.get("params")), "function_calling": "legacy"}
        return self.request(body, metadata)

    def request(self, body: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
        """The least that a model can be asked for; other turns' requests as they are."""
        if "given" not in turn_state(metadata):
            return body
        least = {name: value for name, value in body.items() if name not in _NEEDLESS}
        asked = {"messages": list(_LEAST_MESSAGES), "max_tokens": _LEAST_TOKENS}
        return {**least, **asked, "features": {}}

    def event(self, event: Any, metadata: dict[str, Any]) -> Any:
        """A piece of the model's answer with ours in its place, whole in the first one."""
        state, choices = turn_state(metadata), listing(mapping(event).get("choices"))
        if "given" not in state or not choices:
            return event
        delta = {"role": "assistant", "content": state.pop("unshown", "")}
        return {**event, "choices": [{**mapping(choices[0]), "delta": delta}]}

    def answer(self, body: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
        """The messages of a turn that is over, as an outlet gets them, with our answer."""
        state, messages = turn_state(metadata), listing(body.get("messages"))
        given = state.get("given")
        self._given_at.pop(state.get("given_mark", ""), None)
        if given is None or not messages or mapping(messages[-1]).get("role") != "assistant":
            return body
        last = {"content": "", **messages[-1]}
        fields = {**last, **rewritten_answer(last, lambda _: given), "content": given}
        return {**body, "messages": [*messages[:-1], fields]}
