"""May a memory stand in a prompt? What reads as an order or holds a secret may not.

We write no such memory, but other tools write to the host's table, too, and people edit it.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from adaptive.model import Memory
from adaptive.privacy.injection import injection_verdict, passed_mark
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.recall.layout import former_contents

log_verdicts = logging.getLogger("adaptive_memory.recall")

VerdictKey = tuple[str, str]

_REMEMBERED_VERDICTS = 50_000
# What one turn may spend on texts that were never judged: some tens of milliseconds.
_FRESH_ROWS = 64
_FRESH_CHARACTERS = 32_000


class EntryVerdicts:
    """What was found out about entries, as a digest of their texts; keys begin with the user's id.

    A verdict takes a few tenths of a millisecond, so it is kept as long as the text stands.
    """

    def __init__(self, most: int = _REMEMBERED_VERDICTS) -> None:
        self._most = most
        self._allowed: OrderedDict[VerdictKey, bool] = OrderedDict()

    def known(self, key: VerdictKey) -> bool | None:
        """The verdict on an entry; ``None`` where there is none yet."""
        return self._allowed.get(key)

    def judge(self, key: VerdictKey, memory: Memory) -> bool:
        """Find out whether a memory may stand in a prompt; once, the log says that it may not."""
        if reason := _objection(memory):
            log_verdicts.info("memory %s is left out of prompts: %s", memory.id, reason)
        self._allowed[key] = not reason
        while len(self._allowed) > self._most:
            self._allowed.popitem(last=False)
        return not reason

    def forget(self, user_id: str) -> None:
        """Let go of the verdicts on a user's entries."""
        for key in [key for key in tuple(self._allowed) if key[0] == user_id]:
            self._allowed.pop(key, None)


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
    """Whose entry it is, and a digest of its texts that a prompt may show and of its mark."""
    digest = hashlib.blake2b(digest_size=12)
    for text in (*_shown_texts(memory), str(_is_passed(memory))):
        encoded = text.encode(errors="replace")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return user_id, digest.hexdigest()


def _shown_texts(memory: Memory) -> Sequence[str]:
    """What a prompt may show of a memory: its content, then the others."""
    formers = (former.content for former in former_contents(memory))
    return [memory.content, *filter(None, [memory.bank]), *formers]


def _is_passed(memory: Memory) -> bool:
    """Whether the content stands as our gate let it pass, so that no other tool has written it."""
    return memory.meta.get("passed") == passed_mark(memory.content)


def _objection(memory: Memory) -> str:
    """Why a memory may not stand in a prompt, without its texts; empty if it may."""
    content, *others = _shown_texts(memory)
    verdicts = [injection_verdict(content, typed=_is_passed(memory))]
    verdicts += map(injection_verdict, others)
    secrets = (secret_reason(find_secrets(text)) for text in (content, *others))
    return next(filter(None, (*(one.reason for one in verdicts), *secrets)), "")
