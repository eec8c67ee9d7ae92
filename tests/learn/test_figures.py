"""Figures are compared by value, however they are written."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.support import unsaid_figures
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """What was said, a sentence, and the figures of it that were not said."""

    said: str
    sentence: str
    lacking: tuple[str, ...] = ()


CASES = [
    Case("٤٥٠ درهم", "450"),
    Case("۱۴۵۰", "1,450"),
    Case("४५ किलो", "45"),
    Case("৪৫", "45"),
    Case("๔๕", "45"),
    Case("４５", "45"),
    Case("1,450", "1450"),
    Case("1.450", "1 450"),
    Case("1 450", "1'450"),
    Case("1,45,000", "145000"),
    Case("1.234,5", "1,234.5"),
    Case("85k", "85,000"),
    Case("85 thousand", "85,000"),
    Case("1.5 million", "1,500,000"),
    Case("3 lakh", "300,000"),
    Case("8万", "80000"),
    Case("350 euros", "350,000 euros", ("350,000",)),
    Case("7 pm", "19:00"),
    Case("7pm", "19 Uhr"),
    Case("6:30 pm", "18:30"),
    Case("from 6 to 7 pm", "6 to 7"),
    Case("at 7", "7 p.m."),
    Case("7 pm", "7 am", ("7",)),
    Case("5 a.m.", "17:00", ("17",)),
    Case("5 a.m.", "5 pm", ("5",)),
    Case("seventeen hens and two cats", "17 hens, 2 cats"),
    Case("Sixty-eight", "68"),
    Case("sixty eight", "86", ("86",)),
    Case("one of them, often", "1 and 10", ("1", "10")),
    Case("ſix, sıx, spätzehn, späten", "6 and 10", ("6", "10")),
    Case("cumplo cuarenta y tres", "43 años"),
    Case("half a gram", "0.5 g"),
    Case("85 mil reais, R$ 3 milhões", "85.000 und 3,000,000"),
    Case("二十一歳", "21"),
    Case("三万二千", "32,000"),
    Case("二〇二四年", "2024"),
    Case("二匹", "3", ("3",)),
    Case("一直", "1", ("1",)),
    Case("19:30", "19.30"),
    Case("1½ cups", "1.5"),
    Case("½ g", "0.5 g"),
    Case("14.6.2026", "14 June 2026"),
    Case("350 a month", "450 a month", ("450",)),
    Case("4.250", "42.500", ("42.500",)),
    Case("no figure", "12 cats", ("12",)),
]


@over("case", CASES)
def test_figures(case: Case) -> None:
    """A number is found again in another script or way of writing, and no other number is."""
    lacking = unsaid_figures(case.sentence, [case.said])
    assert tuple(figure.written for figure in lacking) == case.lacking


@given(st.integers(0, 10**9), st.sampled_from("٠۰०০๐０"))
def test_any_script(number: int, zero: str) -> None:
    """Each number is the same in each script."""
    written = "".join(chr(ord(zero) + int(digit)) for digit in str(number))
    assert unsaid_figures(f"{number:,}", [written]) == []
    assert unsaid_figures(written, [f"{number:,}"]) == []


@given(st.text())
def test_any_text(text: str) -> None:
    """Any text can be read, and holds its own figures."""
    assert unsaid_figures(text, [text]) == []
