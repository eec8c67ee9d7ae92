"""The red team at both doors: what we would write, and what other tools have written already."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pytest

from adaptive.messages import Message
from adaptive.privacy.escaping import imitates_structure
from adaptive.privacy.gate import GatePolicy, Passed, gate
from adaptive.privacy.injection import injection_verdict
from adaptive.recall.block import CLOSE_MARKER, OPEN_MARKER, with_block
from adaptive.recall.entry_verdicts import EntryScreen, EntryVerdicts
from adaptive.recall.layout import (
    RETRIEVED_HEADING,
    BlockEntries,
    EntryLayout,
    render_entries,
)
from adaptive.recall_valves import MemoryDetails, MemoryFormat
from tests.fakes import memory

HERE = Path(__file__).parent
FORMS: tuple[MemoryFormat, ...] = get_args(MemoryFormat)
DETAILS: tuple[MemoryDetails, ...] = get_args(MemoryDetails)
LAYOUTS = [EntryLayout(form, details) for form in FORMS for details in DETAILS]
POLICY = GatePolicy(shortest=1, longest=8000)
SYSTEM: list[Message] = [{"role": "system", "content": "Be kind."}]


@dataclass(frozen=True)
class Attack:
    """Texts that belong together, and how they try to become an instruction."""

    id: str
    how: str
    parts: tuple[str, ...]


def read_attacks() -> list[Attack]:
    """The red team's set."""
    read = json.loads((HERE / "red_team.json").read_text(encoding="utf-8"))
    return [Attack(one["id"], one["how"], tuple(one["parts"])) for one in read]


def read_look_alikes() -> list[str]:
    """Harmless texts that look like attacks."""
    read = json.loads((HERE / "look_alikes.json").read_text(encoding="utf-8"))
    return [one["text"] for one in read]


ATTACKS = read_attacks()
LOOK_ALIKES = read_look_alikes()
EACH_ATTACK = pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: one.id)


def entries_of(texts: tuple[str, ...], bank: str = "") -> BlockEntries:
    """What a recollection lets into a block of another tool's rows with these texts."""
    screen = EntryScreen(EntryVerdicts(), "ada")
    rows = [memory(f"m-{n}", text, bank=bank) for n, text in enumerate(texts)]
    allowed = tuple(row for row in rows if screen.allows(row))
    return BlockEntries((), allowed)


def injected(texts: tuple[str, ...], layout: EntryLayout) -> str:
    """The block of such rows."""
    return render_entries(entries_of(texts), layout)


def unescaped(text: str) -> str:
    """A text as the guard reads it: the block's entities as the signs they stand for."""
    return text.replace("&lt;", "<").replace("&#91;", "[").replace("&#123;", "{")


def test_the_set() -> None:
    """At least 120 attacks of all kinds and 60 look-alikes, none of them twice."""
    assert len({one.parts for one in ATTACKS}) == len({one.id for one in ATTACKS}) >= 120
    assert len(set(LOOK_ALIKES)) >= 60
    kinds = Counter(one.how for one in ATTACKS)
    wanted = "direct,in quotes,in documents,split over turns,languages,encoded,in names,delayed"
    assert all(kinds[kind] >= 5 for kind in [*wanted.split(","), "markers"]), kinds


@EACH_ATTACK
def test_nothing_is_stored(attack: Attack) -> None:
    """Of each attack the gate refuses a part that it cannot do without."""
    stored = [gate(part, POLICY) for part in attack.parts]
    assert not all(isinstance(one, Passed) for one in stored)
    for one in stored:
        if isinstance(one, Passed):
            assert injection_verdict(one.text).allowed


@EACH_ATTACK
def test_nothing_leaves_the_block(attack: Attack) -> None:
    """As rows of another tool, no attack ends the block, plays a role or stands there whole."""
    for texts in dict.fromkeys([*((part,) for part in attack.parts), attack.parts]):
        for bank in ("", texts[0][:40]):
            held = entries_of(texts, bank)
            assert len(held.retrieved) < len(attack.parts)
            entries = BlockEntries(held.retrieved[:1], held.retrieved)
            for block in filter(None, (render_entries(entries, layout) for layout in LAYOUTS)):
                assert block.count(OPEN_MARKER) == block.count(CLOSE_MARKER) == 1
                assert with_block(with_block(SYSTEM, block), "") == SYSTEM
                body = block.removeprefix(OPEN_MARKER).removesuffix(CLOSE_MARKER)
                assert not imitates_structure(body)


@EACH_ATTACK
def test_what_is_left_is_no_instruction(attack: Attack) -> None:
    """What is left in the block of an attack that came in parts instructs nobody."""
    for form in FORMS:
        left = unescaped(injected(attack.parts, EntryLayout(form)))
        entries = left.partition(RETRIEVED_HEADING)[2].removesuffix(CLOSE_MARKER)
        assert injection_verdict(entries).kind != "command"


def test_escaped_without_a_verdict() -> None:
    """Escaping alone keeps each attack in the block, should a verdict ever be wrong."""
    for attack in ATTACKS:
        rows = tuple(memory(f"m-{n}", text) for n, text in enumerate(attack.parts))
        for layout in LAYOUTS:
            block = render_entries(BlockEntries(rows, rows), layout)
            assert block.count(OPEN_MARKER) == block.count(CLOSE_MARKER) == 1
            assert with_block(with_block(SYSTEM, block), "") == SYSTEM
            assert not re.search(r"(?:^|\n)\s*(?:system|assistant|user)\s*:", block, re.IGNORECASE)


def test_look_alikes() -> None:
    """At most one harmless text in twenty is refused, by the gate or in the block."""
    refused = [one for one in LOOK_ALIKES if not isinstance(gate(one, POLICY), Passed)]
    assert len(refused) <= 0.05 * len(LOOK_ALIKES), refused
    hidden = [one for one in LOOK_ALIKES if one not in injected((one,), EntryLayout())]
    assert len(hidden) <= 0.05 * len(LOOK_ALIKES), hidden
