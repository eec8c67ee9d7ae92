"""Labelled sets: one test states how many cases hold, lists the misses, and asks for a share.

A set that was tuned on is never asked for all of its cases; what must always hold is. A case fails
by an assertion. Any other exception ends the test at once, for a crash is never a miss.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")
Function = TypeVar("Function", bound=Callable[..., Any])

LABELLED = Path(__file__).parent / "labelled"
LONGEST_LINE = 300
_FAILED = (AssertionError, pytest.fail.Exception)


@dataclass(slots=True)
class Rate:
    """How many of the cases that were tried hold, and which do not."""

    cases: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The part that holds, from 0 to 1."""
        return (self.cases - len(self.misses)) / self.cases

    def at_least(self, bar: float) -> None:
        """Print rate and misses, and fail below the bar or where nothing was tried."""
        __tracebackhide__ = True
        assert self.cases, "there is no case"
        held = self.cases - len(self.misses)
        told = f"{held} of {self.cases} hold: {self.share:.1%}, bar {bar:.0%}"
        told = "\n  ".join([told, *self.misses])
        print(told)  # noqa: T201 - pytest shows it for tests that failed, and with -rP for all
        if self.share < bar:
            pytest.fail(told, pytrace=False)

    @contextmanager
    def trying(self, case: object) -> Generator[None]:
        """Count one more case, and a miss where an assertion within fails."""
        self.cases += 1
        try:
            yield
        except _FAILED as failure:
            if "pytest-timeout" in str(failure):
                raise  # the rest would run without a limit
            told = " ".join(f"{_name(case)}: {failure}".split())
            self.misses.append(told[:LONGEST_LINE])
        except Exception as error:
            error.add_note(f"in the case {_name(case)}")
            raise


def rate(cases: Iterable[Case], holds: Callable[[Case], object]) -> Rate:
    """How many of the cases a function is true of."""
    found = Rate()
    for case in cases:
        with found.trying(case):
            assert holds(case), "no"
    return found


def over(
    names: str, cases: Iterable[Any], *, at_least: float = 1.0
) -> Callable[[Function], Function]:
    """Make one test of a function that asserts something of each of the cases.

    ``names`` are the parameters that a case fills, separated by commas; the others are fixtures,
    which all cases share. Of two that stand above each other each case of the one is tried with
    each of the other, and the upper one's bar holds.
    """
    parameters = [name.strip() for name in names.split(",")]
    own = [_filled(parameters, case) for case in cases]

    def decorated(test: Function) -> Function:
        below: list[dict[str, Any]] = getattr(test, "tried", [{}])
        asserting = inspect.unwrap(test)
        tried = [{**one, **other} for one in own for other in below]

        @functools.wraps(asserting)
        def looped(**fixtures: Any) -> None:
            found = Rate()
            for case in tried:
                with found.trying(_only(case)):
                    asserting(**case, **fixtures)
            found.at_least(at_least)

        @functools.wraps(asserting)
        async def looped_async(**fixtures: Any) -> None:
            found = Rate()
            for case in tried:
                with found.trying(_only(case)):
                    await asserting(**case, **fixtures)
            found.at_least(at_least)

        chosen: Any = (
            looped_async if inspect.iscoroutinefunction(asserting) else looped
        )
        chosen.tried = tried
        signature = inspect.signature(test)
        rest = [
            one
            for name, one in signature.parameters.items()
            if name not in parameters
        ]
        assert len(rest) + len(parameters) == len(signature.parameters), (
            parameters
        )
        chosen.__signature__ = signature.replace(parameters=rest)
        return chosen

    return decorated


def labelled_set(name: str) -> list[Any]:
    """A set of ``tests/labelled``."""
    return json.loads((LABELLED / f"{name}.json").read_text(encoding="utf-8"))


def _filled(parameters: Sequence[str], case: Any) -> dict[str, Any]:
    values = case if len(parameters) > 1 else (case,)
    return dict(zip(parameters, values, strict=True))


def _only(case: dict[str, Any]) -> Any:
    """What a case is known by in a report: by its only argument, else by all of them."""
    values = tuple(case.values())
    return values[0] if len(values) == 1 else values


def _name(case: Any) -> str:
    """How a case is called: by its own id, else by what it is."""
    own = (
        case.get("id") if isinstance(case, dict) else getattr(case, "id", None)
    )
    return str(own) if own else repr(case)[: LONGEST_LINE // 2]
