"""May a memory stand in a prompt? What reads as an order or holds a secret may not.

We write no such memory, but other tools write to the host's table, too, and people edit it.
"""

from __future__ import annotations

import hashlib
import logging

from adaptive.core.cache import UserCache
from adaptive.core.model import Memory
from adaptive.privacy.injection import injection_reason, passed_mark
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.recall.layout import BlockEntry, entry_of, former_contents
from adaptive.settings.recall_valves import MemoryFormat

log_screen = logging.getLogger("adaptive_memory.recall")

# What one turn may spend on texts that were never judged, some tens of milliseconds: so many
# characters, of which each text counts as a few hundred at least.
_FRESH_CHARACTERS = 32_000
_LEAST_CHARACTERS = 500


class EntryScreen:
    """The entries of one turn, each laid out once and judged once.

    A verdict takes some tenths of a millisecond, so ``verdicts`` outlive the turn, under a digest
    of what a prompt shows. What the turn has no time to judge stays out of it.
    """

    def __init__(
        self,
        verdicts: UserCache[bool],
        user_id: str,
        form: MemoryFormat = "bullet",
        characters: int = _FRESH_CHARACTERS,
    ) -> None:
        self._verdicts, self._user_id = verdicts, user_id
        self._form: MemoryFormat = form
        self._characters_left = characters
        self._entries: dict[str, BlockEntry | None] = {}
        self._allowed: dict[str, bool] = {}

    def entry(self, memory: Memory) -> BlockEntry | None:
        """The entry of a memory, whether it is allowed or not; ``None`` where it says nothing."""
        if memory.id not in self._entries:
            self._entries[memory.id] = entry_of(memory, self._form)
        return self._entries[memory.id]

    def allows(self, memory: Memory) -> bool:
        """Whether a memory may stand in this turn's prompts; the same answer all the turn."""
        if memory.id not in self._allowed:
            self._allowed[memory.id] = self._verdict(memory)
        return self._allowed[memory.id]

    def _verdict(self, memory: Memory) -> bool:
        # Unchanged since our gate let it pass, so that no other tool has written it.
        passed = memory.meta.get("passed") == passed_mark(memory.content)
        texts = [memory.content, *(former for former, _ in former_contents(memory))]
        digest = hashlib.blake2b(repr((passed, texts)).encode(errors="replace")).hexdigest()
        known = self._verdicts.get((self._user_id, digest))
        if known is not None:
            return known
        self._characters_left -= max(len(memory.content), _LEAST_CHARACTERS)
        if self._characters_left < 0:
            log_screen.debug("memory %s waits: too many to look at in one turn", memory.id)
            return False
        reasons = (
            injection_reason(text, typed=passed and at == 0) or secret_reason(find_secrets(text))
            for at, text in enumerate(texts)
        )
        if reason := next(filter(None, reasons), ""):
            log_screen.info("memory %s is left out of prompts: %s", memory.id, reason)
        self._verdicts.put((self._user_id, digest), not reason)
        return not reason
