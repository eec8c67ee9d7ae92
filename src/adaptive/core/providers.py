"""Providers of models: what they are asked and answer, over HTTP, and which have failed."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import mktime_tz, parsedate_tz
from typing import Literal, Protocol

import aiohttp

from adaptive.core.model import (
    AdaptiveMemoryError,
    JsonMapping,
    JsonObject,
    frozen,
    log,
    with_detail,
)
from adaptive.core.texts import Phrase


class ModelError(AdaptiveMemoryError):
    """A model call brought nothing usable; ``status`` is the provider's HTTP status, if one came.

    ``retry_after`` are the seconds that the provider has asked for.
    """

    def __init__(
        self,
        sentence: str = "",
        status: int = 0,
        retry_after: float | None = None,
        *,
        detail: str = "",
    ) -> None:
        super().__init__(sentence, detail=detail)
        self.status = status
        self.retry_after = retry_after


class ModelBusy(ModelError):
    """A failure that may be over on the next try."""

    sentence = Phrase("provider_silent")


class ModelRejected(ModelError):
    """The provider refused the request and would refuse it again."""


class ReplyUnusable(ModelError):
    """The model answered, but not with what it was asked for."""

    sentence = Phrase("reply_unusable")


@frozen
class CompletionRequest:
    """One question to a model: system and user message, and the JSON schema of the answer.

    Without a schema the answer is plain text. ``earlier`` are what user and assistant have said by
    turns: worked examples, and what is known. ``thinking`` is off where the model is asked to answer at once.
    """

    system: str
    user: str
    schema_name: str
    schema: JsonMapping | None = None
    max_tokens: int = 4000
    thinking: bool = True
    earlier: tuple[str, ...] = ()


@frozen
class Completion:
    """A model's answer; ``reasoned`` where reasoning came with it, or in its place."""

    text: str
    cut: bool = False  # it ended at the token limit
    # Sent and received, zeros where nobody counts them.
    tokens: tuple[int, int] = (0, 0)
    reasoned: bool = False


# The last one leaves length and temperature to the provider, too: some models refuse both.
ResponseFormat = Literal["json_schema", "json_object", "limited_text", "text"]


class Completer(Protocol):
    """One model of one provider; both are its ``key``, to remember what they accept."""

    @property
    def key(self) -> str: ...

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask once, or raise a ``ModelError``; the caller bounds the time."""
        ...


# Of those below 500; from there on all but 501, by which an endpoint says that it never will.
_BUSY_STATUS = frozenset({408, 409, 425, 429})
_NOT_SUPPORTED = 501
_QUOTA_SPENT = 429
# What providers call a prompt that is too long, in the codes and texts of their errors.
_CONTEXT_TOO_SHORT = re.compile(
    r"context[_ ](?:length|size|window)", re.IGNORECASE
)
_TOO_LONG = 413
# When a quota is back: in a header, or where a server quotes those of the provider behind it.
_RESET = re.compile(
    r"""x-ratelimit-reset(?:-requests)?["'\\]*+[:,]\s*+["'\\]*+([\dhms.]++)""",
    re.IGNORECASE,
)
_DURATION = re.compile(r"(\d++(?:\.\d++)?)(ms|[hms]?)")
_UNIT_SECONDS = {"ms": 0.001, "": 1, "s": 1, "m": 60, "h": 3600}
_LEAST_TIMESTAMP = 1e9
_LEAST_TIMESTAMP_IN_MILLISECONDS = 1e11


def endpoint(base: str, path: str) -> str:
    """The full address of ``path`` below ``base``, which may already end with it."""
    return base.strip().rstrip("/").removesuffix(f"/{path}") + f"/{path}"


def failure(
    status: int, detail: str, headers: Mapping[str, str] | None = None
) -> ModelBusy | ModelRejected:
    """The error that an HTTP status stands for, with the pause that its answer asks for."""
    if _CONTEXT_TOO_SHORT.search(detail) and status != _QUOTA_SPENT:
        return ModelRejected(
            Phrase("short_context"),
            _TOO_LONG,
            detail=detail,
        )
    is_busy = status in _BUSY_STATUS or (
        status >= 500 and status != _NOT_SUPPORTED
    )
    sentence = Phrase("provider_failed", status=status)
    if not is_busy:
        return ModelRejected(sentence, status, detail=detail)
    moment = (headers or {}).get("Retry-After", "")
    if status == _QUOTA_SPENT and not moment:
        reset = _RESET.search(f"{headers} {detail}")
        moment = reset[1] if reset else ""
    return ModelBusy(
        sentence,
        status,
        _seconds_until(moment),
        detail=detail,
    )


