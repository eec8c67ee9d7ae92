"""Questions in the page, in the best form that it knows: lists to choose from, or words to type.

With them the files that go from there to us, and back.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal

from adaptive.core import (
    AdaptiveMemoryError,
    HostError,
    JsonMapping,
    JsonObject,
    Phrase,
    clipped_line,
    frozen,
    listing,
    log,
    mapping,
    phrase,
    plain_lines,
    text_field,
    with_detail,
)
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.search import folded_text
from adaptive.settings import PageQuestion

EventCaller = Callable[[JsonObject], Awaitable[object]]
# The lists that a page knows: several in one form, one alone, or none.
PageLists = Literal["form", "list", ""]
_LONGEST_TITLE = 100
_LONGEST_MESSAGE = 4000
_LONGEST_ANSWER = 1000
# Nothing else may stand in an answer: whoever was typing a message meant no number.
_NUMBERS_ONLY = re.compile(
    r"[\s\d,;.\-\u2212\u2013\u3001\u3002\u060c\u061b\"\u00ab\u00bb\u201c-\u201f\u300c\u300d]*"
)
# "1-3" may mean all from 1 to 3, which a minus before a number does not.
_RANGE = re.compile(r"\d(?:[\-\u2212\u2013]|\s+[\-\u2212\u2013]\s)")
_NUMBER = re.compile(r"(?:([\-\u2212\u2013])\s*+)?(\d{1,9})")
_ALL = "all"
_MOST_BYTES = 4 * 1024 * 1024


@frozen
class PageDialog:
    """A ``Dialog`` in the tab that sent the user's message; unanswered without a caller.

    An answer may never come: the tab is closed or shows another chat, or the dialog was left with
    Escape (host: the page up to 0.9). The host itself waits without end unless its admin set
    ``WEBSOCKET_EVENT_CALLER_TIMEOUT`` (host: env.py), so it is ``seconds`` that bound the time.
    """

    caller: EventCaller | None
    seconds: float = 120.0
    lists: PageLists = ""
    user_id: str = ""
    message: JsonMapping = field(default_factory=JsonObject)

    async def confirm(self, title: str, message: str) -> bool | None:
        """Ask for yes or no (see ``Dialog``)."""
        answer = await self._call("confirmation", title, message)
        return answer if isinstance(answer, bool) else None

    async def ask(
        self, title: str, message: str, hint: str, value: str = ""
    ) -> str | None:
        """Ask for a few words (see ``Dialog``)."""
        answer = await self._call(
            "input", title, message, placeholder=hint, value=value, type="text"
        )
        return _words_of(answer)

    async def choose(self, question: PageQuestion) -> Sequence[int] | None:
        """Ask what becomes of some entries (see ``Dialog``)."""
        if self.lists and len(question.entries) == 1:
            return await self._choose_in_list(question)
        if self.lists == "form":
            return await self._choose_in_form(question)
        if not question.how_to_type:
            return None
        numbers = range(1, len(question.entries) + 1)
        lines = map("{}. {}".format, numbers, question.entries)
        answer = await self.ask(
            title=question.title,
            message=_parts(
                question.reason, "\n".join(lines), question.how_to_type
            ),
            hint="1, 3",
            value=", ".join(map(str, numbers)) if question.preset else "",
        )
        if not answer:
            return None if answer is None else ()
        return _chosen_by_numbers(answer, len(question.entries))

    async def _choose_in_list(
        self, question: PageQuestion
    ) -> Sequence[int] | None:
        """What is chosen for one entry."""
        options = [
            {"value": str(option), "label": words}
            for option, words in enumerate(question.options)
        ]
        answer = await self._call(
            "input",
            question.title,
            _parts(question.reason, *question.entries),
            value=str(question.preset),
            input={"type": "select", "options": options},
        )
        chosen = _words_of(answer)
        if not chosen:
            return None if chosen is None else ()
        return [_option_of(chosen, question.options)]

    async def _choose_in_form(
        self, question: PageQuestion
    ) -> Sequence[int] | None:
        """What is chosen for each of several entries, or for all, in one form (host: since 0.12)."""
        entries = [
            _field(entry, question.options, question.preset)
            for entry in question.entries
        ]
        # No name is a number: a page would put such names first.
        names = [f"entry {at}" for at, _ in enumerate(entries)]
        fields = dict(zip(names, entries, strict=True))
        if not question.preset:
            options = (phrase("as_chosen"), *question.options[1:])
            fields = {_ALL: _field(phrase("all_of_them"), options), **fields}
        form = {
            "mode": "form",
            "server_name": clipped_line(question.title, _LONGEST_TITLE),
            "message": question.reason,
            "requestedSchema": {"type": "object", "properties": fields},
        }
        answer = mapping(await self._event("request:elicitation", form))
        if answer.get("action") in ("decline", "cancel"):
            return ()
        if answer.get("action") != "accept":
            return None
        content = mapping(answer, "content")
        of_all = _option_of(content.get(_ALL), question.options)
        return [
            of_all or _option_of(content.get(name), question.options)
            for name in names
        ]

    async def download(self, name: str, text: str) -> bool:
        """Have the page save a text as a file (see ``Dialog``)."""
        code = (
            "const link = document.createElement('a');"
            f"const file = new Blob([{json.dumps(text)}], {{type: 'application/json'}});"
            f"link.href = URL.createObjectURL(file); link.download = {json.dumps(name)};"
            "link.click(); return true;"
        )
        return await self._event("execute", {"code": code}) is True

    async def attached_texts(self) -> list[str]:
        """The texts of the message's files (see ``Dialog``)."""
        return [
            await _attached_text(self.user_id, mapping(attached))
            for attached in listing(self.message.get("files"))
        ]

    async def _call(
        self, kind: str, title: str, message: str, **extra: object
    ) -> object:
        """What the page answers, ``None`` where it does not; it renders messages as Markdown."""
        shown = {
            "title": clipped_line(title, _LONGEST_TITLE),
            "message": plain_lines(message[:_LONGEST_MESSAGE]),
        }
        return await self._event(kind, {**shown, **extra})

    async def _event(self, kind: str, data: JsonObject) -> object:
        """What the page answers to an event in bounded time, ``None`` where it does not."""
        if self.caller is None:
            return None
        try:
            async with asyncio.timeout(self.seconds):
                with HostFaults(f"asking by {kind}"):
                    return await self.caller({"type": kind, "data": data})
        except (TimeoutError, HostError) as error:
            log.info("a question was not answered: %s", with_detail(error))
            return None


