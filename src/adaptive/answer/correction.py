"""What becomes of an answer: cleaned before it is stored, its broken links corrected behind it.

Cleaning takes out what a model left in by mistake: marks of its template, and JSON that it repeats.
Code stays as it is, and so does a mark that is spoken of.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from adaptive.answer.links import (
    broken_links,
    corrected_links,
    links_to_check,
    masked_code,
)
from adaptive.core.messages import (
    listing,
    mapping,
    message_text,
    rewritten_answer,
    spoken_text,
)
from adaptive.privacy.scanning import spliced
from adaptive.settings.hook import Hook

log_correction = logging.getLogger("adaptive_memory.answer")

# Links that this process asks at a time: a slow name holds one of the host's worker threads.
_ASKED_AT_ONCE = 2
# The host stores what the outlets made of the answer, and other filters' outlets may be slow.
_STORED_SECONDS = 1.0
_QUOTED = {
    '"': '"',
    "'": "'",
    "“": "”",
    "„": "“",
    "«": "»",
    "‘": "’",
    "(": ")",
}
# A model that repeats itself is stopped within an object, mostly; rows that a user asks for are
# whole, and few.
_MOST_WANTED = 12
_LONGEST_REPEATED = 1000
_BETWEEN_OBJECTS = " \t\n,;"
_OPENING_FENCE = re.compile(r"```[a-z]*\n\Z")
_CLOSING_FENCE = "\n```"
_JSON_DECODER = json.JSONDecoder(strict=False)
_TAG = re.compile(
    r"<(/?)(s|tool_codes?|tool_calls?|tool_responses?|tool_results?|tool_outputs?|function"
    r"|function_calls?|function_results?|invoke|think|thinking|reasoning|answer|response)>",
    re.IGNORECASE,
)
# Control tokens of chat templates (ChatML, Llama, Gemma, Mistral, DeepSeek, Harmony), and tags. A
# role or a channel that a token opens belongs to it.
_MARK = (
    r"(?:<\|(?:im_start|start_header_id|start|role)\|>"
    r"(?:(?:system|developer|user|assistant|tool|ipython)\b)?"
    r"|<\|channel\|>(?:(?:analysis|commentary|final)\b)?"
    r"|<start_of_turn>(?:(?:model|user)\b)?"
    r"|<\|[A-Za-z_][A-Za-z0-9_]{0,40}\|>|<\uff5c[^<>\uff5c\n]{1,40}\uff5c>"
    r"|<end_of_turn>|<(?:bos|eos|pad|unk)>|<</?SYS>>"
    r"|\[/?(?-i:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]"
    rf"|{_TAG.pattern})"
)
# One mark, those that follow it, and the space around them.
_MARKS = re.compile(
    rf"(?:(?<!\s)(?P<before>\s{{1,200}}+))?{_MARK}(?P<more>(?:\s*+{_MARK})*)(?P<after>\s{{0,200}}+)",
    re.IGNORECASE,
)


class AnswerCorrection:
    """Cleans and corrects answers; nothing in it belongs to one user."""

    def __init__(self) -> None:
        self._asking = asyncio.Semaphore(_ASKED_AT_ONCE)

    async def cleaned(
        self, hook: Hook, body: dict[str, Any]
    ) -> dict[str, Any]:
        """An outlet's body whose answer is clean; the same object where it was, or none is wanted.

        The host stores what it gets back, and tells the page. What was wrong is counted in the
        turn's state and logged, without any text.
        """
        answer = _answer_of(body)
        if not hook.settings.clean_answers or not answer:
            return body
        # In a thread: a long answer takes tens of milliseconds, and other chats go on.
        fields = await asyncio.to_thread(
            rewritten_answer, answer, cleaned_answer
        )
        clean = {**answer, **fields}
        # Up to 0.9 the content holds reasoning and calls of tools, too.
        is_empty = not spoken_text(message_text(clean))
        wrong = {"sanitised": bool(fields), "empty_response": is_empty}
        anomalies = [name for name, is_so in wrong.items() if is_so]
        if anomalies:
            log_correction.info(
                "anomalies of an answer: %s", ", ".join(anomalies)
            )
            hook.state.setdefault("anomalies", []).extend(anomalies)
        if not fields:
            return body
        return {**body, "messages": [*body["messages"][:-1], clean]}

    def has_links(self, hook: Hook, body: Mapping[str, Any]) -> bool:
        """Whether an answer holds links that are to be checked; only stored ones are."""
        wanted = hook.settings.validate_links and hook.told_kind == "saved"
        return wanted and "](" in message_text(_answer_of(body))

    async def correct_links(self, hook: Hook) -> None:
        """Check the links of an answer that was given, and turn broken ones into searches.

        One correction is written, and only if the answer still says what it said when its links
        were checked. Nobody is told but the pages that show it.
        """
        await asyncio.sleep(_STORED_SECONDS)
        stored = hook.stored_answer
        said = await stored.said() or ""
        targets = await asyncio.to_thread(links_to_check, said)
        broken = await broken_links(targets, self._asking)
        if broken:
            await stored.rewrite(said, partial(corrected_links, broken=broken))


def _answer_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer that ends an outlet's messages; empty where none does."""
    messages = listing(body.get("messages"))
    answer = dict(mapping(messages[-1])) if messages else {}
    return answer if answer.get("role") == "assistant" else {}


