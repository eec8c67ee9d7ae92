"""What is recognised as personal data, and where."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.redaction import Redaction
from benchmarks.privacy import judged, milliseconds
from tests.rates import over

SETS = Path(__file__).parent / "labelled"
LABELLED = json.loads((SETS / "cases.json").read_text(encoding="utf-8"))
FRESH = json.loads((SETS / "fresh.json").read_text(encoding="utf-8"))
ANALYSTS = json.loads((SETS / "analysts.json").read_text(encoding="utf-8"))
PEOPLE = json.loads((SETS / "people.json").read_text(encoding="utf-8"))


def found(text: str) -> list[tuple[str, str]]:
    """Kinds and values in a text."""
    return [(one.kind, text[one.start : one.end]) for one in find_personal_data(text)]


@dataclass(frozen=True)
class Case:
    """A text with what is found in it."""

    id: str
    text: str
    found: list[tuple[str, str]]


CASES = [
    Case("full-width", "ｊｏ＠ｅｘａｍｐｌｅ．ｃｏｍ", [("email", "ｊｏ＠ｅｘａｍｐｌｅ．ｃｏｍ")]),
    Case("zero-width", "jo\u200b@exam\u200bple.com!", [("email", "jo\u200b@exam\u200bple.com")]),
    Case("homoglyph dots", "at jo․d@example․com", [("email", "jo․d@example․com")]),
    Case("Arabic digits", "هاتفي ٠١٠٠١٢٣٤٥٦٧", [("phone", "٠١٠٠١٢٣٤٥٦٧")]),
    Case(
        "long vowel as a dash",
        "電話 ０９０ー１２３４ー５６７８",
        [("phone", "０９０ー１２３４ー５６７８")],
    ),
    Case(
        "no spaces around",
        "邮箱zhang@qq.com。电话13812345678。",
        [("email", "zhang@qq.com"), ("phone", "13812345678")],
    ),
    Case(
        "card before its date", "card 4111 1111 1111 1111 12/27", [("card", "4111 1111 1111 1111")]
    ),
    Case(
        "password in a URL wins over the e-mail",
        "ftp://bob:pw12@files.example.org/a",
        [("url_credentials", "ftp://bob:pw12@files.example.org/a")],
    ),
    Case("nearest word decides", "order by phone: 555-123-4567", [("phone", "555-123-4567")]),
    Case("order number that is a card's", "invoice 4111111111111111", []),
    Case("passport needs context", "AB1234567", []),
    Case("address needs context", "The show at 12 Main Street was fun.", []),
    Case(
        "address with its post code",
        "12 Main Street, Springfield, IL 62701",
        [("address", "12 Main Street, Springfield, IL 62701")],
    ),
    Case("context behind", "昭和60年3月12日生まれ", [("birth_date", "昭和60年3月12日")]),
    Case("image", "logo@2x.png", []),
    Case("repository", "git@code.example.org:team/app.git", []),
    Case("version", "version 10.1.2.3", []),
    Case("names in a program", "std::vector<a::b> x; foo(1234567890)", []),
]


@over("case", CASES, at_least=0.95)
def test_finds(case: Case) -> None:
    """Values are found where they stand in the text as given, and nothing else is."""
    assert found(case.text) == case.found


def held(cases: list[dict[str, Any]], recall: float, precision: float) -> None:
    """Ask for these rates over a set."""
    rates = judged(cases)["all"]
    print(rates)  # noqa: T201 - pytest shows it for tests that failed, and with -rP for all
    assert rates["recall"] >= recall
    assert rates["precision"] >= precision


def test_labelled_set() -> None:
    """Nearly all is found in made-up sentences of fourteen languages, and little besides."""
    held(LABELLED, 0.95, 0.95)


def test_fresh_set() -> None:
    """The same on cases written without a look at the shapes."""
    held(FRESH, 0.90, 0.95)


def test_personal_data_of_analysts() -> None:
    """The same on a set as authors of analysers and data-protection teams would write it."""
    held([one for one in ANALYSTS if one["about"] == "personal data"], 0.95, 0.93)


def test_messages_of_people() -> None:
    """The same on messages as people write them to an assistant, in fifteen languages."""
    held(PEOPLE, 0.93, 0.95)


@given(st.sampled_from(LABELLED), st.sampled_from(LABELLED))
def test_what_is_redacted_comes_back(one: dict[str, Any], other: dict[str, Any]) -> None:
    """No labelled value that was found is left in a redacted text, and restoring gives it back."""
    redaction = Redaction()
    text = f"{one['text']}\n{other['text']}"
    redacted = redaction.redact(text)
    assert redaction.restore(redacted) == text
    assert not [value for _, value in found(text) if len(value) > 6 and value in redacted]


UNITS = ("1 ", "12-", "1.", "a@", "Aa ", "born 1.1.1990 ", "home Calle de la Luna ", "路1", "1:")


@over("unit", UNITS)
def test_time_is_linear(unit: str) -> None:
    """Ten times the text takes no more than thirty times as long."""
    short, long = (unit * (size // len(unit)) for size in (4_000, 40_000))
    find_personal_data(short)
    times = [milliseconds(lambda text=text: find_personal_data(text), 3) for text in (short, long)]
    assert times[1] <= 30 * max(times[0], 0.5)


@dataclass(frozen=True)
class Context:
    """A text, and the value that is found in it."""

    id: str
    text: str
    value: str = ""


CONTEXTS = [
    Context("phone after a colon", "TEL:03-1234-5678", "03-1234-5678"),
    Context("old Mexican mobile", "mi celular +52 1 55 1234 5678", "+52 1 55 1234 5678"),
    Context("low address", "Failed password for root from 5.9.1.3", "5.9.1.3"),
    Context("hardware address of a switch", "001a.2b3c.4d5e", "001a.2b3c.4d5e"),
    Context("account of a manual", "https://user:password@example.com"),
    Context("street of two words", "zu Hause: Lange Straße 44", "Lange Straße 44"),
    Context("letters in a passport", "Reisepass: C4VKW1NM5", "C4VKW1NM5"),
    Context("birth as a name", '{"dateOfBirth": "1983-11-30"}', "1983-11-30"),
]


@over("case", CONTEXTS, at_least=0.9)
def test_personal_data_in_its_context(case: Context) -> None:
    """Values are found where their context tells them, and what only looks like them is not."""
    assert [value for _, value in found(case.text)] == ([case.value] if case.value else [])
