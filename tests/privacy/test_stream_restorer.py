"""An answer in pieces gets the values that the whole answer would get."""

# ruff: noqa: SIM905 - a row of words

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.placeholders import LONGEST_PLACEHOLDER, Redaction, placeholder_pattern
from adaptive.privacy.stream_restorer import StreamRestorer

TEXT = "ana@example.org, +49 30 901820123, 192.168.1.20, born 3 May 1990, bo@example.org"
WRITINGS = ("[{}]", r"\[{}\]", "{}", "【{}】", "[ {} ]")
WORDS = "Write to call me the [ ] \\ [EM PHONE_ ( IP [BIRTH DATE born 1 _ EMAIL_ [IP_7] . \n".split(
    " "
)


def redaction_of_text() -> Redaction:
    """The placeholders EMAIL_1, EMAIL_2, PHONE_1, IP_1 and BIRTH_DATE_1."""
    redaction = Redaction()
    out = redaction.redact(TEXT)
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
        for match in placeholder_pattern().finditer(answer):
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
        if not placeholder_pattern().search(text[:count]):
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
