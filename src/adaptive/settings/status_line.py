"""The status line of an answer: what its user is told of the memory, and by which rules.

What was recalled waits in the turn's state; it is told with the first report of the turn, in one
line, since the host stores the chat anew with each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from adaptive.core.cache import UserCache
from adaptive.core.errors import HINDRANCE, TablesUnavailable
from adaptive.settings.hook import Hook, others_read
from adaptive.settings.merged import Settings

NOTHING_NEW = "Nothing new to remember"
_DETAILS_TITLE = "What changed in memory"
_UNDO_HINT = "/undo takes it back"
_UNDO_HINTS = 3
_MOST_REMEMBERED = 5000
# Whether a user is given a hint, which is counted up to a number of times.
CountHint = Callable[[str, str, int], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Report:
    """One thing that a user is told: what was learned, what failed or waits, or an answer.

    The valve ``confirmation`` says where ``news`` are told, if at all; a ``notice`` is told above
    the answer whatever it says, and a ``reply`` to the user even where no status is shown. The
    ``details`` say in full what the line sums up, and ``counts`` is the line for a chat that others
    read; without them the line quotes nobody.
    """

    line: str = ""
    kind: Literal["news", "notice", "reply"] = "news"
    details: tuple[str, ...] = ()
    counts: str = ""
    changes_memory: bool = False


class StatusLines:
    """Writes the status line of each answer, and knows what users need not be told again."""

    def __init__(self, count_hint: CountHint) -> None:
        self._count_hint = count_hint
        self._told = UserCache[bool](_MOST_REMEMBERED)

    async def write(self, hook: Hook, report: Report) -> None:
        """Tell a report with the answer, and what was recalled for it."""
        if is_switched_off(report, hook.settings):
            report = Report()
        if report.line and await others_read(hook):
            report = without_words(report)
        if (
            report.changes_memory
            and hook.has_page
            and await self._hints_at_undo(hook.user_id)
        ):
            report = replace(report, line=f"{report.line} · {_UNDO_HINT}")
        if stands_below(report, hook):
            note = " · ".join(report.details) or report.line
            if await hook.stored_answer.add_note(note):
                report = Report()
        recalled = (
            hook.state.pop("recalled", "") if hook.settings.show_status else ""
        )
        notifier = hook.replies if report.kind == "reply" else hook.notifier
        line = ordered_line(report.line, recalled)
        if line:
            await notifier.status(line)
        if report.details:
            name = {"source": _DETAILS_TITLE, "name": _DETAILS_TITLE}
            await notifier.source(
                _DETAILS_TITLE, ["\n".join(report.details)], [name]
            )

    async def notice(self, hook: Hook, line: str) -> None:
        """Tell what failed or waits; what keeps memory from its work is told once.

        That is so until a turn of the user is learned.
        """
        if not line.startswith(HINDRANCE) or self._is_new(hook.user_id, line):
            await self.write(hook, Report(line, kind="notice"))

    async def refusal(self, hook: Hook, line: str) -> None:
        """Tell why a user may have no memories, once in a chat."""
        if self._is_new(hook.user_id, hook.chat_id):
            await self.write(hook, Report(line, kind="notice"))

    async def reply(self, hook: Hook, line: str) -> None:
        """Tell what answers a request of the user's."""
        await self.write(hook, Report(line, kind="reply"))

    def forget(self, user_id: str) -> None:
        """Tell everything anew: a turn was learned, or all of the user's is erased."""
        self._told.forget(user_id)

    def _is_new(self, *key: str) -> bool:
        """Whether it was not told before; it counts as told from now on."""
        is_new = self._told.get(key) is None
        self._told.put(key, True)
        return is_new

    async def _hints_at_undo(self, user_id: str) -> bool:
        """Whether a user is told once more how to take a change back."""
        with suppress(TablesUnavailable):
            return await self._count_hint(user_id, "undo", _UNDO_HINTS)
        return False


def is_switched_off(report: Report, settings: Settings) -> bool:
    """Whether a report is news to somebody who wants no news."""
    return report.kind == "news" and settings.confirmation == "off"


def without_words(report: Report) -> Report:
    """A report for a chat that others read: counts in place of anybody's words."""
    return replace(report, line=report.counts or report.line, details=())


def stands_below(report: Report, hook: Hook) -> bool:
    """Whether a report is written below the stored answer, and not in the line above it."""
    if report.kind != "news" or report.line in ("", NOTHING_NEW):
        return False
    wanted = (
        hook.settings.confirmation == "message" and hook.settings.show_status
    )
    return wanted and hook.told_kind == "saved"


def ordered_line(line: str, recalled: str) -> str:
    """One line, of which the page shows the beginning: what was done, then what was recalled."""
    parts = (recalled, line) if line == NOTHING_NEW else (line, recalled)
    return " · ".join(filter(None, parts))
