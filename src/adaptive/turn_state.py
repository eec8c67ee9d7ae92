"""What the hooks of one turn tell each other, in the metadata that the host hands to all."""

from __future__ import annotations

from typing import Any, TypedDict

_STATE_KEY = "adaptive_memory"


class TurnState(TypedDict, total=False):
    """What is known of a turn; it can be written as JSON, as everything in the host's metadata.

    Attributes:
        language: the one to learn in, as the extraction prompt names it.
        unlearned: why nothing may be learned from the message.
        warnings: what the chat model is told of the message.
        title: the one to be given to a chat that begins.
        recalled: the status line of what was recalled.
        injected: ids of the memories that the answer was given.
        anomalies: names of what was wrong with the answer.
    """

    language: str
    unlearned: str
    warnings: list[str]
    title: str
    recalled: str
    injected: list[str]
    anomalies: list[str]


def turn_state(metadata: dict[str, Any]) -> TurnState:
    """The state of the turn that metadata belong to, which can be changed."""
    state: TurnState = metadata.setdefault(_STATE_KEY, {})
    return state
