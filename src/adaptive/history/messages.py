"""A chat's messages as they are recalled, on the standing branch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from adaptive.core.messages import (
    Message,
    has_words,
    message_text,
    said_at,
    spoken_text,
    without_spans,
)
from adaptive.privacy.secrets import excerpt_without_secrets
from adaptive.search.history_ports import MessageKey

# From the messages of a chat to those that may be remembered.
MessageFilter = Callable[[Sequence[Message]], Sequence[Message]]

_LONGEST_SEARCHED = 20_000


@dataclass(frozen=True, slots=True)
class PastMessage:
    """A message of a chat as it is recalled."""

    id: str
    chat_id: str
    role: Literal["user", "assistant"]
    text: str  # without thinking and what tools returned
    said_at: int  # epoch seconds

    @property
    def key(self) -> MessageKey:
        return self.chat_id, self.id

    @property
    def order(self) -> tuple[int, bool]:
        """Where it stands among others; of one second, an answer after its question."""
        return self.said_at, self.role == "assistant"


def secretless(text: str) -> str:
    """A text with a placeholder for each secret; of a very long one head and tail."""
    return excerpt_without_secrets(text, _LONGEST_SEARCHED)


def past_messages(
    chat_id: str,
    stored: Iterable[Message],
    rememberable: MessageFilter,
    newest_id: str = "",
) -> list[PastMessage]:
    """The messages of a chat that can be recalled, oldest first.

    Of a chat with branches (regenerated answers, edited questions) that one counts which ends in
    ``newest_id``, or in the newest message where that is unknown. Messages without words,
    unfinished and failed answers, and roles other than user and assistant are left out, and so is
    what is not ``rememberable``.
    """
    by_id = {
        str(message["id"]): message for message in stored if message.get("id")
    }
    if newest_id not in by_id:
        parents = {message.get("parentId") for message in by_id.values()}
        leaves = [id_ for id_ in by_id if id_ not in parents]
        # Of one second the last that is stored: an edit comes after what it was.
        leaves.reverse()
        newest_id = max(
            leaves, key=lambda id_: said_at(by_id[id_], 0), default=""
        )
    standing = rememberable(_branch(by_id, newest_id))
    messages = (past_message(chat_id, message) for message in standing)
    return [message for message in messages if message is not None]


def past_message(chat_id: str, stored: Message) -> PastMessage | None:
    """One message without thinking, tool results and what a filter put in; ``None`` if left out."""
    role = stored.get("role")
    if role not in ("user", "assistant") or stored.get("done") is False:
        return None
    has_failed = role == "assistant" and stored.get("error")
    text = without_spans(
        spoken_text(message_text(stored)), "think|thinking|reasoning"
    ).strip()
    if has_failed or not has_words(text):
        return None
    return PastMessage(
        id=str(stored["id"]),
        chat_id=chat_id,
        role=role,
        text=text,
        said_at=said_at(stored, 0),
    )


def unseen_messages(
    outline: Iterable[Message], newest_id: str, seen_questions: int
) -> frozenset[str]:
    """Ids of a chat's messages that stand before the oldest one that is sent to the model.

    Of the branch that ends in ``newest_id`` as many questions are sent as there are user messages
    in the request, whoever has cut it: the host's compaction, another filter, or this one. Empty
    where that message is not stored, since nobody could tell then.
    """
    branch = _branch(
        {str(message["id"]): message for message in outline}, newest_id
    )
    questions = [
        at
        for at, message in enumerate(branch)
        if message.get("role") == "user"
    ]
    if not 0 < seen_questions <= len(questions):
        return frozenset()
    return frozenset(
        str(message["id"]) for message in branch[: questions[-seen_questions]]
    )


def _branch(by_id: dict[str, Message], newest_id: str) -> list[Message]:
    """The chain of parents that ends in a message, oldest first; a loop is walked once."""
    branch: dict[str, Message] = {}
    while newest_id in by_id and newest_id not in branch:
        branch[newest_id] = by_id[newest_id]
        newest_id = str(by_id[newest_id].get("parentId") or "")
    return [*reversed(branch.values())]
