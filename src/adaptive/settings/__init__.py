"""The valves of the panel, a person's own choices, and both merged for one hook."""

# pyright: reportUnusedImport=false

from adaptive.settings.hook import (
    COMMANDED_KINDS,
    KINDS_AFTER_COMMANDS,
    Dialog,
    Hook,
    PageQuestion,
    Report,
    StatusLines,
    may_be_given_memories,
    may_be_learned_from,
)
from adaptive.settings.merged import (
    NOTHING_HIDDEN,
    HiddenMemories,
    Settings,
)
from adaptive.settings.valves import (
    PERSONAL_KINDS,
    MemoryFormat,
    UserValves,
    Valves,
)
