"""What an admin may set, for everybody.

The panel renders ``bool``, ``int``, ``float``, ``str`` and ``Literal`` well (host: the panel's
page), so there are no other types.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adaptive.lenient import valve_notes
from adaptive.recall_valves import RecallValves

SaveMode = Literal["auto", "off"]

_PASSWORD = {"type": "password"}
_LEARN = "Learning"
_MODEL = "Model for learning"
_EMBED = "Embeddings"


class Valves(RecallValves):
    """What the admin sets: recall first, then learning and the providers."""

    save_mode: SaveMode = Field(
        default="auto",
        description="`auto` learns from each turn, `off` from none.",
        json_schema_extra=valve_notes(
            _LEARN, "You want a memory that only its owner edits, in Settings."
        ),
    )
    enable_identity_memory: bool = Field(
        default=True,
        description="Learn who the user is: name, age, home, work, health, languages.",
        json_schema_extra=valve_notes(_LEARN, "Such facts must not be kept."),
    )
    enable_behavior_memory: bool = Field(
        default=True,
        description="Learn habits and routines.",
        json_schema_extra=valve_notes(_LEARN, "Such facts must not be kept."),
    )
    enable_preference_memory: bool = Field(
        default=True,
        description="Learn likes, dislikes, opinions and wishes on how to be answered.",
        json_schema_extra=valve_notes(_LEARN, "Such facts must not be kept."),
    )
    enable_goal_memory: bool = Field(
        default=True,
        description="Learn plans and aims.",
        json_schema_extra=valve_notes(_LEARN, "Such facts must not be kept."),
    )
    enable_relationship_memory: bool = Field(
        default=True,
        description="Learn about the people and animals in the user's life.",
        json_schema_extra=valve_notes(_LEARN, "Such facts must not be kept."),
    )
    enable_possession_memory: bool = Field(
        default=True,
        description="Learn what the user owns or uses.",
        json_schema_extra=valve_notes(_LEARN, "Such facts must not be kept."),
    )
    min_memory_length: int = Field(
        default=8,
        ge=1,
        le=200,
        description="Shorter facts, in characters, are not saved.",
        json_schema_extra=valve_notes(_LEARN, "Your users write Chinese or Japanese (lower)."),
    )
    min_confidence_threshold: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Facts that the model is less sure of are not saved.",
        json_schema_extra=valve_notes(
            _LEARN, "Guesses get saved (raise), or clear facts are refused (lower)."
        ),
    )
    recent_messages_n: int = Field(
        default=4,
        ge=0,
        le=20,
        description=(
            "How many earlier messages the model sees for reference when it extracts facts."
        ),
        json_schema_extra=valve_notes(
            _LEARN,
            "Facts are spread over many short messages (raise), or the model is small (lower).",
        ),
    )
    allowed_memory_banks: str = Field(
        default="General, Personal, Work",
        description="Banks a memory may be filed under, separated by commas.",
        json_schema_extra=valve_notes(_LEARN, "You sort memories by other areas of life."),
    )
    default_memory_bank: str = Field(
        default="General",
        description="Bank of a memory for which the model names none of the allowed ones.",
        json_schema_extra=valve_notes(_LEARN, "You changed the banks."),
    )
    learn_from_api_calls: bool = Field(
        default=False,
        description=(
            "Learn from plain API calls too (Open WebUI 0.10 and newer), where the words "
            "may be a program's."
        ),
        json_schema_extra=valve_notes(_LEARN, "People chat through an app that uses the API."),
    )
    memory_identification_prompt: str = Field(
        default="",
        description=(
            "Replaces the built-in extraction prompt (`prompts/extract.md`); empty: built "
            "in. Its placeholders stay available."
        ),
        json_schema_extra=valve_notes(_LEARN, "Your model follows other words better."),
    )
    llm_provider_type: Literal["host", "openai_compatible", "ollama"] = Field(
        default="host",
        description=(
            "Who extracts facts: a model of this Open WebUI, an OpenAI-compatible endpoint "
            "(OpenRouter included), or Ollama."
        ),
        json_schema_extra=valve_notes(
            _MODEL, "Learning should run on a model that Open WebUI does not know."
        ),
    )
    llm_model_name: str = Field(
        default="",
        description=(
            "Model for it. Empty with `host`: the task model if one is set, else the model "
            "of the chat."
        ),
        json_schema_extra=valve_notes(
            _MODEL, "The chat models are expensive or slow; a small instruct model does."
        ),
    )
    llm_api_endpoint_url: str = Field(
        default="",
        description=(
            "Address of the endpoint, as `https://openrouter.ai/api/v1` or "
            "`http://localhost:11434`."
        ),
        json_schema_extra=valve_notes(_MODEL, "The provider is not `host`."),
    )
    llm_api_key: str = Field(
        default="",
        description="Key for the endpoint.",
        json_schema_extra=valve_notes(_MODEL, "The endpoint asks for one.", input=_PASSWORD),
    )
    llm_timeout_seconds: float = Field(
        default=60.0,
        ge=1,
        le=600,
        description=(
            "Longest time for learning from one turn, retries included. The answer never "
            "waits for it."
        ),
        json_schema_extra=valve_notes(_MODEL, "The model is slow."),
    )
    max_retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="How often a failed call is tried again, with growing pauses.",
        json_schema_extra=valve_notes(_MODEL, "The provider is unreliable, or billed per call."),
    )
    retry_delay: float = Field(
        default=1.0,
        ge=0,
        le=60,
        description="First pause between two tries in seconds; it doubles each time, with jitter.",
        json_schema_extra=valve_notes(_MODEL, "The provider limits the rate of calls."),
    )
    embedding_provider_type: Literal["host", "local", "openai_compatible"] = Field(
        default="host",
        description=(
            "Who turns texts into vectors: Open WebUI's own embedding, a local "
            "SentenceTransformer, or an OpenAI-compatible endpoint."
        ),
        json_schema_extra=valve_notes(
            _EMBED, "Open WebUI's embedding model does not fit your users' language."
        ),
    )
    embedding_model_name: str = Field(
        default="",
        description=(
            "Model name or folder for `local` (empty: all-MiniLM-L6-v2) or model of the endpoint."
        ),
        json_schema_extra=valve_notes(_EMBED, "The provider is not `host`."),
    )
    embedding_api_url: str = Field(
        default="",
        description="Address of the endpoint, as `https://api.openai.com/v1`.",
        json_schema_extra=valve_notes(_EMBED, "The provider is `openai_compatible`."),
    )
    embedding_api_key: str = Field(
        default="",
        description="Key for the endpoint.",
        json_schema_extra=valve_notes(_EMBED, "The endpoint asks for one.", input=_PASSWORD),
    )
