"""Leases in Redis, and in the database wherever Redis fails.

A real Redis is tested too where the environment names one:
``ADAPTIVE_MEMORY_TEST_REDIS=redis://...`` or ``unix:///path``.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import sys
from collections.abc import AsyncGenerator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from adaptive.errors import TablesUnavailable
from adaptive.host.redis_lease import RedisLeases, host_redis, redis_prefix

NOW = 1_700_000_000.0
KEY = "open-webui:adaptive_memory:lease:ada"
REDIS = os.environ.get("ADAPTIVE_MEMORY_TEST_REDIS", "")


class SmallRedis:
    """What the leases use of Redis: keys with an end, ``SET NX PX``, and their two scripts.

    While ``failing`` each call raises; while ``hanging`` none returns.
    """

    def __init__(self) -> None:
        self.keys: dict[str, tuple[str, int]] = {}
        self.failing = self.hanging = False
        self.calls = 0

    async def set(self, key: str, value: str, *, nx: bool, px: int) -> bool | None:
        """Set a key that is not there."""
        await self._check()
        assert nx
        if key in self.keys:
            return None
        self.keys[key] = (value, px)
        return True

    async def eval(self, script: str, numkeys: int, key: str, *args: str) -> int:
        """Run one of the scripts, each on one key as a cluster wants it."""
        await self._check()
        assert numkeys == 1
        if self.keys.get(key, ("", 0))[0] != args[0]:
            return 0
        if "pexpire" in script:
            self.keys[key] = (args[0], int(args[1]))
        else:
            del self.keys[key]
        return 1

    async def pttl(self, key: str) -> int:
        """Milliseconds that a key has left."""
        return self.keys.get(key, ("", -2))[1]

    async def delete(self, key: str) -> None:
        """What happens to a key whose time is up."""
        self.keys.pop(key, None)

    async def _check(self) -> None:
        self.calls += 1
        await asyncio.sleep(0)
        if self.failing:
            raise ConnectionError("Error 111 connecting to redis:6379")
        if self.hanging:
            await asyncio.Event().wait()


class ListedLeases:
    """The database's leases as a dict without times; each call fails while ``unavailable``."""

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}
        self.unavailable = False

    async def acquire(self, name: str, owner: str, now: float, seconds: float) -> bool:
        """Take a free name, or one's own."""
        self._check()
        return self.owners.setdefault(name, owner) == owner

    async def release(self, name: str, owner: str) -> None:
        """Free one's own name."""
        self._check()
        if self.owners.get(name) == owner:
            del self.owners[name]

    def _check(self) -> None:
        if self.unavailable:
            raise TablesUnavailable("no table can be created")


@pytest.fixture(params=["small", *(["text", "bytes"] if REDIS else [])])
async def client(request: pytest.FixtureRequest) -> AsyncGenerator[Any, None]:
    """A Redis without our key: the small one, and a real one that answers in text or in bytes."""
    if request.param == "small":
        yield SmallRedis()
        return
    redis = importlib.import_module("redis.asyncio")
    # One connection, made here: to open one looks at a file, which no test may do in the loop.
    pool = redis.BlockingConnectionPool.from_url(
        REDIS, max_connections=1, decode_responses=request.param == "text"
    )
    real = redis.Redis.from_pool(pool)
    await real.delete(KEY)
    yield real
    await real.delete(KEY)
    await real.aclose()


async def test_one_owner_at_a_time(client: Any) -> None:
    """What one worker holds another does not get; the end is Redis' own to watch."""
    a = RedisLeases(ListedLeases(), lambda: client)
    b = RedisLeases(ListedLeases(), lambda: client)
    assert await a.acquire("ada", "a", NOW, 30)
    assert not await b.acquire("ada", "b", NOW + 99, 30)
    assert 0 < await client.pttl(KEY) <= 30_000
    assert await a.acquire("ada", "a", NOW + 10, 60)
    assert 30_000 < await client.pttl(KEY) <= 60_000


async def test_released(client: Any) -> None:
    """What its owner has released is free; what another one holds is not freed."""
    a = RedisLeases(ListedLeases(), lambda: client)
    b = RedisLeases(ListedLeases(), lambda: client)
    await a.acquire("ada", "a", NOW, 30)
    await b.release("ada", "b")
    assert not await b.acquire("ada", "b", NOW, 30)
    await a.release("ada", "a")
    assert await b.acquire("ada", "b", NOW, 30)
    await a.release("ada", "a")
    assert not await a.acquire("ada", "a", NOW, 30)


async def test_ended(client: Any) -> None:
    """A lease that Redis has ended is free, and its former owner gets it back only if it is."""
    a = RedisLeases(ListedLeases(), lambda: client)
    b = RedisLeases(ListedLeases(), lambda: client)
    await a.acquire("ada", "a", NOW, 30)
    await client.delete(KEY)
    assert await a.acquire("ada", "a", NOW + 10, 30)
    await client.delete(KEY)
    assert await b.acquire("ada", "b", NOW + 20, 30)
    assert not await a.acquire("ada", "a", NOW + 20, 30)
    await a.release("ada", "a")
    assert await b.acquire("ada", "b", NOW + 30, 30)


