"""Any text, as it can be stored and normalised."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from adaptive.core.messages import normalised_text, passages, storable_text


@given(st.text(st.characters(categories=("L", "Cc", "Cs"))))
def test_any_text_can_be_stored(text: str) -> None:
    """Halves of characters and NUL are replaced; a text without them stays as it is."""
    stored = storable_text(text)
    assert "\0" not in stored
    stored.encode()
    if text.isprintable():
        assert stored == text


@given(st.text(st.characters(categories=("L", "M", "N", "Zs"))))
def test_normal_forms(text: str) -> None:
    """Texts as people write them have the normal forms that Unicode gives them."""
    for form in ("NFKC", "NFKD"):
        assert normalised_text(text, form) == unicodedata.normalize(form, text)


def test_endless_marks() -> None:
    """Of more marks on a letter than any language needs the first thirty stay; signs all do."""
    text = normalised_text(
        "a" + "\u0301\u0323" * 1000 + "b" + "\U0001f600" * 100, "NFKD"
    )
    assert (
        text == "a" + "\u0323" * 15 + "\u0301" * 15 + "b" + "\U0001f600" * 100
    )


@given(st.lists(st.text("abc", min_size=1, max_size=30)), st.integers(2, 20))
def test_passages(words: list[str], longest: int) -> None:
    """Every word stands in one of the pieces, in its order, and no piece is too long."""
    pieces = passages(" ".join(words), longest)
    assert all(0 < len(piece) <= longest for piece in pieces)
    assert "".join(pieces).replace(" ", "") == "".join(words)
