"""What the host hands to one hook, as the rooms see it, and what its user is told.

``host`` implements the hook.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, Self

from adaptive.core import (
    Completer,
    ConversationKind,
    HindranceLine,
    HostError,
    JsonMapping,
    JsonObject,
    Place,
    Sources,
    TurnState,
    UserCache,
    frozen,
    phrase,
)
from adaptive.settings.merged import HiddenMemories, Settings

# Kinds whose prompt gets memories. In a channel and in a chat that somebody else owns, other
# people read the answer; a sub-agent's prompt is written by a model that had them already.
RECALLED_KINDS: frozenset[ConversationKind] = frozenset(
    {"saved", "api", "automation", "timer"}
)
# Kinds that stand on a page of the user's, on which the memory itself can answer.
COMMANDED_KINDS: frozenset[ConversationKind] = frozenset(
    {"saved", "temporary"}
)
# A timer goes off in such a chat, whose former messages it brings along.
KINDS_AFTER_COMMANDS: frozenset[ConversationKind] = frozenset(
    {*COMMANDED_KINDS, "timer"}
)
# Kinds in which the newest user message was typed by this user, now.
LEARNED_KINDS: frozenset[ConversationKind] = frozenset({"saved", "shared"})


@dataclass(frozen=True, kw_only=True)
class Hook(ABC):
    """One hook of one turn: whose it is, how it is to be served, and by whom.

    What asks the host may raise ``HostError``. Ids are empty where nothing is stored; that of the
    answer is known before there is one. ``told_kind`` is what can be told without the database.
    With ``is_direct`` the browser asks the chat's model itself. ``regenerated_message`` is the
    user's message whose answer is made anew, empty where none is. Names of time zones are the
    user's choice, the browser's, and the admin's. The language of the page (``de-DE``) is empty
    where none is named. The ``place`` is where the chat is; what it was ``given`` so far is JSON,
    ``None`` where that was not read. What is added to prompts may wait until the host has written
    its own tasks.

    A page shows lines where it ``has_page``, and dialogs where it ``can_ask``. The ``notifier``
    shows news, unless the user or the admin wants none; ``replies`` shows what answers a request
    of the user's, whatever they want.
    """

    settings: Settings
    user_id: str
    is_admin: bool
    chat_id: str
    question_id: str
    answer_id: str
    chat_model_id: str
    is_direct: bool
    told_kind: ConversationKind
    state: TurnState
    time_zones: tuple[str, str, str]
    interface_language: str
    place: Place
    adds_behind_tasks: bool
    regenerated_message: JsonMapping
    has_page: bool
    can_ask: bool
    notifier: Notifier
    replies: Notifier
    dialog: Dialog
    stored_answer: StoredAnswer
    native: HostFeatures
    given: object = None

    @property
    @abstractmethod
    def is_served(self) -> bool:
        """Whether memory is on for the user, and for the chat's model."""

    @abstractmethod
    async def kind(self) -> ConversationKind:
        """The kind of conversation; a saved chat that somebody else may read is a shared one."""

    @abstractmethod
    async def other_authors(self) -> bool:
        """Whether somebody else wrote a message of the chat; on doubt, yes."""

    @abstractmethod
    async def former_versions(self) -> frozenset[str]:
        """Ids of what the user's message was before it was edited; others of the same parent."""

    @abstractmethod
    async def wants_memory(self) -> bool:
        """Whether memory is on for the user by now, by their own switch or the admin's default."""

    @abstractmethod
    async def typed_to(self, model_id: str, *, is_direct: bool) -> Self:
        """The same hook for words that were typed to another chat model, if that is there."""

    @abstractmethod
    async def sources(self) -> Sources:
        """Where the user's memories are, and who makes their vectors."""

    @abstractmethod
    async def completer(self) -> Completer:
        """The model for learning, behind redaction; ``ModelRejected`` where none is known."""

    @abstractmethod
    async def hidden_from(
        self, completer: Completer | None = None
    ) -> HiddenMemories:
        """What may not be shown here, and to the chat's own model or the one of a completer."""

    @abstractmethod
    async def standing_folders(
        self, scopes: Collection[str]
    ) -> frozenset[str]:
        """Those of the scopes of folders that the host has still."""

    @abstractmethod
    async def machine(self, completer: Completer | None = None) -> str:
        """The machine in a network of one's own that the chat's model, or a completer's, runs on.

        Empty where it runs elsewhere, or that can't be told.
        """

    @abstractmethod
    async def choose(self, **valves: object) -> None:
        """Change valves of the user's own, from the next turn on."""

    @abstractmethod
    async def suggest(self, lines: Sequence[str]) -> None:
        """Show what to ask next below the answer, where the host makes none itself."""

    @abstractmethod
    async def of_answer(
        self, chat_id: str, answer_id: str, place: Place
    ) -> Self:
        """The user's hook for an answer that another process has given in a saved chat.

        The place is where the chat was then.
        """


class HostFeatures(Protocol):
    """What the host itself does with a turn; what asks the host may raise ``HostError``."""

    async def task_that_reads(self, body: JsonMapping) -> str:
        """The host's own task that would read what is added to a request, for people; or none."""
        ...

    async def compacts(self) -> bool:
        """Whether the host compacts chats itself (since 0.10)."""
        ...


def may_be_given_memories(hook: Hook) -> bool:
    """Whether memories may go into this kind of conversation, as user and admin have chosen."""
    if not hook.settings.show_memories:
        return False
    in_temporary = (
        hook.settings.inject_in_temporary_chats
        and hook.told_kind == "temporary"
    )
    return hook.told_kind in RECALLED_KINDS or in_temporary


