"""JSON over HTTP to endpoints outside the host, for models and embeddings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp

from adaptive.errors import ModelBusy, ModelRejected, ReplyUnusable

# Below 500; from there on all but 501, which an endpoint answers to what it never will support.
_BUSY_STATUS = frozenset({408, 409, 425, 429})
_LARGEST_REPLY = 32 * 2**20
_BODY_EXCERPT = 200


def endpoint(base: str, path: str) -> str:
    """The full address of ``path`` below ``base``, which may already end with it.

    >>> endpoint("https://openrouter.ai/api/v1/", "chat/completions")
    'https://openrouter.ai/api/v1/chat/completions'
    """
    base = base.strip().rstrip("/")
    return base if base.endswith("/" + path) else f"{base}/{path}"


def failure(
    status: int, detail: str, retry_after: str | None = None, now: float = 0.0
) -> ModelBusy | ModelRejected:
    """The error that an HTTP status stands for; ``now`` is the current time in epoch seconds."""
    message = f"the model answered HTTP {status}: {detail[:_BODY_EXCERPT]!r}"
    if status in _BUSY_STATUS or (status >= 500 and status != 501):
        return ModelBusy(message, _seconds(retry_after, now))
    return ModelRejected(message, status)


def _seconds(retry_after: str | None, now: float) -> float | None:
    """``Retry-After`` as seconds from now; it may be a number or a date (RFC 9110, 10.2.3)."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - now)
    except (ValueError, TypeError):
        return None


async def post_json(url: str, body: Mapping[str, Any], key: str, now: float) -> dict[str, Any]:
    """Send a JSON object and return the object that comes back.

    Raises:
        ModelBusy: no connection, a broken one, or a status worth another try.
        ModelRejected: any other status from 400 on.
        ReplyUnusable: the reply is no JSON object, or larger than 32 MB, or ``url`` is no address.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise ReplyUnusable(f"can't call {url!r}: it is no http or https address")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    # The caller bounds the time; aiohttp's own five minutes would cut a slow local model short.
    patience = aiohttp.ClientTimeout(total=None)
    try:
        async with (
            aiohttp.ClientSession(timeout=patience, trust_env=True) as session,
            session.post(url, json=body, headers=headers) as response,
        ):
            raw = await response.content.read(_LARGEST_REPLY + 1)
            while len(raw) <= _LARGEST_REPLY and not response.content.at_eof():
                raw += await response.content.read(_LARGEST_REPLY + 1 - len(raw))
            if response.status >= 400:
                detail = raw.decode(errors="replace")
                raise failure(response.status, detail, response.headers.get("Retry-After"), now)
    except ValueError as error:  # aiohttp: InvalidURL is one, so are bad header values
        raise ReplyUnusable(f"can't call {url!r}: {error}") from error
    except (aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError) as error:
        raise ModelBusy(f"no answer from {url!r}: {type(error).__name__} {error}") from error
    if len(raw) > _LARGEST_REPLY:
        raise ReplyUnusable(f"{url!r} sent more than {_LARGEST_REPLY} bytes")
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ReplyUnusable(f"{url!r} sent no JSON") from error
    if not isinstance(reply, dict):
        raise ReplyUnusable(f"{url!r} sent no JSON object")
    return reply  # pyright: ignore[reportUnknownVariableType]
