"""Sealed texts: who opens them, and what becomes of them when anything has changed."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator

import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy import sealing
from adaptive.privacy.sealing import Sealer, is_sealed
from tests.rates import over

SECRET = "made-up secret of a host"
SEALER = Sealer(SECRET)
WORDS = "I live in Porto; 喜欢 \N{TEACUP WITHOUT HANDLE}"
NAMES = st.text(max_size=40)
# Lone surrogates too: JSON of the host's may hold them.
TEXTS = st.text(st.characters(exclude_categories=[]))


@pytest.fixture
def _no_process_secret() -> Iterator[None]:
    sealing._process_secret.cache_clear()
    yield
    sealing._process_secret.cache_clear()


@given(NAMES, NAMES, TEXTS)
def test_any_text_comes_back(user_id: str, purpose: str, text: str) -> None:
    """Whatever is sealed is opened, by another process with the same secret too."""
    sealed = SEALER.seal(user_id, purpose, text)
    assert is_sealed(sealed)
    assert sealed.isascii()
    assert sealed.split() == [sealed]
    assert SEALER.open(user_id, purpose, sealed) == text
    assert Sealer(SECRET).open(user_id, purpose, sealed) == text


def test_nothing_shows() -> None:
    """Neither the words nor who said them can be read, and equal texts look different."""
    first, second = (SEALER.seal("ada", "audit", WORDS * 20) for _ in range(2))
    assert first != second
    for told in ("Porto", "ada", "audit", SECRET):
        assert told not in first


@given(st.tuples(NAMES, NAMES), st.tuples(NAMES, NAMES), TEXTS)
def test_bound_to_user_and_purpose(
    owner: tuple[str, str], other: tuple[str, str], text: str
) -> None:
    """Nobody else's key opens it, and no other purpose's."""
    sealed = SEALER.seal(*owner, text)
    assert SEALER.open(*other, sealed) == (text if owner == other else None)


def test_joint_of_user_and_purpose() -> None:
    """Where the user's id ends and the purpose begins makes a difference."""
    sealed = SEALER.seal("ada", "chat", WORDS)
    for user_id, purpose in (("adac", "hat"), ("ad", "achat"), ("adachat", ""), ("", "adachat")):
        assert SEALER.open(user_id, purpose, sealed) is None
    assert SEALER.open('ada","c', "hat", sealed) is None


@given(NAMES, NAMES)
def test_changed_secret(one: str, other: str) -> None:
    """After the host's secret was changed, everything is absent; with the old one it is back."""
    sealed = Sealer("x" + one).seal("ada", "chat", WORDS)
    assert Sealer("x" + other).open("ada", "chat", sealed) == (WORDS if one == other else None)


def key_of(version: int) -> Fernet:
    """The key that a version of the plug-in derives for Ada's chats."""
    info = json.dumps([version, "ada", "chat"]).encode()
    derived = HKDF(SHA256(), 32, b"adaptive_memory", info).derive(SECRET.encode())
    return Fernet(base64.urlsafe_b64encode(derived))


def test_other_version() -> None:
    """What another version has sealed is absent, under this version's mark too."""
    this, other = (key_of(version).encrypt(WORDS.encode()).decode() for version in (1, 2))
    assert SEALER.open("ada", "chat", "am1:" + this) == WORDS
    for sealed in ("am2:" + other, "am1:" + other, "am2:" + this, other, this):
        assert SEALER.open("ada", "chat", sealed) is None


def test_every_truncation_is_absent() -> None:
    """A text that was cut off anywhere, at either end, is absent."""
    for text in ("", WORDS, json.dumps({"words": WORDS})):
        sealed = SEALER.seal("ada", "chat", text)
        for end in range(len(sealed)):
            assert SEALER.open("ada", "chat", sealed[:end]) is None
            assert SEALER.open("ada", "chat", sealed[end + 1 :]) is None


def test_every_flipped_bit_is_absent() -> None:
    """One bit turned over, in any place, and the text is absent: the mark and padding included."""
    for text in ("", WORDS):
        sealed = SEALER.seal("ada", "chat", text)
        for place in range(len(sealed)):
            for bit in range(8):
                flipped = chr(ord(sealed[place]) ^ (1 << bit))
                damaged = sealed[:place] + flipped + sealed[place + 1 :]
                assert SEALER.open("ada", "chat", damaged) is None, (place, bit)


@given(st.data(), st.characters())
def test_any_change_is_absent(data: st.DataObject, character: str) -> None:
    """Any character in the place of another one, or between two, and the text is absent."""
    sealed = SEALER.seal("ada", "chat", WORDS)
    place = data.draw(st.integers(0, len(sealed) - 1))
    replaced = sealed[:place] + character + sealed[place + 1 :]
    assert SEALER.open("ada", "chat", replaced) == (WORDS if replaced == sealed else None)
    assert SEALER.open("ada", "chat", sealed[:place] + character + sealed[place:]) is None


@given(TEXTS)
def test_whatever_stands_there(text: str) -> None:
    """Any text that was never sealed is absent or taken as it is, and nothing is raised."""
    for found in (text, "am1:" + text, "[" + text, '{"a":' + text):
        assert SEALER.open("ada", "chat", found) in (None, found)


@pytest.mark.parametrize(
    "text", ["[]", "{}", '[["m-1","d",0]]', '{"words": "I live in Porto."}', "[1]\n"]
)
def test_former_releases_text(text: str) -> None:
    """JSON that a former release has written unsealed is taken as it is."""
    assert SEALER.open("ada", "chat", text) == text


@over("text", ["", " ", "null", "1", '"a"', "I live in Porto.", "[", "[" * 9999])
def test_neither_sealed_nor_json(text: str) -> None:
    """Anything else is absent."""
    assert SEALER.open("ada", "chat", text) is None


def test_keys_are_bounded() -> None:
    """Ten thousand users come by: few keys are held, and the first user's is made anew."""
    sealer = Sealer(SECRET)
    sealed = sealer.seal("user-0", "chat", WORDS)
    for number in range(sealing._KEYS_HELD + 10):
        sealer.open(f"user-{number}", "chat", sealed)
    assert len(sealer._keys) == sealing._KEYS_HELD
    assert sealer.open("user-0", "chat", sealed) == WORDS


@pytest.mark.usefixtures("_no_process_secret")
def test_host_without_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    """Then this process opens what it has sealed, the next one does not; the log says so once."""
    with caplog.at_level(logging.WARNING):
        sealed = Sealer("").seal("ada", "chat", WORDS)
        assert Sealer("").open("ada", "chat", sealed) == WORDS
    assert len(caplog.records) == 1
    assert "WEBUI_SECRET_KEY" in caplog.text
    sealing._process_secret.cache_clear()  # another process
    assert Sealer("").open("ada", "chat", sealed) is None


def test_log_says_it_once(caplog: pytest.LogCaptureFixture) -> None:
    """What can't be opened is logged once for each purpose, without the text or the user."""
    sealer = Sealer(SECRET)
    sealed = Sealer("another").seal("carla", "chat", WORDS)
    for purpose in ("chat", "audit"):
        for _ in range(3):
            assert sealer.open("carla", purpose, sealed) is None
    assert len(caplog.records) == 2
    for told in ("Porto", "carla", SECRET, sealed):
        assert told not in caplog.text
