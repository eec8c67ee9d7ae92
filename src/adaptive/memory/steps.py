"""The log of a user's store as steps: changes that were made together, each with its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.memory.audit import ChangeKey


@dataclass(frozen=True, slots=True)
class Step:
    """Changes that were made together, by their keys, the newest first.

    ``standing`` are those in effect. Its ``number`` is that of its first change, by which the user
    names it. ``latest`` are the keys of changes after which their memories were not changed again,
    as far as it was written down.
    """

    number: int
    changes: tuple[ChangeKey, ...]
    standing: tuple[ChangeKey, ...]
    latest: frozenset[str] = frozenset()

    @property
    def is_undo(self) -> bool:
        """Whether it took another one back."""
        return bool(self.changes[0].undoes)


def steps_of(keys: Sequence[ChangeKey]) -> list[Step]:
    """The steps of a log whose keys these are, the newest first."""
    undone: set[str] = set()
    changed: set[str] = set()
    latest: set[str] = set()
    changes: dict[str, list[ChangeKey]] = {}
    numbers: dict[str, int] = {}
    for key, number in zip(keys, _numbers(keys), strict=True):
        # What undoes it is newer, and so was seen before.
        if key.undoes and key.place not in undone:
            undone.add(key.undoes)
        if not key.memory_id:
            continue
        if key.memory_id not in changed:
            changed.add(key.memory_id)
            latest.add(key.text)
        name = key.step or key.place
        changes.setdefault(name, []).append(key)
        numbers[name] = number
    return [
        Step(
            number=numbers[name],
            changes=tuple(together),
            standing=tuple(key for key in together if key.place not in undone),
            latest=frozenset(
                key.text for key in together if key.text in latest
            ),
        )
        for name, together in changes.items()
    ]


def _numbers(keys: Sequence[ChangeKey]) -> list[int]:
    """The number of each change, the newest first, no two of which are the same."""
    numbers: list[int] = []
    number = len(keys) + 1
    for key in keys:
        # Changes of an older release have no number: they are counted back from the one after them.
        number = key.number or number - 1
        numbers.append(number)
    # Two workers that write at the same time give the same one.
    least = 1
    for at in reversed(range(len(numbers))):
        numbers[at] = max(numbers[at], least)
        least = numbers[at] + 1
    return numbers
