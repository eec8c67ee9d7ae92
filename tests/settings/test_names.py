"""Names in valves: what is meant is understood, and a privacy list that is not fails closed."""

from __future__ import annotations

from adaptive.core.marks import CATEGORIES, CORE_CATEGORIES
from adaptive.core.texts import pattern_table
from adaptive.settings.merged import HiddenMemories, read_names
from adaptive.settings.valves import PERSONAL_KINDS
from tests.fakes import hook_settings, memory
from tests.rates import over

EVERY_KIND = frozenset(PERSONAL_KINDS)


@over(
    "listed, kinds",
    [
        ("credit card", "card"),
        ("E-Mail, passports", "email passport"),
        ("Credit-Cards ", "card"),
        ("IBANs,  Birth Date", "iban birth_date"),
        ("date of birth, phone numbers", "birth_date phone"),
        ("Social Security Number", "ssn"),
        ("IP addresses, MAC", "ip mac"),
        ("crypto wallets, national-id", "crypto_wallet national_id"),
        ("card, ssn, url_credentials", "card ssn url_credentials"),
        ("", ""),
        (" , ,", ""),
    ],
)
def test_kinds_are_understood(listed: str, kinds: str) -> None:
    """Other names, plurals and spellings name a kind, and nothing is left over."""
    read = read_names(listed, tuple(PERSONAL_KINDS))
    assert (read.names, read.unknown) == (frozenset(kinds.split()), ())


def test_every_kind_has_a_name() -> None:
    """The names are those of the kinds that are recognised."""
    titles = [
        title.partition(" ")[0] for title in pattern_table("personal_shapes")
    ]
    assert {kind for kind in titles if kind.islower()} == EVERY_KIND


def test_unknown_kinds() -> None:
    """With a name that nobody knows all is refused, or all masked that is not refused."""
    refusing = hook_settings(
        refuse_in_memories="card, pasport", mask_in_memories=""
    )
    assert refusing.refused_kinds == EVERY_KIND
    masking = hook_settings(
        refuse_in_memories="card", mask_in_memories="hobbies"
    )
    assert masking.masked_kinds == EVERY_KIND - {"card"}
    assert [
        "pasport" in refusing.misread[0],
        "hobbies" in masking.misread[0],
    ] == [True, True]


def test_unknown_banks() -> None:
    """A bank that is not allowed keeps all from models that are not local."""
    banks = "General, Health, \U0001f3e0"
    unknown = ("helth", "Secret", "\U0001f3e5")
    for listed, held in (
        ("helth", (True, True)),
        ("HEALTHS", (True, False)),
        ("Secret", (True, True)),
        ("\U0001f3e5", (True, True)),
        ("\U0001f3e0", (False, False)),
        ("", (False, False)),
    ):
        settings = hook_settings(
            local_only_banks=listed, allowed_memory_banks=banks
        )
        hidden = HiddenMemories.of(settings)
        rows = (
            memory("a", "x", bank="Health"),
            memory("b", "y", bank="General"),
        )
        assert tuple(map(hidden.holds, rows)) == held, listed
        # Whoever keeps more than memories from a model asks whether there are names.
        assert bool(hidden.names) == bool(listed)
        assert hidden.holds(memory("c", "z", bank=listed)) == bool(listed)
        assert len(settings.misread) == (listed in unknown)


@over(
    "listed, learned",
    [
        ("goals, Preferences", ("preference", "goal")),
        ("work, identity", ("identity", "work")),
        ("behaviors, pets", ("behavior",)),
        ("pets", CATEGORIES),
        ("", CATEGORIES),
        (
            "identity, Relationships, possessions",
            (*CORE_CATEGORIES, "relationship", "possession"),
        ),
    ],
)
def test_categories(listed: str, learned: tuple[str, ...]) -> None:
    """What is understood holds; where nothing is, all is learned, and it is told."""
    settings = hook_settings(memory_categories=listed)
    assert settings.categories == learned
    assert len(settings.misread) == ("pets" in listed)