def may_be_learned_from(hook: Hook) -> bool:
    """Whether what the user types in this kind of conversation may be learned."""
    if hook.settings.save_mode == "off":
        return False
    by_program = hook.settings.learn_from_api_calls and hook.told_kind == "api"
    return hook.told_kind in LEARNED_KINDS or by_program


async def others_read(hook: Hook) -> bool:
    """Whether others read what is shown in a chat; on doubt, yes."""
    try:
        return await hook.kind() == "shared"
    except HostError:
        return True


class Notifier(Protocol):
    """Tells the user, in the page; never raises."""

    async def status(self, text: str) -> None:
        """Show one finished line with the answer."""
        ...

    async def source(
        self, name: str, documents: list[str], metadata: list[JsonObject]
    ) -> None:
        """Show a source under the answer: its texts, and what is known of each."""
        ...

    async def embed(self, document: str) -> None:
        """Show an HTML document with the answer, and store it there."""
        ...


@frozen
class PageQuestion:
    """What becomes of some entries: for each its user chooses one of the same options.

    One is ``preset``: 0 leaves an entry as it is. Where a page has no lists, an entry's number says
    the second option, and one with a minus the third; without how to type that, nothing is asked.
    """

    title: str
    entries: Sequence[str]
    options: Sequence[str]
    preset: int = 0
    reason: str = ""
    how_to_type: str = ""


class Dialog(Protocol):
    """Asks the user, in the page, in plain text, never raises there, and waits for a bounded time."""

    async def confirm(self, title: str, message: str) -> bool | None:
        """A question to be answered with yes or no; ``None`` where nobody answered.

        The Enter key may answer yes while its user is typing: for what can be undone.
        """
        ...

    async def ask(
        self, title: str, message: str, hint: str, value: str = ""
    ) -> str | None:
        """A question to be answered in words; the hint stands in a field without a value.

        ``None`` where nobody answered, an empty text where the user answered nothing or declined.
        """
        ...

    async def choose(self, question: PageQuestion) -> Sequence[int] | None:
        """The option that is chosen for each entry; none of all where the user declined.

        ``None`` where nobody answered, or nothing can be asked.
        """
        ...

    async def download(self, name: str, text: str) -> bool:
        """Have the page save a text as a file; false where it can't."""
        ...

    async def attached_texts(self) -> list[str]:
        """The texts of the files that stand with the user's message.

        Raises:
            AdaptiveMemoryError: one is too large, no text, or another user's.
        """
        ...


class StoredAnswer(Protocol):
    """The answer of a turn in a saved chat, in the database and on the page; never raises."""

    async def said(self) -> str | None:
        """What a whole answer says, without our lines; None where none is stored."""
        ...

    async def add_note(self, line: str) -> bool:
        """Add a line of ours at its end, in place of a former one; whether it stands there."""
        ...

    async def rewrite(
        self, said: str, rewriting: Callable[[str], str]
    ) -> bool:
        """Rewrite what it says, if that is still what it said; whether that was done."""
        ...


_UNDO_HINTS = 3
_MOST_REMEMBERED = 5000


@frozen
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

    def __init__(self) -> None:
        self._told = UserCache[bool](_MOST_REMEMBERED)
        self._undo_hints = UserCache[int](_MOST_REMEMBERED)

    async def write(self, hook: Hook, report: Report) -> None:
        """Tell a report with the answer, and what was recalled for it."""
        if report.kind == "news" and hook.settings.confirmation == "off":
            report = Report()
        if report.line and await others_read(hook):
            line = report.counts or report.line
            report = replace(report, line=line, details=())
        if (
            report.changes_memory
            and hook.has_page
            and self._hints_at_undo(hook.user_id)
        ):
            report = replace(
                report, line=f"{report.line} · {phrase('undo_hint')}"
            )
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
            title = phrase("details")
            name = {"source": title, "name": title}
            await notifier.source(title, ["\n".join(report.details)], [name])

    async def notice(self, hook: Hook, line: str, once: str = "") -> None:
        """Tell what failed or waits; ``once`` is what it is told once for, as for a chat.

        What keeps memory from its work is told once, until a turn of the user is learned.
        """
        if isinstance(line, HindranceLine):
            once = line
        key = (hook.user_id, once)
        if not once or self._told.get(key) is None:
            self._told.put(key, True)
            await self.write(hook, Report(line, kind="notice"))

    async def reply(self, hook: Hook, line: str) -> None:
        """Tell what answers a request of the user's."""
        await self.write(hook, Report(line, kind="reply"))

    def forget(self, user_id: str) -> None:
        """Tell everything anew: a turn was learned, or all of the user's is erased."""
        self._told.forget(user_id)

    def _hints_at_undo(self, user_id: str) -> bool:
        """Whether a user is told once more how to take a change back."""
        hints = self._undo_hints.get((user_id,)) or 0
        self._undo_hints.put((user_id,), hints + 1)
        return hints < _UNDO_HINTS


def stands_below(report: Report, hook: Hook) -> bool:
    """Whether a report is written below the stored answer, and not in the line above it."""
    if report.kind != "news" or report.line in ("", phrase("nothing_new")):
        return False
    wanted = (
        hook.settings.confirmation == "message" and hook.settings.show_status
    )
    return wanted and hook.told_kind == "saved"


def ordered_line(line: str, recalled: str) -> str:
    """One line, of which the page shows the beginning: what was done, then what was recalled."""
    parts = (
        (recalled, line) if line == phrase("nothing_new") else (line, recalled)
    )
    return " · ".join(filter(None, parts))
