"""Placeholders for one call: the same for the same value, and the way back, also in pieces."""

# ruff: noqa: SIM905 - a row of words

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.personal_data import Finding
from adaptive.privacy.redaction import (
    LONGEST_PLACEHOLDER,
    PLACEHOLDER,
    Redaction,
    StreamRestorer,
)
from tests.rates import over

MAIL = "ana@example.org"
OTHER = "bo@example.org"
ADDRESS = "192.168.1.20"


def test_same_value_same_placeholder() -> None:
    """A value has one placeholder in all texts of the call, other values have others."""
    redaction = Redaction()
    assert redaction.redact(f"{MAIL} and {OTHER}") == "[EMAIL_1] and [EMAIL_2]"
    assert redaction.redact(f"{OTHER}, 192.168.1.20") == "[EMAIL_2], [IP_1]"


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


def test_look_alikes_of_all_texts() -> None:
    """Texts given together are numbered around the look-alikes of all of them."""
    redaction = Redaction()
    assert redaction.redact_all([MAIL, "see [EMAIL_1]"]) == ["[EMAIL_2]", "see [EMAIL_1]"]


def test_json_stays_json() -> None:
    """A value with quotes is escaped in the text of a document."""
    value = 'C:\\x "quoted"'
    redaction = Redaction(find=lambda text: [Finding("email", 0, len(text), 1.0)])
    assert redaction.redact(value) == "[EMAIL_1]"
    document = '{"operations": [{"content": "User: [EMAIL_1]", "n": 1, "x": null}]}'
    restored = json.loads(redaction.restore(document, json_text=True))
    assert restored == {"operations": [{"content": f"User: {value}", "n": 1, "x": None}]}


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
    """What goes out comes back as it was, look-alikes and all."""
    redaction = Redaction()
    out = redaction.redact_all(texts)
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


# --- in pieces ---

TOLD = "ana@example.org, +49 30 901820123, 192.168.1.20, born 3 May 1990, bo@example.org"
WRITINGS = ("[{}]", r"\[{}\]", "{}", "【{}】", "[ {} ]")
WORDS = "Write to call me the [ ] \\ [EM PHONE_ ( IP [BIRTH DATE born 1 _ EMAIL_ [IP_7] . \n".split(
    " "
)


def redaction_of_text() -> Redaction:
    """The placeholders EMAIL_1, EMAIL_2, PHONE_1, IP_1 and BIRTH_DATE_1."""
    redaction = Redaction()
    out = redaction.redact(TOLD)
    assert out == "[EMAIL_1], [PHONE_1], [IP_1], born [BIRTH_DATE_1], [EMAIL_2]"
    return redaction


def streamed(redaction: Redaction, pieces: list[str]) -> str:
    """What a user gets of an answer in pieces."""
    restorer = StreamRestorer(redaction)
    return "".join([*map(restorer.feed, pieces), restorer.finish()])


def test_every_split_of_every_placeholder() -> None:
    """Over 1,000 random answers, each placeholder split at each of its places changes nothing."""
    redaction = redaction_of_text()
    chance = random.Random(11)
    names = ["EMAIL_1", "EMAIL_2", "PHONE_1", "IP_1", "BIRTH_DATE_1", "EMAIL_9"]
    splits = 0
    for _ in range(1000):
        parts = [chance.choice(WORDS) for _ in range(6)]
        parts.insert(chance.randrange(7), chance.choice(WRITINGS).format(chance.choice(names)))
        answer = chance.choice((" ", "", ", ")).join(parts)
        whole = redaction.restore(answer)
        for match in PLACEHOLDER.finditer(answer):
            for place in range(match.start(), match.end() + 1):
                splits += 1
                assert streamed(redaction, [answer[:place], answer[place:]]) == whole
    assert splits > 8000


@given(st.lists(st.sampled_from([*WORDS, "[EMAIL_1]", r"\[IP\_1\]", "PHONE_1", "2"]), max_size=12))
def test_any_pieces(pieces: list[str]) -> None:
    """However an answer is cut, and character by character, it reads as the whole one."""
    redaction = redaction_of_text()
    whole = redaction.restore("".join(pieces))
    assert streamed(redaction, pieces) == whole
    assert streamed(redaction, list("".join(pieces))) == whole


@given(st.text(alphabet="[]\\EMAILemail_ 1PH", max_size=60))
def test_holds_little_back(text: str) -> None:
    """Never more than the longest placeholder waits for the next piece."""
    restorer = StreamRestorer(redaction_of_text())
    given_on = 0
    for count, character in enumerate(text, 1):
        restored = restorer.feed(character)
        given_on += len(restored)
        assert len(restorer._held) < LONGEST_PLACEHOLDER
        if not PLACEHOLDER.search(text[:count]):
            assert given_on + len(restorer._held) == count


def test_plain_text_is_given_at_once() -> None:
    """What can't be part of a placeholder does not wait."""
    restorer = StreamRestorer(redaction_of_text())
    assert restorer.feed("Hello, this is plain. ") == "Hello, this is plain. "
    assert restorer.feed("To [EMA") == "To "
    assert restorer.feed("IL_1] it goes") == "ana@example.org it goes"
    assert restorer.finish() == ""


def test_nothing_redacted() -> None:
    """Where nothing went out as a placeholder, pieces pass as they are."""
    assert StreamRestorer(Redaction()).feed("[EMAIL_") == "[EMAIL_"
