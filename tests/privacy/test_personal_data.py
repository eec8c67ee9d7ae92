"""What is recognised as personal data, and where."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.anchors import ANCHORS
from adaptive.privacy.context_words import CONTEXT_WORDS, words_of, words_only
from adaptive.privacy.personal_data import RECOGNISERS, find_personal_data
from adaptive.privacy.unicode_text import unicode_text
from benchmarks.privacy import judged
from tests.rates import over

LABELLED = json.loads(
    (Path(__file__).parent / "labelled" / "cases.json").read_text(encoding="utf-8")
)

FRESH = json.loads((Path(__file__).parent / "labelled" / "fresh.json").read_text(encoding="utf-8"))


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
        "e-mail in words",
        "bob dot smith at gmail dot com",
        [("email", "bob dot smith at gmail dot com")],
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
    Case("context behind", "昭和60年3月12日生まれ", [("birth_date", "60年3月12日")]),
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


@pytest.mark.parametrize("cases", [LABELLED, FRESH], ids=["labelled", "fresh"])
def test_labelled_sets(cases: list[dict[str, Any]]) -> None:
    """Precision and recall, also on cases written without a look at the recognisers."""
    rates = judged(cases)["all"]
    print(rates)  # noqa: T201 - pytest shows it for tests that failed, and with -rP for all
    assert rates["precision"] >= 0.95
    assert rates["recall"] >= 0.95


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
    """Each character of the spelled text leads back to the character that it came from."""
    spelled = unicode_text(text)
    for place, character in enumerate(spelled.text):
        start, end = spelled.original_span(place, place + 1)
        assert end == start + 1
        assert unicode_text(text[start:end]).text in (character, "\u30fc")


@given(st.text())
def test_words_keep_their_places(text: str) -> None:
    """Small letters and spaces stand where their characters stood."""
    assert len(words_only(text)) == len(text)


PATTERNS = {f"{one.kind}, {one.name}": one.pattern for one in RECOGNISERS}
PATTERNS |= {f"trim of {one.name}": one.trim for one in RECOGNISERS if one.trim}


@over("name", PATTERNS)
def test_pattern_is_bounded(name: str) -> None:
    """No pattern repeats without an end: each match has a longest length."""
    assert not re.search(r"(?<!\\)[*+](?![^\[]*\])", _without_classes(PATTERNS[name]))


@over("name", PATTERNS)
def test_repeats_are_delimited(name: str) -> None:
    """A repeated group holds a piece of fixed length, so that it can be cut in one way only."""
    plain = _without_classes(PATTERNS[name])
    for group in re.finditer(r"\(\?:((?:[^()]|\\.)*)\)(?:\{\d+,\d+\})", plain):
        for branch in group[1].split("|"):
            assert re.sub(r"(?:C|\\.|.)(?:\{\d+,\d+\}\??|\?)", "", branch), (name, branch)


def _without_classes(pattern: str) -> str:
    """The pattern with a ``C`` for each class and escaped character."""
    plain = re.sub(r"\[(?:\\.|[^\]\\])+\]", "C", pattern)
    return re.sub(r"\\[^bBdDwWsS]|\\[dDwWsS]", "C", plain)


@over("name", ANCHORS)
def test_anchor_compiles(name: str) -> None:
    """Every anchor is a pattern, and some recogniser uses it."""
    assert re.compile(ANCHORS[name].pattern)
    assert any(one.anchor == name for one in RECOGNISERS)


def test_recognisers_know_their_words() -> None:
    """Each context is a subject that has words; what is not anchored has leads."""
    for one in RECOGNISERS:
        assert bool(one.anchor) != bool(one.leads)
        assert not one.context or words_of(one.context)
        assert words_of(one.against)


@over("subject", CONTEXT_WORDS)
def test_words_can_be_found(subject: str) -> None:
    """Context words are in the form in which texts are searched."""
    for word in words_of(subject):
        assert word.strip()
        assert words_only(word) == word
