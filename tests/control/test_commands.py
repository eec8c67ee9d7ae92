"""Commands: what each is answered, and what may stand in the chat that it was given in."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from adaptive.control.commands import MemoryCommands, _command_id
from adaptive.control.past_chats import PastChatCommands
from adaptive.control.requests import (
    change_log,
    shown_of_steps,
)
from adaptive.control.turn import (
    OncePerMessage,
    command_in,
    memory_is_off,
    rememberable_messages,
    without_commands,
)
from adaptive.core.marks import PlaceChoice
from adaptive.core.model import (
    Draft,
    Memory,
    NewMemory,
    Proposal,
    StoreError,
)
from adaptive.core.texts import phrase
from adaptive.learn.queue import always
from adaptive.memory.audit import AuditEntry
from adaptive.memory.tables import CostTable, PlaceTable
from adaptive.search.history_ports import ListedChat
from adaptive.search.index import FoundMemory
from adaptive.settings.hook import Hook
from adaptive.settings.merged import NOTHING_HIDDEN, HiddenMemories
from tests.control.page import Page
from tests.fakes import (
    SOURCE,
    ListedEntries,
    command_answers,
    hook_settings,
    memory,
)
from tests.learn.world import NOW, HeldLeases, World
from tests.rates import over

HIDDEN = HiddenMemories(frozenset({"health"}), "general")


@dataclass
class ChatPage(Page):
    """A page whose chat's model may not see some banks."""

    question_id: str = "m1"
    hidden: HiddenMemories = NOTHING_HIDDEN
    is_admin: bool = False
    chosen: dict[str, object] = field(default_factory=dict[str, object])

    async def choose(self, **valves: object) -> None:
        """Note the valves of the user's own that are changed."""
        self.chosen.update(valves)

    async def hidden_from(self) -> HiddenMemories:
        """What the chat's model may not see, and what belongs elsewhere."""
        return replace(self.hidden, place=self.place)


def named(memory: Memory, withheld: str = "") -> FoundMemory:
    """A memory that words have named."""
    return FoundMemory(memory, 90, has_all_words=True, withheld=withheld)


@dataclass
class House:
    """Ada's memory behind its commands, each given as a message of its own."""

    world: World = field(default_factory=World)
    page: ChatPage = field(default_factory=ChatPage)
    named: list[FoundMemory] = field(default_factory=list[FoundMemory])
    entries: ListedEntries = field(default_factory=ListedEntries)
    leases: HeldLeases = field(default_factory=HeldLeases)
    sent: int = 0

    def __post_init__(self) -> None:
        self.learner = AsyncMock()
        self.past = AsyncMock()
        self.finder = AsyncMock()
        self.past.progress.return_value = ""
        self.costs = CostTable(ListedEntries())
        self.page.store = self.world.store
        self.learner.waiting.return_value = []
        self.learner.examine.return_value = ("note", "3 of 6 facts")
        search = AsyncMock()
        search.found.side_effect = lambda *_: self.named
        search.named.side_effect = lambda _, memory: named(memory)
        self.commands = MemoryCommands(
            memories=self.world.memories(),
            learner=self.learner,
            eraser_of=AsyncMock(),
            search=search,
            costs=self.costs,
            places=PlaceTable(
                self.entries, "places", dict[str, PlaceChoice], {}
            ),
            diagnosis=AsyncMock(return_value="- **OK** all well"),
            about=AsyncMock(return_value="What is known about you"),
            once=OncePerMessage(command_answers(self.entries), self.leases),
            past_chats=PastChatCommands(self.past, self.finder),
        )

    @property
    def hook(self) -> Hook:
        """The page's."""
        return self.page.hook

    async def learn(self, *contents: str, bank: str = "General") -> None:
        """Memories that were learned one after the other."""
        for content in contents:
            operation = Proposal("NEW", draft=Draft(content, bank=bank))
            ada = self.world.memory()
            async with ada.lock:
                await ada.apply([operation], (), SOURCE, always)

    async def answer(self, typed: str) -> str:
        """What a new message with a command is answered."""
        self.sent += 1
        self.page.question_id = f"m{self.sent}"
        command = command_in([{"role": "user", "content": typed}])
        assert command is not None
        return await self.commands.answer(self.hook, command)

    @property
    def contents(self) -> list[str]:
        """What is stored."""
        return sorted(one.content for one in self.world.store.rows.values())


