"""What an admin may set about personal data and about what may leave the server."""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic import Field, model_validator

from adaptive.learn_valves import LearnValves
from adaptive.lenient import valve_notes

PiiRedaction = Literal["off", "store", "model", "all"]

_PRIVACY = "Privacy"
_KINDS = (
    "email, phone, address, birth_date, coordinates, card, iban, national_id, ssn, passport, ip, "
    "mac, url_credentials, crypto_wallet"
)


class PrivacyValves(LearnValves):
    """Learning first, then what of a user may be kept, for how long, and who may see it."""

    pii_redaction: PiiRedaction = Field(
        default="store",
        description=(
            "Where personal data is replaced. `store`: in what is saved, kind by kind as set "
            "below; `model`: also in what the plug-in asks models; `all`: also in what the chat "
            "model gets, whose answer gets the values back; `off`: nowhere. Passwords and keys are "
            "never saved or sent, whatever is set here."
        ),
        json_schema_extra=valve_notes(
            _PRIVACY,
            "The model that learns runs at somebody else's (`model`), or so do the chat models "
            "(`all`).",
        ),
    )
    local_only_banks: str = Field(
        default="",
        description=(
            "Banks, separated by commas, whose memories only local models may see: those of "
            "Ollama and of `local_connections`."
        ),
        json_schema_extra=valve_notes(
            _PRIVACY, "Some memories must not leave your own machines, as those on health."
        ),
    )
    local_connections: str = Field(
        default="",
        description=(
            "Addresses of OpenAI-compatible connections, separated by commas, that count as local."
        ),
        json_schema_extra=valve_notes(
            _PRIVACY, "You set `local_only_banks` and run llama.cpp, vLLM or the like yourself."
        ),
    )
    retained_chats: int = Field(
        default=3,
        ge=0,
        le=1000,
        description=(
            "For so many chats of a user it is kept (encrypted) which memories stand in the "
            "prompt, so that the prompt stays the same from turn to turn. 0: only in the process."
        ),
        json_schema_extra=valve_notes(
            _PRIVACY, "People go back and forth between many chats (raise)."
        ),
    )
    retained_chat_hours: float = Field(
        default=24.0,
        ge=0,
        le=8760,
        description=(
            "After so many hours without a message in a chat it is no longer kept which memories "
            "stand in its prompt."
        ),
        json_schema_extra=valve_notes(_PRIVACY, "Nothing of a chat should outlive the day."),
    )
    mask_in_memories: str = Field(
        default="crypto_wallet, ip, mac, iban, national_id, passport",
        description=(
            "Kinds of personal data, separated by commas, of which a memory keeps only what tells "
            f"them apart, as the last digits. Kinds: {_KINDS}. What neither list names is kept."
        ),
        json_schema_extra=valve_notes(
            _PRIVACY, "More must not be kept in full, or your users need some in full."
        ),
    )
    refuse_in_memories: str = Field(
        default="card, ssn, url_credentials",
        description="Kinds, of the same, with which a memory is not saved at all.",
        json_schema_extra=valve_notes(
            _PRIVACY, "Nothing of some kinds may be kept, or masking them is enough."
        ),
    )

    @model_validator(mode="before")
    @classmethod
    def _stored_kind_by_kind(cls, saved: Any) -> Any:
        """Earlier releases had a valve for each kind: what an admin had set there is carried over.

        Only where the two lists are not saved themselves.
        """
        names = ("mask_in_memories", "refuse_in_memories")
        if not isinstance(saved, dict) or any(name in saved for name in names):
            return saved  # pyright: ignore[reportUnknownVariableType]
        known = cast(dict[str, Any], saved)
        lists = [str(cls.model_fields[name].default).split(", ") for name in names]
        for name, chosen in known.items():
            kind = str(name).removeprefix("store_")
            if kind != name and chosen in ("keep", "mask", "refuse") and kind in _KINDS.split(", "):
                lists = [[one for one in listed if one != kind] for listed in lists]
                if chosen != "keep":
                    lists[chosen == "refuse"].append(kind)
        return {**known, **{name: ", ".join(one) for name, one in zip(names, lists, strict=True)}}


def listed_kinds(valve: str) -> frozenset[str]:
    """The kinds that a list names, however they are spelled: "E-mail, IBAN"."""
    spelled = (one.strip().lower().replace("-", "").replace(" ", "_") for one in valve.split(","))
    return frozenset(spelled)
