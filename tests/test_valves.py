"""Valves, and the settings that come of the admin's and a user's."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from adaptive.model import CATEGORIES
from adaptive.settings import Settings
from adaptive.user_valves import UserValves
from adaptive.valves import Valves
from tests.fakes import hook_settings
from tests.rates import over

json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def in_bounds(model: BaseModel) -> bool:
    """Whether every field holds a value of its type and range."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if get_origin(field.annotation) is Literal:
            if value not in get_args(field.annotation):
                return False
            continue
        assert isinstance(field.annotation, type)
        if not isinstance(value, field.annotation) or value in (math.inf, -math.inf):
            return False
        low = [rule.ge for rule in field.metadata if hasattr(rule, "ge")]
        high = [rule.le for rule in field.metadata if hasattr(rule, "le")]
        if any(value < bound for bound in low) or any(value > bound for bound in high):
            return False
    return True


@settings(max_examples=40)
@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(Valves.model_fields, json_like)),
    st.fixed_dictionaries({}, optional=dict.fromkeys(UserValves.model_fields, json_like)),
)
def test_any_stored_values(admin: dict[str, Any], user: dict[str, Any]) -> None:
    """Whatever both have stored, there are settings, and all of them are in their bounds."""
    merged = Settings.merge(Valves(**admin), UserValves(**user))
    assert in_bounds(merged)
    assert merged.banks
    assert set(merged.categories) <= set(CATEGORIES)


@pytest.mark.parametrize("stored", [61, 1e9, math.inf, "600"])
def test_longest_wait(stored: Any) -> None:
    """Whatever an admin stores, a message waits for its memories a minute at most."""
    merged = Settings.merge(Valves(inlet_timeout_seconds=stored), None)
    assert 0 < merged.inlet_timeout_seconds <= 60


@dataclass(frozen=True)
class Case:
    """A choice of the admin and of the user, and what holds."""

    id: str
    admin: dict[str, Any]
    user: dict[str, Any]
    holds: dict[str, Any]


CASES = [
    Case("both say nothing", {}, {}, {"show_status": True, "save_mode": "auto", "enabled": True}),
    Case("user narrows", {}, {"show_status": False}, {"show_status": False}),
    Case("admin decides", {"show_status": False}, {"show_status": True}, {"show_status": False}),
    Case("user may not see", {"show_memories": False}, {}, {"show_memories": False}),
    Case("user sees none", {}, {"show_memories": False}, {"show_memories": False}),
    Case("admin saves nothing", {"save_mode": "off"}, {"save_mode": "auto"}, {"save_mode": "off"}),
    Case("user saves nothing", {}, {"save_mode": "off"}, {"save_mode": "off"}),
    Case("user is out", {}, {"enabled": False}, {"enabled": False}),
    Case(
        "two zones",
        {"timezone": "Europe/Prague"},
        {"timezone": "Asia/Tokyo"},
        {"timezone": "Europe/Prague", "user_timezone": "Asia/Tokyo"},
    ),
    Case("admin's own", {"top_n_memories": 7}, {}, {"top_n_memories": 7}),
]


@over("case", CASES)
def test_merge(case: Case) -> None:
    """A user narrows what the admin allows, and never widens it."""
    merged = Settings.merge(Valves(**case.admin), UserValves(**case.user))
    assert {name: getattr(merged, name) for name in case.holds} == case.holds


class OtherFilter(BaseModel):
    """What another filter's users choose, with a name that ours has too."""

    enabled: bool = False
    colour: str = "red"


class EarlierLoad(BaseModel):
    """Fields of ours, of a class that an older load, or an earlier release, has made."""

    enabled: bool = True
    show_memories: bool = True
    save_mode: str = "off"
    show_status: bool = True
    timezone: str = ""


@pytest.mark.parametrize(
    "left_behind", [None, {}, {"enabled": False}, "text", OtherFilter(), object()]
)
def test_what_are_no_valves_of_ours(left_behind: Any) -> None:
    """The host may leave another filter's choices, or nothing, in their place: defaults hold."""
    assert Settings.merge(Valves(), left_behind) == Settings.merge(Valves(), UserValves())


