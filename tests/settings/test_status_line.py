"""What a user is told with an answer: where, in which order, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from adaptive.core.model import HindranceLine, HostError
from adaptive.core.texts import phrase
from adaptive.settings.hook import Hook, Report, StatusLines
from tests.fakes import hook_settings
from tests.rates import over

NOTHING_NEW = phrase("nothing_new")

DETAILS = ("Saved: User lives in Porto.", "Saved: User has a dog.")
SAVED = Report(
    line="Saved (2): User lives in Porto. …",
    details=DETAILS,
    counts="Saved: 2 facts",
    changes_memory=True,
)
HINT = " · /undo takes it back"


class Page:
    """A ``Hook`` of ada's chat that notes what is shown above and below the answer."""

    user_id, told_kind, has_page = "ada", "saved", True

    def __init__(
        self,
        chat_id: str = "chat",
        known_kind: str | Exception = "saved",
        **valves: Any,
    ) -> None:
        self.chat_id, self.known_kind = chat_id, known_kind
        self.settings = hook_settings(**valves)
        self.state = {"recalled": "1 memory recalled"}
        self.replies = self.stored_answer = self
        self.notifier = (
            self if self.settings.show_status else Page(show_status=True)
        )
        self.above, self.below, self.sources = (
            list[str](),
            list[str](),
            list[str](),
        )

    async def kind(self) -> str:
        if isinstance(self.known_kind, Exception):
            raise self.known_kind
        return self.known_kind

    async def status(self, text: str) -> None:
        self.above.append(text)

    async def source(
        self, name: str, documents: list[str], metadata: list[Any]
    ) -> None:
        assert name == metadata[0]["name"] == "What changed in memory"
        self.sources += documents

    async def add_note(self, line: str) -> bool:
        self.below.append(line)
        return True

    @property
    def hook(self) -> Hook:
        """Itself, of which no more is used than is here."""
        return cast(Hook, self)


@dataclass(frozen=True)
class Case:
    """A report and the valves under which it is told, above the answer or below it."""

    report: Report
    above: str
    below: str = ""
    confirmation: str = "status"
    show_status: bool = True


FAILED = Report("Nothing saved: the model is busy", kind="notice")
ANSWER = Report("Nothing was found.", kind="reply")
CASES = [
    Case(SAVED, f"{SAVED.line}{HINT} · 1 memory recalled"),
    Case(Report(), "1 memory recalled"),
    Case(Report(NOTHING_NEW), f"1 memory recalled · {NOTHING_NEW}"),
    Case(SAVED, "1 memory recalled", confirmation="off"),
    Case(
        SAVED, "1 memory recalled", " · ".join(DETAILS), confirmation="message"
    ),
    Case(
        Report(NOTHING_NEW),
        f"1 memory recalled · {NOTHING_NEW}",
        confirmation="message",
    ),
    Case(SAVED, "", confirmation="message", show_status=False),
    # What failed, and what was asked for, is told above whatever is confirmed.
    Case(FAILED, f"{FAILED.line} · 1 memory recalled", confirmation="off"),
    Case(FAILED, f"{FAILED.line} · 1 memory recalled", confirmation="message"),
    Case(FAILED, "", show_status=False),
    Case(ANSWER, f"{ANSWER.line} · 1 memory recalled", confirmation="off"),
    Case(ANSWER, f"{ANSWER.line} · 1 memory recalled", confirmation="message"),
    Case(ANSWER, ANSWER.line, confirmation="off", show_status=False),
]


@over("case", CASES)
async def test_where_it_is_told(case: Case) -> None:
    """News are told where the valves want them, notices above, and replies whatever is off."""
    page = Page(confirmation=case.confirmation, show_status=case.show_status)
    await StatusLines().write(page.hook, case.report)
    assert (page.above, page.below) == (
        [case.above] if case.above else [],
        [case.below] if case.below else [],
    )


async def test_recalled_once() -> None:
    """What was recalled is told with the first line of a turn and with no other; a list follows."""
    page, lines = Page(), StatusLines()
    await lines.write(page.hook, SAVED)
    await lines.notice(page.hook, FAILED.line)
    await lines.write(page.hook, Report())
    assert page.above == [
        f"{SAVED.line}{HINT} · 1 memory recalled",
        FAILED.line,
    ]
    assert page.sources == ["\n".join(DETAILS)]


@pytest.mark.parametrize("confirmation", ["status", "message"])
@pytest.mark.parametrize(
    "kind", ["shared", HostError("the database is away")], ids=str
)
async def test_others_read_it(kind: Any, confirmation: str) -> None:
    """In a chat that others read, or may read, counts are told, and nobody's words."""
    page = Page(known_kind=kind, confirmation=confirmation)
    page.state.clear()
    await StatusLines().write(page.hook, SAVED)
    assert page.above + page.below == [f"Saved: 2 facts{HINT}"]
    assert page.sources == []


async def test_hint_at_undo() -> None:
    """Each user is told three times how to take a change back."""
    page, lines = Page(), StatusLines()
    page.state.clear()
    for _ in range(5):
        await lines.write(page.hook, SAVED)
    assert page.above == [f"{SAVED.line}{HINT}"] * 3 + [SAVED.line] * 2
    other = Page()
    other.user_id = "bob"
    await lines.write(other.hook, SAVED)
    assert HINT in other.above[0]


async def test_hindrances_are_told_once() -> None:
    """What keeps memory from its work is told once in all chats, until a turn is learned."""
    lines, pages = StatusLines(), [Page("a"), Page("b")]
    hindrance = HindranceLine("the database can't be written")
    for page in pages:
        page.state.clear()
        await lines.notice(page.hook, hindrance)
        await lines.notice(page.hook, FAILED.line)
    assert [page.above for page in pages] == [
        [hindrance, FAILED.line],
        [FAILED.line],
    ]
    lines.forget("ada")
    await lines.notice(pages[1].hook, hindrance)
    assert pages[1].above[-1] == hindrance


async def test_refusals_are_told_once_in_a_chat() -> None:
    """Who may have no memories is told so once in each chat."""
    lines, pages = StatusLines(), [Page("a"), Page("b")]
    for page in (*pages, *pages):
        page.state.clear()
        refusal = "Nothing saved: you lack the permission"
        await lines.notice(page.hook, refusal, once=page.hook.chat_id)
    assert [len(page.above) for page in pages] == [1, 1]
