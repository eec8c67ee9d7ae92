"""Learning from past chats: what it would cost, and the run, a chat at a time behind all others.

The turns of a chat go the way of all turns, so that what a killed process leaves is taken up again
and nothing is learned twice, by how many workers ever. Which messages are left is asked of the
database: those of which neither queue nor log knows. What a run learns is one step of the log.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import UTC

from adaptive.core import (
    PROMPTS,
    MessageFilter,
    Provenance,
    Turn,
    estimated_tokens,
    frozen,
    local_time,
    newest_branch,
    phrase,
    plain_line,
    text_field,
)
from adaptive.learn.judges import EMBEDDING_PATIENCE_SECONDS, may_hold_fact
from adaptive.learn.learning import Learning
from adaptive.learn.suggestions import joined_lines
from adaptive.learn.turns import marked_turn, past_turns
from adaptive.memory import (
    LEASE_PROOF_SECONDS,
    QueuedTurn,
    ValueTable,
    next_batch,
    period_of,
)
from adaptive.search import PastChats, UnlearnedChat, query_vectors
from adaptive.settings import Hook

_POLL_SECONDS = 2.0  # while what waits is not due
# On a busy server a run rests so long before each step: 20 users' turns take as long beside it as
# without it (benchmarks/beside_learning.py).
_LONGEST_REST_SECONDS = 15.0
_QUIET_SECONDS = 5.0  # without a turn of anybody, and the server is idle
_CHATS_SAMPLED = 20
_MOST_QUEUED = 100  # turns of a chat: whoever looks at a queue reads all of it


@frozen
class PastRun:
    """A run over messages that were said from one epoch second on to before another.

    Without ``chats`` there is none. The model of the chat in which it was begun is asked.
    """

    step: str = ""
    since: float = 0
    until: float = 0
    chats: int = 0
    chat_model: str = ""
    is_direct: bool = False


# The run of each user, under an empty key.
RunTable = ValueTable[PastRun]


def lessons_of(turns: Sequence[QueuedTurn]) -> list[Turn]:
    """The turns of a chat as they will be learned together."""
    left = {queued.message_id: queued for queued in turns}
    lessons: list[Turn] = []
    while left:
        batch = next_batch(left.values(), time.time())
        together = [left.pop(message_id).turn for message_id in batch]
        lessons.append(marked_turn(together))
    return lessons


@dataclass(eq=False)
class PastLearning:
    """What an instance of the plug-in needs to learn from past chats; nothing in it is one user's.

    ``rememberable`` takes out of a chat what its user has not given to be remembered, and
    ``behind`` does work that nobody waits for.
    """

    learning: Learning
    chats: PastChats
    runs: RunTable
    rememberable: MessageFilter
    behind: Callable[[Coroutine[None, None, None], str], None]

    def __post_init__(self) -> None:
        # The newest hook of each user who has a run: its settings are those of now.
        self._hooks: dict[str, Hook] = {}

    async def estimate(self, hook: Hook, year: int | None) -> str:
        """What a run would take, by a sample of the chats, in a sentence."""
        run = _run_over(hook, year)
        chats = await self._begun_before(hook, run)
        if not chats:
            return phrase("none_found")
        embedder = (await hook.sources()).embedder
        completer = await hook.completer()
        model = hook.settings.llm_model_name
        if hook.settings.llm_provider_type == "host":
            model = completer.key.removeprefix("host:")
        served = {"": True}
        sample = chats[:: -(-len(chats) // _CHATS_SAMPLED)]
        holding = 0
        messages = 0
        asked: list[str] = []
        for chat in sample:
            turns = await self._turns(hook, chat, run, served)
            holding += bool(turns)
            messages += len(turns)
            for lesson in await asyncio.to_thread(lessons_of, turns):
                vectors = await query_vectors(
                    embedder, [lesson.words], EMBEDDING_PATIENCE_SECONDS
                )
                if await may_hold_fact(
                    lesson.words, embedder, self.learning.indexes, vectors
                ):
                    asked.append(lesson.words)
        share = len(chats) / len(sample)
        calls = round(len(asked) * share)
        prompt = PROMPTS["extract"] + PROMPTS["extract_examples"]
        words = estimated_tokens("".join(asked)) * share
        tokens = round(calls * estimated_tokens(prompt) + words)
        told = phrase(
            "would_learn",
            n=round(holding * share),
            messages=f"{round(messages * share):,}",
            calls=f"{calls:,}",
            tokens=f"{tokens:,}",
            model=plain_line(model),
        )
        days = await self.learning.costs.days(hook.user_id)
        spent = sum(days.values(), Counter[str]())
        if spent["calls"]:
            milliseconds = calls * spent["milliseconds"] / spent["calls"]
            minutes = math.ceil(milliseconds / 60_000)
            told += f" {phrase('minutes', n=minutes)}"
        return told

    async def start(self, hook: Hook, year: int | None) -> str:
        """Begin a run in place of a former one; what to tell of it.

        Raises a ``ModelError`` where no model can be asked.
        """
        await hook.completer()
        await self.stop(hook.user_id)
        run = _run_over(hook, year)
        chats = await self._begun_before(hook, run)
        if not chats:
            return phrase("none_found")
        run = replace(run, chats=len(chats))
        await self.runs.write(hook.user_id, "", run, int(time.time()))
        self.take_up(hook)
        return phrase("learning_begun", n=len(chats))

    async def stop(self, user_id: str, step: str = "") -> bool:
        """End the run of a user, or the one whose step is named; whether there was any.

        What is being learned at the moment is not written any more.
        """
        run = await self.runs.read(user_id, "")
        if not run.chats or step not in ("", run.step):
            return False
        await self.runs.entries.drop("past_run", user_id, [""])
        await self.learning.pending.withdraw(user_id)
        await asyncio.sleep(LEASE_PROOF_SECONDS)
        return True

    async def progress(self, user_id: str) -> str:
        """How far a user's run is, empty where there is none."""
        run = await self.runs.read(user_id, "")
        if not run.chats:
            return ""
        left = len(await self._unlearned(user_id, run))
        # The chat that waits, or is at work, is not learned yet.
        left += bool(await self.learning.past_waiting(user_id))
        done = run.chats - left
        return phrase("past_progress", done=max(done, 0), n=run.chats)

    def take_up(self, hook: Hook) -> None:
        """Begin to go on with a user's run, if there is one."""
        self.behind(self.go_on(hook), "learning from past chats")

    async def go_on(self, hook: Hook) -> None:
        """Go on with the run of a hook's user, if there is one that this process is not at.

        Raises what keeps it from going on: the user's next turn takes it up again.
        """
        user_id = hook.user_id
        progress = await self.progress(user_id)
        if not progress:
            return
        # It stands in the answer's own line.
        recalled = hook.state.get("recalled", "")
        hook.state["recalled"] = joined_lines(recalled, progress)
        is_at_work = user_id in self._hooks
        self._hooks[user_id] = hook
        if is_at_work:
            return
        try:
            await self._learn(user_id)
        finally:
            del self._hooks[user_id]

    async def _learn(self, user_id: str) -> None:
        """Learn from what is left, the newest chats first, as long as it is wanted."""
        served = {"": True}
        run = await self.runs.read(user_id, "")

        async def wanted() -> bool:
            """Whether the user has neither stopped it nor switched memory off."""
            hook = self._hooks[user_id]
            is_on = hook.settings.enabled and hook.settings.save_mode == "auto"
            # Or what belongs to a folder would be known everywhere.
            is_on = is_on and hook.place.known
            standing = await self.runs.read(user_id, "")
            is_on = is_on and standing.step == run.step
            return is_on and await hook.wants_memory()

        while run.chats:
            await self.learning.foreground.give_way(
                _LONGEST_REST_SECONDS, quiet=_QUIET_SECONDS
            )
            hook = self._hooks[user_id]
            if not await wanted():
                # Another one may have been begun in its place, while turns were being put.
                former = run.step
                run = await self.runs.read(user_id, "")
                if run.step == former:
                    return
                await self.learning.pending.withdraw(user_id)
            # What a process that was killed had in hand comes first.
            elif await self.learning.learn_past(hook, wanted):
                continue
            else:
                # Before what waits: another process may let the last chat wait in between.
                chats = await self._unlearned(user_id, run)
                if await self.learning.past_waiting(user_id):
                    await asyncio.sleep(_POLL_SECONDS)
                elif chats:
                    await self._queue(hook, chats[0], run, served)
                elif await self.stop(user_id, run.step):
                    line = phrase("past_learned", n=run.chats)
                    await self.learning.status.reply(hook, line)
                    return

    async def _queue(
        self,
        hook: Hook,
        chat: UnlearnedChat,
        run: PastRun,
        served: dict[str, bool],
    ) -> None:
        """Let the turns of a chat wait, and note of its other messages that they are done."""
        turns = await self._turns(hook, chat, run, served)
        await self.learning.pending.put(*turns[:_MOST_QUEUED])
        others = {*chat.message_ids} - {turn.message_id for turn in turns}
        await self.learning.pending.finish(
            hook.user_id, dict.fromkeys(others, 0), time.time(), for_good=True
        )

    async def _turns(
        self,
        hook: Hook,
        chat: UnlearnedChat,
        run: PastRun,
        served: dict[str, bool],
    ) -> list[QueuedTurn]:
        """The turns of a chat that its outlets would have learned from, as they stand now.

        ``served`` tells of models whether memory is on for them, as far as that is known.
        """
        stored = await self.chats.messages(hook.user_id, chat.id)
        for model_id in {
            text_field(message, "model_id") for message in stored
        }:
            if model_id not in served:
                answering = await hook.typed_to(model_id, is_direct=False)
                served[model_id] = answering.is_served
        scopes = await self.chats.scopes(hook.user_id, [chat.id])
        folders = [
            scope
            for scope in scopes.get(chat.id, ())
            if scope.startswith("folder=")
        ]
        blank = Turn(
            user_id=hook.user_id,
            kind="saved",
            words="",
            earlier=(),
            source=Provenance(chat.id, "", chat.changed_at, run.step),
            time_zones=hook.time_zones,
            chat_model=run.chat_model,
            is_direct=run.is_direct,
            place=replace(hook.place, folder="".join(folders)),
        )

        def queued() -> list[QueuedTurn]:
            """In a thread: a long chat takes a moment."""
            branch = self.rememberable(newest_branch(stored))
            turns = past_turns(branch, chat.message_ids, blank, served)
            now = time.time()
            return [
                QueuedTurn(turn, queued_at=now + at / 1000, due_at=now)
                for at, turn in enumerate(turns)
            ]

        return await asyncio.to_thread(queued)

    async def _begun_before(
        self, hook: Hook, run: PastRun
    ) -> Sequence[UnlearnedChat]:
        """The chats that are left but for the message that asks for them."""
        await self.learning.pending.finish(
            hook.user_id, {hook.question_id: 0}, time.time()
        )
        return await self._unlearned(hook.user_id, run)

    async def _unlearned(
        self, user_id: str, run: PastRun
    ) -> Sequence[UnlearnedChat]:
        return await self.chats.unlearned(user_id, run.since, run.until)


def _run_over(hook: Hook, year: int | None) -> PastRun:
    """A run over a year, or all time, by the model of a hook's chat.

    What is said from now on is learned as it comes.
    """
    zone = local_time(0, *hook.time_zones).tzinfo or UTC
    now = int(time.time())
    since, until = period_of(str(year), zone) if year else (0, now)
    return PastRun(
        step=f"past-{time.time_ns()}",
        since=since,
        until=min(until, now),
        chat_model=hook.chat_model_id,
        is_direct=hook.is_direct,
    )
