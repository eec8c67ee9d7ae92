"""What is left out of the bundle: comments, and docstrings but for summaries of classes."""

from __future__ import annotations

from tools.brief_source import brief_source

SOURCE = '''\
# A comment above.
def area(side: float) -> float:
    """The area of a square,
    in the square of its unit.

    Raises:
        ValueError: a side below 0.
    """
    text = """# no comment

    and no docstring"""
    return side * side  # not the perimeter


class Square:
    """One line."""

    async def drawn(self) -> None:
        """Draw it.

        Twice.
        """

    def moved(self) -> Square:
        """Move it."""
        return self


def _hidden() -> int:
    """Nobody's business."""
    return 1
'''
BRIEF = '''\
def area(side: float) -> float:
    text = """# no comment

    and no docstring"""
    return side * side


class Square:
    """One line."""

    async def drawn(self) -> None:
        """Draw it."""

    def moved(self) -> Square:
        return self


def _hidden() -> int:
    return 1
'''


def test_summaries_stay() -> None:
    """Comments go, and docstrings but for summaries of classes; literals stay as they are."""
    assert brief_source(SOURCE) == BRIEF
    assert brief_source(BRIEF) == BRIEF
