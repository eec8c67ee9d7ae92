"""One page on what is known about a user, whose sentences name the memories that they rest on."""

import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from adaptive.control.entries import SENTENCE_END
from adaptive.core import (
    PROMPTS,
    Completion,
    CompletionRequest,
    Memory,
    estimated_tokens,
    local_time,
    mapping,
    phrase,
    plain_line,
)
from adaptive.llm.ask import AnswerFormats, ask, render_prompt, text_line
from adaptive.llm.reply import read_items
from adaptive.memory import Memories
from adaptive.privacy import escaped_entry
from adaptive.search import tokens
from adaptive.settings import Hook

_SCHEMA = json.loads(PROMPTS["about_schema"])
# The subject of what has yet to end.
_COMING = ""


@dataclass
class AboutPage:
    """Has the model for learning write the page; nothing in it belongs to one user.

    ``count_costs`` writes down what models were asked for a user.
    """

    memories: Memories
    formats: AnswerFormats
    count_costs: Callable[[str], Awaitable[None]]

    async def answer(self, hook: Hook) -> str:
        """The page in Markdown; raises a ``ModelError`` where there is no usable reply."""
        settings = hook.settings
        if not settings.enabled:
            return f"{phrase('did_not_work')}: {phrase('memory_off')}."
        memory = await self.memories.of(hook)
        completer = await hook.completer()
        known = await memory.store.read()
        told = (await hook.hidden_from()).without(known)
        told = (await hook.hidden_from(completer)).without(told)
        numbers = await memory.numbers(told)
        shown = _fitting(told, numbers, settings.max_injected_tokens)
        if not shown:
            return phrase("none_found")
        today = f"{local_time(time.time(), *hook.time_zones):%Y-%m-%d}"
        request = CompletionRequest(
            system=render_prompt("about", {"date": today}),
            user="\n".join(
                _line(number, shown[number]) for number in sorted(shown)
            ),
            schema_name="about",
            schema=_SCHEMA,
        )
        try:
            subjects = await ask(
                completer,
                request,
                self.formats,
                settings.llm_timeout_seconds,
                partial(read_about, shown=shown, today=today),
            )
        finally:
            await self.count_costs(hook.user_id)
        if not subjects:
            return phrase("nothing_rests")
        counted = phrase("memories", n=len(shown))
        parts = [f"{phrase('known')} ({counted})"]
        for subject in sorted(
            subjects, key=lambda subject: subject != _COMING
        ):
            parts.append(f"**{subject or phrase('coming_up')}**")
            parts.append("\n".join(subjects[subject]))
        if len(known) > len(shown):
            parts.append(phrase("left_out", n=len(known) - len(shown)))
        parts.append(phrase("by_numbers"))
        return "\n\n".join(parts)


def _line(number: int, memory: Memory) -> str:
    """A memory as the model is shown it."""
    until = f" (until {memory.until})" if memory.until else ""
    return f"{number}. {escaped_entry(memory.content)}{until}"


def _fitting(
    memories: Sequence[Memory], numbers: Mapping[str, int], most_tokens: int
) -> dict[int, Memory]:
    """Memories by their numbers, as far as there is room: the most important and newest first."""
    fitting: dict[int, Memory] = {}
    for memory in sorted(
        memories,
        key=lambda memory: (memory.importance, memory.updated_at),
        reverse=True,
    ):
        number = numbers[memory.id]
        taken = estimated_tokens(_line(number, memory))
        if taken <= most_tokens:
            most_tokens -= taken
            fitting[number] = memory
    return fitting


def read_about(
    completion: Completion, shown: Mapping[int, Memory], today: str
) -> dict[str, list[str]]:
    """The sentences of a reply by their subject, each with the memories that it rests on.

    One that names no memory that was shown is left out, and one of whose words more than half
    stand in none. What rests on a memory that ends today or later is coming up.
    """
    subjects: dict[str, list[str]] = {}
    for item in map(
        mapping,
        read_items(completion, "about", lambda item: "sentence" in item).items,
    ):
        said = str(item.get("memories"))
        named = map(int, re.findall(r"(?<!\d)\d{1,9}(?!\d)", said))
        cited = [number for number in named if number in shown]
        subject = plain_line(text_line(item.get("subject"))) or phrase("other")
        for sentence in SENTENCE_END.split(text_line(item.get("sentence"))):
            numbers = cited and _resting_on(sentence, cited, shown)
            if not numbers:
                continue
            is_coming = any(shown[each].until >= today for each in numbers)
            line = f"- {plain_line(sentence)} {sorted(numbers)}"
            lines = subjects.setdefault(_COMING if is_coming else subject, [])
            if line not in lines:
                lines.append(line)
    return subjects


def _resting_on(
    sentence: str, cited: Sequence[int], shown: Mapping[int, Memory]
) -> list[int]:
    """The fewest of the cited memories that have the sentence's words; none if they lack most.

    Small models miscount: where one other memory has more of the words, it is meant.
    """
    said = frozenset(tokens(sentence))
    words = {
        number: said.intersection(tokens(shown[number].content))
        for number in shown
    }
    nearest = max(words, key=lambda number: len(words[number]))
    found = {word for number in cited for word in words[number]}
    if len(words[nearest]) > len(found):
        cited = [nearest]
    numbers: list[int] = []
    missing = said
    for number in sorted(cited, key=lambda each: -len(words[each])):
        if words[number] & missing:
            numbers.append(number)
            missing -= words[number]
    return numbers if 2 * len(missing) <= len(said) else []
