"""What an admin may set, for everybody.

The panel renders ``bool``, ``int``, ``float``, ``str`` and ``Literal`` well (host: the panel's
page), so there are no other types.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Literal, Protocol, TypedDict

from adaptive.settings.lenient import valve
from adaptive.settings.privacy_valves import PrivacyValves
from adaptive.settings.recall_valves import HistoryReach

HarmfulMode = Literal["off", "note", "warn"]

_before = partial(valve, "Before the answer")
_after = partial(valve, "After the answer")
_history = partial(valve, "Past conversation")


class ModelChoice(TypedDict):
    """One entry of a list in the panel."""

    value: str
    label: str


class ModelCatalogue(Protocol):
    """Knows the models that an admin may choose from; never raises, and waits for nothing."""

    def choices(self) -> list[ModelChoice]:
        """The models, in the order in which they are to be shown."""
        ...


class Valves(PrivacyValves):
    """What the admin sets: recall, learning, privacy; then what is done around each answer."""

    # Set once when the plug-in is loaded: the panel asks the class, which has no host to ask.
    model_catalogue: ClassVar[ModelCatalogue | None] = None

    enable_preprocessing: bool = _before(
        False,
        "Ask a model about each message before it is answered: what to search for, its language, "
        "a title for the chat, and whether it could do harm.",
    )
    harmful_message: HarmfulMode = _before(
        "note",
        "What is done about a message that seems harmful: `note` it in the log, `warn` the chat "
        "model, too, or nothing (`off`); it is answered in any case.",
    )
    enable_postprocessing: bool = _after(
        False,
        "Ask a model about each answer in the background: a summary and tags for the chat, what "
        "to ask next, and more facts to learn.",
    )
    clean_answers: bool = _after(
        True,
        "Remove stray marks of a model, such as `<|im_end|>`, and endlessly repeated JSON from "
        "answers.",
    )
    validate_links: bool = _after(
        False,
        "Check the links in answers and turn broken ones into searches; this server then visits "
        "the linked sites.",
    )
    history_recall_default: HistoryReach = _history(
        "off", "How much is recalled for users who have not chosen for themselves."
    )
    similar_past_chats: int = _history(
        3, "How many former chats on the same subject the model is shown.", ge=0, le=10
    )
    enable_history_summary: bool = _history(
        False,
        "Let a model summarise finished topics, and what was recalled when it is too long for "
        "the prompt.",
    )
    max_context_tokens: int = _history(
        0,
        "The longest request to the chat model, in tokens (0: no limit); older turns give way to "
        "a summary, unless Open WebUI compacts chats itself.",
        ge=0,
        le=10_000_000,
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
