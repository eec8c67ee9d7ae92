"""Commands: what a user says to the memory itself, answered without a model."""

import asyncio
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from adaptive.control.numbers import (
    MARKING,
    MemorySearch,
    NumberedMemories,
    is_certain,
    number_in,
)
from adaptive.control.past_chats import PastChatCommands
from adaptive.control.places import PlaceCommands
from adaptive.control.requests import (
    MemoryRequests,
    change_log,
    costs_told,
    day_of,
    grouped,
    memory_page,
    named_memories,
    overview,
    shown_of_steps,
    undone_told,
)
from adaptive.control.transfer import exported, read_import
from adaptive.control.turn import (
    SWITCHES,
    Command,
    OncePerMessage,
    for_example,
    without_commands,
)
from adaptive.core import (
    AdaptiveMemoryError,
    Draft,
    KeyedLocks,
    Proposal,
    WriteRefused,
    failure_told,
    local_time,
    log_failure,
    newest_user_message,
    phrase,
    phrased_text,
    plain_line,
    retold,
)
from adaptive.memory import (
    CostTable,
    Gate,
    PlaceTable,
    Refused,
    draft_of,
)
from adaptive.privacy import ErasureRequest, ErasureScope
from adaptive.search import FoundMemory
from adaptive.settings import Hook

_STEPS_SHOWN = 10
_REFUSED_LATELY_SECONDS = 30 * 24 * 3600
_MOST_STEPS = 200
_MOST_TRIED = 20
_SCOPES: dict[str, ErasureScope] = {
    "everything": "everything",
    "this chat": "chat",
    "today": "day",
}
_SAVING = ("remember", "change", "import", "learn")
_PLACED = (*_SAVING, *MARKING, "here", "everywhere", "move")
_CHANGING = ("undo", "forget", "restore", *_PLACED)
# Some of it may stand when the rest fails.
_IN_PORTIONS = ("undo", "import")
_ASKED = "ASKED"


Answering = Callable[[Hook, Command], Awaitable[str]]


