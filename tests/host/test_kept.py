"""What the rooms keep of a user, kind by kind, in a real database that two workers share."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import pytest

from adaptive.core.kept import (
    ChatNotes,
    Suggestion,
    SuggestionTable,
    WaitingSuggestion,
)
from adaptive.core.model import Memory, Provenance
from adaptive.core.table_ports import ArchivedMemory, AuditEntry
from adaptive.host.tables import HostTables
from adaptive.privacy.sealing import Sealer
from tests.fakes import memory
from tests.host.databases import Worker

NOW = 1_700_000_000
DAY = 24 * 3600
NOTES = ChatNotes("The user plans a holiday in Lisbon.", ("holiday", "Lisboa é bonita"))
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
        {"said_at": NOW - 9, "history": [{"content": "coffee"}], "odd": [None, 1.5, {"a": {}}]},
        "2027-02-28",
    ),
    "too many",
    NOW,
    "User likes hot drinks.",
)
SAVED = AuditEntry("saved", "memory-1", NOW, "", "User likes tea", "said so", "chat", "message")


@dataclass
class Both:
    """Our tables as two workers have them."""

    here: HostTables
    there: HostTables


@pytest.fixture
def both(workers: tuple[Worker, Worker]) -> Both:
    """The tables, all of them empty."""
    return Both(*(HostTables(Sealer("secret"), worker.sessions) for worker in workers))


async def test_archived_memory_comes_back(both: Both) -> None:
    """Everything a memory has comes back, the last archived first, until it is discarded."""
    later = replace(ARCHIVED, memory=memory("m2", "b"), archived_at=NOW + 1)
    await both.here.archive.put("ada", [ARCHIVED])
    await both.here.archive.put("ada", [later, replace(ARCHIVED, reason="again")])
    found = (later, replace(ARCHIVED, reason="again"))
    assert await both.there.archive.read("ada") == found
    assert await both.there.archive.read("ada", ["memory-1", "m3"]) == found[1:]
    # What is no JSON comes back different, so that nobody deletes the row.
    odd = replace(ARCHIVED, memory=memory("odd", "c", meta={"when": object()}))
    await both.here.archive.put("bob", [odd])
    assert await both.here.archive.read("bob") != (odd,)
    await both.there.archive.discard("bob", ["m2", "odd"])
    await both.there.archive.discard("ada", ["memory-1", "never"])
    assert await both.here.archive.read("ada") == (later,)
    assert await both.here.archive.read("bob") == ()


async def test_audit_has_limits(both: Both, workers: tuple[Worker, Worker]) -> None:
    """A change is kept for 400 days; of one who changes a lot the newest 5,000 stay."""
    await both.here.audit.append("bob", [SAVED, SAVED], NOW)
    many = [replace(SAVED, memory_id=f"{number}") for number in range(5001)]
    await both.here.audit.append("ada", many, NOW)
    count = "SELECT count(*) FROM adaptive_memory_entries WHERE user_id = "
    assert await workers[1].rows(f"{count}'ada'") == [(5000,)]
    for day, left in ((400, 2), (401, 0)):
        at = NOW + day * DAY
        await both.here.audit.append("ada", [replace(SAVED, changed_at=at)], at)
        assert await workers[1].rows(f"{count}'bob'") == [(left,)]


async def test_recalls(both: Both) -> None:
    """Each turn adds one to the memories it recalled; a summary inherits those of its originals."""
    usage, now = both.here.usage, int(time.time())
    await usage.record("ada", ["a", "b", "a", "other"], now)
    await both.there.usage.record("ada", ["b", "sum"], now + 5)
    await usage.record("bob", ["a"], now)
    assert await usage.read("ada") == {"a": 1, "b": 2, "other": 1, "sum": 1}
    for _ in range(2):
        await usage.merge("ada", ["a", "b", "never", "sum"], "sum")
        assert await usage.read("ada") == {"other": 1, "sum": 4}
    assert await both.there.usage.read("bob") == {"a": 1}


async def test_newest_chats_are_kept(both: Both) -> None:
    """Of a user's chats the newest three stay, for a day."""
    chats = both.here.chats
    for number in range(5):
        await chats.write("ada", f"chat-{number}", f"[{number}]", NOW + number)
    kept = [await both.there.chats.read("ada", f"chat-{number}") for number in range(5)]
    assert kept == ["", "", "[2]", "[3]", "[4]"]
    await chats.write("bob", "chat-0", "[9]", NOW + DAY + 3600)
    assert await chats.read("ada", "chat-4") == ""