async def test_many_at_once(client: Any) -> None:
    """Of many that ask at the same moment exactly one gets a name."""
    leases = RedisLeases(ListedLeases(), lambda: client)
    taken = await asyncio.gather(*(leases.acquire("ada", f"w-{n}", NOW, 30) for n in range(20)))
    assert taken.count(True) == 1


async def test_without_redis() -> None:
    """Where the host has no Redis the database keeps the leases."""
    database = ListedLeases()
    leases = RedisLeases(database, lambda: None)
    assert await leases.acquire("ada", "a", NOW, 30)
    assert database.owners == {"ada": "a"}
    await leases.release("ada", "a")
    assert database.owners == {}


async def test_redis_fails(caplog: pytest.LogCaptureFixture) -> None:
    """While Redis fails the database keeps the leases; that is told once."""
    small, database = SmallRedis(), ListedLeases()
    leases = RedisLeases(database, lambda: small)
    small.failing = True
    assert await leases.acquire("ada", "a", NOW, 30)
    assert await leases.acquire("bob", "a", NOW + 61, 30)
    assert database.owners == {"ada": "a", "bob": "a"}
    assert [record.message for record in caplog.records] == [
        "the database keeps the leases while Redis fails: asking Redis for a lease: "
        "Error 111 connecting to redis:6379"
    ]
    await leases.release("ada", "a")
    assert database.owners == {"bob": "a"}


async def test_failing_redis_rests() -> None:
    """A Redis that failed is left alone for a minute: each try may cost seconds."""
    small = SmallRedis()
    leases = RedisLeases(ListedLeases(), lambda: small)
    small.failing = True
    await leases.acquire("ada", "a", NOW, 30)
    small.failing, small.calls = False, 0
    await leases.acquire("ada", "a", NOW + 59, 30)
    assert small.calls == 0
    await leases.acquire("ada", "a", NOW + 60, 30)
    assert small.calls == 1


async def test_redis_is_back() -> None:
    """A lease that moved between the two is freed in both."""
    small, database = SmallRedis(), ListedLeases()
    leases = RedisLeases(database, lambda: small)
    small.failing = True
    assert await leases.acquire("ada", "a", NOW, 30)
    small.failing = False
    assert await leases.acquire("ada", "a", NOW + 60, 30)
    assert (list(small.keys), database.owners) == ([KEY], {"ada": "a"})
    await leases.release("ada", "a")
    assert (list(small.keys), database.owners) == ([], {})


async def test_redis_fails_at_release(caplog: pytest.LogCaptureFixture) -> None:
    """A lease that can't be released ends by itself; nothing is raised for it."""
    small = SmallRedis()
    leases = RedisLeases(ListedLeases(), lambda: small)
    await leases.acquire("ada", "a", NOW, 30)
    small.failing = True
    with caplog.at_level(logging.DEBUG, "adaptive_memory.host"):
        await leases.release("ada", "a")
    assert "a lease was not released" in caplog.text


async def test_hanging_redis() -> None:
    """A Redis that never answers counts as one that fails."""
    small, database = SmallRedis(), ListedLeases()
    small.hanging = True
    leases = RedisLeases(database, lambda: small, patience=0.01)
    assert await leases.acquire("ada", "a", NOW, 30)
    assert database.owners == {"ada": "a"}


async def test_client_of_another_kind() -> None:
    """A client that is not asynchronous, or none at all, counts as one that fails."""
    for strange in (SimpleNamespace(set=lambda *_args, **_options: True), object()):
        database = ListedLeases()
        assert await RedisLeases(database, lambda it=strange: it).acquire("ada", "a", NOW, 30)
        assert database.owners == {"ada": "a"}


async def test_neither() -> None:
    """Where Redis fails and no table can be had, that is told to who asks."""
    small, database = SmallRedis(), ListedLeases()
    small.failing = database.unavailable = True
    with pytest.raises(TablesUnavailable):
        await RedisLeases(database, lambda: small).acquire("ada", "a", NOW, 30)


def test_no_host() -> None:
    """Outside of a host there is no Redis."""
    assert host_redis() is None
    assert redis_prefix() == "open-webui:adaptive_memory:lease:"


def test_host_with_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's client and its prefix are found when they are asked for."""
    main, env = ModuleType("open_webui.main"), ModuleType("open_webui.env")
    client = object()
    main.app = SimpleNamespace(state=SimpleNamespace(redis=client))  # type: ignore[attr-defined]
    env.REDIS_KEY_PREFIX = "ours"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "open_webui.main", main)
    monkeypatch.setitem(sys.modules, "open_webui.env", env)
    assert host_redis() is client
    assert redis_prefix() == "ours:adaptive_memory:lease:"
    env.REDIS_KEY_PREFIX = ""  # type: ignore[attr-defined]
    assert redis_prefix() == "adaptive_memory:lease:"