@dataclass
class MemoryCommands(MemoryRequests):
    """Answers commands; nothing in it belongs to one user.

    ``diagnosis`` says how the server stands, and ``about`` writes the page about the user.
    """

    search: MemorySearch
    costs: CostTable
    places: PlaceTable
    diagnosis: Callable[[Hook], Awaitable[str]]
    about: Callable[[Hook], Awaitable[str]]
    once: OncePerMessage
    past_chats: PastChatCommands

    def __post_init__(self) -> None:
        # One change of a user's at a time; an answer that somebody else gives is waited for
        # without.
        self._locks = KeyedLocks()
        self._numbered = NumberedMemories(self.memories, self.search)
        self._places = PlaceCommands(
            self.places, self.memories, self._numbered
        )
        self._answers: dict[str, Answering] = {
            "find": self._find,
            "why": self._why,
            "about": lambda hook, _: self.about(hook),
            "log": self._log,
            "undo": self._undo,
            "remember": self._remember,
            "change": self._reword,
            "forget": self._forget,
            "restore": self._restore,
            "export": self._export,
            "import": self._import,
            "doctor": self._doctor,
            "cost": self._cost,
            "learn": self.past_chats.learn,
            **dict.fromkeys(MARKING, self._numbered.mark),
            **dict.fromkeys(("here", "everywhere"), self._places.choose),
            "move": self._places.move,
            "chats": self.past_chats.chats,
        }

    async def answer(self, hook: Hook, command: Command) -> str:
        """The answer to a command, in Markdown whose first line tells the most.

        What fails raises an ``AdaptiveMemoryError``, unless the command may have changed something.
        """
        if command.name in SWITCHES:
            return phrase(SWITCHES[command.name])
        if command.name in _SAVING and not hook.settings.enabled:
            return f"{phrase('nothing_saved')}: {phrase('memory_off')}."
        if command.name in _PLACED and not hook.place.known:
            return f"{phrase('nothing_saved')}: {phrase('folder_unread')}."
        # A word behind /memory that is no command shows the list, with the commands below it.
        answering = self._answers.get(command.name, self._list)
        if await hook.kind() == "shared":
            return await self._counted(hook)
        # What changes nothing tells how things stand, also while a change is under way.
        if command.name not in _CHANGING:
            return await answering(hook, command)
        return await self.once.answer(
            user_id=hook.user_id,
            chat_id=hook.chat_id,
            message_id=_command_id(hook.question_id, command),
            carry_out=partial(self._change, answering, hook, command),
        )

    async def _change(
        self, answering: Answering, hook: Hook, command: Command
    ) -> str:
        """The answer to a command that changes something, once the user's others are done."""
        async with self._locks.of(hook.user_id):
            try:
                return await answering(hook, command)
            except AdaptiveMemoryError as error:
                log_failure("a command has failed", error)
                told = f"{failure_told(phrase('did_not_work'), error)}."
                if command.name in _IN_PORTIONS:
                    told += f" {phrase('log_shows')}"
                return told

    async def _counted(self, hook: Hook) -> str:
        """The answer in a chat that other people can read: how much is known, and no word of it."""
        memory = await self.memories.of(hook)
        memories = await memory.store.read()
        counted = phrase("memories", n=len(memories))
        return f"{counted}. {phrase('others_read')}"

    async def _list(self, hook: Hook, _: Command) -> str:
        """What is known, what else there is, and the commands."""
        memory = await self.memories.of(hook)
        memories = await memory.store.read()
        hidden = await hook.hidden_from()
        shown = hidden.without(memories)
        notes = await self.learner.waiting(hook)
        progress = await self.past_chats.learner.progress(hook.user_id)
        if progress:
            notes.append(progress)
        notes += self._places.notes(hidden, memories)
        archived = await memory.archive.count(hook.user_id)
        if archived:
            notes.append(phrase("archived_memories", n=archived))
        is_hidden = hidden.names or hook.place.is_divided
        month_ago = time.time() - _REFUSED_LATELY_SECONDS
        changes = await memory.trail.keys(hook.user_id, month_ago)
        refusals = [change for change in changes if change.kind == "refused"]
        for last in await memory.changes(refusals[:1]):
            # The reason may name a word of what was refused.
            note = phrase("n_refused", n=len(refusals))
            if not is_hidden:
                note += f" ({retold(last.reason)})"
            notes.append(note)
        counted = phrase("memories", n=len(memories))
        groups = grouped(shown).values()
        numbers = await memory.numbers(chain.from_iterable(groups))
        day = day_of(hook)
        # A row without meta does not know its chat, nor does such a release take buttons' commands.
        if shown and memory.store.keeps_history:
            await hook.replies.embed(memory_page(shown, numbers, day))
        return overview(counted, shown, numbers, day, notes)

    async def _find(self, hook: Hook, command: Command) -> str:
        """The memories that the words name."""
        if not command.words:
            return for_example("/memory find coffee")
        matches = await self.search.found(hook, command.words)
        if not matches:
            return phrase("none_found")
        lines = await self._numbered.lines(hook, matches)
        return "\n".join([phrase("memories", n=len(matches)), "", *lines])

    async def _why(self, hook: Hook, command: Command) -> str:
        """Why memories came for the chat's last answer."""
        messages = without_commands(command.messages)
        if newest_user_message(messages) is None:
            return phrase("no_answer_yet")
        memory = await self.memories.of(hook)
        return await self.search.why(hook, messages, await memory.numbers())

    async def _log(self, hook: Hook, command: Command) -> str:
        """The last changes of the memory."""
        memory = await self.memories.of(hook)
        steps = await memory.steps()
        number = number_in(command.words) or _STEPS_SHOWN
        shown = steps[: min(number, _MOST_STEPS)]
        changes = await memory.changes(shown_of_steps(shown))
        return change_log(
            shown,
            changes,
            len(steps),
            day_of(hook, "%Y-%m-%d %H:%M"),
            withheld=await self._places.withheld(hook, memory, changes),
        )

    async def _undo(self, hook: Hook, command: Command) -> str:
        """Take back the newest change, or the one of a number."""
        memory = await self.memories.of(hook)
        steps = await memory.steps()
        number = number_in(command.words)
        if number is not None:
            candidates = [step for step in steps if step.number == number]
        elif command.words:
            return for_example("/undo", "/undo 3")
        else:
            candidates = [
                step for step in steps if step.standing and not step.is_undo
            ]
        if not candidates:
            return phrase("none_found")
        step = candidates[0]
        if not step.standing:
            return phrase("already_so")
        # Nothing is added to what is taken back.
        learner = self.past_chats.learner
        await learner.stop(hook.user_id, step.changes[0].step or "none")
        try:
            await memory.check_undo(step)
        except WriteRefused as refusal:
            told = f"{phrase('did_not_work')}: {refusal}."
            before = await memory.undoable(candidates[1:_MOST_TRIED])
            if before is None:
                return f"{told} {phrase('log_shows')}"
            return f"{told} {phrase('undo_number', n=before.number)}"
        changes = await memory.undo(step)
        undone = {change.undoes for change in changes}
        keys = [key for key in step.standing if key.text not in undone]
        left = await memory.changes(keys)
        withheld = await self._places.withheld(hook, memory, [*changes, *left])
        return undone_told(changes, left, withheld=withheld)

    async def _remember(self, hook: Hook, command: Command) -> str:
        """Save the words as they stand."""
        draft = Draft(command.words, bank=hook.settings.default_bank)
        draft = replace(draft, tags=draft.tags_in(hook.place.scope))
        return await self._saved(hook, Proposal("NEW", draft=draft))

    async def _reword(self, hook: Hook, command: Command) -> str:
        """Have the memory of a number say the words behind it."""
        parts = command.words.split(maxsplit=1)
        if len(parts) < 2 or number_in(parts[0]) is None:
            return for_example("/memory change 3 User likes tea.")
        number, words = parts
        chosen = await self._numbered.chosen(hook, number)
        if isinstance(chosen, str):
            return chosen
        draft = replace(draft_of(chosen.memory), content=words, passed="")
        change = Proposal("UPDATE", chosen.memory.id, draft=draft)
        return _told_of([chosen], await self._saved(hook, change))

    async def _saved(self, hook: Hook, proposal: Proposal) -> str:
        """Write what a user has typed, word for word; what to tell of it."""
        gate = Gate(hook.settings, typed=True)
        verdict = await asyncio.to_thread(gate.judged_draft, proposal.draft)
        if isinstance(verdict, Refused):
            return f"{phrase('rejected')}: {verdict.reason}."
        saved = replace(proposal, draft=verdict, fact_kind=_ASKED)
        return plain_line(await self.learner.do(hook, [saved]))

    async def _forget(self, hook: Hook, command: Command) -> str:
        """Forget what is meant: one memory that has all the words goes at once."""
        words = " ".join(command.words.split())
        if not words:
            return for_example("/forget 3", "/forget coffee")
        scope = _SCOPES.get(words.casefold().strip(" .!"))
        if scope is not None:
            today = local_time(time.time(), *hook.time_zones).date()
            request = ErasureRequest(scope, today if scope == "day" else None)
            return await self.erase(hook, request)
        matches = await self._numbered.meant(hook, command.words)
        if isinstance(matches, str):
            return matches
        memories = [match.memory for match in matches]
        if is_certain(matches):
            deletion = Proposal("DELETE", memories[0].id, fact_kind=_ASKED)
            line = await self.learner.do(hook, [deletion])
            return f"{_told_of(matches, line)}\n\n{phrase('undo_hint')}"
        if not memories:
            return phrase("none_found")
        asked = await self.learner.ask_deletion(hook, memories)
        return _told_of(matches, asked)

    async def _restore(self, hook: Hook, command: Command) -> str:
        """Bring archived memories back."""
        return await self.restore(hook, command.words)

    async def _export(self, hook: Hook, _: Command) -> str:
        """Give the memories as a file."""
        memory = await self.memories.of(hook)
        memories = await memory.store.read()
        now = time.time()
        name = f"memories-{day_of(hook)(now)}.json"
        if not await hook.dialog.download(name, exported(memories, now)):
            return phrase("no_file")
        return f"{phrase('memories', n=len(memories))}: `{name}`"

    async def _import(self, hook: Hook, command: Command) -> str:
        """Save the memories of a text or of attached files, once the user has confirmed it."""
        texts = [command.words, *await hook.dialog.attached_texts()]
        if not any(texts):
            return phrased_text("import").strip()
        content = await asyncio.to_thread(read_import, *texts)
        if not content.memories:
            unread = plain_line(content.told_unread)
            unread = f"{unread}." if unread else phrase("none_found")
            return f"{unread} {phrase('how_to_import')}"
        now = time.time()
        carried = [memory.new_memory(now) for memory in content.memories]
        carried = self._places.learned_at(hook.place, carried)
        drafts = [memory.draft for memory in carried]
        parts = (named_memories(drafts), content.told_unread)
        question = "\n\n".join(filter(None, parts))
        title = phrase("would_save", n=len(drafts))
        if not await hook.dialog.confirm(title, question):
            return f"{phrase('nothing_done')}: {phrase('declined')}."
        memory = await self.memories.of(hook)
        await self._places.keep_apart(hook, drafts)
        line = await memory.bring_in(carried, hook.chat_id)
        if content.unread:
            line += f" · {content.told_unread}"
        return plain_line(line)

    async def _doctor(self, hook: Hook, _: Command) -> str:
        """How the server stands."""
        told = await self.diagnosis(hook)
        if hook.is_admin:
            level, found = await self.learner.examine(hook)
            told += f"\n- **{phrase(level)}** {plain_line(found)}"
        return f"{phrase('doctor')}\n\n{told}"

    async def _cost(self, hook: Hook, _: Command) -> str:
        """What models were asked for the user."""
        return costs_told(await self.costs.days(hook.user_id))


def _command_id(message_id: str, command: Command) -> str:
    """What a command is known by: its message, and a mark of its words, which may be edited."""
    words = f"{command.name} {command.words}".encode(errors="replace")
    return message_id and f"{message_id}~{zlib.crc32(words):08x}"


def _told_of(memories: Sequence[FoundMemory], line: str) -> str:
    """A line about memories as a chat may show it: what was done alone, if one is withheld."""
    if any(named.withheld for named in memories):
        line = line.partition(":")[0]
    return plain_line(line)
