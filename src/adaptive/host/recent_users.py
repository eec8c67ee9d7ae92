"""Who was here last, and has memories and wants them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from adaptive.host.faults import HostFaults
from adaptive.host.switched_off import memory_switched_off
from adaptive.host.uninterrupted import uninterrupted


@uninterrupted
async def recent_users(limit: int, since: int) -> tuple[Any, ...]:
    """Accounts with memories that were active at or after an epoch second, the last ones first.

    Raises:
        HostError: the host could not tell.
    """
    from open_webui.internal.db import get_async_db_context
    from open_webui.models.memories import Memory as Row
    from open_webui.models.users import User, UserModel

    query = (
        select(User)
        .where(User.last_active_at >= since, User.id.in_(select(Row.user_id)))
        .order_by(User.last_active_at.desc())
        .limit(limit)
    )
    with HostFaults("looking for recent users"):
        async with get_async_db_context() as session:
            found = (await session.execute(query)).scalars().all()
            accounts = [UserModel.model_validate(user) for user in found]
            return tuple(one for one in accounts if not memory_switched_off(one.model_dump()))
