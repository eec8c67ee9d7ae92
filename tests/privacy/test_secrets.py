"""Secrets are found whatever they look like, and what only looks like one is left alone."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.secrets import (
    SECRET_MARK,
    find_secrets,
    secret_reason,
    without_secrets,
)
from tests.privacy.made_up_secrets import MadeUp, made_up_secrets
from tests.rates import labelled_set, over, rate

MADE_UP = made_up_secrets()
SETS = Path(__file__).parent / "labelled"
ANALYSTS: list[dict[str, Any]] = [
    case
    for case in json.loads((SETS / "analysts.json").read_text("utf-8"))
    if case["about"] == "secret"
]
PEOPLE: list[dict[str, Any]] = json.loads((SETS / "people_secrets.json").read_text("utf-8"))
LONG = 100_000


@dataclass(frozen=True)
class Case:
    """A text with the secret in it, or with none."""

    id: str
    text: str
    secret: str = ""


CASES = [
    Case("plain word", "my password is sunshine", "sunshine"),
    Case("about the word", "my password is terrible"),
    Case("figurative", "la clave es paciencia"),
    Case("words", "passphrase: correct horse battery staple", "correct horse battery staple"),
    Case("account and password", "credentials: mario / Pizza!77", "Pizza!77"),
    Case("piped", "echo 'hunter22' | sudo -S apt update", "hunter22"),
    Case("two lines", "- name: DB_PASS\n  value: Xk9#mPq2vL", "Xk9#mPq2vL"),
    Case("element", "<password>M3inH4us!</password>", "M3inH4us!"),
    Case("scheme with a figure", "neo4j://app:hunter2@db.internal:7687", "hunter2"),
    Case("port with a path", "http://localhost:3000/a:b@c"),
    Case("call", "password = getpass.getpass()"),
    Case("first in an identifier", "apiKey = 'x8Kd03mZpQ1v7RtY'", "x8Kd03mZpQ1v7RtY"),
    Case("within another word", "the monkey: x8Kd03mZpQ1v7RtY"),
    Case("amount", "my password is 2000 characters long"),
    Case("postal code", "Le code postal est 75011."),
    Case("no figure", "AKIAQWERTYUIOPASDFGH", "AKIAQWERTYUIOPASDFGH"),
]
# What patterns that look around would read again and again.
REPEATED = (
    *("a", "A1", "sk-", "sk-a", "eyJ", "eyJaaaaaaaaaaaaa.", "://", "http://a:", "http://a:b@", "("),
    *("password ", "password: ", "token: ", "the key is a ", "PIN 12 ", "mysql -p", 'login("a",'),
    *("-----BEGIN PRIVATE KEY-----", "cookie: a=b;", "WIFI:", "echo ", "seed phrase: ", "abandon "),
    *("abc\n", "\u200b", "\uff41", "\u043a\u043b\u044e\u0447 ", "--password ", " ", '"', "A3-a"),
)


def covered(case: dict[str, Any]) -> bool:
    """Whether each letter and digit of the labelled secret is found."""
    text: str = case["text"]
    found = [range(one.start, one.end) for one in find_secrets(text)]
    return all(
        not text[place].isalnum() or any(place in one for one in found)
        for start, end, _ in case["spans"]
        for place in range(start, end)
    )


def test_secrets_of_analysts() -> None:
    """Secrets as authors of scanners would try them are found whole."""
    rate([case for case in ANALYSTS if case["spans"]], covered).at_least(0.93)


def test_talk_about_secrets_of_analysts() -> None:
    """At most one in thirty of the texts that only talk about secrets is taken for one."""
    plain = [case for case in ANALYSTS if not case["spans"]]
    rate(plain, lambda case: not find_secrets(case["text"])).at_least(0.97)


def test_secrets_of_people() -> None:
    """Secrets in messages as people write them to an assistant, and messages that hold none."""
    rate([case for case in PEOPLE if case["spans"]], covered).at_least(0.90)
    plain = [case for case in PEOPLE if not case["spans"]]
    rate(plain, lambda case: not find_secrets(case["text"])).at_least(0.95)


def test_near_misses_are_left_alone() -> None:
    """At most one text in thirty that only looks like holding a secret is taken for one."""
    rate(labelled_set("near_secrets"), lambda text: not find_secrets(text)).at_least(0.97)


@over("sample", MADE_UP, at_least=0.97)
def test_each_secret_is_found(sample: MadeUp) -> None:
    """A made-up secret is found whoever issued it, and cut out; the reason does not repeat it."""
    found = find_secrets(sample.text)
    assert found
    assert SECRET_MARK in without_secrets(sample.text)
    assert sample.secret not in secret_reason(found)


@over("case", CASES, at_least=0.95)
def test_secret_in_its_context(case: Case) -> None:
    """The secret is found from its first to its last letter or digit, and nothing else is."""
    found = [case.text[one.start : one.end].rstrip("!*") for one in find_secrets(case.text)]
    assert found == ([case.secret.rstrip("!*")] if case.secret else [])


@over("sign", REPEATED)
def test_in_linear_time(sign: str) -> None:
    """A text that repeats one sign takes little more than ten times as long as a tenth of it."""
    text = (sign * LONG)[:LONG]
    find_secrets(text[:100])
    short, long = (min(_seconds(part) for _ in range(3)) for part in (text[: LONG // 10], text))
    assert long < 30 * short + 0.05


@given(st.text(max_size=80), st.sampled_from(MADE_UP))
def test_without_secrets_leaves_none(before: str, sample: MadeUp) -> None:
    """Cutting secrets out leaves none, and changes nothing of a text but them."""
    text = f"{before}\n{sample.text}"
    bare = without_secrets(text)
    assert not find_secrets(bare)
    position = 0
    for piece in bare.split(SECRET_MARK):
        position = text.index(piece, position) + len(piece)


def _seconds(text: str) -> float:
    start = time.process_time()
    find_secrets(text)
    return time.process_time() - start
