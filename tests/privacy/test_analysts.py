"""The set written as authors of analysers, secret scanners and data-protection teams would."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.secrets import find_secrets
from benchmarks.privacy import judged
from tests.rates import over, rate

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "labelled" / "analysts.json").read_text(encoding="utf-8")
)
PERSONAL = [case for case in CASES if case["about"] == "personal data"]
SECRET = [case for case in CASES if case["about"] == "secret"]


def covered(case: dict[str, Any]) -> bool:
    """Whether each letter and digit of the labelled secret is found."""
    text: str = case["text"]
    found = [range(one.start, one.end) for one in find_secrets(text)]
    return all(
        not text[place].isalnum() or any(place in one for one in found)
        for start, end, _ in case["spans"]
        for place in range(start, end)
    )


def test_personal_data_of_analysts() -> None:
    """Precision and recall of personal data on the set."""
    rates = judged(PERSONAL)["all"]
    print(rates)  # noqa: T201 - pytest shows it for tests that failed, and with -rP for all
    assert rates["recall"] >= 0.95
    assert rates["precision"] >= 0.93


def test_secrets_of_analysts() -> None:
    """Nearly all secrets of the set are found whole."""
    rate([case for case in SECRET if case["spans"]], covered).at_least(0.97)


def test_talk_about_secrets_of_analysts() -> None:
    """At most one in twenty of the texts that only talk about secrets is taken for one."""
    plain = [case for case in SECRET if not case["spans"]]
    rate(plain, lambda case: not find_secrets(case["text"])).at_least(0.95)


@dataclass(frozen=True)
class Secret:
    """A text with the secret in it, or with none."""

    id: str
    text: str
    secret: str = ""


SECRETS = [
    Secret("plain word", "my password is sunshine", "sunshine"),
    Secret("about the word", "my password is terrible"),
    Secret("adjective, Romance", "la contraseña es larguísima"),
    Secret("figurative", "la clave es paciencia"),
    Secret("words", "passphrase: correct horse battery staple", "correct horse battery staple"),
    Secret("sentence for words", "passphrase: words that you choose"),
    Secret("possessive", "the wifi password's M3inH4us", "M3inH4us"),
    Secret("account and password", "credentials: mario / Pizza!77", "Pizza!77"),
    Secret("statement", "ALTER USER x IDENTIFIED BY 'zaq12wsx';", "zaq12wsx"),
    Secret("piped", "echo 'hunter22' | sudo -S apt update", "hunter22"),
    Secret("two texts", "smtp.login('me@example.com', 'abcd!efgh1')", "abcd!efgh1"),
    Secret("two placeholders", "requests.get(u, auth=('user', 'pass'))"),
    Secret("two lines", "- name: DB_PASS\n  value: Xk9#mPq2vL", "Xk9#mPq2vL"),
    Secret("element", "<password>M3inH4us!</password>", "M3inH4us!"),
    Secret("element of a manual", "<password>string</password>"),
    Secret("scheme with a figure", "neo4j://app:hunter2@db.internal:7687", "hunter2"),
    Secret("port with a path", "http://localhost:3000/a:b@c"),
    Secret("key of a cache", f"cache-key: linux-node-{'9f86d081884c7d65' * 4}"),
    Secret("call", "password = getpass.getpass()"),
    Secret("tag of a vault", "password: !vault |"),
    Secret("fetch", "credentials: include"),
]


@over("case", SECRETS, at_least=0.95)
def test_secret_in_its_context(case: Secret) -> None:
    """The secret is found from its first to its last letter or digit, and nothing else is."""
    found = [case.text[one.start : one.end].rstrip("!*") for one in find_secrets(case.text)]
    assert found == ([case.secret.rstrip("!*")] if case.secret else [])


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
    Personal("day of a passport", "passport valid until 31122030"),
    Personal("birth as a name", '{"dateOfBirth": "1983-11-30"}', ("1983-11-30",)),
    Personal("range", "the range 100-20-3000 mm"),
]


@over("case", PERSONALS, at_least=0.95)
def test_personal_data_in_its_context(case: Personal) -> None:
    """Values are found where their context tells them, and what only looks like them is not."""
    found = tuple(case.text[one.start : one.end] for one in find_personal_data(case.text))
    assert found == case.found
