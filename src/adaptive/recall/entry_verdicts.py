"""May a memory stand in a prompt? What reads as an instruction or holds a secret may not.

We write no such memory, but other tools write to the host's table, too, and former releases did.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from adaptive.model import Memory
from adaptive.privacy.injection import injection_verdict
from adaptive.privacy.injection_patterns import commands_to_compile
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.recall.layout import former_contents

log_verdicts = logging.getLogger("adaptive_memory.recall")

VerdictKey = tuple[str, str]

_REMEMBERED_VERDICTS = 50_000
_USERS_JUDGED_AHEAD = 2000
# What one turn may spend on texts that were never judged: some tens of milliseconds.
_FRESH_ROWS = 64
_FRESH_CHARACTERS = 32_000
# Behind a turn, a batch takes a few milliseconds, and then it is the chats' turn for a while.
_VERDICT_BATCH = 10
_VERDICT_PAUSE_SECONDS = 0.02
# The host makes the model's request first: that is what the user waits for.
_AHEAD_AFTER_SECONDS = 0.3
# None may be refused, as nothing behind the rule that refuses it would be made ready.
_ORDINARY_EXAMPLES = (
    "User's name is Ada, and a code is 1.",
    "User\u2019s sister Zo\u00eb keeps her \u201ccello\u201d at 東京, <3 of [them]: 40 \u20ac.",
)


class EntryVerdicts:
    """What was found out about entries, as a digest of their texts; keys begin with the user's id.

    A verdict takes about half a millisecond, so it is kept as long as the text stands.
    """

    def __init__(
        self,
        most: int = _REMEMBERED_VERDICTS,
        pause: float = _VERDICT_PAUSE_SECONDS,
        ahead_after: float = _AHEAD_AFTER_SECONDS,
    ) -> None:
        self._most = most
        self._pause = pause
        self._ahead_after = ahead_after
        self._allowed: OrderedDict[VerdictKey, bool] = OrderedDict()
        # Many entries share few banks: their objections, empty where there is none.
        self._banks: OrderedDict[VerdictKey, str] = OrderedDict()
        self._ahead: OrderedDict[str, int] = OrderedDict()
        self._compiling: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Wait until ordinary entries can be judged at once: in a thread, whoever asks first.

        It takes some tens of milliseconds, in which a turn would stop all chats. Patterns of
        commands that no ordinary entry may fit are left to ``compile_ahead``.
        """
        if self._compiling is None:
            self._compiling = asyncio.create_task(asyncio.to_thread(_judge_examples))
        await asyncio.shield(self._compiling)

    async def compile_ahead(self) -> None:
        """Compile what entries like commands need, one pattern at a time, pausing for the chats."""
        for work in commands_to_compile():
            await asyncio.to_thread(work)
            await asyncio.sleep(self._pause)

    def known(self, key: VerdictKey) -> bool | None:
        """The verdict on an entry; ``None`` where there is none yet."""
        return self._allowed.get(key)

    def judge(self, key: VerdictKey, memory: Memory) -> bool:
        """Find out whether a memory may stand in a prompt; once, the log says that it may not."""
        reason = _objection(_own_texts(memory)) or self._bank_objection(key[0], memory.bank)
        if reason:
            log_verdicts.info("memory %s is left out of prompts: %s", memory.id, reason)
        self._allowed[key] = not reason
        while len(self._allowed) > self._most:
            self._allowed.popitem(last=False)
        return not reason

    def _bank_objection(self, user_id: str, bank: str) -> str:
        if not bank:
            return ""
        key = user_id, _digest([bank])
        known = self._banks.get(key)
        if known is None:
            known = self._banks[key] = _objection([bank])
            while len(self._banks) > self._most:
                self._banks.popitem(last=False)
        return known

    def forget(self, user_id: str) -> None:
        """Let go of the verdicts on a user's entries."""
        for verdicts in (self._allowed, self._banks):
            for key in [key for key in tuple(verdicts) if key[0] == user_id]:
                verdicts.pop(key, None)
        self._ahead.pop(user_id, None)

    async def judge_ahead(self, user_id: str, memories: Sequence[Memory]) -> None:
        """Judge all of a user's memories behind a turn, so that later ones find it done.

        The same sequence again is not looked at.
        """
        if self._ahead.get(user_id) == id(memories) or len(memories) > self._most:
            return
        self._ahead[user_id] = id(memories)
        self._ahead.move_to_end(user_id)
        while len(self._ahead) > _USERS_JUDGED_AHEAD:
            self._ahead.popitem(last=False)
        await asyncio.sleep(self._ahead_after)
        for start in range(0, len(memories), _VERDICT_BATCH):
            batch = memories[start : start + _VERDICT_BATCH]
            if await asyncio.to_thread(partial(self._judge_batch, user_id, batch)):
                await asyncio.sleep(self._pause)

    def _judge_batch(self, user_id: str, memories: Sequence[Memory]) -> bool:
        """Judge what was not judged; whether there was any."""
        keys = {verdict_key(user_id, memory): memory for memory in memories}
        fresh = {key: memory for key, memory in keys.items() if self.known(key) is None}
        for key, memory in fresh.items():
            self.judge(key, memory)
        return bool(fresh)


@dataclass(slots=True)
class EntryScreen:
    """Verdicts for one turn, which has time for so many new ones.

    What it has no time for stays out of this turn's prompt.
    """

    verdicts: EntryVerdicts
    user_id: str
    rows_left: int = _FRESH_ROWS
    characters_left: int = _FRESH_CHARACTERS
    _told: dict[str, bool] = field(default_factory=dict[str, bool])

    def allows(self, memory: Memory) -> bool:
        """Whether a memory may stand in this turn's prompts; the same answer all the turn."""
        known = self._told.get(memory.id)
        if known is None:
            known = self._told[memory.id] = self._verdict(memory)
        return known

    def _verdict(self, memory: Memory) -> bool:
        key = verdict_key(self.user_id, memory)
        known = self.verdicts.known(key)
        if known is not None:
            return known
        self.rows_left -= 1
        self.characters_left -= len(memory.content)
        if min(self.rows_left, self.characters_left) < 0:
            log_verdicts.debug("memory %s waits: too many to look at in one turn", memory.id)
            return False
        return self.verdicts.judge(key, memory)


def verdict_key(user_id: str, memory: Memory) -> VerdictKey:
    """Whose entry it is, and a digest of all its texts that a prompt may show."""
    return user_id, _digest([*_own_texts(memory), *filter(None, [memory.bank])])


def _digest(texts: Sequence[str]) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for text in texts:
        encoded = text.encode(errors="replace")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def _own_texts(memory: Memory) -> list[str]:
    """What a prompt may show of a memory, but for its bank."""
    return [memory.content, *(former.content for former in former_contents(memory))]


def _judge_examples() -> None:
    """Have at hand what ordinary entries need."""
    for example in _ORDINARY_EXAMPLES:
        _objection([example])


def _objection(texts: Sequence[str]) -> str:
    """Why texts of a memory may not stand in a prompt, without them; empty if they may."""
    for text in texts:
        reason = secret_reason(find_secrets(text)) or injection_verdict(text).reason
        if reason:
            return reason
    return ""
