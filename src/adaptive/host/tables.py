"""Our tables in the host's database, each constructed once, every text in them sealed."""

from __future__ import annotations

from adaptive.core.kept import (
    ArchiveTable,
    AuditTable,
    ChatNotesTable,
    ChatTable,
    SuggestionTable,
    UsageTable,
)
from adaptive.host.entries import SealedEntries
from adaptive.host.own_table import HostLeaseTable, Sessions
from adaptive.host.pending_table import HostPendingTable
from adaptive.host.vector_table import HostVectorTable
from adaptive.privacy.sealing import Sealer

_LONGEST_SECRET = 4096


class HostTables:
    """What an instance of the plug-in keeps in the host's database, for all users and workers.

    Nothing is asked of the database before a table is used; ``sessions`` opens another one.
    """

    def __init__(self, sealer: Sealer, sessions: Sessions | None = None) -> None:
        entries = SealedEntries(sealer, sessions)
        self.vectors = HostVectorTable(sessions)
        self.pending = HostPendingTable(sealer, sessions)
        self.leases = HostLeaseTable(sessions)
        self.archive, self.audit = ArchiveTable(entries), AuditTable(entries)
        self.usage, self.suggestions = UsageTable(entries), SuggestionTable(entries)
        self.chats, self.chat_notes = ChatTable(entries), ChatNotesTable(entries)


def host_secret() -> str:
    """The host's ``WEBUI_SECRET_KEY`` as this process was started with it, empty where it has none.

    The host takes it from the environment, where its start scripts and ``open-webui serve`` put
    what they have generated into a file (host: env.py, __init__.py, start.sh). With sign-in it
    refuses to start without one, so only a host without sign-in may have none.
    """
    try:
        from open_webui.env import WEBUI_SECRET_KEY
    except ImportError:
        return ""
    # One start script reads the end of the file's last line, too.
    return str(WEBUI_SECRET_KEY or "").strip()[:_LONGEST_SECRET]
