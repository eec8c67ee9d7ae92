"""What an admin may set on the filter as a whole, on the model that learns, and on recall."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adaptive.lenient import LenientModel, valve_notes

MemoryFormat = Literal["bullet", "numbered", "paragraph", "table"]
MemoryDetails = Literal["none", "date", "bank", "both"]

PASSWORD_WIDGET = {"type": "password"}
# The host calls the method of that name on the class when an admin opens the panel, and takes a
# plain text field where it can't (host: utils/plugin.py, resolve_valves_schema_options).
_MODELS = {"type": "select", "options": "model_choices"}

_GENERAL = "General"
_MODEL = "Model for learning"
_RECALL = "Recall"


class RecallValves(LenientModel):
    """Valves on everything, on the model that learns, and on recall."""

    priority: int = Field(
        default=0,
        ge=-1000,
        le=1000,
        description="Order among filters; lower runs first.",
        json_schema_extra=valve_notes(
            _GENERAL, "Another filter rewrites messages that memory should see first."
        ),
    )
    show_status: bool = Field(
        default=True,
        description="Show with the answer what was recalled, what was saved, or why nothing was.",
        json_schema_extra=valve_notes(_GENERAL, "You want memory to work without a word."),
    )
    inlet_timeout_seconds: float = Field(
        default=3.0,
        ge=0.1,
        le=60,
        description="Longest time a message waits for its memories; then the chat goes on without.",
        json_schema_extra=valve_notes(
            _GENERAL,
            "The embedding provider is slow and you prefer waiting to an answer without memory.",
        ),
    )
    timezone: str = Field(
        default="UTC",
        description=(
            "Time zone for dates in memories where the browser tells none, as `Europe/Lisbon`."
        ),
        json_schema_extra=valve_notes(
            _GENERAL, "Your users come through clients that send no time zone."
        ),
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
    llm_host_model: str = Field(
        default="",
        description=(
            "Automatic (the task model if one is set, else the model of the chat), or the model of "
            "this Open WebUI that extracts facts, with `host`."
        ),
        json_schema_extra=valve_notes(
            _MODEL,
            "The chat models are expensive or slow; a small instruct model does. Or it is too "
            "small for answers in JSON.",
            input=_MODELS,
        ),
    )
    llm_model_name: str = Field(
        default="",
        description=(
            "Name of the model at the endpoint. With `host` the id of a model that the list "
            "above lacks; what is chosen there comes first."
        ),
        json_schema_extra=valve_notes(
            _MODEL, "The provider is not `host`, or its model is hidden from the list."
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
        json_schema_extra=valve_notes(_MODEL, "The endpoint asks for one.", input=PASSWORD_WIDGET),
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
    show_memories: bool = Field(
        default=True,
        description="Put the memories that fit a message into the system prompt. Off: only learn.",
        json_schema_extra=valve_notes(_RECALL, "You want to collect memories before you use them."),
    )
    related_memories_n: int = Field(
        default=10,
        ge=1,
        le=50,
        description="Most memories that are found for one message; core facts not counted.",
        json_schema_extra=valve_notes(
            _RECALL,
            "The chat model has a small context (lower), or answers lack facts that are"
            " stored (higher).",
        ),
    )
    vector_similarity_threshold: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description=(
            "Least cosine similarity to the message; 0 calibrates it from your embedding model"
            " and the user's own memories."
        ),
        json_schema_extra=valve_notes(
            _RECALL,
            "Rarely. A fixed number fits one embedding model only; with all-MiniLM-L6-v2"
            " unrelated texts lie below 0.3.",
        ),
    )
    relevance_threshold: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description=(
            "Least relevance: the score of the judging model where `use_llm_for_relevance` is on,"
            " else the cosine similarity. 0: 0.5 for the former, calibrated for the latter."
        ),
        json_schema_extra=valve_notes(
            _RECALL, "Unrelated memories come along (raise), or fitting ones are missing (lower)."
        ),
    )
    core_importance: int = Field(
        default=9,
        ge=1,
        le=11,
        description=(
            "Memories of this importance (1 to 10) and those of category identity always come"
            " along, in a part of their own. 11: none does."
        ),
        json_schema_extra=valve_notes(
            _RECALL, "Too much comes along always (11), or too little (8 or lower)."
        ),
    )
    max_core_tokens: int = Field(
        default=200,
        ge=0,
        le=10000,
        description="How much of the block these core facts may take, in tokens (estimated).",
        json_schema_extra=valve_notes(_RECALL, "The chat model has a small context."),
    )
    max_injected_tokens: int = Field(
        default=1500,
        ge=50,
        le=20000,
        description=(
            "Budget of the memory block in tokens (estimated); whole entries only, best first."
            " Within a chat entries stay in place and new ones are appended until it is full."
        ),
        json_schema_extra=valve_notes(
            _RECALL, "The chat model has a small context, or memories are long."
        ),
    )
    memory_format: MemoryFormat = Field(
        default="bullet",
        description="How memories stand in the system prompt.",
        json_schema_extra=valve_notes(_RECALL, "Your chat model follows another form better."),
    )
    memory_details: MemoryDetails = Field(
        default="none",
        description="What stands with each memory: the date when it was said, its bank, or both.",
        json_schema_extra=valve_notes(_RECALL, "Your users ask when something was."),
    )
    show_sources: bool = Field(
        default=False,
        description=(
            "Show the memories that fitted the message as sources of the answer, with their scores;"
            " core facts are not among them. Needs `show_status`."
        ),
        json_schema_extra=valve_notes(_RECALL, "You want to see why an answer knows something."),
    )
    use_llm_for_relevance: bool = Field(
        default=False,
        description=(
            "Let a model judge the nearest memories before the answer. Costs a model call and its"
            " time on each turn whose memories are not clear by themselves."
        ),
        json_schema_extra=valve_notes(
            _RECALL, "Precision matters more than speed, and a fast model is at hand."
        ),
    )
    top_n_memories: int = Field(
        default=20,
        ge=1,
        le=200,
        description="How many of the nearest memories the judging model is shown.",
        json_schema_extra=valve_notes(
            _RECALL, "More than `related_memories_n`: the judge can only choose among these."
        ),
    )
    relevance_timeout_seconds: float = Field(
        default=1.5,
        ge=0.1,
        le=30,
        description="Longest time the judging model may take; then the order by nearness stands.",
        json_schema_extra=valve_notes(
            _RECALL, "The model is slow; keep `inlet_timeout_seconds` above."
        ),
    )
    cache_ttl_seconds: int = Field(
        default=86400,
        ge=0,
        le=2592000,
        description="How long the judging model's scores are kept, in seconds.",
        json_schema_extra=valve_notes(_RECALL, "You are trying out prompts or models (0)."),
    )
    memory_relevance_prompt: str = Field(
        default="",
        description=(
            "Replaces the built-in relevance prompt (`prompts/relevance.md`); empty: built in."
        ),
        json_schema_extra=valve_notes(_RECALL, "Your model follows other words better."),
    )
    index_cache_megabytes: int = Field(
        default=256,
        ge=8,
        le=16384,
        description=(
            "Memory that the indexes of all users may take in a worker; least recently used ones"
            " give way."
        ),
        json_schema_extra=valve_notes(
            _RECALL, "Many users with thousands of memories share a worker."
        ),
    )
    inject_in_temporary_chats: bool = Field(
        default=False,
        description="Use memories in temporary chats too. They are never learned from.",
        json_schema_extra=valve_notes(_RECALL, "Your users expect a temporary chat to know them."),
    )
    native_memory: Literal["replace", "keep"] = Field(
        default="replace",
        description=(
            "Open WebUI's own memory: `replace` switches its injection and tools off for "
            "turns that this filter serves, `keep` leaves them and injects only what they "
            "do not."
        ),
        json_schema_extra=valve_notes(_RECALL, "Your users work with the built-in memory tools."),
    )