@uninterrupted
async def _attached_text(user_id: str, attached: JsonMapping) -> str:
    """A file's text as it was uploaded: what the host has read of it has other quotation marks.

    In a temporary chat nothing is uploaded, and the page sends the text along.
    """
    text = text_field(attached, "content")
    if text:
        return text
    unreadable = Phrase("file_unreadable")
    with HostFaults("reading an attached file"):
        from open_webui.models.files import Files
        from open_webui.storage.provider import Storage

        file = await Files.get_file_by_id_and_user_id(
            text_field(attached, "id"), user_id
        )
        if file is None or mapping(file.meta).get("size", 0) > _MOST_BYTES:
            raise AdaptiveMemoryError(unreadable)
        path = await asyncio.to_thread(Storage.get_file, file.path)
        content = await asyncio.to_thread(Path(path).read_bytes)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AdaptiveMemoryError(unreadable) from error


def _field(title: str, options: Sequence[str], preset: int = 0) -> JsonObject:
    """A list of a form, in JSON Schema."""
    named = [
        {"const": str(option), "title": words}
        for option, words in enumerate(options)
    ]
    return {
        "type": "string",
        "title": title,
        "oneOf": named,
        "default": str(preset),
    }


def _parts(*parts: str) -> str:
    """Parts of a message, a blank line between them."""
    return "\n\n".join(filter(None, parts))


def _words_of(answer: object) -> str | None:
    """What was typed or chosen; up to 0.9 the page answers ``true`` where nothing was."""
    if isinstance(answer, bool):
        return ""
    if isinstance(answer, str):
        return answer.strip()[:_LONGEST_ANSWER]
    return None


def _option_of(answer: object, options: Sequence[str]) -> int:
    """The option that a list names; the first where it names none."""
    numbers = [str(option) for option, _ in enumerate(options)]
    named = str(answer)
    return numbers.index(named) if named in numbers else 0


def _chosen_by_numbers(answer: str, entries: int) -> Sequence[int]:
    """The option of each entry: the second for its number, the third for one with a minus.

    The first for all, where an answer holds anything else, numbers from one to another, or a number
    that was not asked about.
    """
    answer = folded_text(answer)
    if "".join(filter(str.isalnum, answer)) == _ALL:
        return [1] * entries
    chosen = {
        int(number): 2 if minus else 1
        for minus, number in _NUMBER.findall(answer)
    }
    numbers = range(1, entries + 1)
    is_clear = _NUMBERS_ONLY.fullmatch(answer) and not _RANGE.search(answer)
    if not is_clear or not chosen.keys() <= {*numbers}:
        chosen = {}
    return [chosen.get(number, 0) for number in numbers]
