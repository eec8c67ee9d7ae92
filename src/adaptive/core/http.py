"""JSON over HTTP to endpoints outside the host, tried again with growing pauses."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import aiohttp

from adaptive.core.errors import ModelBusy, ModelRejected, ReplyUnusable

# Of those below 500; from there on all but 501, by which an endpoint says that it never will.
_BUSY_STATUS = frozenset({408, 409, 425, 429})
_NOT_SUPPORTED = 501
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0

Result = TypeVar("Result")


async def with_retry(
    call: Callable[[], Awaitable[Result]], retries: int
) -> Result:
    """Call again while it raises ``ModelBusy``, with doubling pauses; the caller bounds the time.

    A provider that asks for a longer pause gets it.
    """
    for attempt in range(retries):
        try:
            return await call()
        except ModelBusy as busy:
            pause = min(
                _LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**attempt
            )
            jittered = pause * random.uniform(0.5, 1)  # noqa: S311
            await asyncio.sleep(max(jittered, busy.retry_after or 0.0))
    return await call()


def endpoint(base: str, path: str) -> str:
    """The full address of ``path`` below ``base``, which may already end with it."""
    return base.strip().rstrip("/").removesuffix(f"/{path}") + f"/{path}"


def failure(
    status: int, detail: str, retry_after: str | None = None
) -> ModelBusy | ModelRejected:
    """The error that an HTTP status stands for; ``Retry-After`` is read where it is in seconds."""
    is_busy = status in _BUSY_STATUS or (
        status >= 500 and status != _NOT_SUPPORTED
    )
    if not is_busy:
        sentence = f"the model's provider refused the request (HTTP {status})"
        return ModelRejected(sentence, status, detail=detail)
    does = "failed" if status >= 500 else "is busy"
    pause = (retry_after or "").strip()
    seconds = float(pause) if pause.isdecimal() else None
    return ModelBusy(
        f"the model's provider {does} (HTTP {status})", seconds, detail=detail
    )


async def post_json(
    url: str, body: Mapping[str, Any], key: str
) -> dict[str, Any]:
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
                raise failure(
                    response.status,
                    detail,
                    response.headers.get("Retry-After"),
                )
    except (
        ValueError,
        aiohttp.NonHttpUrlClientError,
    ) as error:  # ... of an address or header
        raise ReplyUnusable(
            "the address of the model's provider can't be called",
            detail=f"{url!r}: {error}",
        ) from error
    except (aiohttp.ClientError, ConnectionError) as error:
        detail = f"{url!r}: {type(error).__name__} {error}"
        raise ModelBusy(
            "the model's provider does not answer", detail=detail
        ) from error
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise ReplyUnusable(
            "the model's provider sent no JSON object", detail=repr(url)
        )
    return reply  # pyright: ignore[reportUnknownVariableType]