def _seconds_until(moment: str) -> float | None:
    """Seconds until an HTTP date, a timestamp, or the end of a duration (``7``, ``6m0s``)."""
    date = parsedate_tz(moment)
    if date:
        return mktime_tz(date) - time.time()
    seconds = sum(
        float(number) * _UNIT_SECONDS[unit]
        for number, unit in _DURATION.findall(moment)
    )
    if seconds >= _LEAST_TIMESTAMP_IN_MILLISECONDS:
        seconds /= 1000
    if seconds >= _LEAST_TIMESTAMP:
        seconds -= time.time()
    return seconds or None


async def post_json(url: str, body: JsonMapping, key: str) -> JsonObject:
    """Send a JSON object and return the object that comes back; the caller bounds the time.

    Raises:
        ModelBusy: no connection, a broken one, or a status worth another try.
        ModelRejected: any other status from 400 on.
        ReplyUnusable: the reply is no JSON object, or ``url`` is no address.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    patience = aiohttp.ClientTimeout(
        total=None
    )  # aiohttp's five minutes cut slow models short
    try:
        async with (
            aiohttp.ClientSession(timeout=patience, trust_env=True) as session,
            session.post(url, json=body, headers=headers) as response,
        ):
            raw = await response.read()
            if response.status >= 400:
                detail = f"{url!r} answered {raw.decode(errors='replace')!r}"
                raise failure(response.status, detail, response.headers)
    except (
        ValueError,
        aiohttp.NonHttpUrlClientError,
    ) as error:  # ... of an address or header
        raise ReplyUnusable(
            Phrase("provider_silent"), detail=f"{url!r}: {error}"
        ) from error
    except (aiohttp.ClientError, ConnectionError) as error:
        detail = f"{url!r}: {type(error).__name__} {error}"
        raise ModelBusy(detail=detail) from error
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise ReplyUnusable(detail=f"{url!r} sent no JSON object")
    return reply  # pyright: ignore[reportUnknownVariableType]


_PROBE_SECONDS = 30.0
_FIRST_PROBE_PAUSE_SECONDS = 15.0
_LONGEST_PROBE_PAUSE_SECONDS = 300.0


class CircuitBreaker:
    """Which services are left alone, by name, as long as their circuit is open.

    The first probe begins at once, so that a call that somebody broke off, or one that took too
    long on a busy machine, opens it for no longer than need be; pauses between others grow.
    """

    def __init__(
        self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._sleep = sleep
        self._probes: dict[str, asyncio.Task[None]] = {}
        self._open: set[str] = set()

    def is_open(self, name: str) -> bool:
        """Whether a service is not to be asked."""
        return name in self._open

    def open(self, name: str, probe: Callable[[], Awaitable[object]]) -> None:
        """Leave a service alone that has failed, until a probe of it raises nothing in time."""
        self._open.add(name)
        self.suspect(name, probe)

    def suspect(
        self, name: str, probe: Callable[[], Awaitable[object]]
    ) -> None:
        """Leave a service alone if a probe fails, too: it may have refused what one user asked."""
        if name not in self._probes:
            self._probes[name] = asyncio.create_task(self._probed(name, probe))

    async def _probed(
        self, name: str, probe: Callable[[], Awaitable[object]]
    ) -> None:
        """Ask until there is an answer, more and more seldom; then, or if it breaks, all may ask."""
        pause = _FIRST_PROBE_PAUSE_SECONDS
        try:
            while True:
                try:
                    async with asyncio.timeout(_PROBE_SECONDS):
                        await probe()
                    return
                except (AdaptiveMemoryError, TimeoutError) as error:
                    said = with_detail(error)
                    log.warning(
                        "%s is left in peace for a while: %s", name, said
                    )
                self._open.add(name)
                await self._sleep(pause)
                pause = min(2 * pause, _LONGEST_PROBE_PAUSE_SECONDS)
        finally:
            del self._probes[name]
            self._open.discard(name)
