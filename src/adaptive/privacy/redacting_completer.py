"""What our own calls send to models: no secrets, and where wanted no personal data."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, replace
from functools import cache

from adaptive.errors import AdaptiveMemoryError
from adaptive.model import Completion, CompletionRequest
from adaptive.ports import Completer, ResponseFormat
from adaptive.privacy.gate import SECRET_PLACEHOLDER
from adaptive.privacy.placeholders import Redaction, placeholder_pattern
from adaptive.privacy.secrets import find_secrets


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
        return replace(completion, text=restored_json(completion.text, redaction))


def redacted_request(request: CompletionRequest, redaction: Redaction | None) -> CompletionRequest:
    """The request as it may be sent; without a redaction only its secrets are left out.

    The ids under which memories are offered stay. The system message is redacted before and apart
    from the words of the user, so that the date in it stays even if it is a date of birth there.
    """
    system = without_secret_values(request.system)
    pieces = [without_secret_values(piece) for piece in _offered_id_mark().split(request.user)]
    if redaction is not None:
        system = redaction.redact(system)
        pieces[::2] = redaction.redact_all(pieces[::2])
    return replace(request, system=system, user="".join(pieces))


def without_secret_values(text: str) -> str:
    """The text with ``SECRET_PLACEHOLDER`` in the place of each secret."""
    parts: list[str] = []
    position = 0
    for finding in find_secrets(text):
        parts += text[position : finding.start], SECRET_PLACEHOLDER
        position = finding.end
    return "".join([*parts, text[position:]])


def told_failure(text: str, redaction: Redaction | None) -> str:
    """The text of an error without secrets; with a redaction without what a provider has written.

    Our errors quote that behind a colon.
    """
    if redaction is not None:
        text = redaction.redact(re.split(r": (?=['\"])", text, maxsplit=1)[0])
    return without_secret_values(text)


def restored_json(text: str, redaction: Redaction) -> str:
    """A reply in JSON with the values of the placeholders in its texts, escaped as these are."""

    def value_of(match: re.Match[str]) -> str:
        value = redaction.restored(match)
        if value == match[0]:
            return value
        before = text[: match.start()]
        # A backslash that the match has split from its twin would escape the value's first sign.
        lone = (len(before) - len(before.rstrip("\\"))) % 2
        return "\\" * lone + json.dumps(value, ensure_ascii=False)[1:-1]

    return placeholder_pattern().sub(value_of, text)


@cache
def _offered_id_mark() -> re.Pattern[str]:
    """The beginning of a line on which a memory is offered with its id, as the host makes ids."""
    form = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
    return re.compile(rf"^(- id={form} \| )", re.MULTILINE)
