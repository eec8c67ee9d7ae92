"""Memories stand with the message that they came for, from turn to turn, and on each branch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.memory.tables import AddedText, Addition
from adaptive.recall.block import BlockEntry, entry_of, retrieved_room
from adaptive.recall.chat_so_far import ChatSoFar, message_keys
from adaptive.recall.placement import Placed, placed_entries
from adaptive.recall.prompt import MessageBlock, with_message_blocks
from adaptive.search.vectors import content_hash
from tests.fakes import memory
from tests.rates import over
from tests.recall.test_recall import House

# One letter is one memory, the older the nearer to "a"; each costs 10.
LETTERS = "abcdefghij"
STORE = {
    letter: BlockEntry(
        memory(letter, f"Fact {letter}.", created_at=age),
        f"Fact {letter}.",
        10,
    )
    for age, letter in enumerate(LETTERS)
}
# What the frame of a block takes.
FRAME = 1000 - retrieved_room([], 1000)


def given_with(letters: str, *, begins: bool = False) -> Addition:
    """What a message was given."""
    return Addition(retrieved=[*letters], begins=begins)


def letters_of(placed: Placed) -> str:
    """What stands with a message."""
    return "".join(entry.memory.id for entry in placed.entries)


@over(
    "earlier, fitting, placed",
    [
        (("ca",), "bda", ("ca", "bd")),
        (("cz", "b"), "b", ("c", "b", "")),  # one was deleted
        (("abc", "def"), "jihga", ("aghij",)),  # no room for one of the best
        ((), "abcdefgh", ("abcdef",)),
        (("c",), "aaca", ("c", "a")),
        (("ab", "cde"), "abfghij", ("ab", "cde", "f")),  # nor what fits less
        (("abcd",), "abcij", ("abcd", "i")),
    ],
)
def test_placed_entries(
    earlier: tuple[str, ...], fitting: str, placed: tuple[str, ...]
) -> None:
    """What was given stays where it is, what is new comes by age, and a full chat begins anew."""
    keys = [f"k{number}" for number in range(len(earlier) + 1)]
    additions = {
        key: given_with(letters, begins=key == "k0")
        for key, letters in zip(keys, earlier, strict=False)
    }
    so_far = ChatSoFar.of(additions, keys, keys)
    found = placed_entries(so_far, [], fitting, STORE, 60 + FRAME)
    assert tuple(map(letters_of, found.values())) == placed
    assert [*found][-1] == keys[-1]
    assert found[keys[-1]].begins is (len(placed) == 1)


HUGE = BlockEntry(memory("H", "Fact H."), "Fact H.", 61)


@over(
    "earlier, pinned, placed",
    [
        ((), "ja", ("ja",)),
        (("a",), "ja", ("a", "j")),  # once
        (("abc", "def"), "j", ("j",)),  # no room is left for it
        (("abc", "def"), "H", ("abc", "def", "")),  # nor would there be ever
        (("abc", "de"), "Hj", ("abc", "de", "j")),
    ],
)
def test_pinned_entries(
    earlier: tuple[str, ...], pinned: str, placed: tuple[str, ...]
) -> None:
    """A pin comes with the newest message, and a chat begins anew for it only where that helps."""
    keys = [f"k{number}" for number in range(len(earlier) + 1)]
    additions = {
        key: given_with(letters, begins=key == "k0")
        for key, letters in zip(keys, earlier, strict=False)
    }
    found = placed_entries(
        so_far=ChatSoFar.of(additions, keys, keys),
        facts=[],
        fitting="",
        existing={**STORE, "H": HUGE},
        most_tokens=60 + FRAME,
        pinned=pinned,
    )
    assert tuple(map(letters_of, found.values())) == placed


def test_branches() -> None:
    """A branch keeps what stands before the edit, and a message that is asked again what it had."""
    user: Any = [{"role": "user", "content": text} for text in "xyz"]
    answer = {"role": "assistant", "content": "Well."}
    first, second, third = message_keys([user[0], answer, user[1], user[2]])
    additions = {
        first: given_with("a", begins=True),
        second: given_with("b"),
        third: given_with("c"),
    }
    edited = [user[0], answer, {"role": "user", "content": "other"}]
    keys = message_keys(edited)
    assert keys[0] == first
    so_far = ChatSoFar.of(additions, keys, keys)
    assert [*so_far.standing] == [first]
    assert so_far.again is None
    keys = [first, second]
    again = placed_entries(
        ChatSoFar.of(additions, keys, keys), [], "def", STORE, 100 + FRAME
    )
    assert [*map(letters_of, again.values())] == ["a", "b"]
    # What stood with a message that is sent no more may come again.
    keys = [first, second, third]
    cut = ChatSoFar.of({**additions, third: given_with("")}, keys, [third])
    assert [*cut.standing] == [first, third]


def test_less_room_than_before() -> None:
    """Where what was given takes more than there is now, the chat begins anew."""
    additions = {
        "k0": given_with("abc", begins=True),
        "k1": given_with("de"),
    }
    for keys, fitting, comes in (
        (["k0", "k1", "k2"], "", [""]),
        (["k0", "k1", "k2"], "fb", ["bf"]),
        (["k0", "k1"], "fb", ["bf"]),
    ):
        so_far = ChatSoFar.of(additions, keys, keys)
        found = placed_entries(so_far, [], fitting, STORE, 40 + FRAME)
        assert [*map(letters_of, found.values())] == comes
        assert [*found] == keys[-1:]


letters = st.sampled_from(LETTERS)
rankings = st.lists(letters, max_size=12)
prices = st.fixed_dictionaries(
    {letter: st.integers(1, 40) for letter in LETTERS}
)


@settings(deadline=None)
@given(st.lists(rankings, max_size=8), st.integers(0, 150), prices)
def test_through_a_chat(
    turns: list[list[str]], room: int, table: dict[str, int]
) -> None:
    """Turn by turn the budget is kept, and what stood in the prompt stands there or all is new."""
    existing = {
        letter: replace(one, tokens=table[letter])
        for letter, one in STORE.items()
    }
    additions: dict[str, Addition] = {}
    former: dict[str, str] = {}
    for number, fitting in enumerate(turns):
        keys = [f"k{each}" for each in range(number + 1)]
        so_far = ChatSoFar.of(additions, keys, keys)
        placed = placed_entries(so_far, [], fitting, existing, room + FRAME)
        entries = [one for each in placed.values() for one in each.entries]
        ids = [one.memory.id for one in entries]
        assert len(ids) == len({*ids})
        assert sum(one.tokens for one in entries) <= room
        newest = placed[keys[-1]]
        now = {key: letters_of(each) for key, each in placed.items()}
        if number and not newest.begins:
            assert {key: now.get(key, "") for key in former} == former
        best = next((one for one in fitting if table[one] <= room), None)
        assert best is None or best in ids
        if newest.entries:
            additions = so_far.with_addition(newest.addition())
        former = {key: each for key, each in now.items() if each}


def test_documents_around_the_newest() -> None:
    """Blocks find their messages by their texts; the newest one also where the host changed it."""
    said: Any = [{"role": "user", "content": text} for text in ("a", "b", "a")]
    blocks = [
        MessageBlock(said=content_hash(text), block=block)
        for text, block in (("a", "1"), ("b", ""), ("a", "3"))
    ]
    changed = [*said[:2], {"role": "user", "content": "### Task: a"}]
    for messages in (said, changed):
        sent = with_message_blocks(messages, blocks)
        assert [one["content"] for one in sent] == [
            "a\n\n1",
            "b",
            f"{messages[2]['content']}\n\n3",
        ]
    # A round of tools that ends with a picture.
    picture: Any = [{"type": "image_url", "image_url": {"url": "x"}}]
    rounds = [*said, {"role": "user", "content": picture}]
    assert with_message_blocks(rounds, blocks)[2]["content"] == "a\n\n3"
    assert with_message_blocks(rounds, blocks)[3] == rounds[3]
    # What the host has summed up is gone with its blocks.
    assert with_message_blocks(said[2:], blocks)[0]["content"] == "a\n\n3"


def changed(former: str, now: str) -> BlockEntry:
    """The entry of a memory that a lesson has changed."""
    history = {"history": [{"content": former, "until": 86400}]}
    entry = entry_of(memory("a", now, meta=history))
    assert entry is not None
    return entry


def test_corrections() -> None:
    """What a lesson has changed stays as it was shown; the newest message tells how it is now."""
    before = entry_of(memory("a", "Lives in Oslo."))
    assert before is not None
    additions = {"k0": Placed([], [before], begins=True).addition()}
    existing = {"a": changed("Lives in Oslo.", "Lives in Rome.")}
    lines: list[list[str]] = []
    for keys in (["k0", "k1"], ["k0", "k1", "k2"]):
        so_far = ChatSoFar.of(additions, keys, keys)
        placed = placed_entries(so_far, [], [], existing, 1000)
        lines = [
            [one.line for one in each.entries] for each in placed.values()
        ]
        additions = so_far.with_addition(placed[keys[-1]].addition())
    told = "\u201cLives in Rome.\u201d (until 1970-01-02: \u201cLives in Oslo.\u201d)"
    assert lines == [["\u201cLives in Oslo.\u201d"], [told], []]
    # What its user has edited is nowhere else, so it changes in its place.
    edited = entry_of(memory("a", "Lives in Kyiv."))
    assert edited is not None
    keys = ["k0", "k3"]
    so_far = ChatSoFar.of(additions, keys, keys)
    placed = placed_entries(so_far, [], [], {"a": edited}, 1000)
    assert [
        [one.line for one in each.entries] for each in placed.values()
    ] == [
        ["\u201cLives in Kyiv.\u201d"],
        [],
    ]


def test_texts_give_way_together() -> None:
    """Texts beside memories stay until they are too many; then all but the newest go at once."""
    text = AddedText("word " * 100, [("boat", "m", "digest")])
    additions = {f"k{number}": Addition(texts=[text]) for number in range(6)}
    standing: list[int] = []
    for number in range(6):
        keys = [f"k{each}" for each in range(number + 1)]
        so_far = ChatSoFar.of(additions, keys, keys, 350)
        standing.append(len(so_far.texts()))
        assert so_far.quoted() == {("boat", "m", "digest")}
        assert 40 < so_far.tokens_for_text(350) < 250
        gone = so_far.without_quotes_of({("boat", "m", "digest")})
        assert gone.texts() == []
    assert standing == [1, 2, 1, 2, 1, 2]


TEA, INK = memory("tea", "green tea"), memory("ink", "blue ink")


async def test_state_is_out_of_reach() -> None:
    """Where it can't be read what a chat was given, it goes on with what fits now."""
    home = House(TEA, INK)
    await home.block(home.turn(), "green tea")
    home.entries.unavailable = True
    # What this process has just given is known all the same.
    assert "green tea" in await home.block(home.turn(), "green tea", "sort")
    home.recall.forget("ada")
    assert await home.block(home.turn(), "green tea", "sort") == ""


async def test_state_is_kept() -> None:
    """What was given to a chat stands there on its next turn, and in no other one."""
    home = House(TEA, INK)
    first = await home.block(home.turn(), "green tea")
    assert "green tea" in first
    assert await home.block(home.turn(), "green tea", "sort") == first
    changed = await home.asks(home.turn(), "green tea", "blue ink")
    assert "green tea" in changed["messages"][0]["content"]
    assert "blue ink" not in changed["messages"][0]["content"]
    assert "\u201cblue ink\u201d" in changed["messages"][2]["content"]
    for other in ({"chat_id": "d"}, {"user_id": "bob"}, {"told_kind": "api"}):
        assert await home.block(home.turn(**other), "green tea", "sort") == ""
