"""One user's memory: what may be written into it, how it is changed, and taking changes back."""

# pyright: reportUnusedImport=false

from adaptive.memory.audit import (
    AuditEntry,
    AuditTable,
    ChangeKey,
    Step,
)
from adaptive.memory.erasure import (
    ErasureReport,
    Origin,
    bereft_originals,
    origin_ids,
    origin_of,
    period_of,
)
from adaptive.memory.gate import (
    Gate,
    Refused,
    draft_of,
)
from adaptive.memory.suggestion_table import (
    ASKED_REST_SECONDS,
    MOST_WAITING_SUGGESTIONS,
    KeepSuggestion,
    SuggestionTable,
    WaitingSuggestion,
)
from adaptive.memory.tables import (
    DAY_SECONDS,
    YEAR_SECONDS,
    AddedText,
    Addition,
    ArchivedMemory,
    ArchiveTable,
    ChatNotes,
    ChatNotesTable,
    ChatTable,
    CommandTable,
    CostTable,
    Entries,
    Entry,
    EntryKind,
    Leases,
    NumberTable,
    PlaceTable,
    ValueTable,
    read_as,
)
from adaptive.memory.turn_table import (
    LEASE_PROOF_SECONDS,
    QueuedTurn,
    TurnLease,
    TurnTable,
    next_batch,
    turn_lease,
)
from adaptive.memory.user_memory import (
    Eraser,
    Memories,
    UserMemory,
)
from adaptive.memory.writing import (
    ASKED,
    FORMER_CONTENT,
    NO_LONGER_TRUE,
    Held,
)
