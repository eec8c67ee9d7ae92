"""Memories of some banks are for local models alone."""

from __future__ import annotations

import pytest

from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from tests.fakes import hook_settings, memory
from tests.rates import over

SETTINGS = hook_settings(local_only_banks=" health ,, Private   Life,")


@over(
    "bank, held",
    [
        ("Health", True),
        (" HEALTH ", True),
        ("private life", True),
        ("Private  Life", True),
        ("Healthy", False),
        ("Work", False),
        ("", False),
    ],
)
def test_names(bank: str, held: bool) -> None:
    """Names are compared without letter case and surplus blanks."""
    banks = LocalOnlyBanks.of(SETTINGS)
    row = memory("x", "User is ill.", bank=bank)
    assert banks.holds(row) == held
    assert banks.without([row]) == ([] if held else [row])


def test_memory_without_a_bank() -> None:
    """What has no bank counts to the default one."""
    row = memory("x", "User is ill.")
    assert LocalOnlyBanks.of(hook_settings(local_only_banks="general")).holds(row)
    own = hook_settings(local_only_banks="general", default_memory_bank="Life")
    assert not LocalOnlyBanks.of(own).holds(row)


@pytest.mark.parametrize("banks", [NOTHING_HIDDEN, LocalOnlyBanks.of(hook_settings())])
def test_default(banks: LocalOnlyBanks) -> None:
    """Unless the admin names a bank, every model may see every memory."""
    row = memory("x", "User is ill.")
    assert not banks.holds(row)
    assert banks.without(iter([row])) == [row]
