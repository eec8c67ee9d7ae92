"""What a user is told of the memory, and erasing and restoring, once confirmed.

It is Markdown; of what is known there is a page besides, with search and buttons, which puts commands
into the message field and sends none. Without scripts the page is a list, too.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol
from urllib.parse import quote

from adaptive.core import (
    CATEGORIES,
    LANGUAGE,
    PINNED,
    QUIET,
    Draft,
    Memory,
    Place,
    Proposal,
    clipped_line,
    local_time,
    phrase,
    phrased_text,
    plain_line,
    text_field,
)
from adaptive.memory import (
    ASKED,
    AuditEntry,
    ChangeKey,
    Eraser,
    ErasureReport,
    Memories,
    Step,
    origin_of,
)
from adaptive.privacy import UNDER_FORMER_KEY, ErasureRequest
from adaptive.search import folded_text
from adaptive.settings import Hook

_MOST_LISTED = 300
_LONGEST_LISTED = 400
_MOST_OF_A_STEP = 5
_MOST_TOLD = 10
_DAYS_SHOWN = 30
_DONE_BY = {
    "ended": "no_longer_true",
    "pruned": "by_upkeep",
    "summarised": "by_upkeep",
    "restored": "by_restoring",
    "imported": "by_import",
    "undone": "by_undoing",
}

# From epoch seconds to a day, or to a day with its time, where the user lives.
Day = Callable[[float], str]
# Whether the words of a change are not repeated.
Withheld = Callable[[AuditEntry], bool]


def day_of(hook: Hook, form: str = "%Y-%m-%d") -> Day:
    """Writes times as days where the user lives."""
    zones = hook.time_zones
    return lambda seconds: f"{local_time(seconds, *zones):{form}}"


def listed(memory: Memory) -> str:
    """A memory's words on one line that no markup breaks."""
    return plain_line(clipped_line(memory.content, _LONGEST_LISTED))


def numbered_item(number: int, words: str) -> str:
    """An item of a list, with the number by which a memory can be named.

    It is no numbered list, of which a page counts the items itself.
    """
    return f"- **{number}.** {words}"


def marks_told(memory: Memory) -> dict[str, str]:
    """Until when a memory holds, and how its user has marked it, in words by names."""
    told: dict[str, str] = {}
    if memory.until:
        told["until"] = phrase("until", day=memory.until)
    if memory.is_pinned:
        told[PINNED] = phrase("is_pinned")
    if memory.is_quiet:
        told[QUIET] = phrase("is_quiet")
    if memory.scope:
        told["here"] = phrase("here_alone")
    return told


def grouped(memories: Sequence[Memory]) -> dict[str, list[Memory]]:
    """The newest memories by the titles of bank and category, as they are listed."""
    newest_first = sorted(
        memories, key=lambda memory: (-memory.said_at, memory.id)
    )
    groups: dict[str, list[Memory]] = {}
    for memory in newest_first[:_MOST_LISTED]:
        category = next(
            (tag for tag in memory.tags if tag in CATEGORIES), "other"
        )
        title = " · ".join(filter(None, (memory.bank, phrase(category))))
        groups.setdefault(title, []).append(memory)
    return dict(sorted(groups.items()))


def overview(
    counted: str,
    memories: Sequence[Memory],
    numbers: Mapping[str, int],
    day: Day,
    noted: Sequence[str],
) -> str:
    """Memories in their groups, below how many there are and what else."""
    parts = [" · ".join([f"**{counted}**", *noted])]
    for title, group in grouped(memories).items():
        lines = [f"**{plain_line(title)}**", ""]
        for memory in group:
            details = [day(memory.said_at), *marks_told(memory).values()]
            item = f"{listed(memory)} ({', '.join(details)})"
            lines.append(numbered_item(numbers[memory.id], item))
        parts.append("\n".join(lines))
    older = len(memories) - _MOST_LISTED
    if older > 0:
        parts.append(phrase("and_more", n=older))
    parts.append(phrased_text("commands").strip())
    return "\n\n".join(parts)


def shown_of_steps(steps: Sequence[Step]) -> list[ChangeKey]:
    """The changes of steps that their list shows: the newest of each."""
    return [key for step in steps for key in step.changes[:_MOST_OF_A_STEP]]


