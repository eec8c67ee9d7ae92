"""Leases in the host's Redis, where it has one; the database's wherever Redis fails."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from typing import Any

from adaptive.errors import HostError
from adaptive.host.faults import HostFaults
from adaptive.table_ports import Leases

log_redis = logging.getLogger("adaptive_memory.host")

# The host sets no time limit of its own by default (host: utils/redis.py, REDIS_SOCKET_TIMEOUT).
_PATIENCE_WITH_REDIS_SECONDS = 2.0
_REST_AFTER_FAILURE_SECONDS = 60.0

# One key each, so that they run on a cluster. They compare inside of Redis, where the host's
# choice of `decode_responses` does not matter.
_PROLONG = (
    "if redis.call('get', KEYS[1]) == ARGV[1] then "
    "return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
)
_FREE_IF_MINE = (
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
)


def host_redis() -> Any | None:
    """The host's asynchronous client, ``None`` where it has none; made when the host starts."""
    app = getattr(sys.modules.get("open_webui.main"), "app", None)
    return getattr(getattr(app, "state", None), "redis", None)


def redis_prefix() -> str:
    """What the host puts before its own keys (host: env.py), with our name after it."""
    prefix = getattr(sys.modules.get("open_webui.env"), "REDIS_KEY_PREFIX", "open-webui")
    return f"{prefix}:adaptive_memory:lease:" if prefix else "adaptive_memory:lease:"


class RedisLeases:
    """``Leases`` by ``SET NX PX``: Redis ends them by its own clock.

    A worker whose Redis fails takes the lease of the database, while others may still reach
    Redis: then two may hold one name, so what must not happen twice needs a guard of its own,
    as taking turns from the table has.
    """

    def __init__(
        self,
        database: Leases,
        client: Callable[[], Any | None] = host_redis,
        patience: float = _PATIENCE_WITH_REDIS_SECONDS,
    ) -> None:
        self._database = database
        self._client = client
        self._patience = patience
        self._in_redis: set[tuple[str, str]] = set()
        self._in_database: set[tuple[str, str]] = set()
        self._redis_again_at = 0.0
        self._told = False

    async def acquire(self, name: str, owner: str, now: float, seconds: float) -> bool:
        """Take or prolong a lease (see ``Leases``)."""
        client = self._client() if now >= self._redis_again_at else None
        if client is not None:
            try:
                taken = await self._acquired(
                    client, redis_prefix() + name, owner, int(seconds * 1000)
                )
            except HostError as error:
                self._redis_again_at = now + _REST_AFTER_FAILURE_SECONDS
                if not self._told:
                    self._told = True
                    log_redis.warning("the database keeps the leases while Redis fails: %s", error)
            else:
                if taken:
                    self._in_redis.add((name, owner))
                return taken
        taken = await self._database.acquire(name, owner, now, seconds)
        if taken:
            self._in_database.add((name, owner))
        return taken

    async def release(self, name: str, owner: str) -> None:
        """Free a name wherever the owner has taken it."""
        client, held = self._client(), (name, owner)
        if held in self._in_redis and client is not None:
            try:
                await self._asked(client, "eval", _FREE_IF_MINE, 1, redis_prefix() + name, owner)
            except HostError as error:  # it ends by itself
                log_redis.debug("a lease was not released: %s", error)
        self._in_redis.discard(held)
        if held in self._in_database:
            self._in_database.discard(held)
            await self._database.release(name, owner)

    async def _acquired(self, client: Any, key: str, owner: str, milliseconds: int) -> bool:
        if await self._asked(client, "set", key, owner, nx=True, px=milliseconds):
            return True
        return bool(await self._asked(client, "eval", _PROLONG, 1, key, owner, str(milliseconds)))

    async def _asked(self, client: Any, command: str, *args: Any, **options: Any) -> Any:
        """The answer of Redis in bounded time.

        Raises:
            HostError: there is none.
        """
        with HostFaults("asking Redis for a lease"):
            async with asyncio.timeout(self._patience):
                return await getattr(client, command)(*args, **options)
