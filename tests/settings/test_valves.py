"""Valves, and the settings that come of the admin's and a user's."""

from __future__ import annotations

import json
import math
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from adaptive.core.marks import CATEGORIES, CORE_CATEGORIES
from adaptive.settings.merged import HiddenMemories, Settings
from adaptive.settings.valves import UserValves, Valves
from tests.fakes import hook_settings, memory

json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["1e999", "-0", "٣", "1_0", " NaN", "TRUE", 10**400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)  # fmt: skip
FIRST = [
    "llm_host_model",
    "show_memories",
    "save_mode",
    "allowed_memory_banks",
    "show_status",
]
GONE = {
    "retry_delay": 1,
    "filter_trivia": "no",
    "enable_goal_memory": 3,
    "name_chats": [],
    "x": {},
}


def in_bounds(model: BaseModel) -> bool:
    """Whether every field holds a value of its type and range."""
    for name, field in type(model).model_fields.items():
        value, kind = getattr(model, name), field.annotation
        allowed = get_args(kind) if get_origin(kind) is Literal else ()
        if allowed:
            assert value in allowed
            continue
        assert isinstance(kind, type)
        assert isinstance(value, kind)
        assert value not in (math.inf, -math.inf)
        assert all(
            value >= rule.ge for rule in field.metadata if hasattr(rule, "ge")
        )
        assert all(
            value <= rule.le for rule in field.metadata if hasattr(rule, "le")
        )
    return True


@settings(max_examples=40, deadline=None)
@given(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(Valves.model_fields, json_like)
    ),
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(UserValves.model_fields, json_like)
    ),
)
def test_any_stored_values(
    admin: dict[str, Any], user: dict[str, Any]
) -> None:
    """Whatever both have stored, valves that are gone included, all settings are in bounds."""
    merged = Settings.merge(Valves(**GONE, **admin), UserValves(**user))
    assert in_bounds(merged)
    assert merged.banks
    assert set(merged.categories) <= set(CATEGORIES)


def test_panel() -> None:
    """There are at most 65 valves, those an admin needs first; each has a group and a sentence."""
    assert len(Valves.model_fields) + len(UserValves.model_fields) <= 65
    assert list(Valves.model_fields)[:6] == [*FIRST, "history_recall"]
    for model in (Valves, UserValves):
        for name, shown in model.model_json_schema()["properties"].items():
            assert shown["description"].endswith("."), name
            assert shown["type"] in (
                "boolean",
                "integer",
                "number",
                "string",
            ), name
        assert model(**json.loads(model().model_dump_json())) == model()
    shown = Valves.model_json_schema()["properties"]
    titles = [
        shown[name]["title"]
        for name in ("save_mode", "llm_api_key", "show_sources")
    ]
    assert titles == [
        "Save mode",
        "Model: LLM API key",
        "Recall: show sources",
    ]


# A valve or setting, what is stored of the admin's valves, and what is taken for that.
STORED: list[tuple[str, Any, Any]] = [
    ("show_status", " off ", False),
    ("show_status", "maybe", True),
    ("top_n_memories", "7", 7),
    ("top_n_memories", 7.0, 7),
    ("top_n_memories", "-5", 1),
    ("top_n_memories", "6.6", 7),
    ("top_n_memories", 6.4, 6),
    ("max_context_tokens", "1e3", 1000),
    ("top_n_memories", "inf", 20),
    ("top_n_memories", 10**400, 200),
    ("llm_timeout_seconds", "1e400", 60),
    ("min_confidence_threshold", "nan", 0.5),
    ("memory_keep", True, ""),
    ("allowed_memory_banks", ["General", "Work"], "General, Work"),
    ("save_mode", "never", "auto"),
]


@pytest.mark.parametrize(("valve", "stored", "taken"), STORED)
def test_stored_value(valve: str, stored: Any, taken: Any) -> None:
    """A value is taken as it was meant, clamped when out of range, else the default stands."""
    assert getattr(Valves(**{valve: stored}), valve) == taken


# A setting, the valves of the admin and of the user, and what holds.
MERGED: list[tuple[str, dict[str, Any], dict[str, Any], Any]] = [
    ("show_status", {}, {"show_status": False}, False),
    ("show_status", {"show_status": False}, {"show_status": True}, False),
    ("timezone", {"timezone": "Europe/Prague"}, {"timezone": "Asia/Tokyo"}, "Europe/Prague"),
    ("user_timezone", {}, {"timezone": "Asia/Tokyo"}, "Asia/Tokyo"),
    ("save_mode", {"save_mode": "off"}, {"save_mode": "auto"}, "off"),
    ("history_recall", {"history_recall": "chat"}, {"history_recall": "all"}, "chat"),
    ("history_recall", {"history_recall_default": "all"}, {"history_recall": "off"}, "off"),
    ("categories", {"memory_categories": "Goals , identity,, x"}, {}, (*CORE_CATEGORIES, "goal")),
    ("categories", {"memory_categories": ""}, {}, CATEGORIES),
    ("banks", {"allowed_memory_banks": " a ,, b , a"}, {}, ("a", "b")),
    ("host_model", {"llm_model_name": "small", "llm_host_model": " big "}, {}, "big"),
    ("default_bank", {"allowed_memory_banks": "Life, Work"}, {}, "Life"),
    ("keeping_rules", {"memory_keep": " tea ", "blacklist_topics": "wine, beer"}, {},
     "- Also worth keeping: tea\n- Never keep: wine, beer"),
]  # fmt: skip


