"""The user's own switch in the host: Settings > Personalization > Memory.

A switch that nobody has touched is not off, whatever the page of a release makes of it.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from adaptive.core.errors import HostError, TablesUnavailable
from adaptive.core.shapes import mapping
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.host.own_table import HostLeaseTable
from adaptive.settings.hook import Hook

log_switched_off = logging.getLogger("adaptive_memory.host")

SWITCHED_OFF = (
    "Memory is off in your settings (Settings > Personalization > Memory), so nothing is recalled "
    "or saved."
)
_FOR_GOOD_SECONDS = 100 * 365 * 24 * 3600.0
# The host ends the turn first: what follows the outlet is what its user waits for.
_TOLD_AFTER_SECONDS = 0.1


def memory_switch(user: Mapping[str, Any]) -> bool | None:
    """How the switch stands, ``None`` where it was never touched.

    A hook is handed a dump of the account as the host has just read it from its database for the
    request (host: utils/auth.py, get_current_user).
    """
    stands = mapping(mapping(user.get("settings")).get("ui")).get("memory")
    return stands if isinstance(stands, bool) else None


def memory_switched_off(user: Mapping[str, Any]) -> bool:
    """Whether the user whose account a hook was handed wants no memory."""
    return memory_switch(user) is False


@uninterrupted
async def wants_memory(user_id: str) -> bool:
    """Whether a user's switch is not off by now: for work that goes on behind a turn.

    Where the host can't tell, it is as it was for the turn, or there would be no such work.
    """
    try:
        with HostFaults("reading a user's settings"):
            from open_webui.internal.db import get_async_db_context
            from open_webui.models.users import User

            async with get_async_db_context() as session:
                # The whole account would bring its picture along.
                query = select(User.settings).where(User.id == user_id)
                settings = (await session.execute(query)).scalar()
    except HostError as error:
        log_switched_off.debug("%s", error)
        return True
    return not memory_switched_off({"settings": settings})


async def see_switch(
    hook: Hook, user: Mapping[str, Any], writing: asyncio.Semaphore, table: HostLeaseTable
) -> None:
    """Tell a user who has switched memory off that nothing is remembered, once until it is on.

    Who was told stands in the table of leases, as one that does not end: of two workers or tabs
    one gets it. It goes when memory is switched on, or everything about the user is erased.
    ``writing`` is held while the line is shown: the host stores it with the chat.
    """
    switch, name = memory_switch(user), f"switched_off:{hook.user_id}"
    paged = hook.told_kind in ("saved", "temporary") and hook.has_page
    try:
        if switch:
            await table.drop(name)
        elif switch is False and paged and hook.settings.show_status:
            await asyncio.sleep(_TOLD_AFTER_SECONDS)
            owner, now = uuid.uuid4().hex, time.time()
            if await table.acquire(name, owner, now, _FOR_GOOD_SECONDS):
                async with writing:
                    await hook.notifier.status(SWITCHED_OFF)
    except TablesUnavailable as error:
        log_switched_off.info("a user is told another time that memory is off: %s", error)
