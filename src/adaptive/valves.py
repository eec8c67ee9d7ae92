"""What an admin may set, for everybody.

The panel renders ``bool``, ``int``, ``float``, ``str`` and ``Literal`` well (host: the panel's
page), so there are no other types.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol, TypedDict

from pydantic import Field

from adaptive.conversation_valves import ConversationValves
from adaptive.lenient import valve_notes
from adaptive.recall_valves import PASSWORD_WIDGET

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
    """What the admin sets: recall, learning, privacy, conversation; then who makes vectors."""

    # Set once when the plug-in is loaded: the panel asks the class, which has no host to ask.
    model_catalogue: ClassVar[ModelCatalogue | None] = None

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
        json_schema_extra=valve_notes(_EMBED, "The endpoint asks for one.", input=PASSWORD_WIDGET),
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