def cleaned_answer(text: str) -> str:
    """The answer without stray marks and runaway JSON."""
    masked = masked_code(text)
    return spliced(text, [*_mark_cuts(masked), *_json_cuts(text, masked)])


def _mark_cuts(text: str) -> list[tuple[int, int, str]]:
    """What to cut out of a text for its stray marks, with the space that they would leave.

    A tag that is one of a pair (``<s>crossed out</s>`` is HTML), or opens something in the middle,
    is none. A single mark that is quoted, or a word of its line, is spoken of.
    """
    beginning = len(text) - len(text.lstrip())
    ending = len(text.rstrip())
    tags = {(tag[1], tag[2].lower()) for tag in _TAG.finditer(text)}

    def masked(tag: re.Match[str]) -> str:
        """Letters in place of a tag that stays."""
        name = tag[2].lower()
        is_paired = {("", name), ("/", name)} <= tags
        opens_inside = (
            not tag[1] and tag.start() > beginning and tag.end() < ending
        )
        return "x" * len(tag[0]) if is_paired or opens_inside else tag[0]

    cuts: list[tuple[int, int, str]] = []
    for marks in _MARKS.finditer(_TAG.sub(masked, text)):
        start = marks.start()
        end = marks.end()
        before = marks["before"] or ""
        after = marks["after"]
        space = before + after
        is_inside = start > 0 and end < len(text)
        if not is_inside:
            cuts.append((start, end, ""))
        elif "\n" in space:
            cuts.append((start, end, max(after, before, key=_line_breaks)))
        elif marks["more"] or not _is_spoken_of(
            text, start, end, before, space
        ):
            cuts.append((start, end, space))
    return cuts


def _line_breaks(space: str) -> int:
    """How many lines end in a space."""
    return space.count("\n")


def _is_spoken_of(
    text: str, start: int, end: int, before: str, space: str
) -> bool:
    """Whether a single mark within a line is a word of it, or stands in quotation marks."""
    if space:
        return bool(before)
    return _QUOTED.get(text[start - 1 : start]) == text[end : end + 1]


def _json_cuts(text: str, masked: str) -> list[tuple[int, int, str]]:
    """What to cut out of a text for JSON that a model repeats until it is stopped.

    These are equal objects with nothing but space and commas between them, in prose or each in a
    fence of its own, up to the end of the text: it stops within one, or there are very many of
    them. The first stays.
    """
    block, last_end = _last_object(text)
    first_end = last_end
    place = last_end
    repeated = 0
    while block and text.endswith(block, 0, place):
        first_end = place
        place -= len(block)
        repeated += 1
        while place and text[place - 1] in _BETWEEN_OBJECTS:
            place -= 1
    rest = text[last_end:].strip(_BETWEEN_OBJECTS)
    is_stopped = bool(rest) and repeated > 1
    is_runaway = block.startswith(rest) and (
        is_stopped or repeated > _MOST_WANTED
    )
    is_code = (
        not block.startswith("`")
        and masked[place:last_end] != text[place:last_end]
    )
    return [(first_end, len(text), "")] if is_runaway and not is_code else []


def _last_object(text: str) -> tuple[str, int]:
    """The last whole JSON object of a text, with a fence of its own, and where it ends.

    It is looked for in the end of the text alone, which holds a few of those that are repeated.
    """
    repeated = ""
    block = ""
    end = 0
    at = text.find("{", max(0, len(text) - 4 * _LONGEST_REPEATED))
    while at >= 0:
        beginning = text[at : at + _LONGEST_REPEATED]
        try:
            length = _JSON_DECODER.raw_decode(beginning)[1]
        except (ValueError, RecursionError):
            if repeated.startswith(
                beginning
            ):  # what stands within it is none of its own
                break
            length = 1
        else:
            repeated = beginning[:length]
            block, end = _with_fence(text, at, at + length)
        at = text.find("{", at + length)
    return block, end


def _with_fence(text: str, start: int, end: int) -> tuple[str, int]:
    """What stands between two places, with the fence around it if there is one; where it ends."""
    opening = _OPENING_FENCE.search(text[max(0, start - 20) : start])
    if opening is None or not text.startswith(_CLOSING_FENCE, end):
        return text[start:end], end
    end += len(_CLOSING_FENCE)
    return text[start - len(opening[0]) : end], end
