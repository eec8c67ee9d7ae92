"""What an admin may set about learning."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from adaptive.lenient import valve_notes
from adaptive.recall_valves import RecallValves

SaveMode = Literal["auto", "suggest", "off"]
Confirmation = Literal["status", "message", "off"]
PruningStrategy = Literal["least_important", "least_recalled", "oldest"]
# Names of former releases of this plug-in.
_FORMER_STRATEGIES = {"fifo": "oldest", "least_relevant": "least_recalled"}

_LEARN = "Learning"
_SCREEN = "What is saved"
_STORE = "The store"
_UPKEEP = "Upkeep"


class LearnValves(RecallValves):
    """Recall first, then what is learned, what is refused, and how the store is kept."""

    save_mode: SaveMode = Field(
        default="auto",
        description=(
            "`auto` learns from each turn, `suggest` asks the user before anything is saved, "
            "`off` learns nothing."
        ),
        json_schema_extra=valve_notes(
            _LEARN, "Nothing may be saved without a question, or people keep memory by hand."
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
    memory_keep: str = Field(
        default="",
        description=(
            "What else is worth keeping, in your own words for the model; empty: nothing special."
        ),
        json_schema_extra=valve_notes(
            _LEARN,
            "Your users need facts of a certain kind remembered, as allergies or project names.",
        ),
    )
    memory_never_keep: str = Field(
        default="",
        description=(
            "What must never be kept, in your own words for the model; empty: nothing special."
        ),
        json_schema_extra=valve_notes(
            _LEARN,
            "Some subjects have no place in a memory. `blacklist_topics` refuses by word, "
            "whatever the model says.",
        ),
    )
    memory_language: str = Field(
        default="",
        description=(
            "Language that memories are written in, as `English`; empty: that of the message."
        ),
        json_schema_extra=valve_notes(
            _LEARN, "Your users write in several languages and their memories should be in one."
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
    extraction_debounce_seconds: float = Field(
        default=2.0,
        ge=0,
        le=30,
        description=(
            "Learning waits so many seconds for another message of the same chat, and learns from "
            "both at once."
        ),
        json_schema_extra=valve_notes(
            _LEARN, "People write many short messages in a row (raise: fewer model calls)."
        ),
    )
    max_extractions_per_hour: int = Field(
        default=60,
        ge=0,
        le=10_000,
        description=(
            "Model calls for learning per user and hour; what comes after them is not learned, "
            "and the status says so. 0: no limit."
        ),
        json_schema_extra=valve_notes(_LEARN, "Each call costs money (lower)."),
    )
    confirmation: Confirmation = Field(
        default="status",
        description=(
            "Where the user is told what was learned: in the status line above the answer, in a "
            "line below the answer, or not at all. Failures are always told."
        ),
        json_schema_extra=valve_notes(
            _LEARN, "Your users overlook the status line (`message`), or it distracts (`off`)."
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
    check_outdated_memories: bool = Field(
        default=True,
        description=(
            "When a fact about home, work, people, possessions or plans changes, ask the learning "
            "model which other memories it has made untrue, and end those."
        ),
        json_schema_extra=valve_notes(
            _LEARN, "You want to save the second, small model call after such a change."
        ),
    )
    memory_identification_prompt: str = Field(
        default="",
        description=(
            "Replaces the built-in extraction prompt (`prompts/extract.md`); empty: built "
            "in. Its placeholders stay available."
        ),
        json_schema_extra=valve_notes(_LEARN, "Your model follows other words better."),
    )
    min_memory_length: int = Field(
        default=8,
        ge=1,
        le=200,
        description="Shorter facts, in characters, are not saved.",
        json_schema_extra=valve_notes(_SCREEN, "Your users write Chinese or Japanese (lower)."),
    )
    min_confidence_threshold: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Facts that the model is less sure of are not saved.",
        json_schema_extra=valve_notes(
            _SCREEN, "Guesses get saved (raise), or clear facts are refused (lower)."
        ),
    )
    filter_trivia: bool = Field(
        default=True,
        description="Refuse general knowledge and trivia, which say nothing about the user.",
        json_schema_extra=valve_notes(_SCREEN, "Facts about the user's field get refused."),
    )
    filter_transient_states: bool = Field(
        default=True,
        description="Refuse passing states, as being tired today.",
        json_schema_extra=valve_notes(_SCREEN, "Your assistant keeps a diary of moods or health."),
    )
    blacklist_topics: str = Field(
        default="",
        description="Words separated by commas: facts that hold one of them are refused.",
        json_schema_extra=valve_notes(_SCREEN, "Some subjects must never be kept."),
    )
    whitelist_keywords: str = Field(
        default="",
        description=(
            "Words separated by commas: facts that hold one of them are kept although another "
            "rule refuses them; the blacklist, length and safety still hold."
        ),
        json_schema_extra=valve_notes(_SCREEN, "A rule refuses facts that you want."),
    )
    deduplicate_memories: bool = Field(
        default=True,
        description=(
            "Save no fact that is known already; a fact that replaces a known one updates it."
        ),
        json_schema_extra=valve_notes(
            _STORE, "You want every statement kept as a memory of its own."
        ),
    )
    similarity_threshold: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description=(
            "Cosine similarity from which two facts count as the same, if nothing in their words "
            "speaks against it; 0 calibrates it from your embedding model (0.94 with "
            "all-MiniLM-L6-v2)."
        ),
        json_schema_extra=valve_notes(
            _STORE,
            "Different facts are taken for the same (raise), or the same for different (lower).",
        ),
    )
    max_total_memories: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description=(
            "Most memories of a user; what is over goes to an archive, core facts last. 0: no "
            "limit."
        ),
        json_schema_extra=valve_notes(_STORE, "A store must not grow for ever."),
    )
    pruning_strategy: PruningStrategy = Field(
        default="least_important",
        description=(
            "Which memories go first when there are more than `max_total_memories`. Recalls are "
            "counted while `least_recalled` is set."
        ),
        json_schema_extra=valve_notes(_STORE, "You set `max_total_memories`."),
    )
    enable_summarization_task: bool = Field(
        default=False,
        description=(
            "Now and then, after a turn, let the model put one memory in the place of a group of "
            "old related ones, which are archived."
        ),
        json_schema_extra=valve_notes(_UPKEEP, "Stores hold hundreds of small facts."),
    )
    summarization_interval: int = Field(
        default=86_400,
        ge=600,
        le=31_536_000,
        description="Shortest time between two such runs for a user, in seconds.",
        json_schema_extra=valve_notes(_UPKEEP, "It should come more or less often."),
    )
    summarization_min_cluster_size: int = Field(
        default=4,
        ge=2,
        le=12,
        description="So many related memories make a group.",
        json_schema_extra=valve_notes(_UPKEEP, "Groups are too small (raise)."),
    )
    summarization_min_memory_age_days: float = Field(
        default=30.0,
        ge=0,
        le=3650,
        description="Memories that were changed within so many days stay as they are.",
        json_schema_extra=valve_notes(_UPKEEP, "Facts that are still in use get summarised."),
    )
    memory_summarization_prompt: str = Field(
        default="",
        description=(
            "Replaces the built-in prompt for summaries (`prompts/summarise_memories.md`); empty: "
            "built in."
        ),
        json_schema_extra=valve_notes(_UPKEEP, "Your model follows other words better."),
    )

    @field_validator("pruning_strategy", mode="before")
    @classmethod
    def _former_strategy(cls, value: object) -> object:
        return _FORMER_STRATEGIES.get(value, value) if isinstance(value, str) else value
