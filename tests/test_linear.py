"""No text that people send, whatever its shape, takes more time than its length explains.

Python's ``re`` holds the interpreter while it searches: one message whose time grows with the
square of its length stops the server for everybody, in whatever thread it is read.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import pytest

from adaptive.core.runtime import forget_texts
from adaptive.privacy import secrets
from tests.linear.excused import COROUTINES, FUNCTIONS
from tests.linear.functions import TextFunction, arguments, text_functions
from tests.linear.recipes import RECIPES
from tests.linear.shapes import SHAPES
from tests.linear.timing import Prepared, grows_too_fast

ALL = {function.name: function for function in text_functions()}
# These are measured by themselves; what calls them is measured without their time.
SHARED = (
    "privacy.secrets.find_secrets",
    "privacy.personal_data.find_personal_data",
    "privacy.injection.injection_reason",
    "search.tokens.tokens",
)
# Shapes are tried in so many tests, which take some seconds each and run side by side.
AT_ONCE = 8


def patterns(table: Mapping[str, str]) -> list[str]:
    """The names of a table of reasons."""
    return " ".join(table.values()).split()


def is_coroutine(function: TextFunction) -> bool:
    """Whether a function can't be called outside of a loop."""
    plain = inspect.unwrap(function.call)
    return inspect.iscoroutinefunction(plain) or inspect.isasyncgenfunction(
        plain
    )


def needs_instance(function: TextFunction) -> bool:
    """Whether it is a method, of an object that nobody has made."""
    return "self" in inspect.signature(function.call).parameters


def place_of(function: TextFunction) -> str:
    """Where a function is provided for; empty where it is not."""
    table = COROUTINES if is_coroutine(function) else FUNCTIONS
    if function.name in RECIPES:
        return "recipes"
    if any(fnmatchcase(function.name, pattern) for pattern in patterns(table)):
        return "excused"
    callable_by_itself = not (
        is_coroutine(function) or needs_instance(function)
    )
    return (
        "by itself"
        if callable_by_itself and arguments(function, "a\nb") is not None
        else ""
    )


def prepared(function: TextFunction) -> Prepared:
    """The function with arguments that are made of a text beforehand."""
    if function.name in RECIPES:
        return RECIPES[function.name]
    return lambda text: partial(
        function.call, **(arguments(function, text) or {})
    )


def slow_shapes(
    name: str, call: Prepared, shapes: Iterable[str]
) -> Iterator[str]:
    """Those of these shapes on which a function's time grows too fast."""
    for shape_name in shapes:
        shape = SHAPES[shape_name]
        if seconds := grows_too_fast(call, shape):
            yield f"{name}, {shape_name}: {seconds}"


def test_each_function_has_a_place() -> None:
    """A function that takes a text is called by itself, has a recipe, or a reason why not."""
    assert [
        name for name, function in ALL.items() if not place_of(function)
    ] == []


def test_each_place_has_a_function() -> None:
    """No table names what is not there any more."""
    named = [*RECIPES, *patterns(COROUTINES), *patterns(FUNCTIONS)]
    assert [
        one for one in named if not any(fnmatchcase(name, one) for name in ALL)
    ] == []


def test_growth_is_noticed() -> None:
    """Work on every pair of a text's parts is noticed, and work on each part is not."""

    def pairs(text: str) -> int:
        return sum(
            1 for _ in range(len(text) // 80) for _ in range(len(text) // 80)
        )

    def each(text: str) -> int:
        return sum(map(ord, text))

    assert grows_too_fast(lambda text: partial(pairs, text), SHAPES["letter"])
    assert not grows_too_fast(
        lambda text: partial(each, text), SHAPES["letter"]
    )


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("first", range(AT_ONCE))
def test_time_grows_with_the_length_alone(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each shape four times as much takes at most six times as long, whoever reads it."""
    shapes = [*SHAPES][first::AT_ONCE]
    measured = [
        one
        for one in ALL.values()
        if place_of(one) in ("by itself", "recipes")
    ]
    # Excerpts hold less then, so that secrets are not looked for hundreds of times.
    monkeypatch.setattr(secrets, "_WIDEST_SECRET", 100)
    slow: list[str] = []
    for name in SHARED:
        shared = Remembered(ALL[name])
        slow += slow_shapes(
            name,
            lambda text, call=shared.measured: partial(call, text),
            shapes,
        )
        shared.put_in(monkeypatch)
    for function in measured:
        if function.name not in SHARED:
            slow += slow_shapes(function.name, prepared(function), shapes)
            forget_texts()
    assert slow == []


class Remembered:
    """A function of one text that is not worked out again for callers of it."""

    def __init__(self, function: TextFunction) -> None:
        self._call, self._known = function.call, dict[Any, Any]()

    def measured(self, text: str) -> Any:
        """What the function finds, worked out in any case, and kept."""
        self._known[text, ()] = found = self._call(text)
        return found

    def __call__(self, text: str, **options: Any) -> Any:
        """The same, if it is known."""
        key = text, tuple(options.items())
        if key not in self._known:
            self._known[key] = self._call(text, **options)
        return self._known[key]

    def put_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take the function's place wherever it is known."""
        name = self._call.__name__
        for key, module in list(sys.modules.items()):
            if (
                key.startswith("adaptive.")
                and getattr(module, name, None) is self._call
            ):
                monkeypatch.setattr(module, name, self)
