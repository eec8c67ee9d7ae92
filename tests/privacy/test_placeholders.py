"""Placeholders for one call: the same for the same value, and the way back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.personal_data import Finding
from adaptive.privacy.placeholders import Redaction
from tests.rates import over

MAIL = "ana@example.org"
OTHER = "bo@example.org"
ADDRESS = "192.168.1.20"


def test_same_value_same_placeholder() -> None:
    """A value has one placeholder in all texts of the call, other values have others."""
    redaction = Redaction()
    assert redaction.redact(f"{MAIL} and {OTHER}") == "[EMAIL_1] and [EMAIL_2]"
    assert redaction.redact(f"{OTHER}, 192.168.1.20") == "[EMAIL_2], [IP_1]"


def test_chosen_kinds_only() -> None:
    """What is not among the chosen kinds goes out as it is."""
    assert Redaction({"ip"}).redact(f"{MAIL} at 192.168.1.20") == f"{MAIL} at [IP_1]"


def test_calls_are_strangers() -> None:
    """A placeholder of another call is never restored."""
    Redaction().redact(MAIL)
    other = Redaction()
    assert other.is_empty
    assert other.restore("[EMAIL_1]") == "[EMAIL_1]"
    other.redact("192.168.1.20")
    assert other.restore("[EMAIL_1]") == "[EMAIL_1]"


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
    Case("all escaped", r"to \[EMAIL\_1\]", f"to {MAIL}"),
    Case("blanks within", "to [ EMAIL_1 ]", f"to {MAIL}"),
    Case("blank for the underscore", "to [EMAIL 1]", f"to {MAIL}"),
    Case("full-width brackets", "【EMAIL_1】まで", f"{MAIL}まで"),
    Case("link", "[EMAIL_1](mailto:[EMAIL_1])", f"{MAIL}(mailto:{MAIL})"),
    Case("unknown number", "[EMAIL_2] [EMAIL_10]", "[EMAIL_2] [EMAIL_10]"),
    Case("longer number", "EMAIL_12", "EMAIL_12"),
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


def test_look_alike_after() -> None:
    """A look-alike of a number that was given out before gets a placeholder of its own."""
    redaction = Redaction()
    redaction.redact(MAIL)
    out = redaction.redact("the template says [email_1]")
    assert out == "the template says [EMAIL_2]"
    assert redaction.restore(out) == "the template says [email_1]"


def test_look_alikes_of_all_texts() -> None:
    """Texts given together are numbered around the look-alikes of all of them."""
    redaction = Redaction()
    assert redaction.redact_all([MAIL, "see [EMAIL_1]"]) == ["[EMAIL_2]", "see [EMAIL_1]"]


def test_json_stays_json() -> None:
    """A value with quotes is put into the parsed reply, so that the document stays whole."""
    value = 'C:\\x "quoted"'
    redaction = Redaction(find=lambda text: [Finding("email", 0, len(text), 1.0)])
    assert redaction.redact(value) == "[EMAIL_1]"
    parsed = json.loads('{"operations": [{"content": "User: [EMAIL_1]", "n": 1, "x": null}]}')
    restored = redaction.restore_parsed(parsed)
    assert restored == {"operations": [{"content": f"User: {value}", "n": 1, "x": None}]}
    assert json.loads(json.dumps(restored)) == restored


def test_redacts_parsed() -> None:
    """Texts within lists and objects are redacted, names of fields are not."""
    given_ = {"content": [MAIL, 3], MAIL: True}
    assert Redaction().redact_parsed(given_) == {"content": ["[EMAIL_1]", 3], MAIL: True}


PIECES = st.sampled_from(
    [
        MAIL,
        OTHER,
        ADDRESS,
        "[EMAIL_1]",
        "EMAIL_2",
        "\\",
        "[",
        "]",
        "_",
        " ",
        "1",
        "[IP_",
        "x",
    ]
)
TEXTS = st.lists(st.lists(PIECES | st.text(max_size=4), max_size=8).map("".join), max_size=4)


@given(TEXTS)
def test_round_trip(texts: Sequence[str]) -> None:
    """What goes out comes back as it was, text after text, look-alikes and all."""
    redaction = Redaction()
    out = [redaction.redact(text) for text in texts]
    assert [redaction.restore(text) for text in out] == list(texts)


@given(TEXTS)
def test_nothing_goes_out(texts: Sequence[str]) -> None:
    """No found value is left in what goes out, wherever it stands as a word of its own."""
    redaction = Redaction()
    for text in texts:
        for value in (MAIL, OTHER, ADDRESS):
            text = text.replace(value, f" {value} ")
        found = redaction._find(text)
        out = redaction.redact(text)
        assert sum(out.count(text[one.start : one.end]) for one in found) == 0


def test_known_value_without_context() -> None:
    """A value that was recognised by its context once is replaced without context as well."""
    redaction = Redaction()
    out = redaction.redact_all(["AB1234567?", "Yes, passport no. AB1234567, unlike XAB1234567."])
    assert out == ["[PASSPORT_1]?", "Yes, passport no. [PASSPORT_1], unlike XAB1234567."]
