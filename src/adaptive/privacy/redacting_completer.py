"""What our own calls send to models: no secrets, and where wanted no personal data."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adaptive.errors import AdaptiveMemoryError
from adaptive.model import Completion, CompletionRequest
from adaptive.ports import Completer, Embedder, ResponseFormat, Vectors
from adaptive.privacy.redaction import Redaction
from adaptive.privacy.secrets import without_secrets

# The beginning of a line on which a memory is offered with its id, as the host makes ids.
_OFFERED_ID = re.compile(r"^(- id=[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12} \| )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RedactingCompleter:
    """A ``Completer`` around another that is shown no secret, and no personal data if so chosen.

    Secrets are gone for good; personal data has placeholders, the same ones whenever the same
    request is made, which are replaced again in the reply.
    """

    completer: Completer
    personal_data: bool = False

    @property
    def key(self) -> str:
        """The other's key (see ``Completer``)."""
        return self.completer.key

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask once (see ``Completer``), with a redaction of its own."""
        redaction = Redaction() if self.personal_data else None
        # In a thread: a request with twenty memories takes tens of milliseconds, and chats go on.
        sent = await asyncio.to_thread(redacted_request, request, redaction)
        try:
            completion = await self.completer.complete(sent, response_format)
        except AdaptiveMemoryError as error:  # it may quote what the provider says, and that us
            error.args = (told_failure(str(error), redaction), *error.args[1:])
            raise
        if redaction is None or redaction.is_empty:
            return completion
        return replace(completion, text=redaction.restore(completion.text, json_text=True))


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
    """The texts with a mark for each secret."""
    return [without_secrets(text) for text in texts]


def redacted_request(request: CompletionRequest, redaction: Redaction | None) -> CompletionRequest:
    """The request as it may be sent; without a redaction only its secrets are left out.

    The ids under which memories are offered stay. The system message is redacted before and apart
    from the words of the user, so that the date in it stays even if it is a date of birth there.
    """
    system = without_secrets(request.system)
    pieces = texts_without_secrets(_OFFERED_ID.split(request.user))
    if redaction is not None:
        system = redaction.redact(system)
        pieces[::2] = redaction.redact_all(pieces[::2])
    return replace(request, system=system, user="".join(pieces))


def told_failure(text: str, redaction: Redaction | None) -> str:
    """The text of an error without secrets; with a redaction without what a provider has written.

    Our errors quote that behind a colon.
    """
    if redaction is not None:
        text = redaction.redact(re.split(r": (?=['\"])", text, maxsplit=1)[0])
    return without_secrets(text)