def change_log(
    shown: Sequence[Step],
    changes: Sequence[AuditEntry],
    number: int,
    day: Day,
    *,
    withheld: Withheld,
) -> str:
    """Steps, the last ones of a number: when, by whom, in which chat, before and after.

    ``changes`` are those of ``shown_of_steps``; the words of some are ``withheld``.
    """
    if not shown:
        return f"{phrase('nothing_done')}."
    title = f"{len(shown)} / {phrase('changes', n=number)}"
    lines = [f"**{title}**; {phrase('undo_number', n='N')}", ""]
    by_key = {change.key: change for change in changes}
    unopened = 0
    for step in shown:
        keys = [key.text for key in shown_of_steps([step])]
        newest_first = [by_key[key] for key in keys if key in by_key]
        if not newest_first:
            unopened += 1
            continue
        newest = newest_first[0]
        by = _DONE_BY.get(newest.kind, "by_learning")
        if newest.reason == ASKED:
            by = "by_request"
        line = f"{step.number}. {day(newest.changed_at)}, {phrase(by)}"
        if newest.chat_id:
            line += f", [{phrase('in_chat')}](/c/{newest.chat_id})"
        if not step.standing:
            line += f" · *{phrase('by_undoing')}*"
        items = changes_told(
            newest_first, len(step.changes), withheld=withheld
        )
        lines += [line, *(f"   {item}" for item in items)]
    if unopened:
        lines += ["", f"{unopened}: {UNDER_FORMER_KEY}."]
    return "\n".join(lines)


def changes_told(
    changes: Sequence[AuditEntry], number: int, *, withheld: Withheld
) -> list[str]:
    """The first changes of a number, an item of a list each, and how many more there are."""
    lines = [
        f"- {phrase('not_repeated') if withheld(change) else _told_change(change)}"
        for change in changes
    ]
    if number > len(changes):
        lines.append(f"- {phrase('and_more', n=number - len(changes))}")
    return lines


def undone_told(
    changes: Sequence[AuditEntry],
    left: Sequence[AuditEntry],
    *,
    withheld: Withheld,
) -> str:
    """What was taken back, and what was left as it is of the same step."""
    told, staying = (
        changes_told(each[:_MOST_TOLD], len(each), withheld=withheld)
        for each in (changes, left)
    )
    counted = phrase("changes", n=len(changes))
    lines = [f"{phrase('taken_back')}: {counted}", "", *told]
    if len(told) == 1:
        lines = [f"{phrase('taken_back')}: {told[0].removeprefix('- ')}"]
    if staying:
        lines += [
            "",
            f"{phrase('left_as_is')}:",
            "",
            *staying,
        ]
    return "\n".join(lines)


def costs_told(days: Mapping[str, Counter[str]]) -> str:
    """What models were asked, the newest days first."""
    lines = [
        phrase("costs"),
        "",
        f"| {phrase('cost_columns')} |",
        "|---|---|---|---|---|",
    ]
    for day in sorted(days, reverse=True)[:_DAYS_SHOWN]:
        spent = days[day]
        seconds = spent["milliseconds"] // 1000
        tokens = f"{spent['tokens_in']} | {spent['tokens_out']}"
        lines.append(f"| {day} | {spent['calls']} | {tokens} | {seconds} |")
    return "\n".join(lines)


def _told_change(change: AuditEntry) -> str:
    """One change in words: before and after."""
    before = listed(change.before) if change.before is not None else ""
    after = plain_line(clipped_line(change.after, _LONGEST_LISTED))
    if before and after and before != after:
        return f"{before} → {after}"
    if before == after:
        return f"{phrase('updated')}: {after}"
    if after:
        return f"{phrase('new')}: {after}"
    gone = "into_archive" if change.archived else "gone"
    return f"{phrase(gone)}: {before}"


_SCOPES = {"everything": "all_of_yours", "chat": "of_this_chat"}
_MOST_NAMED = 10
_LONGEST_NAMED = 120


class Learner(Protocol):
    """Does at once what a user has asked for in so many words."""

    async def waiting(self, hook: Hook) -> list[str]:
        """What waits of a user, in a few words each."""
        ...

    async def examine(self, hook: Hook) -> tuple[str, str]:
        """Whether the model for learning is good enough, and what was found of it."""
        ...

    async def do(self, hook: Hook, proposals: Sequence[Proposal]) -> str:
        """Carry out operations; what to tell of it."""
        ...

    async def ask_deletion(
        self, hook: Hook, memories: Sequence[Memory]
    ) -> str:
        """Ask a user which memories go, and delete these; what to tell of it."""
        ...


