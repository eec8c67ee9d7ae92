"""Requests and accounts of the host, as its functions want them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from fastapi import Request
from pydantic import ValidationError

from adaptive.errors import HostError
from adaptive.host.faults import HostFaults


def isolated_request(request: Request) -> Request:
    """A request of the same app and headers, with a state of its own.

    The host keeps switches of the running turn on ``request.state`` and merges its metadata into
    every model call made with it (host: utils/chat.py); a call of ours must neither change nor
    inherit them. Only the session token is carried over, which some connections forward.
    """
    token = getattr(request.state, "token", None)
    return Request({**request.scope, "state": {} if token is None else {"token": token}})


def process_state(request: Request) -> dict[str, Any]:
    """A mapping of ours that lives as long as the host's process.

    Saving new code of this plug-in loads it anew, while what the old load has cached goes on
    being referenced; so what is too large to exist twice belongs here. Only values of types that
    are not defined in this plug-in may be put in.
    """
    state = getattr(request.app.state, "adaptive_memory", None)
    if not isinstance(state, dict):
        state = request.app.state.adaptive_memory = {}
    return cast(dict[str, Any], state)


async def account(user: Mapping[str, Any]) -> Any:
    """The host's user model for the dict a hook receives, which is a dump of it.

    Raises:
        HostError: the dict is no user's, and the host knows none by its id either.
    """
    from open_webui.models.users import UserModel, Users

    try:
        return UserModel(**{name: value for name, value in user.items() if name != "valves"})
    except ValidationError:
        user_id = str(user.get("id") or "")
    with HostFaults("reading the user"):
        found = await Users.get_user_by_id(user_id)
    if found is None:
        raise HostError(f"the host knows no user {user_id!r}")
    return found


def accepted_arguments(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Those of the arguments that the function of this release takes."""
    parameters = inspect.signature(function).parameters
    return {name: value for name, value in arguments.items() if name in parameters}
