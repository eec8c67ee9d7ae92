"""What is recognised as personal data, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.redaction import Redaction
from benchmarks.privacy import judged, milliseconds
from tests.rates import over

LABELLED_SETS = Path(__file__).parent / "labelled"
NAMES = ("cases", "fresh", "analysts", "people")
SETS = [
    json.loads((LABELLED_SETS / f"{name}.json").read_text("utf-8"))
    for name in NAMES
]
LABELLED, FRESH, ANALYSTS, PEOPLE = SETS


def found(text: str) -> list[str]:
    """The values in a text."""
    return [text[one.start : one.end] for one in find_personal_data(text)]


CASES: list[tuple[str, list[str]]] = [
    ("ｊｏ＠ｅｘａｍｐｌｅ．ｃｏｍ", ["ｊｏ＠ｅｘａｍｐｌｅ．ｃｏｍ"]),
    ("jo\u200b@exam\u200bple.com!", ["jo\u200b@exam\u200bple.com"]),
    ("at jo․d@example․com", ["jo․d@example․com"]),
    ("هاتفي ٠١٠٠١٢٣٤٥٦٧", ["٠١٠٠١٢٣٤٥٦٧"]),
    ("電話 ０９０ー１２３４ー５６７８", ["０９０ー１２３４ー５６７８"]),
    ("邮箱zhang@qq.com。电话13812345678。", ["zhang@qq.com", "13812345678"]),
    ("card 4111 1111 1111 1111 12/27", ["4111 1111 1111 1111"]),
    (
        "ftp://bob:pw12@files.example.org/a",
        ["ftp://bob:pw12@files.example.org/a"],
    ),
    ("order by phone: 555-123-4567", ["555-123-4567"]),
    ("invoice 4111111111111111", []),
    ("AB1234567", []),
    ("NI number AB 12 34 56 C, please", ["AB 12 34 56 C"]),
    ("The show at 12 Main Street was fun.", []),
    (
        "12 Main Street, Springfield, IL 62701",
        ["12 Main Street, Springfield, IL 62701"],
    ),
    ("昭和60年3月12日生まれ", ["昭和60年3月12日"]),
    ("logo@2x.png", []),
    ("git@code.example.org:team/app.git", []),
    ("version 10.1.2.3", []),
    ("std::vector<a::b> x; foo(1234567890)", []),
    ("TEL:03-1234-5678", ["03-1234-5678"]),
    ("mi celular +52 1 55 1234 5678", ["+52 1 55 1234 5678"]),
    ("Failed password for root from 5.9.1.3", ["5.9.1.3"]),
    ("001a.2b3c.4d5e", ["001a.2b3c.4d5e"]),
    ("https://user:password@example.com", []),
    ("zu Hause: Lange Straße 44", ["Lange Straße 44"]),
    ("Reisepass: C4VKW1NM5", ["C4VKW1NM5"]),
    ('{"dateOfBirth": "1983-11-30"}', ["1983-11-30"]),
]


@over("text, values", CASES, at_least=0.95)
def test_finds(text: str, values: list[str]) -> None:
    """Values are found where they stand in the text as given, and nothing else is."""
    assert found(text) == values


RATES = [
    # Made-up sentences of fourteen languages.
    (LABELLED, 0.95, 0.95),
    # Cases written without a look at the shapes.
    (FRESH, 0.90, 0.95),
    # As authors of analysers and data-protection teams would write them.
    ([one for one in ANALYSTS if one["about"] == "personal data"], 0.95, 0.93),
    # Messages as people write them to an assistant, in fifteen languages.
    (PEOPLE, 0.93, 0.95),
]


@pytest.mark.parametrize(("cases", "recall", "precision"), RATES, ids=NAMES)
def test_labelled_sets(
    cases: list[dict[str, Any]], recall: float, precision: float
) -> None:
    """Nearly all that is labelled is found, and little besides."""
    rates = judged(cases)["all"]
    print(rates)  # noqa: T201 - pytest shows it for tests that failed, and with -rP for all
    assert rates["recall"] >= recall
    assert rates["precision"] >= precision


@given(st.sampled_from(LABELLED), st.sampled_from(LABELLED))
def test_what_is_redacted_comes_back(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    """No labelled value that was found is left in a redacted text, and restoring gives it back."""
    redaction = Redaction()
    text = f"{one['text']}\n{other['text']}"
    redacted = redaction.redact(text)
    assert redaction.restore(redacted) == text
    assert not [
        value for value in found(text) if len(value) > 6 and value in redacted
    ]


UNITS = (
    "1 ",
    "12-",
    "1.",
    "a@",
    "Aa ",
    "born 1.1.1990 ",
    "home Calle de la Luna ",
    "路1",
    "1:",
)


@over("unit", UNITS)
def test_time_is_linear(unit: str) -> None:
    """Ten times the text takes no more than thirty times as long."""
    short, long = (unit * (size // len(unit)) for size in (4_000, 40_000))
    find_personal_data(short)
    times = [
        milliseconds(lambda text=text: find_personal_data(text), 3)
        for text in (short, long)
    ]
    assert times[1] <= 30 * max(times[0], 0.5)


def test_other_lines() -> None:
    """A word in another line, as of another message, does not hide what a line holds."""
    said = "My model key is lost.\n- User: My credit card number is 4888 5577 5914 9527"
    assert [one.kind for one in find_personal_data(said)] == ["card"]
