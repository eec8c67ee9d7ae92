"""What an admin may set, for everybody.

The panel renders ``bool``, ``int``, ``float``, ``str`` and ``Literal`` well (host: the panel's
page), so there are no other types.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol, TypedDict

from pydantic import Field

from adaptive.conversation_valves import ConversationValves
from adaptive.lenient import valve_notes

_PASSWORD = {"type": "password"}
# The host calls the method of that name on the class when an admin opens the panel, and takes a
# plain text field where it can't (host: utils/plugin.py, resolve_valves_schema_options).
_MODELS = {"type": "select", "options": "model_choices"}
_MODEL = "Model for learning"
_EMBED = "Embeddings"


class ModelChoice(TypedDict):
    """One entry of a list in the panel."""

    value: str
    label: str


class ModelCatalogue(Protocol):
    """Knows the models that an admin may choose from; never raises, and waits for nothing."""

    def choices(self) -> list[ModelChoice]:
        """The models, in the order in which they are to be shown."""
        ...


class Valves(ConversationValves):
    """What the admin sets: recall, learning, privacy, conversation; then the providers."""

    # Set once when the plug-in is loaded: the panel asks the class, which has no host to ask.
    model_catalogue: ClassVar[ModelCatalogue | None] = None

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
            "Model of this Open WebUI for it, with `host`. None chosen: the task model if one is "
            "set, else the model of the chat."
        ),
        json_schema_extra=valve_notes(
            _MODEL,
            "The chat models are expensive or slow; a small instruct model does.",
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

    @classmethod
    def model_choices(cls) -> list[ModelChoice]:
        """Choices for ``llm_host_model``; the first one is none."""
        known = cls.model_catalogue.choices() if cls.model_catalogue else []
        return [{"value": "", "label": "Automatic"}, *known]

    @property
    def host_model(self) -> str:
        """Id of the host's model that the admin chose, empty where none is."""
        return self.llm_host_model.strip() or self.llm_model_name.strip()
