"""Services that have failed are left alone and probed behind."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.core.model import EmbeddingError
from adaptive.core.providers import CircuitBreaker


async def test_probes(caplog: pytest.LogCaptureFixture) -> None:
    """A service that fails is probed more and more seldom, by one probe at a time."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def probe() -> None:
        if len(pauses) < 6:
            raise EmbeddingError("the provider is down")

    breaker = CircuitBreaker(sleep)
    for _ in range(2):
        breaker.open("words", probe)
    assert breaker.is_open("words")
    assert not breaker.is_open("others")
    while breaker.is_open("words"):
        await asyncio.sleep(0)
    assert pauses == [15, 30, 60, 120, 240, 300]
    assert (
        "words is left in peace for a while: the provider is down"
        in caplog.text
    )


async def test_probe_that_breaks() -> None:
    """A probe that fails as nobody foresaw leaves the service to be asked again."""
    breaker = CircuitBreaker()

    async def probe() -> None:
        raise KeyError("data")

    breaker.open("words", probe)
    for _ in range(5):
        await asyncio.sleep(0)
    assert not breaker.is_open("words")


async def test_suspected() -> None:
    """A service that has refused one call is asked on, until a probe of it fails as well."""
    rested, fails = asyncio.Event(), True

    async def rest(_: float) -> None:
        await rested.wait()

    async def probe() -> None:
        if fails:
            raise EmbeddingError("the provider is down")

    breaker = CircuitBreaker(rest)
    breaker.suspect("words", probe)
    assert not breaker.is_open("words")
    await asyncio.sleep(0)
    assert breaker.is_open("words")
    fails = False
    rested.set()
    while breaker.is_open("words"):
        await asyncio.sleep(0)
