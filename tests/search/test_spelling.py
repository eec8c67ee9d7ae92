"""Words that are misspelled."""

import pytest

from adaptive.search import spelling
from adaptive.search.spelling import as_spelled


@pytest.mark.parametrize("found", [True, False], ids=["rapidfuzz", "difflib"])
def test_spelling(found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long word is known by another spelling, with the package and without; no other word is."""
    if not found:
        monkeypatch.setattr(spelling, "_rapidfuzz", None)
    typed = {"lisabon", "portugese", "merlin", "max"}
    assert as_spelled("lisbon", typed) == "lisabon"
    assert as_spelled("portuguese", typed) == "portugese"
    assert as_spelled("berlin", typed) == "berlin"
    assert as_spelled("mas", typed) == "mas"
