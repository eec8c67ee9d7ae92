"""Whether this Open WebUI is one that the plug-in can work on."""

from __future__ import annotations

import inspect

UNSUPPORTED = (
    "this Open WebUI is older than 0.9.6: its memory API is not asynchronous; chats go on without "
    "Adaptive Memory"
)


def host_is_supported() -> bool:
    """Whether the host's memory layer is the asynchronous one, which came with release 0.9."""
    try:
        from open_webui.models.memories import Memories
        from open_webui.retrieval.vector import async_client
    except ImportError:
        return False
    return bool(async_client) and inspect.iscoroutinefunction(Memories.get_memories_by_user_id)
