"""What each user may set for themselves; it only narrows what the admin allows."""

from __future__ import annotations

from functools import partial
from typing import Literal

from adaptive.settings.lenient import FIRST_GROUP, LenientModel, valve
from adaptive.settings.valves import SaveMode

_own = partial(valve, FIRST_GROUP)


class UserValves(LenientModel):
    """What each user sets; it may only narrow what the admin allows."""

    enabled: bool = _own(True, "Use memory in my chats at all.")
    show_memories: bool = _own(True, "Let the assistant use what it remembers about me.")
    save_mode: SaveMode = _own(
        "auto",
        "Learn from my messages (`auto`), ask me before anything is saved (`suggest`), or learn "
        "nothing (`off`).",
    )
    history_recall: Literal["default", "off", "chat", "all"] = _own(
        "default",
        "Recall what was said earlier in the same `chat`, in `all` my chats, or not at all "
        "(`off`); `default` is what the admin has chosen.",
    )
    index_past_chats: bool = _own(
        False, "With `all`: also search the chats I had before I switched this on."
    )
    show_status: bool = _own(True, "Show with each answer what memory did.")
    timezone: str = _own("", "My time zone, such as `Europe/Lisbon`; empty: the browser's.")