@pytest.mark.parametrize(("setting", "admin", "user", "holds"), MERGED)
def test_merge(
    setting: str, admin: dict[str, Any], user: dict[str, Any], holds: Any
) -> None:
    """A user narrows what the admin allows and never widens it; lists are read."""
    assert (
        getattr(Settings.merge(Valves(**admin), UserValves(**user)), setting)
        == holds
    )


# What Adaptive Memory 3.1 stores of a panel that was saved whole: what still means something, with
# what is taken of it, and what is ignored.
KEPT_OF_3_1: dict[str, tuple[Any, Any]] = {
    "embedding_provider_type": ("local", "local"),
    "embedding_model_name": ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
    "embedding_api_url": (None, ""),
    "embedding_api_key": (None, ""),
    "enable_summarization_task": (True, True),
    "blacklist_topics": (None, ""),
    "max_total_memories": (200, 200),
    "min_confidence_threshold": (0.5, 0.5),
    "llm_provider_type": ("ollama", "ollama"),
    "llm_model_name": ("llama3:latest", "llama3:latest"),
    "llm_api_endpoint_url": (
        "http://host.docker.internal:11434/api/chat",
        "http://host.docker.internal:11434/api/chat",
    ),
    "llm_api_key": (None, ""),
    "related_memories_n": (5, 5),
    "relevance_threshold": (0.6, 0.6),
    "vector_similarity_threshold": (0.6, 0.6),
    "top_n_memories": (3, 3),
    "use_llm_for_relevance": (False, False),
    "deduplicate_memories": (True, True),
    "similarity_threshold": (0.95, 0.95),
    "timezone": ("Asia/Dubai", "Asia/Dubai"),
    "show_status": (True, True),
    "show_memories": (True, True),
    "memory_format": ("bullet", "bullet"),
    "memory_relevance_prompt": ("You rate memories.", "You rate memories."),
    "allowed_memory_banks": (["General", "Work"], "General, Work"),
}
GONE_OF_3_1: dict[str, Any] = {
    "summarization_interval": 7200,
    "enable_error_logging_task": True,
    "error_logging_interval": 1800,
    "enable_date_update_task": True,
    "date_update_interval": 3600,
    "enable_model_discovery_task": True,
    "model_discovery_interval": 7200,
    "summarization_min_cluster_size": 3,
    "summarization_similarity_threshold": 0.7,
    "summarization_max_cluster_size": 8,
    "summarization_min_memory_age_days": 7,
    "summarization_strategy": "hybrid",
    "summarization_memory_prompt": "You summarise.",
    "enable_json_stripping": True,
    "enable_fallback_regex": True,
    "enable_short_preference_shortcut": True,
    "short_preference_no_dedupe_length": 100,
    "preference_keywords_no_dedupe": "favorite,love,like",
    "filter_trivia": True,
    "whitelist_keywords": None,
    "pruning_strategy": "fifo",
    "min_memory_length": 8,
    "recent_messages_n": 5,
    "save_relevance_threshold": 0.8,
    "max_injected_memory_length": 300,
    "memory_threshold": 0.6,
    "llm_skip_relevance_threshold": 0.93,
    "cache_ttl_seconds": 86400,
    "use_embeddings_for_deduplication": True,
    "embedding_similarity_threshold": 0.97,
    "enable_identity_memories": True,
    "enable_behavior_memories": True,
    "enable_preference_memories": True,
    "enable_goal_memories": True,
    "enable_relationship_memories": True,
    "enable_possession_memories": True,
    "max_retries": 2,
    "retry_delay": 1.0,
    "memory_identification_prompt": "You extract.",
    "memory_merge_prompt": "You merge.",
    "debug_error_counter_logs": False,
    "default_memory_bank": "General",
    "enable_error_counter_guard": True,
    "error_guard_threshold": 5,
    "error_guard_window_seconds": 600,
}


def test_valves_of_3_1() -> None:
    """Each valve of 3.1 that has its name here is taken as it was meant; no other changes any."""
    stored = {name: saved for name, (saved, _) in KEPT_OF_3_1.items()}
    valves = Valves(**stored, **GONE_OF_3_1)
    assert {name: getattr(valves, name) for name in stored} == {
        name: taken for name, (_, taken) in KEPT_OF_3_1.items()
    }
    assert valves == Valves(**stored)
    assert not Valves.model_fields.keys() & GONE_OF_3_1.keys()


class EarlierLoad(BaseModel):
    """Fields of ours, of a class that an older load, or an earlier release, has made."""

    enabled: bool = True
    show_memories: bool = True
    save_mode: str = "off"
    show_status: bool = True
    timezone: str = ""


def test_valves_of_others() -> None:
    """Valves of an older load are read by name; what are no valves changes nothing."""
    assert Settings.merge(Valves(), EarlierLoad()).save_mode == "off"
    for left_behind in (None, {"enabled": False}, "text"):
        assert Settings.merge(Valves(), left_behind) == Settings.merge(
            Valves(), UserValves()
        )


@pytest.mark.parametrize(
    ("listed", "bank", "held"),
    [
        (" health ,, Private   Life,", " HEALTH ", True),
        (" health ,, Private   Life,", "Private  life", True),
        ("health", "Healthy", False),
        ("general", "", True),
        ("", "Work", False),
    ],
)
def test_local_only_banks(listed: str, bank: str, held: bool) -> None:
    """Banks for local models alone are compared loosely; no bank counts to the default one."""
    allowed = "General, Work, Health, Private Life"
    settings = hook_settings(
        local_only_banks=listed, allowed_memory_banks=allowed
    )
    banks = HiddenMemories.of(settings)
    row = memory("x", "User is ill.", bank=bank)
    assert banks.holds(row) == held
    assert banks.without([row]) == ([] if held else [row])
