"""What our own calls send to models: no secrets, and placeholders for personal data if wanted."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adaptive.core.errors import AdaptiveMemoryError
from adaptive.core.model import Completion, CompletionRequest
from adaptive.core.ports import Completer, Embedder, ResponseFormat, Vectors
from adaptive.privacy.personal_data import PERSONAL_SHAPES, find_personal_data
from adaptive.privacy.scanning import Finding
from adaptive.privacy.secrets import without_secrets

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

    A value has the same placeholder in all texts of the call. What a text holds by itself that
    looks like a placeholder stays, and its number is not given out.
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
        found = [find_personal_data(text) for text in texts]
        for text, findings in zip(texts, found, strict=True):
            for one in findings:
                self._give_placeholder(PLACEHOLDER_NAMES[one.kind], text[one.start : one.end])
        known = self._known_values()
        return [
            self._replaced(text, findings, known)
            for text, findings in zip(texts, found, strict=True)
        ]

    def restore(self, text: str, *, json_text: bool = False) -> str:
        """The text with the values of this call's placeholders; others stay as they are.

        ``json_text``: it is that of a JSON document, in which values are escaped.
        """
        if not self._values:
            return text
        return PLACEHOLDER.sub(lambda match: self.value_of(match, json_text=json_text), text)

    def value_of(self, match: re.Match[str], *, json_text: bool = False) -> str:
        """The value of one match of ``PLACEHOLDER``, or the match itself."""
        value = self._values.get(_name_of(match))
        if value is None:
            return match[0]
        if json_text:
            value = json.dumps(value, ensure_ascii=False)[1:-1]
        # Where only one of the brackets is escaped, the backslash is one of the text's own.
        opening, closing = match["opening"] or "", match["closing"] or ""
        return value if opening == closing else f"{opening}{value}{closing}"

    def _known_values(self) -> re.Pattern[str]:
        """Where known values stand, as words of their own; of a call with few values."""
        values = [value for value in self._names if len(value) >= _SHORTEST_LOOKED_FOR]
        if not values or len(self._names) > _MOST_LOOKED_FOR:
            return _NOWHERE
        words = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
        return re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])")

    def _replaced(self, text: str, findings: Sequence[Finding], known: re.Pattern[str]) -> str:
        """The text with placeholders for what was found in it, and for known values between."""
        parts: list[str] = []
        position = 0
        for one in findings:
            parts += text[position : one.start], self._names[text[one.start : one.end]]
            position = one.end
        parts.append(text[position:])
        # Placeholders stand at the odd places.
        parts[::2] = (known.sub(lambda value: self._names[value[0]], part) for part in parts[::2])
        return "".join(parts)

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
    """A ``Completer`` around another that is shown no secret, and no personal data if so chosen.

    Secrets are gone for good; personal data has placeholders, which the reply has values for again.
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
