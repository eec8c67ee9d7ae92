"""Secrets are found whatever they look like, and what only looks like one is left alone."""

from __future__ import annotations

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
NEAR = labelled_set("near_secrets")


@over("sample", MADE_UP, at_least=0.97)
def test_each_secret_is_found(sample: MadeUp) -> None:
    """Every made-up secret is found, whoever issued it and however it is disguised."""
    text = sample.text
    assert find_secrets(text)
    assert SECRET_MARK in without_secrets(text)


@over("sample", MADE_UP)
def test_no_reason_repeats_a_secret(sample: MadeUp) -> None:
    """The reason for a refusal holds nothing of the secret."""
    reason = secret_reason(find_secrets(sample.text))
    secret = sample.secret
    assert reason
    assert secret not in reason


def test_near_misses_are_left_alone() -> None:
    """At most one text in twenty that only looks like holding a secret is taken for one."""
    rate(NEAR, lambda text: not find_secrets(text)).at_least(0.95)


@given(st.text(max_size=300))
def test_findings_are_spans_in_order(text: str) -> None:
    """Findings of any text lie within it, one after another."""
    position = 0
    for finding in find_secrets(text):
        assert position <= finding.start < finding.end <= len(text)
        position = finding.end


@given(st.text(max_size=80), st.sampled_from(MADE_UP))
def test_what_is_around_stays(before: str, sample: MadeUp) -> None:
    """Cutting secrets out changes nothing of a text but them."""
    text = f"{before}\n{sample.text}"
    pieces = without_secrets(text).split(SECRET_MARK)
    position = 0
    for piece in pieces:
        position = text.index(piece, position) + len(piece)


def test_text_without_secrets_is_the_same() -> None:
    """A text without a secret comes back as it was."""
    assert without_secrets("User likes tea.") == "User likes tea."
    assert secret_reason(()) == ""
