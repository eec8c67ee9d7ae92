"""What an admin may set: what everybody needs first, then models and recall."""

from __future__ import annotations

from functools import partial
from typing import Literal

from adaptive.settings.lenient import FIRST_GROUP, LenientModel, valve

SaveMode = Literal["auto", "suggest", "off"]
HistoryReach = Literal["off", "chat", "all"]
MemoryFormat = Literal["bullet", "numbered", "paragraph", "table"]

_PASSWORD = {"type": "password"}
# The host calls the method of that name on the class when an admin opens the panel, and takes a
# plain text field where it can't (host: utils/plugin.py, resolve_valves_schema_options).
_MODELS = {"type": "select", "options": "model_choices"}

_first = partial(valve, FIRST_GROUP)
_general = partial(valve, "General")
_model = partial(valve, "Model")
_vectors = partial(valve, "Embedding")
_recall = partial(valve, "Recall")


class RecallValves(LenientModel):
    """The valves that everybody needs, those on models, and those on recall."""

    llm_host_model: str = _first(
        "",
        "The model that learns from what users say; Automatic is the task model of this Open "
        "WebUI, or else the model of the chat.",
        widget=_MODELS,
    )
    show_memories: bool = _first(
        True, "Give the chat model the memories that fit a message; off, memory only learns."
    )
    save_mode: SaveMode = _first(
        "auto",
        "What is saved of what users say about themselves: everything worth keeping (`auto`), "
        "only what they agree to (`suggest`), or nothing (`off`).",
    )
    allowed_memory_banks: str = _first(
        "General, Personal, Work",
        "The banks that memories are sorted into, separated by commas; what fits none of them "
        "goes to the first.",
    )
    show_status: bool = _first(
        True, "Show with each answer what was recalled and saved, or why nothing was."
    )
    history_recall: HistoryReach = _first(
        "all",
        "How much past conversation users may have recalled: none (`off`), earlier messages of "
        "the same `chat`, or `all` their chats.",
    )

    priority: int = _general(
        0, "The order among filters; the lowest number runs first.", ge=-1000, le=1000
    )
    inlet_timeout_seconds: float = _general(
        3.0,
        "The longest a message waits for its memories, in seconds, before it is answered without "
        "them.",
        ge=0.1,
        le=60,
    )
    timezone: str = _general(
        "UTC", "The time zone for dates where the browser sends none, such as `Europe/Lisbon`."
    )
    inject_in_temporary_chats: bool = _general(
        False, "Use memories in temporary chats, too; nothing is ever learned from those."
    )
    native_memory: Literal["replace", "keep"] = _general(
        "replace",
        "What happens to Open WebUI's own memory: `replace` turns it off wherever this filter is "
        "at work, `keep` leaves it on and adds only what it does not.",
    )

    llm_provider_type: Literal["host", "openai_compatible", "ollama"] = _model(
        "host",
        "Where the learning model runs: in this Open WebUI (`host`), at an OpenAI-compatible "
        "endpoint such as OpenRouter, or in Ollama.",
    )
    llm_model_name: str = _model(
        "",
        "The model's name at the endpoint or in Ollama; with `host`, the id of a model that the "
        "list above does not show.",
    )
    llm_api_endpoint_url: str = _model(
        "",
        "The address of the endpoint, such as `https://openrouter.ai/api/v1` or "
        "`http://localhost:11434`.",
    )
    llm_api_key: str = _model("", "The key for the endpoint.", widget=_PASSWORD)
    llm_timeout_seconds: float = _model(
        60.0,
        "The longest that learning from one message may take, in seconds; the answer never waits "
        "for it.",
        ge=1,
        le=600,
    )

    embedding_provider_type: Literal["host", "local", "openai_compatible"] = _vectors(
        "host",
        "What compares texts by meaning: Open WebUI's own embedding model (`host`), a `local` "
        "SentenceTransformers model, or an OpenAI-compatible endpoint.",
    )
    embedding_model_name: str = _vectors(
        "",
        "The name or folder of the local model (empty: all-MiniLM-L6-v2), or the name of the "
        "endpoint's model.",
    )
    embedding_api_url: str = _vectors(
        "", "The address of the endpoint, such as `https://api.openai.com/v1`."
    )
    embedding_api_key: str = _vectors("", "The key for the endpoint.", widget=_PASSWORD)

    related_memories_n: int = _recall(
        10,
        "The most memories recalled for one message, not counting core facts about the user.",
        ge=1,
        le=50,
    )
    max_injected_tokens: int = _recall(
        1500,
        "The most tokens that memories may take up in a prompt; none is ever cut in half.",
        ge=50,
        le=20000,
    )
    vector_similarity_threshold: float = _recall(
        0.0,
        "How similar to the message a memory must be, from 0 to 1 (cosine); 0 works it out for "
        "your embedding model.",
        ge=0,
        le=1,
    )
    relevance_threshold: float = _recall(
        0.0,
        "How relevant a memory must be, from 0 to 1: as scored by a model with "
        "`use_llm_for_relevance`, otherwise by similarity; 0 picks a value that fits.",
        ge=0,
        le=1,
    )
    memory_format: MemoryFormat = _recall("bullet", "How memories are laid out in the prompt.")
    show_sources: bool = _recall(
        False,
        "List the recalled memories and their scores as sources of the answer; needs "
        "`show_status`.",
    )
    use_llm_for_relevance: bool = _recall(
        False,
        "Let a model decide which memories fit before a message is answered; more precise, but "
        "slower whenever that is not obvious.",
    )
    top_n_memories: int = _recall(
        20, "How many of the nearest memories that model is shown.", ge=1, le=200
    )
    memory_relevance_prompt: str = _recall(
        "", "Your own prompt for that model, in place of the built-in one."
    )
