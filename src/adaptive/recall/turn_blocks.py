"""What recall adds to prompts, while the host's own tasks are written without it."""

from __future__ import annotations

import uuid
from typing import Any

from adaptive.core.messages import listing
from adaptive.core.runtime import UserCache
from adaptive.recall.block import with_block
from adaptive.settings.hook import Hook, turn_state

_MOST_CHARACTERS = 20_000_000
# A turn that was stopped or failed has no outlet, so nothing else would forget it.
_LONGEST_SECONDS = 3600.0


class TurnBlocks:
    """The blocks of turns under way, which go into each request of their turn behind those tasks.

    A turn is known by an unguessable mark in its state, so no turn is ever given another one's
    block. All is kept in this process, which serves the whole turn; where nothing is kept for a
    turn, its chat goes on without memories.
    """

    def __init__(self) -> None:
        self._blocks = UserCache[str](
            _MOST_CHARACTERS, weight=len, seconds=_LONGEST_SECONDS
        )

    def keep(self, hook: Hook, block: str) -> None:
        """Keep the block of a turn."""
        mark = uuid.uuid4().hex
        hook.state["block_mark"] = mark
        self._blocks.put((hook.user_id, mark), block)

    def added(
        self, body: dict[str, Any], metadata: dict[str, Any]
    ) -> dict[str, Any]:
        """A request with the block of its turn, in place of the one that it may hold already."""
        block = self._blocks.get(_turn_key(metadata))
        if block is None:
            return body
        return {
            **body,
            "messages": with_block(listing(body.get("messages")), block),
        }

    def let_go(self, metadata: dict[str, Any]) -> None:
        """Let go of the block of a turn that is over."""
        self._blocks.pop(_turn_key(metadata))

    def forget(self, user_id: str) -> None:
        """Let go of all blocks of a user."""
        self._blocks.forget(user_id)


def _turn_key(metadata: dict[str, Any]) -> tuple[str, str]:
    return str(metadata.get("user_id") or ""), turn_state(metadata).get(
        "block_mark", ""
    )