def test_valves_of_an_earlier_load() -> None:
    """Valves are read by name, because code that was saved anew has classes of its own."""
    merged = Settings.merge(Valves(), EarlierLoad())
    assert (merged.enabled, merged.save_mode) == (True, "off")


@dataclass(frozen=True)
class Narrowed:
    """What admin and user have set, and what holds then."""

    field: str
    admin: dict[str, str]
    user: dict[str, str]
    holds: str


NARROWED = (
    Narrowed("save_mode", {"save_mode": "auto"}, {"save_mode": "suggest"}, "suggest"),
    Narrowed("save_mode", {"save_mode": "suggest"}, {"save_mode": "auto"}, "suggest"),
    Narrowed("save_mode", {"save_mode": "suggest"}, {"save_mode": "off"}, "off"),
    Narrowed("save_mode", {"save_mode": "off"}, {"save_mode": "auto"}, "off"),
    Narrowed("history_recall", {}, {}, "off"),
    Narrowed("history_recall", {}, {"history_recall": "all"}, "all"),
    Narrowed("history_recall", {"history_recall": "chat"}, {"history_recall": "all"}, "chat"),
    Narrowed("history_recall", {"history_recall": "off"}, {"history_recall": "all"}, "off"),
    Narrowed("history_recall", {"history_recall_default": "chat"}, {}, "chat"),
    Narrowed("history_recall", {"history_recall_default": "all"}, {"history_recall": "off"}, "off"),
)


@over("case", NARROWED)
def test_users_only_narrow(case: Narrowed) -> None:
    """Of what an admin allows a user may take less, and where nothing is chosen the default."""
    merged = Settings.merge(Valves(**case.admin), UserValves(**case.user))
    assert getattr(merged, case.field) == case.holds


def test_settings_are_frozen() -> None:
    """A hook's settings can't change while it runs, and are no part of the shared valves."""
    valves = Valves()
    merged = Settings.merge(valves, None)
    with pytest.raises(ValidationError):
        merged.show_status = False
    valves.show_status = False
    assert merged.show_status


def test_categories() -> None:
    """Each category has its switch, and those that are on stay in their fixed order."""
    switches = {f"enable_{name}_memory" for name in CATEGORIES}
    assert switches == {
        n for n in Valves.model_fields if n.startswith("enable_") and n.endswith("_memory")
    }
    assert hook_settings().categories == CATEGORIES
    assert hook_settings(enable_goal_memory=False, enable_identity_memory=False).categories == (
        "behavior",
        "preference",
        "relationship",
        "possession",
    )


@dataclass(frozen=True)
class Banks:
    """What the admin wrote, and the banks that are meant."""

    id: str
    allowed: str
    default: str
    banks: tuple[str, ...]


BANKS = [
    Banks("default", "General, Personal, Work", "General", ("General", "Personal", "Work")),
    Banks("spaces and gaps", " a ,, b ,", "b", ("a", "b")),
    Banks("twice", "a, a, b", "a", ("a", "b")),
    Banks("default is not among them", "a, b", "c", ("a", "b", "c")),
    Banks("none", "", "", ("General",)),
    Banks("nothing but commas", " , ,", " ", ("General",)),
]


@pytest.mark.parametrize("case", BANKS, ids=lambda case: case.id)
def test_banks(case: Banks) -> None:
    """The banks are what stands between the commas, and the default one is always among them."""
    chosen = hook_settings(allowed_memory_banks=case.allowed, default_memory_bank=case.default)
    assert chosen.banks == case.banks


@pytest.mark.parametrize("model", [Valves, UserValves])
def test_every_valve_can_be_followed(model: type[BaseModel]) -> None:
    """Every valve has a description and says when to change it, for the panel and valves.md."""
    for name, field in model.model_fields.items():
        extra = field.json_schema_extra
        assert field.description, name
        assert isinstance(extra, dict), name
        assert extra["group"], name
        assert extra["when"], name


@pytest.mark.parametrize("model", [Valves, UserValves])
def test_defaults_survive_a_save(model: type[BaseModel]) -> None:
    """The defaults are in bounds, and come back from the database as they went."""
    assert in_bounds(model())
    assert model(**json.loads(model().model_dump_json())) == model()
