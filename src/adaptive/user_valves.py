"""What each user may set for themselves; it only narrows what the admin allows."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adaptive.learn_valves import SaveMode
from adaptive.lenient import LenientModel, valve_notes

HistoryChoice = Literal["default", "off", "chat", "all"]


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
        description=(
            "`auto` learns from my messages, `suggest` asks me before it saves anything, `off` "
            "learns nothing."
        ),
        json_schema_extra=valve_notes(
            "Your own memory", "You want to be asked, or keep your memories by hand in Settings."
        ),
    )
    history_recall: HistoryChoice = Field(
        default="default",
        description=(
            "Recall what was said before: in this `chat` beyond what the assistant still sees, in "
            "`all` my chats, or not at all (`off`); `default`: as the admin has set it."
        ),
        json_schema_extra=valve_notes(
            "Your own memory", "The assistant should know what you talked about earlier."
        ),
    )
    index_past_chats: bool = Field(
        default=False,
        description="With `all`: also index the chats I had before, in the background, once.",
        json_schema_extra=valve_notes(
            "Your own memory", "You have just switched recall of past conversation on."
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
