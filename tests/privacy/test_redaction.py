"""Placeholders for one call: the same for the same value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.redaction import Redaction
from tests.rates import over

MAIL = "ana@example.org"
OTHER = "bo@example.org"
ADDRESS = "192.168.1.20"


def test_same_value_same_placeholder() -> None:
    """A value has one placeholder in all texts of the call, other values have others."""
    redaction = Redaction()
    assert redaction.redact(f"{MAIL} and {OTHER}") == "[EMAIL_1] and [EMAIL_2]"
    assert redaction.redact(f"{OTHER}, 192.168.1.20") == "[EMAIL_2], [IP_1]"


@dataclass(frozen=True)
class Case:
    """A reply with one placeholder, and what comes of it."""

    id: str
    reply: str
    restored: str


REPLIES = [
    Case("exact", "to [EMAIL_1].", f"to {MAIL}."),
    Case("other case", "to [Email_1]", f"to {MAIL}"),
    Case("no brackets", "to EMAIL_1,", f"to {MAIL},"),
    Case("escaped brackets", r"to \[EMAIL_1\]", f"to {MAIL}"),
    Case("blank for the underscore", "to [EMAIL 1]", f"to {MAIL}"),
    Case("full-width brackets", "【EMAIL_1】まで", f"{MAIL}まで"),
    Case("link", "[EMAIL_1](mailto:[EMAIL_1])", f"{MAIL}(mailto:{MAIL})"),
    Case("part of a name", "MY_EMAIL_1 EMAIL_1st", "MY_EMAIL_1 EMAIL_1st"),
    Case("a name in a program", "email_1 = 3", "email_1 = 3"),
    Case("backslash of the text", r"C:\[EMAIL_1]", rf"C:\{MAIL}"),
]


@over("case", REPLIES)
def test_restores(case: Case) -> None:
    """A reply gets its values back however the model wrote the placeholder."""
    redaction = Redaction()
    redaction.redact(MAIL)
    assert redaction.restore(case.reply) == case.restored


def test_look_alike_before() -> None:
    """A number that a text uses itself is not given out."""
    redaction = Redaction()
    assert redaction.redact(f"[EMAIL_1] is not {MAIL}") == "[EMAIL_1] is not [EMAIL_2]"
    assert redaction.restore("[EMAIL_1] [EMAIL_2]") == f"[EMAIL_1] {MAIL}"


PIECES = st.sampled_from(
    [MAIL, OTHER, ADDRESS, "[EMAIL_1]", "EMAIL_2", "\\", "[", "]", "_", "[IP_", "x"]
)
TEXTS = st.lists(st.lists(PIECES | st.text(max_size=4), max_size=8).map("".join), max_size=4)


@given(TEXTS)
def test_round_trip(texts: Sequence[str]) -> None:
    """What goes out comes back as it was, look-alikes and all."""
    redaction = Redaction()
    out = redaction.redact_all(texts)
    assert [redaction.restore(text) for text in out] == list(texts)


def test_known_value_without_context() -> None:
    """A value that was recognised by its context once is replaced without context as well."""
    redaction = Redaction()
    out = redaction.redact_all(["AB1234567?", "Yes, passport no. AB1234567, unlike XAB1234567."])
    assert out == ["[PASSPORT_1]?", "Yes, passport no. [PASSPORT_1], unlike XAB1234567."]
