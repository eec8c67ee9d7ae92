"""Our tables in the host's database, each constructed once, every text in them sealed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from adaptive.conversation_ports import ChatNotesTable
from adaptive.host.archive_table import HostArchiveTable
from adaptive.host.audit_table import HostAuditTable
from adaptive.host.chat_notes_table import HostChatNotesTable
from adaptive.host.chat_table import HostChatTable
from adaptive.host.lease_table import HostLeaseTable
from adaptive.host.pending_table import HostPendingTable
from adaptive.host.sealed_tables import (
    SealedArchiveTable,
    SealedAuditTable,
    SealedChatTable,
    SealedPendingTable,
)
from adaptive.host.suggestion_table import HostSuggestionTable
from adaptive.host.usage_table import HostUsageTable
from adaptive.host.vector_table import HostVectorTable
from adaptive.privacy.sealing import Sealer
from adaptive.suggestion_ports import SuggestionTable
from adaptive.table_ports import (
    ArchiveTable,
    AuditTable,
    Leases,
    PendingTable,
    RetainedChats,
    UsageTable,
)


@dataclass(frozen=True, slots=True)
class HostTables:
    """What an instance of the plug-in keeps in the host's database, for all users and workers.

    Nothing is asked of the database before a table is used.
    """

    vectors: HostVectorTable
    usage: UsageTable
    pending: PendingTable
    leases: Leases
    archive: ArchiveTable
    audit: AuditTable
    suggestions: SuggestionTable
    chats: RetainedChats
    chat_notes: ChatNotesTable

    @classmethod
    def sealed(cls, sealer: Sealer) -> Self:
        """The tables, their texts sealed."""
        return cls(
            HostVectorTable(),
            HostUsageTable(),
            SealedPendingTable(HostPendingTable(), sealer),
            HostLeaseTable(),
            SealedArchiveTable(HostArchiveTable(), sealer),
            SealedAuditTable(HostAuditTable(), sealer),
            HostSuggestionTable(sealer),
            SealedChatTable(HostChatTable(), sealer),
            HostChatNotesTable(sealer),
        )
