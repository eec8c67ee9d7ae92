"""Secrets are found whatever they look like, and what only looks like one is left alone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.secrets import (
    SECRET_MARK,
    excerpt_without_secrets,
    find_secrets,
    without_secrets,
)
from tests.privacy.made_up_secrets import MadeUp, made_up_secrets
from tests.rates import labelled_set, over, rate

MADE_UP = made_up_secrets()


def of_set(name: str) -> list[dict[str, Any]]:
    """Labelled texts with the spans of their secrets."""
    path = Path(__file__).parent / "labelled" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


ANALYSTS = [case for case in of_set("analysts") if case["about"] == "secret"]
PEOPLE = of_set("people_secrets")
LONG = 100_000


CASES = [
    ("my password is sunshine", "sunshine"),
    ("my password is terrible", ""),
    ("la clave es paciencia", ""),
    (
        "passphrase: correct horse battery staple",
        "correct horse battery staple",
    ),
    ("credentials: mario / Pizza!77", "Pizza!77"),
    ("echo 'hunter22' | sudo -S apt update", "hunter22"),
    ("- name: DB_PASS\n  value: Xk9#mPq2vL", "Xk9#mPq2vL"),
    ("<password>M3inH4us!</password>", "M3inH4us!"),
    ("neo4j://app:hunter2@db.internal:7687", "hunter2"),
    ("http://localhost:3000/a:b@c", ""),
    ("password = getpass.getpass()", ""),
    ("apiKey = 'x8Kd03mZpQ1v7RtY'", "x8Kd03mZpQ1v7RtY"),
    ("the monkey: x8Kd03mZpQ1v7RtY", ""),
    ("my password is 2000 characters long", ""),
    ("Le code postal est 75011.", ""),
    ("AKIAQWERTYUIOPASDFGH", "AKIAQWERTYUIOPASDFGH"),
]
# What patterns that look around would read again and again.
REPEATED = (
    *(
        "a",
        "A1",
        "sk-",
        "sk-a",
        "eyJ",
        "eyJaaaaaaaaaaaaa.",
        "://",
        "http://a:",
        "http://a:b@",
        "(",
    ),
    *(
        "password ",
        "password: ",
        "token: ",
        "the key is a ",
        "PIN 12 ",
        "mysql -p",
        'login("a",',
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "cookie: a=b;",
        "WIFI:",
        "echo ",
        "seed phrase: ",
        "abandon ",
    ),
    *(
        "abc\n",
        "\u200b",
        "\uff41",
        "\u043a\u043b\u044e\u0447 ",
        "--password ",
        " ",
        '"',
        "A3-a",
    ),
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


@pytest.mark.parametrize(
    ("cases", "told", "quiet"),
    [(ANALYSTS, 0.93, 0.97), (PEOPLE, 0.90, 0.95)],
    ids=["team", "user"],
)
def test_labelled_secrets(
    cases: list[dict[str, Any]], told: float, quiet: float
) -> None:
    """Secrets as authors of scanners and as people write them are found whole; talk is not one."""
    rate([case for case in cases if case["spans"]], covered).at_least(told)
    plain = [case for case in cases if not case["spans"]]
    rate(plain, lambda case: not find_secrets(case["text"])).at_least(quiet)


def test_near_misses_are_left_alone() -> None:
    """At most one text in thirty that only looks like holding a secret is taken for one."""
    rate(
        labelled_set("near_secrets"), lambda text: not find_secrets(text)
    ).at_least(0.97)


@over("sample", MADE_UP, at_least=0.97)
def test_each_secret_is_found(sample: MadeUp) -> None:
    """A made-up secret is found whoever issued it, and cut out whole."""
    found = find_secrets(sample.text)
    assert found
    assert SECRET_MARK in without_secrets(sample.text)
    assert sample.secret not in without_secrets(sample.text)


@over("text, secret", CASES, at_least=0.95)
def test_secret_in_its_context(text: str, secret: str) -> None:
    """The secret is found from its first to its last letter or digit, and nothing else is."""
    found = [
        text[one.start : one.end].rstrip("!*") for one in find_secrets(text)
    ]
    assert found == ([secret.rstrip("!*")] if secret else [])


@pytest.mark.parametrize(
    "text",
    [
        "PIN: 4821, bitte merken",
        "My PIN is 4821. Monthly fees apply.",
        "The code is 4821, mind you.",
    ],
)
def test_what_follows_is_no_unit(text: str) -> None:
    """A number before another clause is no number of what that clause begins with."""
    assert without_secrets(text) == text.replace("4821", SECRET_MARK)


@over("sign", REPEATED)
def test_in_linear_time(sign: str) -> None:
    """A text that repeats one sign takes little more than ten times as long as a tenth of it."""
    text = (sign * LONG)[:LONG]
    find_secrets(text[:100])
    short, long = (
        min(_seconds(part) for _ in range(3))
        for part in (text[: LONG // 10], text)
    )
    assert long < 30 * short + 0.05


@given(st.sampled_from(MADE_UP), st.integers(-400, 400), st.booleans())
def test_excerpts_hold_no_half_of_a_secret(
    sample: MadeUp, shift: int, at_tail: bool
) -> None:
    """Where head and tail are cut out of a long text, no part of a secret at the cut is left."""
    limit, length = 900, 200_000
    place = length - 300 - len(sample.text) if at_tail else 600
    filler = "and so on " * (length // 10)
    text = f"{filler[: place + shift]}\n{sample.text}\n{filler}"[:length]
    excerpt, whole = (
        excerpt_without_secrets(text, limit),
        without_secrets(text),
    )
    assert len(excerpt) <= limit + 10
    parts = [
        sample.secret[at : at + 12]
        for at in range(0, len(sample.secret) - 12, 12)
    ]
    assert [
        part for part in parts if part in excerpt and part not in whole
    ] == []


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
