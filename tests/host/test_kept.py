"""What the rooms keep of a user, kind by kind, in a real database that two workers share."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from adaptive.core.marks import Place
from adaptive.core.model import Draft, Memory, Provenance
from adaptive.core.texts import Phrase
from adaptive.host.tables import HostTables
from adaptive.memory import audit
from adaptive.memory.audit import AuditEntry, steps_of
from adaptive.memory.suggestion_table import SuggestionTable, WaitingSuggestion
from adaptive.memory.tables import Addition, ArchivedMemory, ChatNotes
from adaptive.privacy.sealing import Sealer
from tests.fakes import memory
from tests.host.databases import Worker

NOW = 1_700_000_000
DAY = 24 * 3600
NOTES = ChatNotes(
    "The user plans a holiday in Lisbon.", ("holiday", "Lisboa é bonita")
)
ARCHIVED = ArchivedMemory(
    Memory(
        "memory-1",
        "User likes tea; 喜欢 'quoted' \\ \N{TEACUP WITHOUT HANDLE}",
        NOW - 9,
        NOW - 5,
        ("preference", "behavior"),
        "Work",
        0.875,
        7,
        {
            "said_at": NOW - 9,
            "history": [{"content": "coffee"}],
            "odd": [None, 1.5, {"a": {}}],
        },
        "2027-02-28",
    ),
    "too many",
    NOW,
    "User likes hot drinks.",
)
SAVED = AuditEntry(
    "saved",
    "memory-1",
    NOW,
    None,
    "User likes tea",
    "said so",
    "chat",
    "message",
)


Both = tuple[HostTables, HostTables]


@pytest.fixture
def both(workers: tuple[Worker, Worker]) -> Both:
    """Our tables as two workers have them, all of them empty."""
    here, there = (
        HostTables(Sealer("secret"), worker.database) for worker in workers
    )
    return here, there


async def test_refusal_is_written_down(both: Both) -> None:
    """The reason of a refusal, which readers see in their language, is kept in English."""
    reason = Phrase("bad_length")
    await both[0].audit.record(
        "ada", [AuditEntry("refused", "", reason=reason)]
    )
    keys = await both[1].audit.keys("ada")
    (refused,) = await both[1].audit.read("ada", [key.text for key in keys])
    assert refused.reason == "it is empty or too long"


async def test_archived_memory_comes_back(both: Both) -> None:
    """Everything a memory has comes back, the last archived first, until it is discarded."""
    later = replace(ARCHIVED, memory=memory("m2", "b"), archived_at=NOW + 1)
    await both[0].archive.put("ada", [ARCHIVED])
    await both[0].archive.put(
        "ada", [later, replace(ARCHIVED, reason="again")]
    )
    found = (later, replace(ARCHIVED, reason="again"))
    assert await both[1].archive.read("ada") == found
    assert await both[1].archive.read("ada", ["memory-1", "m3"]) == found[1:]
    # What is no JSON comes back different, so that nobody deletes the row.
    odd = replace(ARCHIVED, memory=memory("odd", "c", meta={"when": object()}))
    await both[0].archive.put("bob", [odd])
    assert await both[0].archive.read("bob") != (odd,)
    await both[1].archive.discard("bob", ["m2", "odd"])
    await both[1].archive.discard("ada", ["memory-1", "never"])
    assert await both[0].archive.read("ada") == (later,)
    assert await both[0].archive.read("bob") == ()


async def test_values_come_back(both: Both) -> None:
    """What one worker notes another one reads, of this user and chat, or message, alone."""
    here, there = both[0].chat_notes, both[1].chat_notes
    await here.write("ada", "c", NOTES, NOW)
    assert await there.read("ada", "c") == NOTES
    for user_id, chat_id in (("bob", "c"), ("ada", "d")):
        assert await there.read(user_id, chat_id) == ChatNotes()
    given = {"k": Addition(core=[], retrieved=["m-4"], texts=[])}
    await both[0].chats.write("ada", "c", given, NOW)
    assert await both[1].chats.read("ada", "c") == given
    await both[0].commands.write("ada", "c", "Done.", NOW, "m")
    assert await both[1].commands.read("ada", "m") == "Done."
    assert await both[1].commands.read("ada", "c") == ""


def waiting(
    name: str, at: int = 0, content: str = "User drinks tea."
) -> WaitingSuggestion:
    """A suggestion whose digest is its name."""
    draft = Draft(
        content, ("preference", "goal"), "Home", importance=9, passed=name
    )
    return WaitingSuggestion(
        name, draft, "m-1", Provenance("chat", f"message-{name}", NOW + at)
    )


async def digests(table: SuggestionTable, user_id: str = "ada") -> str:
    """What waits, the newest first."""
    return " ".join(one.digest for one in await table.waiting(user_id))


async def test_rejected_for_good(both: Both) -> None:
    """What waits another worker reads whole; what was rejected can't wait again, on any worker."""
    here, there = both[0].suggestions, both[1].suggestions
    await here.put("ada", [waiting("b"), waiting("a", 1), waiting("gone")])
    await there.discard("ada", ["gone"])
    assert await there.waiting("ada") == (waiting("a", 1), waiting("b"))
    for digest in ("a", "a", "never seen"):
        await there.reject("ada", digest, NOW + 1)
    await here.discard("ada", ["a"])
    assert await digests(here) == "b"
    assert await here.rejected("ada", ["a", "b", "never seen"]) == {
        "a",
        "never seen",
    }
    assert (
        await here.rejected("bob", ["a"])
        == await here.rejected("ada", [])
        == frozenset()
    )


