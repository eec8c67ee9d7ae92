"""Where numbers begin, and what a pattern's head leaves out of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.number_starts import NumberStarts, number_head
from adaptive.privacy.personal_data import RECOGNISERS
from adaptive.privacy.recogniser import GROUP_HEAD, HEAD

AT_NUMBERS = [one for one in RECOGNISERS if one.leads]
TEXTS = st.text("01239 -./+(x\n", max_size=40)


@pytest.mark.parametrize(
    ("pattern", "head"),
    [
        ("[0-9]{3}", ""),
        (HEAD + "[0-9]{3}", "single"),
        ("(?<![0-9]{2} )[0-9]{3}", "behind"),
        (GROUP_HEAD + "(?:[0-9]{3}|[0-9]{5})", "group"),
        (GROUP_HEAD + "[0-9]{3}|[0-9]{5}", ""),
        (GROUP_HEAD + r"[|(]\|[0-9]{3}", "group"),
    ],
    ids=["none", "head", "spaced", "group", "branches", "signs"],
)
def test_a_head_tells_what_no_match_begins_behind(pattern: str, head: str) -> None:
    """Only lookbehinds that all branches of a pattern have are relied upon."""
    assert number_head(pattern) == head


@given(TEXTS)
def test_no_place_is_left_out_at_which_a_pattern_fits(text: str) -> None:
    """What its head leaves out of the places of a recogniser is nothing that it fits."""
    starts = NumberStarts(text)
    for one in AT_NUMBERS:
        every = set(starts.at(one.leads).listed)
        kept = set(starts.at(one.leads, number_head(one.pattern)).listed)
        assert kept <= every
        assert not [place for place in every - kept if one.compiled.match(text, place)], one.name
