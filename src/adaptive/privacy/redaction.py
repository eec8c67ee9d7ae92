"""What our own calls send to models: no secrets, and placeholders for personal data if wanted."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from adaptive.core.errors import AdaptiveMemoryError
from adaptive.core.model import Completion, CompletionRequest
from adaptive.core.ports import Completer, Embedder, ResponseFormat, Vectors
from adaptive.privacy.personal_data import PERSONAL_SHAPES, find_personal_data
from adaptive.privacy.scanning import Finding, with_marks
from adaptive.privacy.secrets import without_secrets

ServiceReply = TypeVar("ServiceReply")
_SHORTER_NAMES = {"url_credentials": "URL", "crypto_wallet": "WALLET"}
PLACEHOLDER_NAMES = {
    one.kind: _SHORTER_NAMES.get(one.kind, one.kind.upper()) for one in PERSONAL_SHAPES
}
# Shorter values are looked for by their recogniser alone; of more values only those it finds.
_SHORTEST_LOOKED_FOR = 6
_MOST_LOOKED_FOR = 200
_NOWHERE = re.compile(r"(?!)")
_WORDS = "|".join(PLACEHOLDER_NAMES.values())
# As models write it back: brackets may be escaped or full-width, letters small, the underscore a
# blank or hyphen. Without brackets in capitals only: ``email_1`` is a fine name in a program.
PLACEHOLDER = re.compile(
    r"(?P<opening>\\{0,2})[\[\u3010\uff3b] ?(?i:" + _WORDS.replace("_", r"\\{0,2}[_ -]") + ")"
    r"\\{0,2}[_ -][0-9]{1,6} ?(?P<closing>\\{0,2})[\]\u3011\uff3d]"
    r"|(?<![0-9A-Za-z_])(?:" + _WORDS.replace("_", r"\\{0,2}_") + ")"
    r"\\{0,2}_[0-9]{1,6}(?![0-9A-Za-z_])",
    re.ASCII,
)
# The beginning of a line on which a memory is offered with its id, as the host makes ids.
_OFFERED_ID = re.compile(r"^(- id=[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12} \| )", re.MULTILINE)


class Redaction:
    """The placeholders of one call: of one user, for one request and its reply.

    What looks like a placeholder by itself stays, and its number is not given out.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._reserved: set[str] = set()
        self._numbers: Counter[str] = Counter()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was replaced, so that a reply need not be looked at."""
        return not self._values

    def redact(self, text: str) -> str:
        """The text with a placeholder for each finding."""
        return self.redact_all([text])[0]

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        """Several texts of the call, each with a placeholder for each finding.

        A value that was found once is replaced wherever else it stands, whether or not the words
        around it tell what it is; placeholders of this call that stand in a text stay.
        """
        for text in texts:
            self._reserved.update(map(_name_of, PLACEHOLDER.finditer(text)))
        found = [(text, find_personal_data(text)) for text in texts]
        for text, findings in found:
            for one in findings:
                self._give_placeholder(PLACEHOLDER_NAMES[one.kind], text[one.start : one.end])
        known = self._known_values()
        return [self._replaced(text, findings, known) for text, findings in found]

    def restore(self, text: str, *, json_text: bool = False) -> str:
        """The text with the values of this call's placeholders; others stay as they are.

        ``json_text``: it is that of a JSON document, in which values are escaped.
        """

        def value_of(match: re.Match[str]) -> str:
            if (value := self._values.get(_name_of(match))) is None:
                return match[0]
            if json_text:
                value = json.dumps(value, ensure_ascii=False)[1:-1]
            # Where only one of the brackets is escaped, the backslash is one of the text's own.
            opening, closing = match["opening"] or "", match["closing"] or ""
            return value if opening == closing else f"{opening}{value}{closing}"

        return PLACEHOLDER.sub(value_of, text)

    def _known_values(self) -> re.Pattern[str]:
        """Where known values stand, as words of their own; of a call with few values."""
        values = [value for value in self._names if len(value) >= _SHORTEST_LOOKED_FOR]
        if not values or len(self._names) > _MOST_LOOKED_FOR:
            return _NOWHERE
        words = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
        return re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])")

    def _replaced(self, text: str, findings: Sequence[Finding], known: re.Pattern[str]) -> str:
        text = with_marks(text, findings, lambda one: self._names[text[one.start : one.end]])
        return known.sub(lambda value: self._names[value[0]], text)

    def _give_placeholder(self, kind: str, value: str) -> None:
        while value not in self._names:
            self._numbers[kind] += 1
            name = f"{kind}_{self._numbers[kind]}"
            if name not in self._reserved:
                self._names[value] = f"[{name}]"
                self._values[name] = value


def _name_of(match: re.Match[str]) -> str:
    """The name that we gave: ``[Birth date 02]`` is ``BIRTH_DATE_2``."""
    name, _, number = re.sub(r"[\W_]+", "_", match[0]).strip("_").rpartition("_")
    return f"{name.upper()}_{int(number)}"


@dataclass(frozen=True, slots=True)
class RedactingCompleter:
    """A ``Completer`` around another that is shown no secret, and no personal data if so chosen."""

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
        with _told_failures(redaction):
            reply = await self.completer.complete(sent, response_format)
        text = redaction.restore(reply.text, json_text=True) if redaction else reply.text
        return replace(reply, text=text)


@dataclass(frozen=True, slots=True)
class SecretlessEmbedder:
    """An ``Embedder`` around a service: secrets have a placeholder in each text that is sent."""

    embedder: Embedder

    async def name(self) -> str:
        """The other's name (see ``Embedder``)."""
        return await self.embedder.name()

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts without their secrets (see ``Embedder``)."""
        return await sent_without_secrets(texts, partial(self.embedder.embed, query=query))


async def sent_without_secrets(
    texts: Sequence[str], send: Callable[[Sequence[str]], Awaitable[ServiceReply]]
) -> ServiceReply:
    """What a service answers to texts that have a mark for each secret; so have its errors."""
    # In a thread: a store's texts take seconds, and chats go on.
    sent = await asyncio.to_thread(lambda: [without_secrets(text) for text in texts])
    with _told_failures(None):
        return await send(sent)


def redacted_request(request: CompletionRequest, redaction: Redaction | None) -> CompletionRequest:
    """The request as it may be sent; without a redaction only its secrets are left out.

    Ids of offered memories stay. The system message is redacted before and apart from the user's
    words, so that the date in it stays even if it is a date of birth there.
    """
    system = without_secrets(request.system)
    pieces = [without_secrets(piece) for piece in _OFFERED_ID.split(request.user)]
    if redaction is not None:
        system = redaction.redact(system)
        pieces[::2] = redaction.redact_all(pieces[::2])
    return replace(request, system=system, user="".join(pieces))


@contextmanager
def _told_failures(redaction: Redaction | None) -> Generator[None]:
    """Errors without secrets; with a redaction without details, in which providers quote it all.

    A quotation may be cut anywhere, so what stood around a value need not be there to tell it by.
    """
    try:
        yield
    except AdaptiveMemoryError as error:
        error.detail = "" if redaction is not None else without_secrets(error.detail)
        raise
