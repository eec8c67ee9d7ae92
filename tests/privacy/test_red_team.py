"""The red team at both doors: what we would write, and what other tools have written already.

The classifier was trained on this set; for unseen texts see ``tools/train_guard.py``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from adaptive.core.messages import Message
from adaptive.privacy.gate import GatePolicy, Passed, gate
from adaptive.recall.block import CLOSE_MARKER, OPEN_MARKER, with_block
from adaptive.recall.layout import BlockEntry, entry_of, rendered_block
from adaptive.recall.recollection import new_verdicts
from adaptive.recall.screen import EntryScreen
from adaptive.settings.recall_valves import MemoryFormat
from tests.fakes import memory
from tests.rates import over, rate

HERE = Path(__file__).parent
FORMS: tuple[MemoryFormat, ...] = get_args(MemoryFormat)
POLICY = GatePolicy(longest=8000)
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


def entries_of(texts: tuple[str, ...]) -> list[BlockEntry]:
    """What a recollection lets into a block of another tool's rows with these texts."""
    screen = EntryScreen(new_verdicts(), "ada")
    rows = [memory(f"m-{n}", text) for n, text in enumerate(texts)]
    return [entry for row in rows if screen.allows(row) and (entry := screen.entry(row))]


def injected(text: str) -> str:
    """The block of such a row."""
    return rendered_block([], entries_of((text,)), "bullet")


def test_stored() -> None:
    """Of most attacks the gate refuses a part that they cannot do without."""

    def refused(attack: Attack) -> bool:
        return not all(isinstance(gate(part, POLICY), Passed) for part in attack.parts)

    rate(ATTACKS, refused).at_least(0.9)


def test_hidden() -> None:
    """As rows of another tool, few attacks stand whole in the block."""

    def hidden(attack: Attack) -> bool:
        wholes = dict.fromkeys([*((part,) for part in attack.parts), attack.parts])
        return all(len(entries_of(one)) < len(attack.parts) for one in wholes)

    rate(ATTACKS, hidden).at_least(0.97)


def test_stored_look_alikes() -> None:
    """At most one harmless text in twenty is refused at the gate."""
    rate(LOOK_ALIKES, lambda one: isinstance(gate(one, POLICY), Passed)).at_least(0.95)


def test_shown_look_alikes() -> None:
    """At most one harmless text in twenty is kept out of the block or changed in it."""
    rate(LOOK_ALIKES, lambda one: one in injected(one)).at_least(0.95)


@over("attack", ATTACKS)
def test_nothing_leaves_the_block(attack: Attack) -> None:
    """Whatever the verdict, no attack ends the block or plays a role."""
    rows = [memory(f"m-{n}", text) for n, text in enumerate(attack.parts)]
    for form in FORMS:
        entries = [entry for row in rows if (entry := entry_of(row, form))]
        block = rendered_block(entries[:1], entries, form)
        assert block.count(OPEN_MARKER) == block.count(CLOSE_MARKER) == 1
        assert with_block(with_block(SYSTEM, block), "") == SYSTEM
        assert not re.search(r"(?:^|\n)\s*(?:system|assistant|user)\s*:", block, re.IGNORECASE)
