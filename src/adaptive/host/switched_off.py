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

from adaptive.errors import HostError, TablesUnavailable
from adaptive.host.faults import HostFaults
from adaptive.host.hook import Hook
from adaptive.host.lease_table import HostLeaseTable
from adaptive.host.uninterrupted import uninterrupted
from adaptive.shapes import mapping

log_switched_off = logging.getLogger("adaptive_memory.host")

SWITCHED_OFF = (
    "Memory is off in your settings (Settings > Personalization > Memory), so nothing is recalled "
    "or saved."
)
_FOR_GOOD_SECONDS = 100 * 365 * 24 * 3600.0
# The host ends the turn first: its work after the outlet is what the user still waits for.
_SWITCH_TOLD_AFTER_SECONDS = 0.1


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


async def wants_memory(user_id: str) -> bool:
    """Whether a user's switch is not off by now: for work that goes on behind a turn.

    Where the host can't tell, it is as it was for the turn, or there would be no such work.
    """
    try:
        return not memory_switched_off({"settings": await _stored_settings(user_id)})
    except HostError as error:
        log_switched_off.debug("%s", error)
        return True


@uninterrupted
async def _stored_settings(user_id: str) -> Any:
    """A user's settings as they are stored; the whole account would bring its picture along."""
    with HostFaults("reading a user's settings"):
        from open_webui.internal.db import get_async_db_context
        from open_webui.models.users import User

        async with get_async_db_context() as session:
            query = select(User.settings).where(User.id == user_id)
            return (await session.execute(query)).scalar()


class SwitchNotices:
    """Tells who has switched memory off that nothing is remembered, once until it is on again.

    Who was told stands in the table of leases, as one that does not end: of two workers or tabs
    one gets it. It goes when memory is switched on, or everything about the user is erased.
    """

    def __init__(self, table: HostLeaseTable | None = None) -> None:
        self._table = table or HostLeaseTable()

    async def see(self, hook: Hook, writing: asyncio.Semaphore) -> None:
        """Tell the user of a hook, or note that memory is on again.

        ``writing`` is held while the line is shown: the host stores it with the chat.
        """
        switch, name = memory_switch(hook.user), f"switched_off:{hook.user_id}"
        try:
            if switch:
                await self._table.drop(name)
            elif switch is False and _is_shown(hook):
                await asyncio.sleep(_SWITCH_TOLD_AFTER_SECONDS)
                if await self._table.acquire(
                    name, uuid.uuid4().hex, time.time(), _FOR_GOOD_SECONDS
                ):
                    async with writing:
                        await hook.notifier.status(SWITCHED_OFF)
        except TablesUnavailable as error:
            log_switched_off.info("a user is told another time that memory is off: %s", error)


def _is_shown(hook: Hook) -> bool:
    """Whether there is a page that shows a line, and its user wants one."""
    paged = hook.told_kind in ("saved", "temporary") and hook.emitter is not None
    return paged and hook.settings.show_status
