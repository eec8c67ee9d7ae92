"""What of a chat its model does not see any more."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive.conversation_ports import OutlinedMessage


def unseen_messages(
    outline: Sequence[OutlinedMessage], newest_id: str, seen_questions: int
) -> frozenset[str]:
    """Ids of the messages that stand before the oldest one that is sent to the model.

    Of the branch that ends in ``newest_id`` as many questions are sent as there are user messages
    in the request, whoever has cut it: the host's compaction, another filter, or this one. Empty
    where that message is not stored, since nobody could tell then.
    """
    by_id = {one.id: one for one in outline}
    chain: list[OutlinedMessage] = []
    seen: set[str] = set()
    current = newest_id
    while current in by_id and current not in seen:
        seen.add(current)
        chain.append(by_id[current])
        current = by_id[current].parent_id
    questions = 0
    for at, message in enumerate(chain):
        questions += message.role == "user"
        if message.role == "user" and questions == seen_questions:
            return frozenset(one.id for one in chain[at + 1 :])
    return frozenset()
