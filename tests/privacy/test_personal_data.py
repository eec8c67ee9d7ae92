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
from adaptive.privacy.scanning import plain_text
from benchmarks.privacy import judged, milliseconds
from tests.rates import over

SETS = Path(__file__).parent / "labelled"
LABELLED = json.loads((SETS / "cases.json").read_text(encoding="utf-8"))
FRESH = json.loads((SETS / "fresh.json").read_text(encoding="utf-8"))
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
    Case("nothing", "", []),
    Case("full-width", "ｊｏ＠ｅｘａｍｐｌｅ．ｃｏｍ", [("email", "ｊｏ＠ｅｘａｍｐｌｅ．ｃｏｍ")]),
    Case("zero-width", "jo\u200b@exam\u200bple.com!", [("email", "jo\u200b@exam\u200bple.com")]),
    Case("homoglyph dots", "at jo․d@example․com", [("email", "jo․d@example․com")]),
    Case("soft hyphen", "4111 1111 11\u00ad11 1111", [("card", "4111 1111 11\u00ad11 1111")]),
    Case("Arabic digits", "هاتفي ٠١٠٠١٢٣٤٥٦٧", [("phone", "٠١٠٠١٢٣٤٥٦٧")]),
    Case(
        "long vowel as a dash",
        "電話 ０９０ー１２３４ー５６７８",
        [("phone", "０９０ー１２３４ー５６７８")],
    ),
    Case(
        "no-break spaces",
        "IBAN DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
        [("iban", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000")],
    ),
    Case(
        "no spaces around",
        "邮箱zhang@qq.com。电话13812345678。",
        [("email", "zhang@qq.com"), ("phone", "13812345678")],
    ),
    Case("several", "a@b.org, a@c.org", [("email", "a@b.org"), ("email", "a@c.org")]),
    Case(
        "card before its date", "card 4111 1111 1111 1111 12/27", [("card", "4111 1111 1111 1111")]
    ),
    Case(
        "password in a URL wins over the e-mail",
        "ftp://bob:pw12@files.example.org/a",
        [("url_credentials", "ftp://bob:pw12@files.example.org/a")],
    ),
    Case("nearest word decides", "order by phone: 555-123-4567", [("phone", "555-123-4567")]),
    Case("order number", "phone order 555-123-4567", []),
    Case("order number that is a card's", "invoice 4111111111111111", []),
    Case("passport needs context", "AB1234567", []),
    Case("birth needs context", "on 12/05/1990", []),
    Case("address needs context", "The show at 12 Main Street was fun.", []),
    Case(
        "address with its post code",
        "12 Main Street, Springfield, IL 62701",
        [("address", "12 Main Street, Springfield, IL 62701")],
    ),
    Case("context behind", "昭和60年3月12日生まれ", [("birth_date", "昭和60年3月12日")]),
    Case("image", "logo@2x.png", []),
    Case("repository", "git@code.example.org:team/app.git", []),
    Case("loopback and masks", "127.0.0.1 ::1 255.255.255.0 10.0.0.0/8", []),
    Case("version", "version 10.1.2.3", []),
    Case("fingerprint", "86:9b:4e:a0:07:c1:fd:69", []),
    Case("vector", "0.5199, 0.6749, -0.6693", []),
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


def test_messages_of_people() -> None:
    """The same on messages as people write them to an assistant, in fifteen languages."""
    held(PEOPLE, 0.93, 0.95)


PIECES = st.sampled_from([case["text"] for case in LABELLED]) | st.text(max_size=30)


@given(st.lists(PIECES, max_size=4).map(" ".join))
def test_findings_are_ordered(text: str) -> None:
    """Whatever the text, findings stand within it, rising and apart."""
    findings = find_personal_data(text)
    places = [place for one in findings for place in (one.start, one.end)]
    assert places == sorted(places)
    assert all(0 <= one.start < one.end <= len(text) for one in findings)
    assert all(0.5 <= one.score <= 1 for one in findings)


@given(st.sampled_from(LABELLED), st.data())
def test_unseen_characters_change_nothing(case: dict[str, Any], data: st.DataObject) -> None:
    """Zero-width characters anywhere in a value hide it from nobody."""
    text: str = case["text"]
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5)), reverse=True)
    hidden = text
    for place in places:
        hidden = hidden[:place] + "\u200b" + hidden[place:]
    shown = [(kind, value.replace("\u200b", "")) for kind, value in found(hidden)]
    assert shown == found(text)


@given(st.text())
def test_spelling_maps_back(text: str) -> None:
    """Each character of the plain text leads back to the character that it came from."""
    plain, places = plain_text(text)
    assert len(plain) == len(places)
    for character, place in zip(plain, places, strict=True):
        assert character in (plain_text(text[place])[0], "-")


@given(st.sampled_from(LABELLED), st.sampled_from(LABELLED))
def test_what_is_redacted_comes_back(one: dict[str, Any], other: dict[str, Any]) -> None:
    """No labelled value that was found is left in a redacted text, and restoring gives it back."""
    redaction = Redaction()
    text = f"{one['text']}\n{other['text']}"
    redacted = redaction.redact(text)
    assert redaction.restore(redacted) == text
    assert not [value for _, value in found(text) if len(value) > 6 and value in redacted]


UNITS = (
    "1 ",
    "12-",
    "1.",
    "a@",
    "a.",
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
    times = [milliseconds(lambda text=text: find_personal_data(text), 3) for text in (short, long)]
    assert times[1] <= 30 * max(times[0], 0.5)
