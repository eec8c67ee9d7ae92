"""What embedding services are sent: no secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.errors import AdaptiveMemoryError
from adaptive.ports import Embedder, Vectors
from adaptive.privacy.redacting_completer import told_failure, without_secret_values


@dataclass(frozen=True, slots=True)
class SecretlessEmbedder:
    """An ``Embedder`` around a service: secrets have a placeholder in each text that is sent."""

    embedder: Embedder

    async def name(self) -> str:
        """The other's name (see ``Embedder``)."""
        return await self.embedder.name()

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts without their secrets (see ``Embedder``)."""
        # In a thread: a store's texts take seconds, and chats go on.
        sent = await asyncio.to_thread(texts_without_secrets, texts)
        try:
            return await self.embedder.embed(sent, query=query)
        except AdaptiveMemoryError as error:
            error.args = (told_failure(str(error), None), *error.args[1:])
            raise


def texts_without_secrets(texts: Sequence[str]) -> list[str]:
    """The texts with a placeholder for each secret."""
    return [without_secret_values(text) for text in texts]
