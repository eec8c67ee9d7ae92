"""One user message is learned once, whoever answers it."""

from __future__ import annotations

import asyncio
import logging

import pytest

from adaptive.learn.claims import TurnClaims
from tests.fakes import HeldClaims

NOW = 1_700_000_000


async def test_first_answer_claims() -> None:
    """The first answer to a message learns it, the second does not."""
    claims, tables = TurnClaims(), HeldClaims()
    assert await claims.claim(tables, "ada", "m-1", NOW)
    assert not await claims.claim(tables, "ada", "m-1", NOW)
    assert tables.claims == {("ada", "m-1")}


async def test_two_answers_at_once() -> None:
    """Of two models that answer at the same time exactly one learns."""
    claims, tables = TurnClaims(), HeldClaims()
    results = await asyncio.gather(*(claims.claim(tables, "ada", "m-1", NOW) for _ in range(2)))
    assert sorted(results) == [False, True]


async def test_users_and_messages_apart() -> None:
    """Another user's message of the same id, and another message, are claims of their own."""
    claims, tables = TurnClaims(), HeldClaims()
    for user, message in (("ada", "m-1"), ("bob", "m-1"), ("ada", "m-2")):
        assert await claims.claim(tables, user, message, NOW)


async def test_two_workers() -> None:
    """What one worker claimed another one does not learn."""
    tables = HeldClaims()
    assert await TurnClaims().claim(tables, "ada", "m-1", NOW)
    assert not await TurnClaims().claim(tables, "ada", "m-1", NOW)


async def test_released_claim() -> None:
    """A claim that was given back after a failure can be taken again."""
    claims, tables = TurnClaims(), HeldClaims()
    await claims.claim(tables, "ada", "m-1", NOW)
    await claims.release(tables, "ada", "m-1")
    assert await claims.claim(tables, "ada", "m-1", NOW)


async def test_claim_released_by_another_worker() -> None:
    """A worker that was too late learns the repeated turn when the first one has given up."""
    first, second, tables = TurnClaims(), TurnClaims(), HeldClaims()
    await first.claim(tables, "ada", "m-1", NOW)
    assert not await second.claim(tables, "ada", "m-1", NOW)
    await first.release(tables, "ada", "m-1")
    assert await second.claim(tables, "ada", "m-1", NOW)


async def test_without_tables(caplog: pytest.LogCaptureFixture) -> None:
    """Where no table can be had, claims hold within the process, and the log says so once."""
    claims, tables = TurnClaims(), HeldClaims(unavailable=True)
    with caplog.at_level(logging.WARNING):
        assert await claims.claim(tables, "ada", "m-1", NOW)
        assert not await claims.claim(tables, "ada", "m-1", NOW)
        assert await claims.claim(tables, "ada", "m-2", NOW)
        await claims.release(tables, "ada", "m-1")
        assert await claims.claim(tables, "ada", "m-1", NOW)
    assert [record.message for record in caplog.records] == [
        "turns are told apart within this process only: no table can be created"
    ]


async def test_local_claims_are_bounded() -> None:
    """A process that runs for months forgets its oldest claims; the tables still know them."""
    claims, tables = TurnClaims(), HeldClaims()
    for number in range(10_050):
        await claims.claim(tables, "ada", f"m-{number}", NOW)
    assert not await claims.claim(tables, "ada", "m-0", NOW)
    assert not await claims.claim(tables, "ada", "m-10049", NOW)
    tables.claims.clear()
    assert await claims.claim(tables, "ada", "m-0", NOW)
    assert not await claims.claim(tables, "ada", "m-10049", NOW)


def test_lock_of_a_user() -> None:
    """A user has one lock, and no two users share one."""
    claims = TurnClaims()
    assert claims.lock("ada") is claims.lock("ada")
    assert claims.lock("ada") is not claims.lock("bob")


async def test_more_lessons_than_locks() -> None:
    """When more lessons run than locks are remembered, a user still has one lock."""
    claims = TurnClaims()
    for number in range(2_000):
        await claims.lock(f"user-{number}").acquire()
    assert claims.lock("ada") is claims.lock("ada")


async def test_locks_are_bounded() -> None:
    """Idle locks of many users are dropped, a lock that is held never."""
    claims = TurnClaims()
    held, idle = claims.lock("held"), claims.lock("idle")
    async with held:
        for number in range(2_100):
            claims.lock(f"user-{number}")
        assert claims.lock("held") is held
    assert claims.lock("idle") is not idle
