"""What an admin may set for everybody, group by group, and what each user may set.

The panel renders ``bool``, ``int``, ``float``, ``str`` and ``Literal`` well (host: the panel's
page), so there are no other types.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from adaptive.core.model import CATEGORIES
from adaptive.settings.lenient import FIRST_GROUP, LenientModel, valve

SaveMode = Literal["auto", "suggest", "off"]
HistoryReach = Literal["off", "chat", "all"]
MemoryFormat = Literal["bullet", "numbered", "paragraph", "table"]
Proportion = Annotated[float, Field(ge=0, le=1)]
PiiRedaction = Literal["off", "store", "model", "all"]

# The kinds of personal data, and what else they are called.
PERSONAL_KINDS = MappingProxyType(
    {
        "email": "mail, email address, mail address",
        "phone": "telephone, phone number, telephone number, mobile, mobile number, cell phone",
        "address": "street address, postal address, home address",
        "birth_date": "date of birth, birthday, birthdate, dob",
        "coordinates": "coordinate, gps, geolocation, location, latitude, longitude",
        "card": "credit card, debit card, payment card, bank card, card number, credit card number",
        "iban": "bank account, account number, bank account number",
        "national_id": "id card, identity card, national identity, identification number, "
        "personal id, tax id, tax number",
        "ssn": "social security, social security number",
        "passport": "passport number",
        "ip": "ip address, ip number",
        "mac": "mac address, hardware address",
        "url_credentials": "url password, url login, credentials, login in url, password",
        "crypto_wallet": "wallet, crypto, crypto address, wallet address, bitcoin",
    }
)

_PASSWORD = {"type": "password"}
# The host calls the method of that name on the class when an admin opens the panel, and takes a
# plain text field where it can't (host: utils/plugin.py, resolve_valves_schema_options).
_MODELS = {"type": "select", "options": "model_choices"}

_first = partial(valve, FIRST_GROUP)
_general = partial(valve, "General")
_model = partial(valve, "Model")
_vectors = partial(valve, "Embedding")
_recall = partial(valve, "Recall")
_learn = partial(valve, "Learning")
_store = partial(valve, "Storage")
_privacy = partial(valve, "Privacy")
_before = partial(valve, "Before the answer")
_after = partial(valve, "After the answer")
_history = partial(valve, "Past conversation")


class Valves(LenientModel):
    """What the admin sets; each user may narrow some of it."""

    # Set once when the plug-in is loaded: the panel asks the class, which has no host to ask. It
    # brings value and label of each model, never raises, and waits for nothing.
    model_catalogue: ClassVar[Callable[..., list[dict[str, str]]] | None] = (
        None
    )

    llm_host_model: str = _first(
        "",
        "The model that learns from what users say; Automatic is the task model of this "
        "Open WebUI, or else the model of the chat.",
        widget=_MODELS,
    )
    show_memories: bool = _first(
        True,
        "Give the chat model the memories that fit a message; off, memory only learns.",
    )
    save_mode: SaveMode = _first(
        "auto",
        "What is saved of what users say about themselves: everything worth keeping "
        "(`auto`), only what they agree to (`suggest`), or nothing (`off`).",
    )
    allowed_memory_banks: str = _first(
        "General, Personal, Work",
        "The banks that memories are sorted into, separated by commas; what fits none of "
        "them goes to the first.",
    )
    show_status: bool = _first(
        True,
        "Show with each answer what was recalled and saved, or why nothing was; what a "
        "user asks of the memory in so many words is answered in any case.",
    )
    history_recall: HistoryReach = _first(
        "all",
        "How much past conversation users may have recalled: none (`off`), earlier "
        "messages of the same `chat`, or `all` their chats.",
    )

    priority: Annotated[int, Field(ge=-1000, le=1000)] = _general(
        0, "The order among filters; the lowest number runs first."
    )
    inlet_timeout_seconds: Annotated[float, Field(ge=0.1, le=60)] = _general(
        3.0,
        "The longest a message waits for its memories, in seconds, before it is answered "
        "without them.",
    )
    timezone: str = _general(
        "UTC",
        "The time zone for dates where the browser sends none, such as `Europe/Lisbon`.",
    )
    inject_in_temporary_chats: bool = _general(
        False,
        "Use memories in temporary chats, too; nothing is ever learned from those.",
    )
    native_memory: Literal["replace", "keep"] = _general(
        "replace",
        "What happens to Open WebUI's own memory: `replace` turns it off wherever this "
        "filter is at work, `keep` leaves it on and adds only what it does not.",
    )

    llm_provider_type: Literal["host", "openai_compatible", "ollama"] = _model(
        "host",
        "Where the learning model runs: in this Open WebUI (`host`), at an "
        "OpenAI-compatible endpoint such as OpenRouter, or in Ollama.",
    )
    llm_model_name: str = _model(
        "",
        "The model's name at the endpoint or in Ollama; with `host`, the id of a model "
        "that the list above does not show.",
    )
    llm_api_endpoint_url: str = _model(
        "",
        "The address of the endpoint, such as `https://openrouter.ai/api/v1` or "
        "`http://localhost:11434`.",
    )
    llm_api_key: str = _model(
        "", "The key for the endpoint.", widget=_PASSWORD
    )
    llm_timeout_seconds: Annotated[float, Field(ge=1, le=600)] = _model(
        60.0,
        "The longest that learning from one message may take, in seconds; the answer "
        "never waits for it.",
    )

    embedding_provider_type: Literal["host", "local", "openai_compatible"] = (
        _vectors(
            "host",
            "What compares texts by meaning: Open WebUI's own embedding model (`host`), a "
            "`local` SentenceTransformers model, or an OpenAI-compatible endpoint.",
        )
    )
    embedding_model_name: str = _vectors(
        "",
        "The name or folder of the local model (empty: all-MiniLM-L6-v2), or the name of "
        "the endpoint's model.",
    )
    embedding_api_url: str = _vectors(
        "", "The address of the endpoint, such as `https://api.openai.com/v1`."
    )
    embedding_api_key: str = _vectors(
        "", "The key for the endpoint.", widget=_PASSWORD
    )

    related_memories_n: Annotated[int, Field(ge=1, le=50)] = _recall(
        15,
        "The most memories recalled for one message, not counting core facts about the "
        "user; as many come as stand out, in a small store one or two.",
    )
    max_injected_tokens: Annotated[int, Field(ge=50, le=20000)] = _recall(
        1500,
        "The most tokens that memories may take up in a prompt; none is ever cut in half.",
    )
    vector_similarity_threshold: Proportion = _recall(
        0.0,
        "How similar to the message a memory must be, from 0 to 1 (cosine); 0 works it "
        "out for your embedding model.",
    )
    relevance_threshold: Proportion = _recall(
        0.0,
        "How relevant a memory must be, from 0 to 1: as scored by a model with "
        "`use_llm_for_relevance`, otherwise by similarity; 0 picks a value that fits.",
    )
    memory_format: MemoryFormat = _recall(
        "bullet", "How memories are laid out in the prompt."
    )
    show_sources: bool = _recall(
        False,
        "List the recalled memories and their scores as sources of the answer; needs "
        "`show_status`.",
    )
    use_llm_for_relevance: bool = _recall(
        False,
        "Let a model decide which memories fit before a message is answered; more "
        "precise, but slower whenever that is not obvious.",
    )
    top_n_memories: Annotated[int, Field(ge=1, le=200)] = _recall(
        20, "How many of the nearest memories that model is shown."
    )
    memory_relevance_prompt: str = _recall(
        "", "Your own prompt for that model, in place of the built-in one."
    )

    memory_categories: str = _learn(
        ", ".join(CATEGORIES),
        f"The kinds of facts that are learned, separated by commas: {', '.join(CATEGORIES)}.",
    )
    memory_keep: str = _learn(
        "",
        "What else is worth remembering, in your own words, such as allergies.",
    )
    blacklist_topics: str = _learn(
        "",
        "What must never be saved, separated by commas; the model is told so, and whatever "
        "contains a form of one of the words is refused, whoever saves it.",
    )
    min_confidence_threshold: Proportion = _learn(
        0.5,
        "How sure of a fact the model must be, from 0 to 1, for it to be saved.",
    )
    memory_language: str = _learn(
        "",
        "The language of memories, such as `English`; empty for that of the message.",
    )
    learn_from_api_calls: bool = _learn(
        False,
        "Learn from plain API calls, too, even though the words may be a program's (Open "
        "WebUI 0.10 or later).",
    )
    check_outdated_memories: bool = _learn(
        True,
        "When something changes in a user's life, ask the model which other memories are "
        "no longer true, and end them.",
    )
    extraction_debounce_seconds: Annotated[float, Field(ge=0, le=30)] = _learn(
        2.0,
        "How long to wait for another message in the same chat, in seconds, to learn "
        "from both at once.",
    )
    max_extractions_per_hour: Annotated[int, Field(ge=0, le=10_000)] = _learn(
        60,
        "The most model calls for learning per user and hour (0: no limit); nothing is "
        "learned beyond that, and the status says so.",
    )
    confirmation: Literal["status", "message", "off"] = _learn(
        "status",
        "Where users see what was learned: above the answer (`status`), below it "
        "(`message`), or nowhere (`off`); failures are told above it unless "
        "`show_status` is off.",
    )

    deduplicate_memories: bool = _store(
        True,
        "Save no fact twice, and update the memory that a new fact replaces.",
    )
    similarity_threshold: Proportion = _store(
        0.0,
        "How similar two facts must be to count as the same, from 0 to 1 (cosine); 0 "
        "works it out for your embedding model.",
    )
    max_total_memories: Annotated[int, Field(ge=0, le=1_000_000)] = _store(
        0,
        "The most memories a user may have (0: no limit); the rest move to an archive.",
    )
    pruning_strategy: Literal[
        "least_important", "least_recalled", "oldest"
    ] = _store("least_important", "Which memories move to the archive first.")
    enable_summarization_task: bool = _store(
        False,
        "Now and then, let the model replace a group of old, related memories by one; the "
        "originals move to the archive.",
    )

    pii_redaction: PiiRedaction = _privacy(
        "store",
        "Where personal data is replaced: in what is saved (`store`), in what learning "
        "sends to a model, too (`model`), in what the chat model gets, too (`all`), or "
        "nowhere (`off`); passwords and keys are never saved.",
    )
    mask_in_memories: str = _privacy(
        "crypto_wallet, ip, mac, iban, national_id, passport",
        "Kinds of personal data that memories keep only a part of, such as the last digits; there "
        f"are {', '.join(PERSONAL_KINDS)}. With a name that is not known all are masked.",
    )
    refuse_in_memories: str = _privacy(
        "card, ssn, url_credentials",
        "Kinds of personal data that keep a memory from being saved at all; what neither "
        "list names is kept in full. With a name that is not known all are refused.",
    )
    local_only_banks: str = _privacy(
        "",
        "Banks that only models on your own machines may see, separated by commas; those "
        "are Ollama's, and whatever `local_connections` lists. With a bank that is not "
        "allowed above it holds for every memory.",
    )
    local_connections: str = _privacy(
        "",
        "Addresses of OpenAI-compatible connections on your own machines, separated by commas.",
    )

    enable_preprocessing: bool = _before(
        False,
        "Ask a model about each message before it is answered: what to search for, its "
        "language, a title for the chat, and whether it could do harm.",
    )
    harmful_message: Literal["off", "note", "warn"] = _before(
        "note",
        "What is done about a message that seems harmful: `note` it in the log, `warn` "
        "the chat model, too, or nothing (`off`); it is answered in any case.",
    )
    enable_postprocessing: bool = _after(
        False,
        "Ask a model about each answer in the background: a summary and tags for the "
        "chat, what to ask next, and more facts to learn.",
    )
    clean_answers: bool = _after(
        True,
        "Remove stray marks of a model, such as `<|im_end|>`, and endlessly repeated "
        "JSON from answers.",
    )
    validate_links: bool = _after(
        False,
        "Check the links in answers and turn broken ones into searches; this server then "
        "visits the linked sites.",
    )
    history_recall_default: HistoryReach = _history(
        "off",
        "How much is recalled for users who have not chosen for themselves.",
    )
    similar_past_chats: Annotated[int, Field(ge=0, le=10)] = _history(
        3, "How many former chats on the same subject the model is shown."
    )
    enable_history_summary: bool = _history(
        False,
        "Let a model summarise finished topics, and what was recalled when it is too "
        "long for the prompt.",
    )
    max_context_tokens: Annotated[int, Field(ge=0, le=10_000_000)] = _history(
        0,
        "The longest request to the chat model, in tokens (0: no limit); older turns "
        "give way to a summary, unless Open WebUI compacts chats itself.",
    )

    @classmethod
    def model_choices(cls) -> list[dict[str, str]]:
        """Choices for ``llm_host_model``; the first one is none."""
        known = cls.model_catalogue() if cls.model_catalogue else []
        return [{"value": "", "label": "Automatic"}, *known]

    @property
    def host_model(self) -> str:
        """Id of the host's model that the admin chose, empty where none is."""
        return self.llm_host_model.strip() or self.llm_model_name.strip()


class UserValves(LenientModel):
    """What each user sets; it may only narrow what the admin allows."""

    enabled: bool = _first(True, "Use memory in my chats at all.")
    show_memories: bool = _first(
        True, "Let the assistant use what it remembers about me."
    )
    save_mode: SaveMode = _first(
        "auto",
        "Learn from my messages (`auto`), ask me before anything is learned (`suggest`), or save "
        "nothing (`off`).",
    )
    history_recall: Literal["default", "off", "chat", "all"] = _first(
        "default",
        "Recall what was said earlier in the same `chat`, in `all` my chats, or not at all "
        "(`off`); `default` is what the admin has chosen.",
    )
    index_past_chats: bool = _first(
        False,
        "With `all`: also search the chats I had before I switched this on.",
    )
    show_status: bool = _first(True, "Show with each answer what memory did.")
    timezone: str = _first(
        "", "My time zone, such as `Europe/Lisbon`; empty: the browser's."
    )