@over(
    "typed, name, words",
    [
        ("/undo", "undo", ""),
        (" /Undo  #3 ", "undo", "#3"),
        ("/undo#3", "undo", "#3"),
        ("/memory off.", "off", ""),
        ("/memory OFF please", "off", "please"),
        ("/memory", "", ""),
        ("/memory import\n- I like tea", "import", "- I like tea"),
        ("/MEMORY Find  green tea", "find", "green tea"),
        ("/remember a\nb", "remember", "a\nb"),
        (
            '<attached_files>\n<file type="file" name="a.json"/>\n'
            "</attached_files>\n\n/memory import",
            "import",
            "",
        ),
        ("\u200f/undo 3\u200f", "undo", "3"),
        ("\u2067 /memory off\u2069", "off", ""),
        ("\ufeff/forget everything\u200b\n", "forget", "everything"),
    ],
)
def test_reading(typed: str, name: str, words: str) -> None:
    """A command is known by its beginning, whatever its case, and has the words behind it."""
    command = command_in([{"role": "user", "content": typed}])
    assert command is not None
    assert (command.name, command.words) == (name, words)


@over(
    "typed, is_off",
    [
        ("/memory off", True),
        ("/MEMORY Off.", True),
        ("/memory off please", True),
        ("/memory on!", False),
        ("/memory often", False),
        ("/remember off", False),
        ("memory off", False),
    ],
)
def test_memory_is_off(typed: str, is_off: bool) -> None:
    """A chat's memory is off from the command on that says so, as people end it."""
    said = [
        {"role": "user", "content": typed},
        {"role": "user", "content": "Hello"},
    ]
    assert memory_is_off(said) is is_off
    assert rememberable_messages(said)[-1:] == ([] if is_off else said[-1:])


