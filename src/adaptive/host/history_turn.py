"""A hook as past conversation and the window need it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from fastapi import Request

from adaptive.conversation_ports import HistoryTurn
from adaptive.host.configuration import host_settings
from adaptive.host.faults import HostFaults
from adaptive.host.hook import Hook
from adaptive.host.locality import kept_from_completer
from adaptive.host.providers import chosen_completer, chosen_embedder
from adaptive.host.requests import account, isolated_request
from adaptive.host.switched_off import wants_memory
from adaptive.ports import Completer, Embedder

ShowLine = Callable[[Hook, str], Awaitable[None]]


def history_turn(hook: Hook, show: ShowLine | None = None) -> HistoryTurn:
    """The turn of a hook; ``show`` shows a line with its answer."""
    return HistoryTurn(
        settings=hook.settings,
        user_id=hook.user_id,
        chat_id=hook.chat_id,
        question_id=str(hook.metadata.get("user_message_id") or ""),
        answer_id=str(hook.metadata.get("message_id") or ""),
        told_kind=hook.told_kind,
        time_zones=hook.time_zones,
        kind=hook.kind,
        embedder=partial(_embedder, hook),
        completer=partial(_completer, hook),
        wants_memory=partial(wants_memory, hook.user_id),
        compacts=partial(host_compacts, hook),
        tell=partial(show, hook) if show else hook.notifier.status,
    )


async def host_compacts(hook: Hook) -> bool:
    """Whether the host compacts chats (host: utils/context_compaction.py, since 0.10).

    Raises:
        HostError: the host does not tell.
    """
    with HostFaults("reading whether chats are compacted"):
        found = await host_settings(hook.request, "context_compaction")
    return bool(found["context_compaction"])


async def _embedder(hook: Hook) -> Embedder:
    user, request = await _account(hook)
    return chosen_embedder(hook.settings, request, user)


async def _completer(hook: Hook) -> Completer | None:
    user, request = await _account(hook)
    completer = await chosen_completer(hook, request, user)
    hidden = await kept_from_completer(completer, request, hook.settings)
    return None if hidden.names else completer


async def _account(hook: Hook) -> tuple[Any, Request]:
    return await account(hook.user), isolated_request(hook.request)