@dataclass
class MemoryRequests:
    """Asks, erases and restores; nothing in it belongs to one user."""

    memories: Memories
    learner: Learner
    eraser_of: Callable[[Hook], Awaitable[Eraser]]

    async def erase(self, hook: Hook, request: ErasureRequest) -> str:
        """Do what a request asks for once it is confirmed, and return what to tell."""
        if not hook.can_ask or hook.told_kind == "api":
            return phrase("no_own_chat")
        eraser = await self.eraser_of(hook)
        origin = origin_of(hook, request)
        report = await eraser.find(origin)
        if report.empty:
            return phrase("none_found")
        answer = await hook.dialog.ask(
            phrase("erase_title", what=_what_goes(request)),
            _erasure_question(report, hook.place),
            "erase",
        )
        # In whatever quotation marks, and full width as some keyboards write.
        typed = "".join(filter(str.isalnum, folded_text(answer or "")))
        if typed != "erase":
            return f"{phrase('nothing_done')}: {phrase('declined')}."
        memory = await self.memories.of(hook)
        report = await memory.erase(eraser, origin)
        # What a summary stood for comes back when it went, as far as it stays.
        restored = await memory.restore(report.bereft)
        return " ".join([report.line, *restored])

    async def restore(self, hook: Hook, words: str = "") -> str:
        """Bring back what is archived, and holds all words, once it is confirmed; what to tell.

        In a chat that somebody else owns nothing does: other people read it.
        """
        if not hook.settings.enabled:
            return f"{phrase('nothing_done')}: {phrase('memory_off')}"
        if not hook.can_ask or await hook.kind() != "saved":
            return phrase("no_own_chat")
        memory = await self.memories.of(hook)
        chosen, staying = await memory.restorable(words)
        if not chosen:
            told = f"{phrase('nothing_done')}. {staying}"
            return told if staying else phrase("none_found")
        title = phrase("would_restore", n=len(chosen))
        question = f"{named_memories(chosen)}\n\n{staying}"
        if not await hook.dialog.confirm(title, question):
            return f"{phrase('nothing_done')}: {phrase('declined')}"
        restored = await memory.restore([memory.id for memory in chosen])
        # Another tab may have brought them back meanwhile.
        lines = restored or [f"{phrase('nothing_done')}."]
        return " ".join([*lines, staying]).strip()


def _what_goes(request: ErasureRequest) -> str:
    """What a request asks to erase, in words."""
    day = request.day
    if day is not None:
        return phrase("of_day", day=f"{day}")
    return phrase(_SCOPES[request.scope])


def _erasure_question(report: ErasureReport, place: Place) -> str:
    """The question before an erasure: how much would go, and the first ten of it known here."""
    named = [one for one in report.memories if place.admits(one.scope)]
    parts = [
        phrase("would_erase", what=report.phrase or "…"),
        named_memories(named),
        phrase("how_to_confirm"),
    ]
    return "\n\n".join(filter(None, parts))


def named_memories(memories: Sequence[Memory | Draft]) -> str:
    """The first ten memories for a question, one line each, and how many more there are."""
    named = memories[:_MOST_NAMED]
    lines = [
        f"- {clipped_line(memory.content, _LONGEST_NAMED)}" for memory in named
    ]
    more = len(memories) - len(named)
    if more:
        lines.append(phrase("and_more", n=more))
    return "\n".join(lines)


def memory_page(
    memories: Sequence[Memory],
    numbers: Mapping[str, int],
    day: Day,
) -> str:
    """The memories as an HTML document, in their groups and with their numbers."""
    sections: list[str] = []
    groups = grouped(memories)
    for title, group in groups.items():
        items = [_item(memory, numbers[memory.id], day) for memory in group]
        sections.append(f"<h2>{escape(title)}</h2><ul>{''.join(items)}</ul>")
    counted = phrase("memories", n=len(memories))
    listed = sum(map(len, groups.values()))
    if listed < len(memories):
        counted = f"{listed} / {counted}"
    return phrased_text(
        "memory_page",
        language=LANGUAGE.get(),
        counted=counted,
        groups="\n".join(sections),
    )


def _item(memory: Memory, number: int, day: Day) -> str:
    """A memory as an item of the page, in no more letters than HTML needs: chats keep it."""
    words = escape(clipped_line(memory.content, _LONGEST_LISTED))
    about = [escape(day(memory.said_at))]
    chat_id = text_field(memory.meta, "chat_id")
    if chat_id:
        link = f"/c/{quote(chat_id, safe='')}"
        about.append(f"<a href={link}>{phrase('in_chat')}</a>")
    marks = marks_told(memory)
    about += [f"<b>{escape(mark)}</b>" for mark in marks.values()]
    names = f' class="{" ".join(marks)}"' if marks else ""
    return f"<li value={number}{names}>{words}<p>{', '.join(about)}"
