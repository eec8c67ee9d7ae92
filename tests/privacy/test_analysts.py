"""Personal data in the set written as authors of analysers and data-protection teams would."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adaptive.privacy.personal_data import find_personal_data
from benchmarks.privacy import judged
from tests.rates import over

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "labelled" / "analysts.json").read_text(encoding="utf-8")
)
PERSONAL = [case for case in CASES if case["about"] == "personal data"]


def test_personal_data_of_analysts() -> None:
    """Precision and recall of personal data on the set."""
    rates = judged(PERSONAL)["all"]
    print(rates)  # noqa: T201 - pytest shows it for tests that failed, and with -rP for all
    assert rates["recall"] >= 0.95
    assert rates["precision"] >= 0.93


@dataclass(frozen=True)
class Personal:
    """A text with what is found in it."""

    id: str
    text: str
    found: tuple[str, ...] = ()


PERSONALS = [
    Personal("phone after a colon", "TEL:03-1234-5678", ("03-1234-5678",)),
    Personal("old Mexican mobile", "mi celular +52 1 55 1234 5678", ("+52 1 55 1234 5678",)),
    Personal("steps", "01-02-03-04 steps"),
    Personal("low version", "libfoo 2.3.1.1 released"),
    Personal("low address", "Failed password for root from 5.9.1.3", ("5.9.1.3",)),
    Personal("low address in a URL", "http://5.9.1.3/admin", ("5.9.1.3",)),
    Personal("pinned version", "package foo==1.0.0.1"),
    Personal("section", "第3.2.1.4节"),
    Personal("hardware address of a switch", "001a.2b3c.4d5e", ("001a.2b3c.4d5e",)),
    Personal("account of a manual", "https://user:password@example.com"),
    Personal("street of two words", "zu Hause: Lange Straße 44", ("Lange Straße 44",)),
    Personal("via as a preposition", "manda via 10 mail"),
    Personal("measure", "latency 12.345678, 23.456789 ms"),
    Personal("call of a drawing", "scale(1.052235, 1.243683)"),
    Personal("letters in a passport", "Reisepass: C4VKW1NM5", ("C4VKW1NM5",)),
    Personal("birth as a name", '{"dateOfBirth": "1983-11-30"}', ("1983-11-30",)),
    Personal("range", "the range 100-20-3000 mm"),
]


@over("case", PERSONALS, at_least=0.9)
def test_personal_data_in_its_context(case: Personal) -> None:
    """Values are found where their context tells them, and what only looks like them is not."""
    found = tuple(case.text[one.start : one.end] for one in find_personal_data(case.text))
    assert found == case.found
