"""Making the process ready when the plug-in is loaded, before anybody waits for an answer.

The host loads functions when a page asks for its list of models (host: utils/models.py,
get_all_models), some seconds before the first message.
"""

from __future__ import annotations

import asyncio
import logging
import sys

from fastapi import Request

from adaptive.errors import AdaptiveMemoryError
from adaptive.host.embedding import HostEmbedder
from adaptive.host.release import host_is_supported
from adaptive.host.vector_table import HostVectorTable
from adaptive.search.indexes import MemoryIndexes

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
