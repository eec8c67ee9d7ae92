"""Sealed texts: who opens them, and what becomes of them when anything has changed."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy import sealing
from adaptive.privacy.sealing import MARKED, Sealer

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
    """Any text comes back, in another process too, but by nobody else's key or other purpose's."""
    sealed = SEALER.seal(*owner, text)
    assert sealed.startswith(MARKED)
    assert sealed.isascii()
    assert sealed.split() == [sealed]
    assert Sealer(SECRET).open(*owner, sealed) == text
    assert SEALER.open(*other, sealed) == (text if owner == other else None)


def test_every_flipped_bit() -> None:
    """One bit turned over anywhere, and the text is absent, or it is the very same."""
    for text in ("", WORDS):
        sealed = SEALER.seal("ada", "chat", text)
        for place in range(len(sealed)):
            for bit in range(8):
                flipped = chr(ord(sealed[place]) ^ (1 << bit))
                damaged = sealed[:place] + flipped + sealed[place + 1 :]
                assert SEALER.open("ada", "chat", damaged) in (None, text), (
                    place,
                    bit,
                )


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
