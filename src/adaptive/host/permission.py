"""Whether the host lets a user have memories: the admin's switch and the user's permission."""

from __future__ import annotations

import time
from typing import Any, cast

from fastapi import HTTPException, Request

from adaptive.errors import MemoryUnavailable
from adaptive.host.faults import HostFaults
from adaptive.host.requests import process_state

# What the host answers when the switch is off, and when the permission is missing.
REFUSALS: dict[int, str] = {
    404: "memories are switched off in this Open WebUI; an administrator can switch them on",
    403: "you lack the permission to use memories; an administrator can grant it",
}
# A switch that is thrown takes effect within this time; asking costs two queries.
_TRUSTED_SECONDS = 20.0
_REMEMBERED_USERS = 5000


async def require_memories(request: Request, user: Any) -> None:
    """Pass if the user may have memories; the answer is trusted for 20 seconds.

    Raises:
        MemoryUnavailable: the switch is off or the permission is missing; the text says which.
    """
    known = cast(
        dict[str, tuple[float, int]],
        process_state(request).setdefault("memory_permissions", {}),
    )
    expires, status = known.get(user.id, (0.0, 0))
    now = time.monotonic()
    if expires < now:
        status = await _refusal_status(request, user)
        if len(known) >= _REMEMBERED_USERS:
            known.clear()
        known[user.id] = (now + _TRUSTED_SECONDS, status)
    if status:
        raise MemoryUnavailable(REFUSALS[status])


async def _refusal_status(request: Request, user: Any) -> int:
    """The HTTP status of the host's refusal, 0 where it does not refuse."""
    with HostFaults("asking for the memory permission"):
        try:
            from open_webui.routers.memories import check_memories_permission
        except ImportError:
            return await _refusal_status_of_0_9(request, user)
        try:
            await check_memories_permission(user)
        except HTTPException as error:
            if error.status_code in REFUSALS:
                return error.status_code
            raise
    return 0


async def _refusal_status_of_0_9(request: Request, user: Any) -> int:
    """Up to 0.9 the check stands in each router function, for admins too."""
    from open_webui.utils.access_control import has_permission

    config = request.app.state.config
    if not config.ENABLE_MEMORIES:
        return 404
    allowed = await has_permission(user.id, "features.memories", config.USER_PERMISSIONS)
    return 0 if allowed else 403
