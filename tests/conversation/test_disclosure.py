"""Whether a text tells memories that nobody spoke of."""

from __future__ import annotations

import pytest

from adaptive.conversation.disclosure import Confidential, without_confidential
from tests.fakes import memory

PORTO = memory("a", "User moved to Porto in 2019.")
TEA = memory("b", "User drinks green tea every morning.")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The user moved to Porto in 2019.", True),
        ("Since 2019 things are better.", True),
        ("A good place in Porto.", True),
        ("Every morning there is green tea.", True),
        ("The user asked about trains.", False),
        ("", False),
    ],
)
def test_told(text: str, told: bool) -> None:
    """Its words, half of what only it could tell, a name or a figure tell a memory."""
    assert Confidential.among([PORTO, TEA], "Which train?").is_told_in(text) is told


def test_said_anyway() -> None:
    """What was said whole is no longer confidential."""
    said = Confidential.among([PORTO], "I moved to Porto in 2019!")
    assert not said.is_told_in("The user moved to Porto in 2019.")
    assert said.memories == ()


def test_sentences_of_any_script() -> None:
    """Chinese sentences are told apart without spaces."""
    hidden = Confidential.among([memory("c", "用户住在波尔图市中心")], "")
    assert without_confidential("用户问了火车。用户住在波尔图市中心。", hidden) == "用户问了火车。"