async def test_rejected_under_another_secret(
    both: Both,
    workers: tuple[Worker, Worker],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What was noted as rejected under another secret is not proposed again."""
    here, _ = both
    former = HostTables(Sealer("former secret"), workers[0].database)
    await former.suggestions.reject("ada", "c", NOW)
    await here.suggestions.put("ada", [waiting("a"), waiting("b")])
    rejected = await here.suggestions.rejected("ada", ["a", "b", "c", "d"])
    assert rejected == {"c"}
    assert not caplog.records


async def test_log_is_read_by_its_keys(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was changed when, in which step and what was taken back is known without opening it."""
    here, there = both[0].audit, both[1].audit
    imported = [
        replace(SAVED, kind="imported", memory_id=one, step="imported-1")
        for one in ("a", "b")
    ]
    await here.record("ada", imported)
    newest, oldest = await there.keys("ada")
    await here.record(
        "ada", [replace(SAVED, kind="undone", undoes=newest.text)]
    )
    await here.record(
        "ada", [AuditEntry("refused", "", NOW, reason="no secrets")]
    )
    opened: list[str] = []
    monkeypatch.setattr(
        Sealer, "open", lambda *given: opened.append(given[-1])
    )
    keys = await there.keys("ada")
    assert [(key.kind, key.memory_id, key.step) for key in keys] == [
        ("refused", "", ""),
        ("undone", SAVED.memory_id, ""),
        ("imported", "b", "imported-1"),
        ("imported", "a", "imported-1"),
    ]
    steps = steps_of(keys)
    assert [
        (step.number, len(step.changes), len(step.standing)) for step in steps
    ] == [
        (3, 1, 1),
        (1, 2, 1),
    ]
    assert await there.keys("ada", time.time() + 60) == []
    assert opened == []
    monkeypatch.undo()
    (change,) = await there.read("ada", [oldest.text])
    assert (change.memory_id, change.key) == ("a", oldest.text)


async def test_numbers_of_two_workers(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers that write at once, and one whose clock is behind, never give a number twice."""
    here, there = both[0].audit, both[1].audit
    names = [f"at-once-{number}" for number in range(6)]
    writes = (
        both[at % 2].audit.record("ada", [replace(SAVED, memory_id=name)])
        for at, name in enumerate(names)
    )
    await asyncio.gather(*writes)
    behind = time.time_ns() - 5_000_000_000
    monkeypatch.setattr(audit.time, "time_ns", lambda: behind)
    await there.record("ada", [replace(SAVED, memory_id="behind")])
    newest = (await here.keys("ada"))[0]
    assert newest.memory_id == "behind"
    await there.record(
        "ada", [replace(SAVED, kind="undone", undoes=newest.text)]
    )
    steps = steps_of(await here.keys("ada"))
    assert [step.number for step in steps] == [8, 7, 6, 5, 4, 3, 2, 1]
    assert [len(step.standing) for step in steps] == [1, 0, 1, 1, 1, 1, 1, 1]


async def test_asked_once_at_a_time(both: Both) -> None:
    """Of two workers one asks, the newest first; then what was asked about has rest."""
    here, there = both[0].suggestions, both[1].suggestions
    old, new = waiting("old"), waiting("new", 1)
    await here.put("ada", [old, new])
    assert await here.claim("ada", (), NOW + 5, 1, Place()) == [new]
    assert await there.claim("ada", (), NOW + 5, 9, Place()) == [old]
    for worker in (here, there):
        assert await worker.claim("ada", (), NOW + 6, 9, Place()) == []
    assert await here.claim("ada", (), NOW + 700, 9, Place()) == [new, old]
    await there.release("ada", [old.digest])
    assert await here.claim("ada", (), NOW + 701, 9, Place()) == [old]
    await there.release("ada", [new.digest, old.digest])
    assert await here.claim("ada", (new.digest,), NOW + 702, 9, Place()) == [
        old
    ]
