"""What an admin may set for everybody, and what each user may set; no stored value breaks either.

The host builds ``Valves(**saved)`` before each hook, and a raise there would end every chat (host:
utils/filter.py). Numbers arrive from the panel as text, and saved values outlive releases. The
panel renders ``bool``, ``int``, ``float``, ``str`` and ``Literal`` well (host: the panel's page),
so there are no other types.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from adaptive.core import (
    CATEGORIES,
    JsonObject,
    PlaceChoice,
    listing,
    mapping,
    titled_parts,
    word_table,
)

SaveMode = Literal["auto", "suggest", "off"]
HistoryReach = Literal["off", "chat", "all"]
MemoryFormat = Literal["bullet", "numbered", "paragraph"]
Proportion = Annotated[float, Field(ge=0, le=1)]
PiiRedaction = Literal["off", "store", "model", "all"]
Password = Annotated[
    str, Field(json_schema_extra={"input": {"type": "password"}})
]
# The host calls the method of that name on the class when an admin opens the panel, and takes a
# plain text field where it can't (host: utils/plugin.py, resolve_valves_schema_options).
_MODELS: dict[str, JsonValue] = {
    "type": "select",
    "options": "model_choices",
}
ModelChoice = Annotated[str, Field(json_schema_extra={"input": _MODELS})]


def within(least: float, most: float, *, default: float) -> Any:
    """A field for the numbers of a range."""
    return Field(default, ge=least, le=most)


# The kinds of personal data, and what else they are called.
PERSONAL_KINDS = word_table("personal_kinds")


class LenientModel(BaseModel):
    """A model that takes anything: clamps what is out of range, else falls back to the default."""

    # Nobody validates ``Settings``, which hold all valves again: what is used is built, when it is.
    model_config = ConfigDict(
        extra="ignore", defer_build=True, allow_inf_nan=False
    )

    @field_validator("*", mode="wrap")
    @classmethod
    def _usable(
        cls,
        value: object,
        validate: ValidatorFunctionWrapHandler,
        info: ValidationInfo,
    ) -> object:
        # The first Adaptive Memory kept lists; they are comma-separated text here.
        if listing(value):
            value = ", ".join(map(str, listing(value)))
        if isinstance(value, str):
            value = value.strip()
        field = cls.model_fields[info.field_name or ""]
        with suppress(ValueError, TypeError, OverflowError):
            if field.annotation is int:
                value = round(float(cast(str, value)))
        try:
            return validate(value)
        except ValidationError as error:
            limits = mapping(error.errors()[0], "ctx")
            return limits.get("ge", limits.get("le", field.default))


def _described_by(name: str) -> ConfigDict:
    """Have the file of this name in ``prompts/`` describe the valves of a model to the panel."""
    return ConfigDict(json_schema_extra=partial(describe_valves, name))


def describe_valves(name: str, schema: JsonObject) -> None:
    """Add what a file says of each valve: its group, its title, and the sentence that explains it."""
    for group, described in titled_parts(name).items():
        for line in described.splitlines():
            valve, title, description = line.split(" | ")
            schema["properties"][valve] |= {
                "group": group,
                "title": title,
                "description": description,
            }


class Valves(LenientModel):
    """What the admin sets; each user may narrow some of it."""

    model_config = _described_by("valves")

    # Set once when the plug-in is loaded: the panel asks the class, which has no host to ask. It
    # brings value and label of each model, never raises, and waits for nothing.
    model_catalogue: ClassVar[Callable[..., list[dict[str, str]]] | None] = (
        None
    )

    llm_host_model: ModelChoice = ""
    show_memories: bool = True
    save_mode: SaveMode = "auto"
    allowed_memory_banks: str = "General, Personal, Work"
    show_status: bool = True
    history_recall: HistoryReach = "all"

    priority: int = within(-1000, 1000, default=0)
    inlet_timeout_seconds: float = within(0.1, 60, default=3.0)
    timezone: str = "UTC"
    inject_in_temporary_chats: bool = False
    native_memory: Literal["replace", "keep"] = "replace"

    llm_provider_type: Literal["host", "openai_compatible", "ollama"] = "host"
    llm_model_name: str = ""
    llm_api_endpoint_url: str = ""
    llm_api_key: Password = ""
    llm_timeout_seconds: float = within(1, 600, default=60.0)

    embedding_provider_type: Literal["host", "local", "openai_compatible"] = (
        "host"
    )
    embedding_model_name: str = ""
    embedding_api_url: str = ""
    embedding_api_key: Password = ""

    related_memories_n: int = within(1, 50, default=15)
    max_injected_tokens: int = within(50, 20000, default=3000)
    vector_similarity_threshold: Proportion = 0.0
    relevance_threshold: Proportion = 0.0
    memory_format: MemoryFormat = "bullet"
    memory_placement: Literal["system", "message"] = "system"
    show_sources: bool = False
    use_llm_for_relevance: bool = False
    top_n_memories: int = within(1, 200, default=20)
    memory_relevance_prompt: str = ""

    memory_categories: str = ", ".join(CATEGORIES)
    memory_keep: str = ""
    blacklist_topics: str = ""
    min_confidence_threshold: Proportion = 0.5
    memory_language: str = ""
    learn_from_api_calls: bool = False
    check_outdated_memories: bool = True
    extraction_debounce_seconds: float = within(0, 600, default=2.0)
    max_extractions_per_hour: int = within(0, 10_000, default=60)
    confirmation: Literal["status", "message", "off"] = "status"

    deduplicate_memories: bool = True
    similarity_threshold: Proportion = 0.0
    max_total_memories: int = within(0, 1_000_000, default=0)
    enable_summarization_task: bool = False

    pii_redaction: PiiRedaction = "store"
    mask_in_memories: str = (
        "crypto_wallet, ip, mac, iban, national_id, passport"
    )
    refuse_in_memories: str = "card, ssn, url_credentials"
    local_only_banks: str = ""
    local_connections: str = ""

    enable_preprocessing: bool = False
    harmful_message: Literal["off", "note", "warn"] = "note"
    enable_postprocessing: bool = False
    clean_answers: bool = True
    validate_links: bool = False
    history_recall_default: HistoryReach = "off"
    enable_history_summary: bool = False
    max_context_tokens: int = within(0, 10_000_000, default=0)

    @classmethod
    def model_choices(cls) -> list[dict[str, str]]:
        """Choices for ``llm_host_model``; the first one is none."""
        known = cls.model_catalogue() if cls.model_catalogue else []
        return [{"value": "", "label": "Automatic"}, *known]

    @property
    def host_model(self) -> str:
        """Id of the host's model that the admin chose, empty where none is."""
        return self.llm_host_model or self.llm_model_name


class UserValves(LenientModel):
    """What each user sets; it may only narrow what the admin allows."""

    model_config = _described_by("user_valves")

    enabled: bool = True
    show_memories: bool = True
    save_mode: SaveMode = "auto"
    history_recall: Literal["default", "off", "chat", "all"] = "default"
    index_past_chats: bool = False
    new_folders: PlaceChoice = "everywhere"
    show_status: bool = True
    timezone: str = ""
