"""What decides whether a labelled set is told well enough."""

from __future__ import annotations

import inspect

import pytest

from tests.rates import Rate, over, rate


def test_bar(capsys: pytest.CaptureFixture[str]) -> None:
    """At the bar a set passes and its misses are printed; below it they are the failure."""
    found = rate(
        [{"id": "four", "n": 4}, {"id": "five", "n": 5}],
        lambda one: one["n"] % 2 == 0,
    )
    assert (found.cases, found.share) == (2, 0.5)
    found.at_least(0.5)
    assert "1 of 2 hold: 50.0%, bar 50%\n  five" in capsys.readouterr().out
    with pytest.raises(pytest.fail.Exception, match="five"):
        found.at_least(0.51)


def test_no_miss() -> None:
    """A crash ends the test, with the case in its notes, and so does pytest-timeout."""
    with pytest.raises(ZeroDivisionError) as raised:
        rate([1, 0], lambda number: 1 / number)
    assert raised.value.__notes__ == ["in the case 0"]
    with (
        pytest.raises(pytest.fail.Exception, match="Timeout"),
        Rate().trying("slow"),
    ):
        pytest.fail("Timeout (>20.0s) from pytest-timeout.")


def test_over() -> None:
    """A function of cases becomes one test that asks for fixtures alone, and for all cases."""
    seen: list[tuple[int, str, str]] = []

    @over("number, word", [(1, "a"), (2, "b")])
    def check(tmp: str, number: int, word: str) -> None:
        seen.append((number, word, tmp))
        with pytest.raises(ZeroDivisionError):
            assert 1 / (number - 1)

    assert list(inspect.signature(check).parameters) == ["tmp"]
    with pytest.raises(pytest.fail.Exception, match="1 of 2 hold"):
        check(tmp="x")
    assert seen == [(1, "a", "x"), (2, "b", "x")]
