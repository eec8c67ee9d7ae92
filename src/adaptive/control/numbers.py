"""Memories as a user names them: by the numbers that they are listed with, or by words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from adaptive.control.requests import (
    day_of,
    listed,
    marks_told,
    numbered_item,
)
from adaptive.control.turn import Command, for_example
from adaptive.core import (
    PINNED,
    QUIET,
    JsonObject,
    Memory,
    clipped_line,
    frozen,
    marked,
    phrase,
)
from adaptive.memory import Memories
from adaptive.search import FoundMemory, folded_text, tokens
from adaptive.settings import Hook, PageQuestion

# What each command that marks a memory says of it then.
MARKING = {
    "pin": "pinned",
    "unpin": "updated",
    "quiet": "quiet",
    "loud": "updated",
}
_MARKS = {"pin": PINNED, "unpin": PINNED, "quiet": QUIET, "loud": QUIET}
_MOST_MEANT = 10
_LONGEST_OPTION = 120
_NUMBER = re.compile(r"[#(\s]*(\d{1,9})[.,):\u3002\s]*")


class MemorySearch(Protocol):
    """Finds memories by words, and says why some came; each may raise ``HostError``."""

    async def found(self, hook: Hook, words: str) -> Sequence[FoundMemory]:
        """The memories that words name, best first."""
        ...

    async def named(self, hook: Hook, memory: Memory) -> FoundMemory:
        """A memory that its user has named, with what keeps it from being repeated."""
        ...

    async def why(
        self,
        hook: Hook,
        messages: list[JsonObject],
        numbers: Mapping[str, int],
    ) -> str:
        """Why memories come for the newest message, with the numbers of memories by their ids."""
        ...


def number_in(words: str) -> int | None:
    """The number that words are, be it with a sign around it: ``3``, ``#3``, ``3.``."""
    match = _NUMBER.fullmatch(folded_text(words))
    return int(match[1]) if match else None


def is_certain(matches: Sequence[FoundMemory]) -> bool:
    """Whether one memory alone is meant without a doubt."""
    return [match.has_all_words for match in matches] == [True]


@frozen
class NumberedMemories:
    """Finds what a user means by a number of the list, or by words."""

    memories: Memories
    search: MemorySearch

    async def meant(
        self, hook: Hook, words: str
    ) -> Sequence[FoundMemory] | str:
        """The memory of a number, or what has all words, else what is nearest to them.

        A number that no memory has is no word to act on: what holds it is only told. Nor are several
        numbers, or one that signs make another: what holds them is asked about.
        """
        number = number_in(words)
        if number is not None:
            memory = await self.memories.of(hook)
            given = await memory.numbers()
            ids = [each for each in given if given[each] == number]
            for row in await memory.store.read(ids) if ids else ():
                if hook.place.admits(row.scope):
                    return [await self.search.named(hook, row)]
        found = await self.search.found(hook, words)
        nearest = found[:_MOST_MEANT]
        exact = [match for match in found if match.has_all_words]
        if number is None and all(map(str.isdecimal, tokens(words))):
            return [replace(each, has_all_words=False) for each in nearest]
        if number is None:
            return exact or nearest
        told = phrase("no_memory", n=number)
        if not exact:
            return told
        lines = await self.lines(hook, exact[:_MOST_MEANT])
        return "\n".join([f"{told} {phrase('which_of_these')}", "", *lines])

    async def lines(
        self, hook: Hook, matches: Sequence[FoundMemory]
    ) -> list[str]:
        """Memories as items of a list, with their numbers and how well they match."""
        memory = await self.memories.of(hook)
        numbers = await memory.numbers(match.memory for match in matches)
        day = day_of(hook)
        lines: list[str] = []
        for match in matches:
            named = match.memory
            words = listed(named)
            if match.withheld:
                words = f"{phrase('not_repeated')}, {match.withheld}"
            details = [
                f"{match.score} %",
                day(named.said_at),
                *marks_told(named).values(),
            ]
            item = f"{words} ({', '.join(details)})"
            lines.append(numbered_item(numbers[named.id], item))
        return lines

    async def chosen(self, hook: Hook, words: str) -> FoundMemory | str:
        """The one memory that a number or words name, or what to ask back."""
        matches = await self.meant(hook, words)
        if isinstance(matches, str):
            return matches
        if is_certain(matches):
            return matches[0]
        several = matches[:_MOST_MEANT]
        if not several:
            return phrase("none_found")
        options = [
            clipped_line(match.memory.content, _LONGEST_OPTION)
            for match in several
        ]
        title = phrase("which_of_these")
        question = PageQuestion(
            title=title,
            entries=[f"\u201c{words}\u201d"],
            options=[phrase("none_of_them"), *options],
        )
        (option,) = await hook.dialog.choose(question) or (0,)
        if option:
            return several[option - 1]
        lines = await self.lines(hook, several)
        return "\n".join([title, "", *lines])

    async def mark(self, hook: Hook, command: Command) -> str:
        """Have a memory always come, or never by itself, or as others do again."""
        if not command.words:
            return for_example(f"/memory {command.name} 3")
        chosen = await self.chosen(hook, command.words)
        if isinstance(chosen, str):
            return chosen
        row = chosen.memory
        mark = _MARKS[command.name]
        if command.name in ("pin", "quiet"):
            marks = marked(row.marks, mark)
        else:
            marks = tuple(each for each in row.marks if each != mark)
        if set(marks) == {*row.marks}:
            return phrase("already_so")
        memory = await self.memories.of(hook)
        await memory.mark(row, *marks)
        told = phrase(MARKING[command.name])
        if not chosen.withheld:
            told += f": {listed(row)}"
        return f"{told}\n\n{phrase('undo_hint')}"
