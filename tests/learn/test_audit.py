"""The trail of changes holds no secret."""

from __future__ import annotations

from adaptive.learn.audit import AuditTrail
from adaptive.table_ports import AuditEntry
from tests.learn.storerooms import WrittenAudit

TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3


async def test_secrets_of_other_tools_stay_out() -> None:
    """A row with a secret that is changed or deleted leaves none in the trail."""
    audit = WrittenAudit()
    plain = AuditEntry("saved", "m-1", 7, "", "User likes tea.", "why", "c", "m")
    secret = AuditEntry("deleted", "m-2", 7, f"User's token is {TOKEN}.", TOKEN)
    await AuditTrail(audit).record("ada", [plain, secret], 7)
    assert audit.entries[0] == plain
    assert audit.entries[1].memory_id == "m-2"
    assert TOKEN not in repr(audit.entries)
