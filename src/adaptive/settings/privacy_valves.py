"""What an admin may set about what is learned and kept, and who may see it."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, cast

from pydantic import model_validator

from adaptive.core.model import CATEGORIES
from adaptive.settings.lenient import valve
from adaptive.settings.recall_valves import RecallValves

Confirmation = Literal["status", "message", "off"]
PruningStrategy = Literal["least_important", "least_recalled", "oldest"]
PiiRedaction = Literal["off", "store", "model", "all"]

_KINDS = (
    "email, phone, address, birth_date, coordinates, card, iban, national_id, ssn, passport, ip, "
    "mac, url_credentials, crypto_wallet"
)
# What an earlier release called the ways of pruning.
_FORMER_STRATEGIES = {"fifo": "oldest", "least_relevant": "least_recalled"}

_learn = partial(valve, "Learning")
_store = partial(valve, "Storage")
_privacy = partial(valve, "Privacy")


class PrivacyValves(RecallValves):
    """Recall first, then what is learned, how it is stored, and what is private."""

    memory_categories: str = _learn(
        ", ".join(CATEGORIES),
        f"The kinds of facts that are learned, separated by commas: {', '.join(CATEGORIES)}.",
    )
    memory_keep: str = _learn(
        "", "What else is worth remembering, in your own words, such as allergies."
    )
    blacklist_topics: str = _learn(
        "",
        "What must never be saved, separated by commas; the model is told so, and facts that "
        "contain one of the words are refused.",
    )
    min_confidence_threshold: float = _learn(
        0.5, "How sure of a fact the model must be, from 0 to 1, for it to be saved.", ge=0, le=1
    )
    memory_language: str = _learn(
        "", "The language of memories, such as `English`; empty for that of the message."
    )
    learn_from_api_calls: bool = _learn(
        False,
        "Learn from plain API calls, too, even though the words may be a program's (Open WebUI "
        "0.10 or later).",
    )
    check_outdated_memories: bool = _learn(
        True,
        "When something changes in a user's life, ask the model which other memories are no "
        "longer true, and end them.",
    )
    extraction_debounce_seconds: float = _learn(
        2.0,
        "How long to wait for another message in the same chat, in seconds, to learn from both "
        "at once.",
        ge=0,
        le=30,
    )
    max_extractions_per_hour: int = _learn(
        60,
        "The most model calls for learning per user and hour (0: no limit); nothing is learned "
        "beyond that, and the status says so.",
        ge=0,
        le=10_000,
    )
    confirmation: Confirmation = _learn(
        "status",
        "Where users see what was learned: above the answer (`status`), below it (`message`), or "
        "nowhere (`off`); failures are always shown.",
    )

    deduplicate_memories: bool = _store(
        True, "Save no fact twice, and update the memory that a new fact replaces."
    )
    similarity_threshold: float = _store(
        0.0,
        "How similar two facts must be to count as the same, from 0 to 1 (cosine); 0 works it "
        "out for your embedding model.",
        ge=0,
        le=1,
    )
    max_total_memories: int = _store(
        0,
        "The most memories a user may have (0: no limit); the rest move to an archive.",
        ge=0,
        le=1_000_000,
    )
    pruning_strategy: PruningStrategy = _store(
        "least_important", "Which memories move to the archive first."
    )
    enable_summarization_task: bool = _store(
        False,
        "Now and then, let the model replace a group of old, related memories by one; the "
        "originals move to the archive.",
    )

    pii_redaction: PiiRedaction = _privacy(
        "store",
        "Where personal data is replaced: in what is saved (`store`), in what learning sends to a "
        "model, too (`model`), in what the chat model gets, too (`all`), or nowhere (`off`); "
        "passwords and keys are never saved.",
    )
    mask_in_memories: str = _privacy(
        "crypto_wallet, ip, mac, iban, national_id, passport",
        "Kinds of personal data that memories keep only a part of, such as the last digits; there "
        f"are {_KINDS}.",
    )
    refuse_in_memories: str = _privacy(
        "card, ssn, url_credentials",
        "Kinds of personal data that keep a memory from being saved at all; what neither list "
        "names is kept in full.",
    )
    local_only_banks: str = _privacy(
        "",
        "Banks that only models on your own machines may see, separated by commas; those are "
        "Ollama's, and whatever `local_connections` lists.",
    )
    local_connections: str = _privacy(
        "",
        "Addresses of OpenAI-compatible connections on your own machines, separated by commas.",
    )

    @model_validator(mode="before")
    @classmethod
    def _stored_by_an_earlier_release(cls, saved: Any) -> Any:
        """Carry over what had a valve for each category or kind, or another name."""
        if not isinstance(saved, dict):
            return saved  # pyright: ignore[reportUnknownVariableType]
        known = cast(dict[str, Any], saved)
        known = {**known, **_carried_categories(known), **_carried_kinds(known)}
        former = known.get("pruning_strategy")
        if isinstance(former, str) and former in _FORMER_STRATEGIES:
            known["pruning_strategy"] = _FORMER_STRATEGIES[former]
        return known


def _carried_categories(saved: dict[str, Any]) -> dict[str, Any]:
    """Without the categories that ``enable_goal_memory`` and the like switch off."""
    if saved.get("memory_categories") is not None:
        return {}
    off = {name for name in CATEGORIES if _is_off(saved.get(f"enable_{name}_memory"))}
    kept = ", ".join(name for name in CATEGORIES if name not in off)
    return {"memory_categories": kept} if off else {}


def _is_off(value: object) -> bool:
    return str(value).strip().casefold() in ("false", "off", "no", "0")


def _carried_kinds(saved: dict[str, Any]) -> dict[str, Any]:
    """Both lists with what ``store_email`` and the like choose, unless one is saved itself."""
    names = ("mask_in_memories", "refuse_in_memories")
    if any(saved.get(name) is not None for name in names):
        return {}
    lists = [str(PrivacyValves.model_fields[name].default).split(", ") for name in names]
    for kind in _KINDS.split(", "):
        chosen = saved.get(f"store_{kind}")
        if chosen in ("keep", "mask", "refuse"):
            lists = [[one for one in listed if one != kind] for listed in lists]
            if chosen != "keep":
                lists[chosen == "refuse"].append(kind)
    return {name: ", ".join(listed) for name, listed in zip(names, lists, strict=True)}


def listed_kinds(valve: str) -> frozenset[str]:
    """The kinds that a list names, however they are spelled: "E-mail, IBAN"."""
    spelled = (one.strip().lower().replace("-", "").replace(" ", "_") for one in valve.split(","))
    return frozenset(spelled)
