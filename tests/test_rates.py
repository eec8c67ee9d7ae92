"""What decides whether a labelled set is told well enough."""

from __future__ import annotations

import inspect

import pytest

from tests.rates import Rate, over, rate


def even(number: int) -> bool:
    """Whether a case of these tests holds."""
    return number % 2 == 0


def test_rate() -> None:
    """A rate counts what holds and names what does not."""
    found = rate([2, 4, 5, 6], even)
    assert (found.cases, found.share) == (4, 0.75)
    assert [miss.partition(":")[0] for miss in found.misses] == ["5"]


def test_bar(capsys: pytest.CaptureFixture[str]) -> None:
    """At the bar a set passes and its misses are printed; below it they are the failure."""
    found = rate([{"id": "four"} | {"n": 4}, {"id": "five"} | {"n": 5}], lambda one: even(one["n"]))
    found.at_least(0.5)
    assert "1 of 2 hold: 50.0%, bar 50%\n  five" in capsys.readouterr().out
    with pytest.raises(pytest.fail.Exception, match="five"):
        found.at_least(0.51)


def test_crash_is_no_miss() -> None:
    """An exception that is no assertion ends the test, with the case in its notes."""
    with pytest.raises(ZeroDivisionError) as raised:
        rate([1, 0], lambda number: 1 / number)
    assert raised.value.__notes__ == ["in the case 0"]


def test_time_limit_is_no_miss() -> None:
    """Where pytest-timeout ends a case it ends the test."""
    with pytest.raises(pytest.fail.Exception, match="Timeout"), Rate().trying("slow"):
        pytest.fail("Timeout (>20.0s) from pytest-timeout.")


def test_over() -> None:
    """A function of cases becomes one test that asks for fixtures alone."""
    seen: list[tuple[int, str, str]] = []

    @over("number, word", [(1, "a"), (2, "b")], at_least=0.5)
    def check(tmp: str, number: int, word: str) -> None:
        seen.append((number, word, tmp))
        assert even(number)

    assert list(inspect.signature(check).parameters) == ["tmp"]
    check(tmp="x")
    assert seen == [(1, "a", "x"), (2, "b", "x")]


def test_over_below_the_bar() -> None:
    """All cases hold unless a bar is given, and a failed ``pytest.raises`` is a miss as well."""

    @over("number", [0, 1])
    def check(number: int) -> None:
        with pytest.raises(ZeroDivisionError):
            assert 1 / number

    with pytest.raises(pytest.fail.Exception, match="1 of 2 hold"):
        check()
