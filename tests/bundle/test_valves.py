"""Valves of the bundle: whatever was saved for them, they are built and within their range."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any, Literal, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.bundle.valve_rules import GARBAGE, broken_by_garbage, out_of_bounds

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
any_value = st.sampled_from(GARBAGE) | json_values

# As a full dump of Adaptive Memory 3.1 stands in the database.
SAVED_BY_3_1 = {
    "embedding_provider_type": "local",
    "embedding_model_name": "all-MiniLM-L6-v2",
    "embedding_api_url": None,
    "embedding_api_key": None,
    "enable_summarization_task": True,
    "summarization_interval": 7200,
    "summarization_min_cluster_size": 3,
    "summarization_similarity_threshold": 0.7,
    "max_total_memories": 200,
    "pruning_strategy": "fifo",
    "recent_messages_n": 5,
    "save_relevance_threshold": 0.8,
    "max_injected_memory_length": 300,
    "llm_provider_type": "ollama",
    "llm_model_name": "llama3:latest",
    "llm_api_endpoint_url": "http://host.docker.internal:11434/api/chat",
    "llm_api_key": None,
    "related_memories_n": 5,
    "relevance_threshold": 0.60,
    "memory_threshold": 0.6,
    "vector_similarity_threshold": 0.60,
    "llm_skip_relevance_threshold": 0.93,
    "top_n_memories": 3,
    "cache_ttl_seconds": 86400,
    "use_llm_for_relevance": False,
    "deduplicate_memories": True,
    "use_embeddings_for_deduplication": True,
    "embedding_similarity_threshold": 0.97,
    "similarity_threshold": 0.95,
    "timezone": "Asia/Dubai",
    "show_status": True,
    "show_memories": True,
    "memory_format": "bullet",
    "enable_identity_memory": True,
    "enable_behavior_memory": True,
    "enable_preference_memory": True,
    "enable_goal_memory": True,
    "enable_relationship_memory": True,
    "enable_possession_memory": True,
    "blacklist_topics": None,
    "filter_trivia": True,
    "whitelist_keywords": None,
    "max_retries": 2,
    "retry_delay": 1.0,
    "min_memory_length": 8,
    "min_confidence_threshold": 0.5,
    "allowed_memory_banks": ["General", "Personal", "Work"],
    "default_memory_bank": "General",
    "enable_error_counter_guard": True,
    "error_guard_threshold": 5,
    "error_guard_window_seconds": 600,
    "enable_short_preference_no_dedupe_shortcut": True,
    "preference_keywords_no_dedupe": "favorite,love,like,prefer,enjoy",
}
# Choices that have another name now.
RENAMED = {"fifo": "oldest"}


@pytest.fixture(params=["Valves", "UserValves"])
def model(request: pytest.FixtureRequest, plugin_module: ModuleType) -> type[BaseModel]:
    """One of the two valves classes of the filter."""
    return getattr(plugin_module.Filter, request.param)


def test_anything_validates(model: type[BaseModel]) -> None:
    """Any JSON value in any valves, several at once, gives valves within their range."""

    @given(st.fixed_dictionaries({}, optional=dict.fromkeys(model.model_fields, any_value)))
    def holds(saved: dict[str, Any]) -> None:
        assert out_of_bounds(model(**saved)) == []

    holds()


def test_each_garbage_in_each_valve(model: type[BaseModel]) -> None:
    """Every known kind of garbage in every single valve is taken."""
    assert broken_by_garbage(model) == []


def test_unknown_names(model: type[BaseModel]) -> None:
    """Valves that no longer exist, or not yet, are ignored."""
    assert model(no_such_valve=object(), model_config="x") == model()


def test_defaults(model: type[BaseModel]) -> None:
    """The defaults are in range and come back from a save of all of them."""
    assert out_of_bounds(model()) == []
    assert model(**json.loads(model().model_dump_json())) == model()


def test_what_the_panel_renders(model: type[BaseModel]) -> None:
    """Every valve is of a kind for which the panel has a proper widget."""
    for name, field in model.model_fields.items():
        plain = field.annotation in {bool, int, float, str}
        assert plain or get_origin(field.annotation) is Literal, name


def test_numbers_as_text(model: type[BaseModel]) -> None:
    """The panel sends numbers as text; they are taken as numbers."""
    numbers = {
        name: field.default
        for name, field in model.model_fields.items()
        if field.annotation in {int, float}
    }
    assert model(**{name: f" {value} " for name, value in numbers.items()}) == model()


def test_saved_by_earlier_release(plugin_module: ModuleType) -> None:
    """What release 3.1 saved is taken over wherever the valve is still there."""
    valves = plugin_module.Filter.Valves(**SAVED_BY_3_1)
    assert out_of_bounds(valves) == []
    for name in type(valves).model_fields.keys() & SAVED_BY_3_1.keys():
        saved = SAVED_BY_3_1[name]
        if isinstance(saved, list):
            assert getattr(valves, name) == ", ".join(saved), name
        elif saved in RENAMED:
            assert getattr(valves, name) == RENAMED[saved], name
        elif saved is not None and name != "embedding_provider_type":
            assert getattr(valves, name) == saved, name
