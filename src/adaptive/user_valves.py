"""What each user may set for themselves; it only narrows what the admin allows."""

from __future__ import annotations

from pydantic import Field

from adaptive.learn_valves import SaveMode
from adaptive.lenient import LenientModel, valve_notes


class UserValves(LenientModel):
    """What each user sets; it may only narrow what the admin allows."""

    enabled: bool = Field(
        default=True,
        description="Use memory in my chats at all.",
        json_schema_extra=valve_notes(
            "Your own memory", "You want to chat without being remembered."
        ),
    )
    show_memories: bool = Field(
        default=True,
        description="Let the assistant see my memories.",
        json_schema_extra=valve_notes(
            "Your own memory", "You want facts to be kept, but not used now."
        ),
    )
    save_mode: SaveMode = Field(
        default="auto",
        description="`auto` learns from my messages, `off` does not.",
        json_schema_extra=valve_notes(
            "Your own memory", "You keep your memories by hand in Settings."
        ),
    )
    show_status: bool = Field(
        default=True,
        description="Show with the answer what memory did.",
        json_schema_extra=valve_notes("Your own memory", "You find the line distracting."),
    )
    timezone: str = Field(
        default="",
        description="My time zone, as `Europe/Lisbon`; empty: the browser's.",
        json_schema_extra=valve_notes(
            "Your own memory", "Dates in your memories are off by a day."
        ),
    )
