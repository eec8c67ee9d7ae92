"""The models in the panel's list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from adaptive.host.model_choices import HostModels, models_in_memory
from adaptive.valves import Valves

MODELS: list[object] = [
    {"id": "small", "name": "small", "owned_by": "openai"},
    {"id": "cook", "name": "The cook", "info": {"base_model_id": "small"}},
    {"id": "big", "name": ""},
    {"id": "arena-model", "name": "Arena", "owned_by": "arena", "arena": True},
    {"name": "nameless"},
    {"id": ""},
    "broken",
]
CHOICES = [
    {"value": "big", "label": "big"},
    {"value": "small", "label": "small"},
    {"value": "cook", "label": "The cook (cook)"},
]


def broken_host() -> Sequence[object]:
    """A host whose models can't be read."""
    raise RuntimeError("no Redis")


def test_choices() -> None:
    """Models are listed by their labels; an arena and what has no id are not."""
    assert HostModels(lambda: "", lambda: MODELS).choices() == CHOICES


@pytest.mark.parametrize("saved", ["small", " small "])
def test_saved_model(saved: str) -> None:
    """A saved model that the host knows is listed once."""
    assert HostModels(lambda: saved, lambda: MODELS).choices() == CHOICES


def test_unknown_saved_model() -> None:
    """A saved model that the host does not know stays in the list, so that the panel shows it."""
    first, *others = HostModels(lambda: "gone", lambda: MODELS).choices()
    assert first == {"value": "gone", "label": "gone (not available now)"}
    assert others == CHOICES


@pytest.mark.parametrize("known", [list, broken_host], ids=["starting", "failing"])
def test_no_models(known: Any) -> None:
    """A host that starts or fails costs the list, and not the saved value."""
    assert HostModels(lambda: "", known).choices() == []
    assert [one["value"] for one in HostModels(lambda: "small", known).choices()] == ["small"]


def test_no_host() -> None:
    """Without a host there are no models, and no error."""
    assert models_in_memory() == []


def test_many_models() -> None:
    """The list is bounded, and so is each label."""
    models = [{"id": f"m-{number}", "name": "x" * 1000} for number in range(1000)]
    choices = HostModels(lambda: "", lambda: models).choices()
    assert len(choices) == 500
    assert max(len(one["label"]) for one in choices) <= 120


def test_valve() -> None:
    """The panel's list begins with none, and a class without a catalogue has no other entry."""

    class WithHost(Valves):
        model_catalogue = HostModels(lambda: "", lambda: MODELS)

    automatic = {"value": "", "label": "Automatic"}
    assert WithHost.model_choices() == [automatic, *CHOICES]
    assert Valves.model_choices() == [automatic]
    assert Valves.model_json_schema()["properties"]["llm_host_model"]["input"] == {
        "type": "select",
        "options": "model_choices",
    }


@pytest.mark.parametrize(
    ("saved", "model"),
    [
        ({}, ""),
        ({"llm_model_name": "small"}, "small"),
        ({"llm_host_model": " big "}, "big"),
        ({"llm_host_model": "big", "llm_model_name": "small"}, "big"),
        ({"llm_host_model": ["gone"]}, "gone"),
    ],
)
def test_host_model(saved: dict[str, Any], model: str) -> None:
    """What is chosen from the list comes before what is typed, and any value is kept."""
    assert Valves(**saved).host_model == model
