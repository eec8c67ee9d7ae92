"""What a scripted model can do with a request: answer it, or fail in one of many ways."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

DEFAULT_TEXT = "Understood."


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with this text; nothing else happens."""

    text: str = DEFAULT_TEXT


@dataclass(frozen=True, slots=True)
class Slow:
    """Answer word by word with a pause before each, long enough for somebody to press Stop."""

    text: str
    seconds_per_word: float = 0.2


@dataclass(frozen=True, slots=True)
class CutOff:
    """Answer with this text and say that the length limit ended it (``finish_reason: length``)."""

    text: str


@dataclass(frozen=True, slots=True)
class CallTool:
    """Ask for one tool call; give what follows it as the next reply of a sequence."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Fail:
    """Refuse with an HTTP error, with a ``Retry-After`` header if seconds are given."""

    status: int = 500
    message: str = "The scripted model was told to fail."
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Hang:
    """Hold the request that long, then answer; ``reset`` and ``stop`` release it earlier."""

    seconds: float = 3600
    then: Reply = field(default_factory=Say)


Reply: TypeAlias = Say | Slow | CutOff | CallTool | Fail | Hang

# A string is said, a mapping is said as JSON, a callable is asked with the request's body, and of
# a sequence each matching request takes the next one, the last one staying.
Answer: TypeAlias = (
    Reply | str | Mapping[str, Any] | Sequence["Answer"] | Callable[[dict[str, Any]], "Answer"]
)

_REPLIES = (Say, Slow, CutOff, CallTool, Fail, Hang)


@dataclass(slots=True)
class Script:
    """An answer together with how often it was given, which decides the place in a sequence."""

    answer: Answer
    used: int = 0

    def next_reply(self, body: dict[str, Any]) -> Reply:
        """The reply for this request body."""
        answer = self.answer
        if isinstance(answer, Sequence) and not isinstance(answer, str):
            answer = answer[min(self.used, len(answer) - 1)]
        self.used += 1
        return resolve(answer, body)


def resolve(answer: Answer, body: dict[str, Any]) -> Reply:
    """Turn what a test wrote into the reply for one request body."""
    if isinstance(answer, _REPLIES):
        return answer
    if isinstance(answer, str):
        return Say(answer)
    if isinstance(answer, Mapping):
        return Say(json.dumps(answer))
    if callable(answer):
        return resolve(answer(body), body)
    message = f"{answer!r} is no answer for one request; a sequence may not stand in a sequence"
    raise TypeError(message)
