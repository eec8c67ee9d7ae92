"""Recall explains itself: why memories come for a message, which were nearly among them.

What is told stands in a chat that models may read later. So it repeats no memory that may not stand
in a prompt, or that is kept from the chat's model: the day on which it was noted tells which it is.
"""

from collections.abc import Collection, Mapping

from adaptive.core import (
    Memory,
    clipped_line,
    has_ended,
    has_words,
    phrase,
    plain_line,
)
from adaptive.privacy import escaped_entry
from adaptive.recall.block import utc_day, withheld_reason
from adaptive.recall.selection import (
    Selection,
    fitting_by_settings,
    ranked_candidates,
)
from adaptive.search import Ranked, interleaved
from adaptive.settings import HiddenMemories, Hook, Settings

_NEAREST_SHOWN = 3
_LONGEST_QUOTED = 200
_SHOWN_CHARACTERS = 80


def explained(
    selection: Selection,
    settings: Settings,
    hidden: HiddenMemories,
    numbers: Mapping[str, int],
) -> str:
    """Why memories come for a question, and why the nearest others do not; Markdown.

    Memories have their ``numbers`` by their ids, as far as they were ever listed.
    """
    candidates = selection.candidates
    question = candidates.question
    index = candidates.index
    if not index.memories:
        return phrase("none_found")
    rankings = ranked_candidates(candidates)
    fit = fitting_by_settings(candidates, rankings, settings)
    coming = _coming(selection, fit, numbers)
    # Among so many of each thought there are others enough.
    nearest = interleaved(
        question.nearest(index, len(coming) + _NEAREST_SHOWN)
    )
    others = [
        near for near in nearest if index.memories[near.place].id not in coming
    ]
    beyond = fitting_by_settings(
        candidates, rankings, settings, more=_NEAREST_SHOWN
    )
    nearly: list[str] = []
    for near in others[:_NEAREST_SHOWN]:
        memory = index.memories[near.place]
        words = _named(memory, numbers)
        reason = withheld_reason(memory, hidden)
        if reason:
            day = utc_day(memory.created_at)
            words = f"{phrase('not_repeated')} ({day})"
        else:
            reason = _reason_to_stay(
                memory, selection, settings, [*fit, *beyond]
            )
        nearly.append(f"- {words}: {_figures(near)}, {reason}")
    asked = _quoted(question.text)
    if selection.fitting:
        head = phrase("these_come", words=asked)
    else:
        head = phrase("none_fits", words=asked)
        if coming:
            head += f" {phrase('all_the_same')}"
    closing = phrase("worked_out")
    newest = question.queries()[-1]
    missing = len(index.missing())
    # The message counts, too.
    missing += newest.vector is None and has_words(question.text)
    if missing:
        closing += f" {phrase('by_keywords', n=missing)}."
    parts = [head, "\n".join(coming.values())]
    if nearly:
        parts += [phrase("nearly"), "\n".join(nearly)]
    return "\n\n".join(filter(None, [*parts, closing]))


def _reason_to_stay(
    memory: Memory,
    selection: Selection,
    settings: Settings,
    fitting_ids: Collection[str],
) -> str:
    """Why a memory does not come that may stand in a prompt."""
    candidates = selection.candidates
    if has_ended(memory, candidates.question.today):
        return phrase("until", day=memory.until)
    if memory.is_quiet:
        return phrase("is_quiet")
    if memory.id in candidates.withheld:
        return phrase("asks_to_forget")
    if memory.id not in fitting_ids:
        return phrase("not_near")
    core = {entry.memory.id for entry in selection.core}
    if len(selection.fitting.keys() - core) < settings.related_memories_n:
        return phrase("no_room_left")
    return phrase("limit_is", n=settings.related_memories_n)


def _coming(
    selection: Selection,
    fit: Mapping[str, Ranked],
    numbers: Mapping[str, int],
) -> dict[str, str]:
    """A line for each memory that comes, by id: what fits, best first, then what always comes."""
    reasons = {
        memory_id: [_figures(fit[memory_id])]
        for memory_id in selection.fitting
    }
    for entry in selection.core:
        memory = entry.memory
        always = "for_every_answer"
        if memory.is_pinned:
            always = "is_pinned"
        reasons.setdefault(memory.id, []).append(phrase(always))
    for memory in selection.candidates.bearing:
        if memory.id in selection.shown:
            reasons.setdefault(memory.id, []).append(phrase("for_advice"))
    for entry in selection.retrieved:
        reasons.setdefault(entry.memory.id, [phrase("shown_earlier")])
    lines: dict[str, str] = {}
    for memory_id, why in reasons.items():
        memory = selection.candidates.memory(memory_id)
        lines[memory_id] = f"- {_named(memory, numbers)}: {', '.join(why)}"
    return lines


def _named(memory: Memory, numbers: Mapping[str, int]) -> str:
    """A memory's words, behind its number if it has one."""
    words = _quoted(memory.content)
    if memory.id in numbers:
        return f"**{numbers[memory.id]}.** {words}"
    return words


def _quoted(text: str) -> str:
    """A text as one line that is no Markdown and plays no role."""
    return f"\u201c{plain_line(clipped_line(escaped_entry(text), _LONGEST_QUOTED))}\u201d"


def _figures(near: Ranked) -> str:
    """Relevance in percent, and what the place in the order is made of."""
    parts: list[str] = []
    for name in ("similarity", "keywords", "neighbours"):
        value: float = getattr(near, name)
        if round(value, 1):
            parts.append(f"{phrase(name)} {value:.1f}")
    return f"{round(100 * near.relevance)} % ({' + '.join(parts) or '0'})"


async def show_sources(hook: Hook, selection: Selection) -> None:
    """Show each memory as a source, the best first: its words, its day, and its relevance.

    The page lists sources by the ``name`` of their metadata, and by their own where that is missing
    (host: the page of 0.9.6 to 0.12.4), so both are in it. Words are escaped as in the block.
    """
    for memory_id, score in selection.fitting.items():
        memory = selection.candidates.memory(memory_id)
        text = escaped_entry(memory.content)
        title = text[:_SHOWN_CHARACTERS]
        metadata = {
            "source": title,
            "name": f"{title} ({round(score * 100)} %)",
            "score": round(score, 3),
        }
        noted = f"{text}\n\n{utc_day(memory.created_at)}"
        await hook.notifier.source(title, [noted], [metadata])