def test_rememberable_messages() -> None:
    """Commands, their answers, and what is said from *off* to *on* are not remembered."""
    said = [
        "Hi",
        "/memory off",
        "It is off.",
        "secret",
        "Oh",
        "/memory on",
        "It is on.",
        "Bye",
    ]
    roles = [
        "user",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    messages = [
        {"role": role, "content": text}
        for role, text in zip(roles, said, strict=True)
    ]
    messages.insert(2, {"role": "system", "content": "Be kind."})
    remembered = [
        message["content"] for message in rememberable_messages(messages)
    ]
    assert remembered == ["Hi", "Be kind.", "Bye"]
    sent = [message["content"] for message in without_commands(messages)]
    assert sent == ["Hi", "Be kind.", "secret", "Oh", "Bye"]


@over(
    "typed", ["/undo #1", "/undo 1.", "/undo 1", "/undo (1)", "/undo \u0661"]
)
async def test_undo_by_number(typed: str) -> None:
    """A number takes back the change that bears it, however it is written."""
    house = House()
    await house.learn("User likes tea.", "User likes milk.")
    assert await house.answer(typed) == "Taken back: gone: User likes tea."
    assert house.contents == ["User likes milk."]


@over(
    "typed",
    [
        "/undo number 2",
        "/undo the last",
        "/undo 1 2",
        "/undo -",
        "/undo -2",
        "/undo all",
    ],
)
async def test_undo_asks_back(typed: str) -> None:
    """What can't be read as a number takes nothing back."""
    house = House()
    await house.learn("User likes tea.", "User likes milk.")
    assert (await house.answer(typed)).startswith("For example: `/undo`")
    assert len(house.contents) == 2


async def test_numbers_stay() -> None:
    """A number of the log means the same change after others have come, and after an undo."""
    house = House()
    await house.learn("User likes tea.", "User likes milk.")
    log = await house.answer("/memory log")
    assert log.index("2. ") < log.index("User likes milk") < log.index("1. ")
    await house.learn("User likes rum.")
    assert "User likes tea." in await house.answer("/undo 1")
    assert "User likes milk." in await house.answer("/undo 2")
    assert "It is so already" in await house.answer("/undo 1")
    assert await house.answer("/undo 99") == "Nothing was found."
    assert house.contents == ["User likes rum."]


async def test_undo_of_the_change_before() -> None:
    """Where the newest change can't be taken back, the newest one before it that can be is named."""
    house = House()
    await house.learn("User likes tea.", "User likes milk.", "User runs.")
    for row in [*house.world.store.rows.values()]:
        if row.content != "User likes tea.":
            house.world.store.edit(row.id, f"{row.content} Often.")
    refused = await house.answer("/undo")
    assert refused.endswith("`/undo 1` takes number 1 back")
    assert await house.answer("/undo 1") == "Taken back: gone: User likes tea."
    assert (await house.answer("/undo")).endswith(phrase("log_shows"))


async def test_log_under_another_secret() -> None:
    """What can't be opened is counted below the changes that can, and is not passed over."""
    house = House()
    await house.learn("User likes tea.", "User likes milk.", "User likes rum.")
    steps = await house.world.room().steps()
    openable = await house.world.room().changes(shown_of_steps(steps)[:1])
    log = change_log(
        steps, openable, number=3, day=str, withheld=lambda _: False
    )
    assert "User likes rum." in log
    assert log.splitlines()[-1].startswith(
        "2: Open WebUI's secret key has changed"
    )


async def test_a_failure_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """What fails says so, the log says why, and to that message it is not tried again."""
    house = House()
    failure = StoreError(
        "the database can't be written", detail="disk I/O error"
    )
    house.learner.do.side_effect = failure
    command = command_in([{"role": "user", "content": "/remember I like tea"}])
    assert command is not None
    for _ in range(2):
        answer = await house.commands.answer(house.hook, command)
        assert answer == "That did not work: the database can't be written."
    assert house.learner.do.await_count == 1
    assert "disk I/O error" in caplog.text


async def test_import_breaks_off() -> None:
    """An import that fails in the middle says so, and where what stands of it is told."""
    house = House(page=ChatPage(answer=True))
    house.world.store.broken = frozenset({"User owns boat 70."})
    lines = "\n".join(f"- I own boat {number}." for number in range(80))
    answer = await house.answer(f"/memory import\n{lines}")
    assert answer.startswith("That did not work: ")
    assert answer.endswith("`/memory log` shows what was changed before.")
    assert len(house.contents) == 50


async def test_import_alone() -> None:
    """Without a text and a file a text for another assistant is shown, and nothing is asked."""
    house = House(page=ChatPage(answer=True))
    answer = await house.answer("/memory import")
    assert "Write down everything that you remember about me" in answer
    assert not house.page.asked


async def test_import_of_files() -> None:
    """Attached files are read like what is pasted; what is not read is asked about, and told."""
    house = House(
        page=ChatPage(
            answer=True,
            attached=['{"results": [{"memory": "I have a kayak."}, 7]}'],
        )
    )
    answer = await house.answer("/memory import\n- You like tea.")
    assert (
        "1 could not be read, the first: 7" in house.page.asked[0]["message"]
    )
    assert answer == "Saved: 2 / 2 · 1 could not be read, the first: 7"
    assert house.contents == ["User has a kayak.", "User likes tea."]
    house.page.attached = ['{"memories": []}']
    assert "Nothing was found. `/memory import`" in await house.answer(
        "/memory import"
    )
    house.page.attached = ['{"memories": [4, {"x": {"y": 1}}]}']
    assert await house.answer("/memory import") == (
        "2 could not be read, the first: 4. "
        "`/memory import` alone shows what can be."
    )


@over(
    "typed",
    ["/memory find tea", "/memory log", "/undo", "/forget tea", "/remember x"],
)
async def test_before_others(typed: str) -> None:
    """In a chat that others can read nothing is carried out and nothing is told but a count."""
    house = House(page=ChatPage(owned_kind="shared"))
    await house.learn("User likes tea.")
    assert "Other people can read this chat" in await house.answer(typed)
    counted = await house.answer("/memory")
    assert counted.startswith("1 memory. Other people can read this chat")
    assert "tea" not in counted
    assert house.contents == ["User likes tea."]
    assert (await house.answer("/memory off")).startswith(
        "Memory is off in this chat"
    )
    assert await house.answer("/memory on") == "Memory is on in this chat."


async def test_what_the_chats_model_may_not_see() -> None:
    """In a chat whose model may not see a bank no answer holds a word of its memories."""
    house = House(page=ChatPage(hidden=HIDDEN, answer=False))
    await house.learn("User likes tea.")
    await house.learn("User takes lithium.", bank="Health")
    listed = await house.answer("/memory")
    assert listed.startswith("**2 memories** \u00b7 kept from this model: 1")
    log = await house.answer("/memory log")
    house.named = [
        named(one, withheld="kept from this model")
        for one in house.world.store.rows.values()
    ]
    found = await house.answer("/memory find lithium")
    house.learner.ask_deletion.return_value = (
        "Deleted (2): User takes lithium \u2026"
    )
    forgotten = await house.answer("/forget lithium")
    assert forgotten == "Deleted (2)"
    undone = await house.answer("/undo")
    reason = AuditEntry("refused", "", NOW, reason="you did not say lithium")
    await house.world.room().trail.record("ada", [reason])
    relisted = await house.answer("/memory")
    assert "1 refused in a month" in relisted
    await house.learn("User takes lithium.", bank="Health")
    [lithium] = [
        one for one in house.world.store.rows.values() if one.bank == "Health"
    ]
    house.world.store.edit(lithium.id, "User takes lithium at night.")
    refused = await house.answer("/undo")
    assert refused.startswith("That did not work: it was changed")
    told = [listed, log, found, forgotten, undone, relisted, refused]
    assert not [answer for answer in told if "lithium" in answer]
    assert "tea" in listed
    assert all("not repeated" in answer for answer in (log, undone))


async def test_settings_hold() -> None:
    """Who has switched memory off saves nothing by a command."""
    house = House()
    house.page.settings = hook_settings().model_copy(update={"enabled": False})
    for typed in ("/remember I like tea", "/memory import - I like tea"):
        assert (await house.answer(typed)).startswith(
            "Nothing saved: memory is off"
        )
    assert house.contents == []


async def test_edited_command() -> None:
    """A command whose message is edited in place is another one; the same words are the same."""
    house = House()
    await house.learn("User likes tea.", "User likes milk.")
    told: list[str] = []
    for typed in ("/undo 1", "/undo 2", "/undo 1"):
        command = command_in([{"role": "user", "content": typed}])
        assert command is not None
        told.append(await house.commands.answer(house.hook, command))
    assert told == [
        f"Taken back: gone: User likes {one}."
        for one in ("tea", "milk", "tea")
    ]


async def test_how_things_stand_is_told_meanwhile() -> None:
    """While one command changes something, others tell how things stand, and a change waits."""
    house, done = House(), asyncio.Event()
    await house.learn("User likes tea.", "User likes milk.")

    write = house.world.store.write

    async def slow_write(*new: NewMemory, **others: Any) -> list[Memory]:
        await done.wait()
        return await write(*new, **others)

    house.world.store.write = slow_write  # type: ignore[method-assign]
    first = asyncio.create_task(house.answer("/undo"))
    await asyncio.sleep(0)
    assert "2 memories" in await house.answer("/memory")
    second = asyncio.create_task(house.answer("/undo"))
    done.set()
    assert [await first, await second] == [
        f"Taken back: gone: User likes {one}." for one in ("milk", "tea")
    ]


async def test_waiting_for_an_answer_keeps_nobody_waiting() -> None:
    """Whoever waits for the answer of a process that was killed lets other commands go on."""
    house = House()
    await house.learn("User likes tea.", "User likes milk.")
    killed = command_in([{"role": "user", "content": "/undo 1"}])
    other = command_in([{"role": "user", "content": "/undo 2"}])
    assert killed is not None
    assert other is not None
    key = _command_id(house.hook.question_id, killed)
    await house.leases.acquire(f"command:{key}:ada", time.time(), 9e9)
    waiting = asyncio.create_task(house.commands.answer(house.hook, killed))
    await asyncio.sleep(0)
    async with asyncio.timeout(1):
        told = await house.commands.answer(house.hook, other)
    assert told == "Taken back: gone: User likes milk."
    waiting.cancel()


async def test_scope_of_forgetting() -> None:
    """A scope is read however many blanks stand in it: nothing is looked for in its place."""
    house = House()
    house.page.can_ask = False
    for typed in ("/forget this chat", "/forget  This \u00a0 chat."):
        assert (await house.answer(typed)).startswith(
            "That has to be confirmed"
        )


async def test_doctor_and_others() -> None:
    """Each command is answered with a first line that tells what it is about."""
    house = House(named=[named(memory("t", "User likes tea."))])
    house.page.is_admin = True
    answers: dict[str, Any] = {
        "/memory doctor": "How Adaptive Memory is doing\n\n- **OK** all well"
        "\n- **Note** 3 of 6 facts",
        "/memory find": "For example: `/memory find coffee`",
        "/forget": "For example: `/forget 3`, `/forget coffee`",
        "/memory on": "Memory is on in this chat.",
        "/memory off": "Memory is off in this chat: nothing is recalled or saved until"
        " `/memory on`.",
    }
    for typed, answer in answers.items():
        assert await house.answer(typed) == answer
    assert (await house.answer("/memory find tea")).startswith(
        "1 memory\n\n- **1.** User likes"
    )


async def test_page_beside_the_list() -> None:
    """The list has a page beside it that holds no more, where the release knows chats of rows."""
    house = House(page=ChatPage(hidden=HIDDEN))
    await house.learn("User likes tea.", "User likes fish & chips.")
    await house.learn("User takes lithium.", bank="Health")
    await house.answer("/memory")
    (page,) = house.page.embedded
    assert "User likes tea." in page
    assert "fish &amp; chips" in page
    assert "lithium" not in page
    house.world.store.keeps_history = False
    await house.answer("/memory")
    house.world.store.keeps_history = True
    house.page.owned_kind = "shared"
    await house.answer("/memory")
    assert house.page.embedded == [page]


@over(
    "typed, told",
    [
        ("/memory change 1 User likes milk.", "Updated"),
        ("/memory change #1  User\nlikes milk.", "Updated"),
        (
            "/memory change tea User likes milk.",
            "For example: `/memory change 3",
        ),
        ("/memory change 1", "For example: `/memory change 3"),
        ("/memory change", "For example: `/memory change 3"),
        ("/memory change 1 password: hunter2-Kx81mQ!", "Not saved: "),
    ],
)
async def test_change(typed: str, told: str) -> None:
    """A memory of a number says what is typed behind it, with its details as they were."""
    house = House()
    await house.learn("User likes tea.", bank="Work")
    await house.answer("/memory")
    house.learner.do.return_value = "Updated"
    assert (await house.answer(typed)).startswith(told)
    if told == "Updated":
        (change,) = house.learner.do.await_args.args[1]
        (row,) = house.world.store.rows.values()
        assert (change.kind, change.memory_id) == ("UPDATE", row.id)
        assert (change.draft.bank, change.draft.content.split()) == (
            "Work",
            ["User", "likes", "milk."],
        )
    else:
        assert house.learner.do.await_count == 0


async def test_words_that_no_text_can_hold() -> None:
    """Half of a letter, as a broken page sends it, is no reason to fail."""
    house = House()
    house.learner.do.return_value = "Saved: User likes tea."
    told = await house.answer("/remember User likes \ud83d tea.")
    assert told == "Saved: User likes tea."


NOON_IN_2024 = 1_709_640_000  # of the fifth of March


async def test_day_of_a_memory() -> None:
    """A memory is listed with the day on which it was said, whenever it was learned."""
    house = House()
    house.world.store.rows["m"] = replace(
        memory("m", "User likes tea.", meta={"said_at": NOON_IN_2024}),
        updated_at=NOON_IN_2024 + 86400 * 400,
    )
    house.named = [named(house.world.store.rows["m"])]
    for typed in ("/memory", "/memory find tea"):
        told = await house.answer(typed)
        assert "2024-03-05" in told
        assert "2025" not in told
    assert "2024-03-05" in house.page.embedded[0]


async def test_undo_names_what_stays() -> None:
    """Of several changes one that was changed since stays, and is named."""
    house = House()
    ada = house.world.memory()
    drafts = [Draft(f"User has boat {number}.") for number in range(3)]
    carried = [NewMemory(draft, SOURCE) for draft in drafts]
    await ada.bring_in(carried, "c")
    house.world.store.edit([*house.world.store.rows][1], "User has a ship.")
    told = await house.answer("/undo")
    assert told.startswith("Taken back: 2 changes")
    head, _, left = told.partition("Left as it is, since it was changed since")
    assert "boat 1." not in head
    assert "boat 1." in left
    assert house.contents == ["User has a ship."]


async def test_numbers_of_memories() -> None:
    """A memory has the number of its first listing for good, also once it is back from being gone."""
    house = House()
    await house.learn("User likes tea.")
    assert "- **1.** User likes tea." in await house.answer("/memory")
    await house.learn("User likes milk.")
    tea, milk = house.world.store.rows.values()
    house.named = [named(milk), named(tea)]
    found = await house.answer("/memory find drinks")
    assert "- **2.** User likes milk." in found
    assert "- **1.** User likes tea." in found
    ada = house.world.memory()
    async with ada.lock:
        gone = Proposal("DELETE", tea.id)
        await ada.apply([gone], [tea, milk], SOURCE, always)
    await house.learn("User likes rum.")
    listed = await house.answer("/memory")
    assert "- **3.** User likes rum." in listed
    assert "**1.**" not in listed
    await house.answer("/undo 3")
    assert "- **1.** User likes tea." in await house.answer("/memory")


@over(
    "typed",
    [
        "/forget 2",
        "/forget #2",
        "/forget 2.",
        "/forget (2)",
        "/forget \uff03\uff12\u3002",
    ],
)
async def test_forgetting_by_number(typed: str) -> None:
    """A number means its memory, whatever words a search would find; what is gone means none."""
    house = House()
    await house.learn("User has 2 cats.")
    await house.answer("/memory")
    await house.learn("User likes milk.")
    await house.answer("/memory")
    cats, milk = house.world.store.rows.values()
    house.named = [named(cats)]
    house.learner.do.return_value = "Deleted: User likes milk."
    assert (await house.answer(typed)).startswith("Deleted: User likes milk.")
    (deletion,) = house.learner.do.await_args.args[1]
    assert (deletion.kind, deletion.memory_id) == ("DELETE", milk.id)
    del house.world.store.rows[milk.id]
    house.learner.do.reset_mock()
    told = (
        "There is no memory {}. Which of these?\n\n- **1.** User has 2 cats."
    )
    assert (await house.answer(typed)).startswith(told.format(2))
    # Nor is one that was never given a word to act on.
    for command in ("/forget 20", "/memory pin 20"):
        assert (await house.answer(command)).startswith(told.format(20))
    house.learner.ask_deletion.return_value = "Not deleted"
    for command in ("/forget 1 2", "/forget -2", "/forget no. 2"):
        await house.answer(command)
        house.learner.ask_deletion.assert_awaited_once()
        house.learner.ask_deletion.reset_mock()
    house.named = []
    assert await house.answer("/forget 20") == "There is no memory 20."
    house.learner.do.assert_not_awaited()
    assert house.world.store.rows[cats.id] == cats


async def test_marking() -> None:
    """A number or words mark a memory, which its lines tell, and each mark can be taken back."""
    house = House()
    await house.learn("User likes tea.", "User is divorced.")
    await house.answer("/memory")
    tea, divorce = house.world.store.rows.values()
    house.named = [named(divorce)]
    pinned = await house.answer("/memory pin #1")
    told = pinned.removeprefix("Pinned, so it always comes: ")
    content = told.partition("\n")[0]
    assert told.endswith("/undo takes it back")
    row = next(
        row
        for row in house.world.store.rows.values()
        if row.content == content
    )
    assert row.is_pinned
    assert "pinned)" in await house.answer("/memory")
    assert await house.answer("/memory pin 1") == "It is so already."
    quieted = await house.answer("/memory quiet divorced")
    assert quieted.startswith("Kept, but quiet: it never comes by itself: ")
    assert house.world.store.rows[divorce.id].is_quiet
    house.named = [named(house.world.store.rows[divorce.id])]
    assert ", quiet)" in await house.answer("/memory find divorced")
    await house.answer("/undo")
    assert not house.world.store.rows[divorce.id].is_quiet
    await house.answer("/memory quiet 1")
    row = house.world.store.rows[row.id]
    assert (row.is_quiet, row.is_pinned) == (True, False)
    assert await house.answer("/memory unpin 1") == "It is so already."
    assert "Updated: " in await house.answer("/memory loud 1")
    assert house.world.store.rows[row.id].marks == ()
    assert tea.id in house.world.store.rows


async def test_marking_asks_back() -> None:
    """Where several memories are meant they are listed with their numbers, and none is marked."""
    house = House()
    await house.learn("User likes tea.", "User likes green tea.")
    house.named = [named(row) for row in house.world.store.rows.values()]
    asked = await house.answer("/memory pin tea")
    assert asked.startswith("Which of these?\n\n- **1.** User")
    for name in ("pin", "unpin", "quiet", "loud"):
        example = await house.answer(f"/memory {name}")
        assert example == f"For example: `/memory {name} 3`"
    house.named = []
    told = await house.answer("/memory quiet my boat")
    assert told == "Nothing was found."
    assert not any(row.marks for row in house.world.store.rows.values())


async def test_marking_what_the_chats_model_may_not_see() -> None:
    """What is kept from the chat's model is marked without a word of it."""
    house = House()
    await house.learn("User takes lithium.", bank="Health")
    (row,) = house.world.store.rows.values()
    house.named = [named(row, withheld="kept from this model")]
    told = await house.answer("/memory quiet lithium")
    assert "lithium" not in told
    assert house.world.store.rows[row.id].is_quiet


async def test_cost() -> None:
    """What models were asked is told by day, the newest first, of the user alone."""
    house = House()
    empty = await house.answer("/memory cost")
    assert len(empty.splitlines()) == 4
    day = 86_400
    for user_id, now in (("ada", day), ("ada", day), ("ada", 3 * day)):
        spent = Counter(calls=2, tokens_in=700, milliseconds=1600)
        await house.costs.add(user_id, spent, now)
    await house.costs.add("bob", Counter(calls=9), 4 * day)
    told = await house.answer("/memory cost")
    assert told.splitlines()[4:] == [
        "| 1970-01-04 | 2 | 700 | 0 | 1 |",
        "| 1970-01-02 | 4 | 1400 | 0 | 3 |",
    ]


async def test_past_chats() -> None:
    """Past chats are told with day and link, by what was said where it is indexed, else by title."""
    house = House()
    said_at = 1_790_000_000  # on 21 September 2026
    house.finder.titled.return_value = [
        ListedChat("c1", "A *bold* [plan", said_at)
    ]
    house.finder.about.return_value = []
    answer = await house.answer("/memory chats plan")
    assert "](/c/c1) (2026-09-21)" in answer
    assert "*bold*" not in answer
    assert "Only titles were searched" in answer
    answer = await house.answer("/memory chats 2026-09")
    assert "Only titles" not in answer
    (_, words, since, until) = house.finder.titled.await_args.args
    assert (words, until - since) == ("", 30 * 24 * 3600)
    for words in ("2026-13 plan", "9999-12 plan"):
        await house.answer(f"/memory chats {words}")
        assert house.finder.titled.await_args.args[1] == words
    for year in ("0000", "9999"):
        assert "begins" in await house.answer(f"/memory learn start {year}")
    house.past.start.assert_not_awaited()
    assert "`/memory chats on`" in await house.answer("/memory chats")
    house.page.settings = hook_settings(history_recall_default="all")
    assert "Nothing was found." in await house.answer(
        "/memory chats 2026 plan"
    )
    assert house.finder.about.await_args.args[1] == "plan"


@over(
    "valves, typed, chosen, told",
    [
        (
            {},
            "on",
            {"history_recall": "all", "index_past_chats": True},
            "next message",
        ),
        (
            {},
            "off",
            {"history_recall": "off", "index_past_chats": False},
            "not recalled",
        ),
        ({"history_recall": "off"}, "on", {}, "administrator"),
    ],
)
async def test_switching_recall(
    valves: dict[str, str], typed: str, chosen: dict[str, object], told: str
) -> None:
    """A user switches their own recall of past conversation, as far as it is allowed."""
    house = House()
    house.page.settings = hook_settings(**valves)
    assert told in await house.answer(f"/memory chats {typed}")
    assert house.page.chosen == chosen
