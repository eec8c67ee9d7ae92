"""What our own calls send to models: no secrets, and placeholders for personal data if wanted."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from adaptive.core import (
    AdaptiveMemoryError,
    Completer,
    Completion,
    CompletionRequest,
    ResponseFormat,
    frozen,
)
from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.scanning import spliced
from adaptive.privacy.secrets import without_secrets
from adaptive.settings import PERSONAL_KINDS

ServiceReply = TypeVar("ServiceReply")
# Shorter values, and more of them, are looked for by their recogniser alone.
_SHORTEST_LOOKED_FOR = 6
_MOST_LOOKED_FOR = 200
# As models write it back: brackets may be escaped or full-width, letters small, the underscore a
# blank or hyphen. Without brackets in capitals only: ``email_1`` is a fine name in a program.
_NAME = "|".join(map(str.upper, PERSONAL_KINDS)).replace("_", r"\\{0,2}[_ -]")
PLACEHOLDER = re.compile(
    rf"(?P<escape>\\{{0,2}})[\[\u3010\uff3b] ?(?i:{_NAME})"
    r"\\{0,2}[_ -][0-9]{1,6} ?(?P=escape)[\]\u3011\uff3d]"
    rf"|(?<![0-9A-Za-z_])(?:{_NAME})\\{{0,2}}_[0-9]{{1,6}}(?![0-9A-Za-z_])",
    re.ASCII,
)


class Redaction:
    """The placeholders of one call: of one user, for one request and its reply.

    What looks like a placeholder by itself stays, and its number is not given out.
    """

    def __init__(self) -> None:
        self._placeholders: dict[str, str] = {}
        # The values again, by the names in their placeholders.
        self._values: dict[str, str] = {}
        self._taken_names: set[str] = set()
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
            self._taken_names.update(map(_name_of, PLACEHOLDER.finditer(text)))
        marked = [self._marked(text) for text in texts]
        values = self._values_to_look_for()
        return [
            values.sub(lambda value: self._placeholders[value[0]], text)
            for text in marked
        ]

    def restore(self, text: str, *, json_text: bool = False) -> str:
        """The text with the values of this call's placeholders; others stay as they are.

        ``json_text``: it is that of a JSON document, in which values are escaped.
        """

        def value_of(match: re.Match[str]) -> str:
            value = self._values.get(_name_of(match))
            if value is None:
                return match[0]
            if json_text:
                return json.dumps(value, ensure_ascii=False)[1:-1]
            return value

        return PLACEHOLDER.sub(value_of, text)

    def _marked(self, text: str) -> str:
        """The text with a placeholder in the place of each finding."""
        pieces: list[tuple[int, int, str]] = []
        for finding in find_personal_data(text):
            value = text[finding.start : finding.end]
            placeholder = self._placeholder(finding.kind, value)
            pieces.append((finding.start, finding.end, placeholder))
        return spliced(text, pieces)

    def _values_to_look_for(self) -> re.Pattern[str]:
        """Where values stand as words of their own; of very many only the longest are looked for."""
        values = [
            value
            for value in self._placeholders
            if len(value) >= _SHORTEST_LOOKED_FOR
        ]
        longest_first = sorted(values, key=len, reverse=True)
        looked_for = longest_first[:_MOST_LOOKED_FOR]
        any_value = "|".join(map(re.escape, looked_for)) or "(?!)"
        return re.compile(rf"(?<![^\W_])(?:{any_value})(?![^\W_])")

    def _placeholder(self, kind: str, value: str) -> str:
        """The placeholder of a value, by the next number of its kind that nobody wrote."""
        while value not in self._placeholders:
            self._numbers[kind] += 1
            name = f"{kind.upper()}_{self._numbers[kind]}"
            if name not in self._taken_names:
                self._placeholders[value] = f"[{name}]"
                self._values[name] = value
        return self._placeholders[value]


def _name_of(match: re.Match[str]) -> str:
    """The name that we gave: ``[Birth date 02]`` is ``BIRTH_DATE_2``."""
    name, _, number = (
        re.sub(r"[\W_]+", "_", match[0]).strip("_").rpartition("_")
    )
    return f"{name.upper()}_{int(number)}"


@frozen
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
        with _errors_without_secrets(quoted=redaction is None):
            reply = await self.completer.complete(sent, response_format)
        if redaction is None:
            return reply
        is_json = request.schema is not None
        return replace(
            reply, text=redaction.restore(reply.text, json_text=is_json)
        )


async def sent_without_secrets(
    texts: Sequence[str],
    send: Callable[[Sequence[str]], Awaitable[ServiceReply]],
) -> ServiceReply:
    """What a service answers to texts that have a mark for each secret; so have its errors."""
    # In a thread: a store's texts take seconds, and chats go on.
    sent = await asyncio.to_thread(
        lambda: [without_secrets(text) for text in texts]
    )
    with _errors_without_secrets(quoted=True):
        return await send(sent)


def redacted_request(
    request: CompletionRequest, redaction: Redaction | None
) -> CompletionRequest:
    """The request as it may be sent; without a redaction only its secrets are left out.

    The system message is redacted before and apart from the user's words, so that the date in it
    stays even if it is a date of birth there.
    """
    system = without_secrets(request.system)
    turns = [without_secrets(one) for one in (*request.earlier, request.user)]
    if redaction is not None:
        system = redaction.redact(system)
        turns = redaction.redact_all(turns)
    return replace(
        request, system=system, user=turns[-1], earlier=tuple(turns[:-1])
    )


@contextmanager
def _errors_without_secrets(*, quoted: bool) -> Generator[None]:
    """Errors without secrets, and without details unless a request may be ``quoted`` in them.

    A quotation may be cut anywhere, so what stood around a value need not be there to tell it by.
    """
    try:
        yield
    except AdaptiveMemoryError as error:
        error.detail = without_secrets(error.detail) if quoted else ""
        raise
