"""What an admin may set about personal data and about what may leave the server."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adaptive.learn_valves import LearnValves
from adaptive.lenient import valve_notes

PiiRedaction = Literal["off", "store", "model", "all"]
StoredForm = Literal["keep", "mask", "refuse"]

_PRIVACY = "Privacy"
_PERSONAL = "Personal data in memories"
_STORED = "`keep`, `mask` (only what tells it apart from others), or `refuse` the memory."


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
    store_email: StoredForm = Field(
        default="keep",
        description=f"E-mail addresses: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "They must not be kept in full."),
    )
    store_phone: StoredForm = Field(
        default="keep",
        description=f"Telephone numbers: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "They must not be kept in full."),
    )
    store_address: StoredForm = Field(
        default="keep",
        description=f"Street addresses: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "They must not be kept in full."),
    )
    store_birth_date: StoredForm = Field(
        default="keep",
        description=f"Dates of birth: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "They must not be kept in full."),
    )
    store_coordinates: StoredForm = Field(
        default="keep",
        description=f"Coordinates of places: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "They must not be kept in full."),
    )
    store_crypto_wallet: StoredForm = Field(
        default="mask",
        description=f"Addresses of crypto wallets: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "Your users need them in full (`keep`)."),
    )
    store_ip: StoredForm = Field(
        default="mask",
        description=f"IP addresses: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "Your users manage networks (`keep`)."),
    )
    store_mac: StoredForm = Field(
        default="mask",
        description=f"Hardware addresses of network cards: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "Your users manage networks (`keep`)."),
    )
    store_iban: StoredForm = Field(
        default="mask",
        description=f"Bank accounts (IBAN): {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "Your users need them in full (`keep`)."),
    )
    store_national_id: StoredForm = Field(
        default="mask",
        description=f"National identity and tax numbers: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "Nothing of them may be kept (`refuse`)."),
    )
    store_passport: StoredForm = Field(
        default="mask",
        description=f"Passport numbers: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "Nothing of them may be kept (`refuse`)."),
    )
    store_card: StoredForm = Field(
        default="refuse",
        description=f"Payment cards: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "Their last digits are of use (`mask`)."),
    )
    store_ssn: StoredForm = Field(
        default="refuse",
        description=f"US social security numbers: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "Their last digits are of use (`mask`)."),
    )
    store_url_credentials: StoredForm = Field(
        default="refuse",
        description=f"Addresses of pages with a password in them: {_STORED}",
        json_schema_extra=valve_notes(_PERSONAL, "The page's name is of use (`mask`)."),
    )
