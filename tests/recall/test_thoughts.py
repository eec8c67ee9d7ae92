"""A message as several thoughts."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.recall.question import thought_queries, thoughts_of
from adaptive.search.tokens import keyword_index, tokens

NONE = keyword_index([])


@dataclass(frozen=True)
class Case:
    """A message and its thoughts."""

    message: str
    thoughts: tuple[str, ...]


CASES = (
    Case("What does my dog eat?", ()),
    Case(
        "The boiler broke. Which wine goes with fish? And why?",
        ("The boiler broke.", "Which wine goes with fish? And why?"),
    ),
    Case(
        "今天下雨。我的狗叫什么名字？",
        ("今天下雨。", "我的狗叫什么名字？"),
    ),
    Case("我的狗叫什么?今天下雨", ("我的狗叫什么?", "今天下雨")),
    Case("بارش ہو رہی ہے۔ کتے کا نام؟", ("بارش ہو رہی ہے۔", "کتے کا نام؟")),
    Case(
        "And my dog? The boiler broke down again.",
        ("And my dog?", "The boiler broke down again."),
    ),
    Case("The boiler broke.\nThe boiler broke.", ()),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.message)
def test_thoughts(case: Case) -> None:
    """Each sentence with those that lean on it is a thought; a single one is the message itself."""
    assert tuple(thoughts_of(case.message, NONE)) == case.thoughts


def test_without_full_stops() -> None:
    """What goes on without an end is parted, each part overlapping with the next by half."""
    words = [f"word{number}" for number in range(60)]
    thoughts = thoughts_of(" ".join(words), NONE)
    assert thoughts[0].split() == words[:18]
    assert thoughts[1].split() == words[10:26]
    assert thoughts[-1].endswith("word58 word59")
    assert all(len(thought) <= 121 for thought in thoughts)
    thai = thoughts_of("แมวของฉันชื่อมะลิ" * 20, NONE)
    assert len(thai) > 2


def test_asked_of_the_user() -> None:
    """A thought that asks counts in full as one about its writer, whatever is said behind it."""
    asked, told = thought_queries(
        ["What does my dog eat? Thanks!", "My dog barks."], None
    )
    assert asked.personal > told.personal


def test_few_of_many() -> None:
    """Of many thoughts the last one stays, and those with the rarest words of the memories."""
    keywords = keyword_index(
        [tokens("User's dog Biscuit"), *[tokens("User likes tea")] * 9]
    )
    lines = [f"The weather of day {n} was fine." for n in range(30)]
    lines[17] = "Somebody washed Biscuit yesterday."
    chosen = thoughts_of("\n".join(lines), keywords)
    assert len(chosen) == 8
    assert lines[17] in chosen
    assert chosen[-1] == lines[-1]


@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    """No text breaks it, and there are never too many thoughts, nor a single one."""
    count = len(thoughts_of(text, NONE))
    assert count == 0 or 2 <= count <= 8


def test_their_vectors() -> None:
    """Each thought has its vector, if there are any."""
    vectors = np.eye(2, 3, dtype=np.float32)
    queries = thought_queries(["a", "b"], vectors)
    assert [query.text for query in queries] == ["a", "b"]
    assert queries[0].vector is not None
    assert np.array_equal(queries[0].vector, vectors[0])
    assert thought_queries(["a"], None)[0].vector is None
