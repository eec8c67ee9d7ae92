"""What was sent to a chat's model stays as it was sent, on each branch, whatever happens beside."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.recall.block import BLOCK_PREAMBLE
from adaptive.recall.chat_so_far import ChatSoFar
from adaptive.recall.placement import placed_entries
from tests.fakes import memory
from tests.recall.test_placement import FRAME, STORE, given_with, letters_of
from tests.recall.test_recall import INK, TEA, House

PILL = memory("pill", "green pill", bank="Health", created_at=2)
STORED = (TEA, INK, PILL, memory("sea", "old red sea", created_at=4))


def whole(request: Mapping[str, Any]) -> str:
    """The messages of a request as a model reads them."""
    return "".join(
        f"<|{message['role']}|>{message['content']}"
        for message in request["messages"]
    )


async def test_told_how_to_take_them() -> None:
    """The first block of a prompt tells how to take them, with whichever message it stands."""
    house = House(TEA, INK)
    assert await house.block(house.turn(), "sort") == ""
    first = await house.block(house.turn(), "sort", "green tea")
    assert BLOCK_PREAMBLE in first
    both = await house.block(house.turn(), "sort", "green tea", "blue ink")
    assert both.startswith(first)
    assert both.count(BLOCK_PREAMBLE) == 1


@pytest.mark.parametrize("placement", ["system", "message"])
async def test_message_gives_way(placement: str) -> None:
    """What stood with a message that is sent no more comes again; the system prompt stays."""
    house = House(TEA)
    valves: dict[str, Any] = {"memory_placement": placement}
    for texts in (["green tea"], ["green tea", "word " * 3000, "Green tea?"]):
        turn = house.turn(**valves, max_context_tokens=1500)
        sent = await house.asks(turn, *texts)
        assert whole(sent).count("\u201cgreen tea\u201d") == 1
    assert len(sent["messages"]) == 2


async def test_text_of_a_beginning() -> None:
    """Other texts go with their message, even where memories of it stay in the system prompt."""
    house = House(TEA)
    turn = house.turn(enable_preprocessing=True)
    assert "Beware." in await house.block(turn, "green tea")
    turn = house.turn(enable_preprocessing=True, max_context_tokens=1500)
    sent = await house.asks(turn, "green tea", "word " * 3000, "sort")
    assert "Beware." in sent["messages"][-1]["content"]


async def test_texts_without_history() -> None:
    """Warnings stand where they came, also where no past conversation is recalled."""
    house = House(TEA)
    former = ""
    for texts in (["a"], ["a", "b"], ["a", "b", "c"]):
        turn = house.turn(history_recall_default="off")
        turn.state["warnings"] = [f"Beware of {texts[-1]}."]
        prompt = whole(await house.asks(turn, *texts))
        assert prompt.startswith(former)
        former = prompt


def test_too_long_for_any_prompt() -> None:
    """What would have no room in a new prompt either makes no chat begin anew."""
    long = {**STORE, "z": STORE["a"].__class__(memory("z", "z"), "z", 500)}
    keys = ["k0", "k1"]
    additions = {"k0": given_with("ab", begins=True)}
    so_far = ChatSoFar.of(additions, keys, keys)
    placed = placed_entries(so_far, [], "zc", long, 100 + FRAME)
    assert [*map(letters_of, placed.values())] == ["ab", "c"]


async def test_unreadable_for_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that does not know what its chat was given adds to it all the same."""
    house = House(TEA, INK)
    former = whole(await house.asks(house.turn(), "green tea"))
    house.recall.forget("ada")
    with monkeypatch.context() as unread:
        unread.setattr(house, "given", lambda *_: None)
        await house.asks(house.turn(), "green tea", "blue ink")
    house.recall.forget("ada")
    again = whole(await house.asks(house.turn(), "green tea", "sort"))
    assert again.startswith(former)


@pytest.mark.parametrize("order", [1, -1])
async def test_two_models(order: int) -> None:
    """Of two models asked side by side each keeps its prompt, though one may not see all."""
    house = House(TEA, PILL)
    banks = [frozenset[str](), frozenset({"health"})][::order]

    async def prompts(*texts: str) -> Sequence[str]:
        turns = [house.turn(hidden=hidden) for hidden in banks]
        asking = (house.asks(turn, *texts) for turn in turns)
        return [*map(whole, await asyncio.gather(*asking))]

    formers = await prompts("green pill tea")
    assert ["pill\u201d" in former for former in formers][::order] == [
        True,
        False,
    ]
    house.recall.forget("ada")
    for prompt, former in zip(
        await prompts("green pill tea", "sort"), formers, strict=True
    ):
        assert prompt.startswith(former)


texts = st.sampled_from(
    ["green tea", "blue ink", "pill", "old red sea", "sort", "", "thanks"]
)
Step = tuple[int, str, bool]
steps = st.lists(
    st.tuples(st.integers(0, 3), texts, st.booleans()), max_size=7
)


@settings(deadline=None, max_examples=25)
@given(steps, st.sampled_from(["system", "message"]), st.booleans())
def test_any_chat(chat: list[Step], placement: str, has_system: bool) -> None:
    """Each prompt begins with that of the message before it, in branches and after restarts."""

    async def goes_on() -> None:
        house = House(*STORED)
        prompts: dict[tuple[str, ...], str] = {(): ""}
        branch: tuple[str, ...] = ()
        for back, text, restarts in chat:
            branch = (*branch[: len(branch) - back], text)
            if restarts:
                house.recall.forget("ada")
            messages = [{"role": "system", "content": "Be kind."}]
            messages = messages if has_system else []
            messages += [{"role": "user", "content": said} for said in branch]
            turn = house.turn(
                memory_placement=placement, history_recall_default="off"
            )
            turn.state["warnings"] = [f"Beware of {text}."]
            prompt = whole(await house.sends(turn, {"messages": messages}))
            assert prompt.startswith(prompts.get(branch[:-1], ""))
            assert prompts.setdefault(branch, prompt) == prompt
            assert prompt.count(BLOCK_PREAMBLE) <= 1

    asyncio.run(goes_on())
