"""Making the process ready when the plug-in is loaded, before anybody waits for an answer.

The host loads functions when a page asks for its list of models (host: utils/models.py,
get_all_models), some seconds before the first message.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time

from fastapi import Request

from adaptive.errors import AdaptiveMemoryError, MemoryUnavailable
from adaptive.host.embedding import HostEmbedder
from adaptive.host.providers import sources_of
from adaptive.host.recent_users import recent_users
from adaptive.host.release import host_is_supported
from adaptive.host.requests import isolated_request
from adaptive.host.vector_table import HostVectorTable
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings import Settings

# After a restart they come back first; those of others are read when they write.
_USERS_PREPARED = 20
_RECENT_SECONDS = 7 * 24 * 3600
_REST_BETWEEN_USERS_SECONDS = 0.1

log_warmup = logging.getLogger("adaptive_memory.host")


def host_request() -> Request | None:
    """A request of nobody's to the running host, ``None`` where none runs or no loop does."""
    app = getattr(sys.modules.get("open_webui.main"), "app", None)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return None
    if app is None or not host_is_supported():
        return None
    return Request({"type": "http", "app": app, "headers": [], "state": {}})


async def warm_up(request: Request, indexes: MemoryIndexes, table: HostVectorTable) -> None:
    """Have the null prompts at hand, and let the host's embedding model make its first vector.

    The first vector takes 0.3 s, later ones some milliseconds. A service is not called for it: it
    costs money and is warm already.
    """
    embedder = HostEmbedder(request, None)
    try:
        if await embedder.in_process():
            await indexes.warm_up(embedder, table)
    except AdaptiveMemoryError as error:
        log_warmup.info("not warmed up: %s", error)


async def prepare_indexes(
    request: Request, indexes: MemoryIndexes, table: HostVectorTable, settings: Settings
) -> None:
    """Have the indexes of recent users at hand, one after the other, while there is room for more.

    Reading and preparing 1,000 memories takes a tenth of a second, which their first message would
    wait for.
    """
    since, prepared = int(time.time()) - _RECENT_SECONDS, 0
    try:
        for user in await recent_users(_USERS_PREPARED, since):
            sources = sources_of(user, settings, isolated_request(request), table)
            try:
                room = await indexes.prepare(sources, settings.index_cache_bytes)
            except MemoryUnavailable:
                continue
            prepared += 1
            if not room:
                break
            await asyncio.sleep(_REST_BETWEEN_USERS_SECONDS)
    except AdaptiveMemoryError as error:
        log_warmup.info("memories are read with the first message only: %s", error)
    if prepared:
        log_warmup.info("memories are at hand of users who were here lately: %d", prepared)
