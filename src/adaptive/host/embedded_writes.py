"""Writes of the host for which a single text is embedded on one core.

The host embeds each memory that is written (host: routers/memories.py), on all cores beside
whatever else wants them: a lesson would slow down the turns of others for a sentence.
"""

from __future__ import annotations

from typing import Any

from fastapi import Request

from adaptive.host.embedding import HostEmbedder

_EMBEDDING = "EMBEDDING_FUNCTION"


class _View:
    """An object with one attribute of its own; all else is read from and set at the one seen."""

    def __init__(self, seen: Any, name: str, own: Any) -> None:
        self.__dict__.update(_seen=seen, **{name: own})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._seen, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._seen, name, value)


def writing_request(request: Request, user: Any) -> Request:
    """A request for the host's writes of memories; the vectors are what the host makes."""
    app, embedder = request.app, HostEmbedder(request, user)

    async def embedding(texts: Any, prefix: str | None = None, **more: Any) -> Any:
        """The host's function, but for a single text that can be embedded on one core."""
        vector = await embedder.embed_as_host(texts, prefix) if isinstance(texts, str) else None
        if vector is not None:
            return vector
        named = {"prefix": prefix, **more} if prefix else more
        return await getattr(app.state, _EMBEDDING)(texts, **named)

    state = _View(app.state, _EMBEDDING, embedding)
    return Request({**request.scope, "app": _View(app, "state", state)})