async def test_notes_come_back(both: Both, workers: tuple[Worker, Worker]) -> None:
    """What is noted another worker reads, of this user and chat alone, while there is the chat."""
    await workers[0].change("CREATE TABLE chat (id VARCHAR PRIMARY KEY)")
    here, there = both.here.chat_notes, both.there.chat_notes
    await here.write("ada", "c", NOTES, NOW)
    assert await there.read("ada", "c") == NOTES
    assert await there.read("bob", "c") == await there.read("ada", "d") == ChatNotes()
    await there.write("ada", "d", ChatNotes(summary="New."), NOW + 1)
    assert await here.read("ada", "c") == ChatNotes()


def waiting(name: str, at: int = 0, content: str = "User drinks tea.") -> WaitingSuggestion:
    """A suggestion whose digest is its name."""
    suggestion = Suggestion("preference", f"Title {name}", "Home", ("preference", "goal"), content)
    return WaitingSuggestion(name, suggestion, Provenance("chat", f"message-{name}", NOW + at))


async def digests(table: SuggestionTable, user_id: str = "ada") -> str:
    """What waits, the oldest first."""
    return " ".join(one.digest for one in await table.waiting(user_id))


async def test_suggestion_waits(both: Both) -> None:
    """What one worker lets wait another one reads whole, until it is answered."""
    here, there = both.here.suggestions, both.there.suggestions
    again = waiting("a", 1, "User loves tea.")
    await here.put("ada", [waiting("b"), waiting("a", 1)], NOW)
    await here.put("ada", [again, waiting("c", 2)], NOW + 1)
    await here.put("bob", [waiting("a")], NOW)
    assert await there.waiting("ada") == (waiting("b"), again, waiting("c", 2))
    await there.discard("ada", ["b", "never"])
    assert await digests(here) == "a c"
    assert await digests(here, "bob") == "a"


async def test_rejected_for_good(both: Both) -> None:
    """What was rejected can't wait again, on any worker; other users may be asked."""
    here, there = both.here.suggestions, both.there.suggestions
    await here.put("ada", [waiting("a"), waiting("b")], NOW)
    for digest in ("a", "a", "never seen"):
        await there.reject("ada", digest, NOW + 1)
    late = NOW + 400 * DAY
    await here.put("ada", [waiting("a", 400 * DAY), waiting("b", 400 * DAY)], late)
    await here.discard("ada", ["a"])
    assert await digests(here) == "b"
    assert await here.rejected("ada", ["a", "b", "never seen"]) == {"a", "never seen"}
    assert await here.rejected("bob", ["a"]) == await here.rejected("ada", []) == frozenset()


async def test_twenty_for_a_month(both: Both) -> None:
    """A user's newest twenty wait, each for a month; rejections outlast them."""
    here = both.here.suggestions
    await here.put("bob", [waiting("old")], NOW)
    await here.reject("bob", "rejected", NOW)
    await here.put("ada", [waiting(f"{number:02}", number) for number in range(25)], NOW)
    assert await digests(here) == " ".join(f"{number:02}" for number in range(5, 25))
    late = 31 * DAY
    await here.put("ada", [waiting("late", late)], NOW + late)
    assert await digests(here) == "late"
    assert await digests(here, "bob") == ""
    assert await here.rejected("bob", ["rejected"]) == {"rejected"}


async def test_asked_once_at_a_time(both: Both) -> None:
    """Of two workers one asks, the newest first; then the chat has rest and others have not."""
    here, there = both.here.suggestions, both.there.suggestions
    old, new = waiting("old"), waiting("new", 1)
    await here.put("ada", [old, new], NOW)
    assert await here.claim("ada", "c", NOW + 5, 1) == (new,)
    assert await there.claim("ada", "c", NOW + 5, 9) == (old,)
    for worker, chat in ((here, "c"), (there, "d")):
        assert await worker.claim("ada", chat, NOW + 6, 9) == ()
    await here.release("ada", "c", ["new"])
    assert await here.claim("ada", "c", NOW + 7, 9) == ()
    assert await there.claim("ada", "d", NOW + 8, 9) == (new,)
    # Whoever asked about the old one is gone: its dialog is surely over after a while.
    assert await here.claim("ada", "d", NOW + 700, 9) == (new, old)
