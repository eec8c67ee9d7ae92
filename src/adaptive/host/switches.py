"""The host's own switches of memory: the user's, the admin's default for it, and a model's."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

from fastapi import Request

from adaptive.core.errors import HostError, with_detail
from adaptive.core.shapes import mapping
from adaptive.host.faults import HostFaults
from adaptive.host.requests import host_settings, process_state

log_switches = logging.getLogger("adaptive_memory.host")

# Asking the host costs a query; an admin changes this default once in a year.
_TRUSTED_DEFAULT_SECONDS = 5.0


def memory_switch(user: Mapping[str, Any]) -> bool | None:
    """How Settings > Personalization > Memory stands, ``None`` where it was never touched."""
    return _switch_in(mapping(user.get("settings")).get("ui"))


async def has_memory_on(request: Request, user: Mapping[str, Any]) -> bool:
    """Whether memory is on for a user: by their own switch, else by the admin's default, else yes.

    The default came with 0.11.1 (host: routers/users.py, utils/automations.py).
    """
    own = memory_switch(user)
    return await _is_on_by_default(request) if own is None else own


async def _is_on_by_default(request: Request) -> bool:
    """How the switch stands for those who never touched it, as of five seconds ago at most."""
    state = process_state(request)
    is_on, expires = state.get("memory_default", (True, 0.0))
    if expires < time.monotonic():
        try:
            with HostFaults("reading the default of the memory switch"):
                found = await host_settings(request, "interface_defaults")
        except HostError as error:
            # As it was known: memories can't be read either, and what waits is asked about again.
            log_switches.warning("%s", with_detail(error))
        else:
            is_on = _switch_in(found["interface_defaults"]) is not False
            state["memory_default"] = (is_on, time.monotonic() + _TRUSTED_DEFAULT_SECONDS)
    return bool(is_on)


def allows_memory(chat_model: object) -> bool:
    """Whether a model's Memory capability, which models have since 0.10, is not off."""
    try:
        from open_webui.utils.memory import model_allows_memory
    except ImportError:
        return True
    with HostFaults("reading what a model is capable of"):
        return bool(model_allows_memory(mapping(chat_model)))


def _switch_in(interface_settings: object) -> bool | None:
    stands = mapping(interface_settings).get("memory")
    return stands if isinstance(stands, bool) else None
