"""A user's saved chats, read from the host's own tables.

Since 0.9 each message has a row of its own (host: models/chat_messages.py, ChatMessage; its id is
chat and message id with a hyphen between them), written with the turn and changed with every edit.
Only what is asked for is read: the chat's own row holds a copy of all its messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import JSON, Boolean, column, func, select, table
from sqlalchemy.exc import DBAPIError

from adaptive.conversation_ports import ChatHead, HistoryStamp
from adaptive.errors import HostError
from adaptive.host.faults import HostFaults, describe_fault
from adaptive.host.own_table import Sessions
from adaptive.host.uninterrupted import uninterrupted
from adaptive.shapes import mapping

# SQLite takes 32,766 parameters in one statement, older ones 999.
_KEYS_PER_STATEMENT = 500

_PAST_MESSAGES = table(
    "chat_message",
    column("id"),
    column("chat_id"),
    column("user_id"),
    column("role"),
    column("parent_id"),
    column("content", JSON),
    column("output", JSON),
    column("done", Boolean),
    column("error", JSON),
    column("created_at"),
)
_PAST_CHATS = table(
    "chat",
    column("id"),
    column("user_id"),
    column("title"),
    column("meta", JSON),
    column("updated_at"),
)
_READ = (
    _PAST_MESSAGES.c.id,
    _PAST_MESSAGES.c.chat_id,
    _PAST_MESSAGES.c.user_id,
    _PAST_MESSAGES.c.role,
    _PAST_MESSAGES.c.parent_id,
    _PAST_MESSAGES.c.content,
    _PAST_MESSAGES.c.output,
    _PAST_MESSAGES.c.done,
    _PAST_MESSAGES.c.error,
    _PAST_MESSAGES.c.created_at,
)


class HostPastChats:
    """``PastChats`` on the host's database; ``sessions`` opens another one."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._sessions = sessions or _past_session

    async def stamp(self, user_id: str) -> HistoryStamp:
        """Number and newest time of the messages, answered by the host's index of both."""
        query = select(func.count(), func.max(_PAST_MESSAGES.c.created_at)).where(
            _PAST_MESSAGES.c.user_id == user_id
        )
        rows = await self._rows("reading how past messages stand", query)
        count, newest = rows[0]
        return HistoryStamp(int(count), int(newest or 0))

    async def chats(self, user_id: str, skip: int, limit: int) -> tuple[ChatHead, ...]:
        """The user's chats, the newest first; those that the host keeps for itself are left out.

        Such ones belong to notes and sub-agents (host: models/chats.py, is_internal_chat, 0.12), so
        a page may hold fewer than ``limit``, and is never empty before the last.
        """
        query = (
            select(*_PAST_CHATS.c)
            .where(_PAST_CHATS.c.user_id == user_id)
            .order_by(_PAST_CHATS.c.updated_at.desc(), _PAST_CHATS.c.id)
        )
        heads: tuple[ChatHead, ...] = ()
        while not heads:
            rows = await self._rows("reading the list of chats", query.offset(skip).limit(limit))
            heads = tuple(_head_of(row) for row in rows if not _internal(row.meta))
            skip += limit
            if len(rows) < limit:
                break
        return heads

    async def heads(self, user_id: str, chat_ids: Sequence[str]) -> dict[str, ChatHead]:
        """Those of the chats that the user still has, by id."""
        found: dict[str, ChatHead] = {}
        for start in range(0, len(chat_ids), _KEYS_PER_STATEMENT):
            query = select(*_PAST_CHATS.c).where(
                _PAST_CHATS.c.user_id == user_id,
                _PAST_CHATS.c.id.in_(chat_ids[start : start + _KEYS_PER_STATEMENT]),
            )
            rows = await self._rows("reading the list of chats", query)
            found |= {row.id: _head_of(row) for row in rows}
        return found

    async def messages(self, user_id: str, chat_id: str) -> tuple[Mapping[str, Any], ...]:
        """A chat's messages of all branches; those of before 0.9 through the host's own function.

        That one writes the missing rows, too (host: models/chats.py, get_messages_map_by_chat_id).
        """
        chat = await self._rows("reading a chat", _owned_chat(user_id, chat_id))
        if not chat or _internal(chat[0].meta):
            return ()
        query = select(*_READ).where(_PAST_MESSAGES.c.chat_id == chat_id)
        rows = await self._rows("reading a chat's messages", query)
        if rows:
            return tuple(_message_of(row, user_id) for row in rows)
        with HostFaults("reading a chat's messages"):
            from open_webui.models.chats import Chats

            found = await Chats.get_messages_map_by_chat_id(chat_id)
        return tuple(
            {**mapping(message), "id": id_, "chat_id": chat_id}
            for id_, message in mapping(found).items()
        )

    async def outline(self, user_id: str, chat_id: str) -> tuple[Mapping[str, Any], ...]:
        """Ids, parents and roles of a chat's messages; one of before 0.9 has none until it is read.

        In an internal chat nothing is recalled, so whose it is is all that is asked.
        """
        query = (
            select(_PAST_MESSAGES.c.id, _PAST_MESSAGES.c.parent_id, _PAST_MESSAGES.c.role)
            .join(_PAST_CHATS, _PAST_CHATS.c.id == _PAST_MESSAGES.c.chat_id)
            .where(_PAST_MESSAGES.c.chat_id == chat_id, _PAST_CHATS.c.user_id == user_id)
        )
        rows = await self._rows("reading how a chat stands", query)
        return tuple(
            {
                "id": str(row.id).removeprefix(f"{chat_id}-"),
                "parentId": row.parent_id,
                "role": row.role,
            }
            for row in rows
        )

    async def newest_messages(self, user_id: str, limit: int) -> tuple[Mapping[str, Any], ...]:
        """The newest messages of all chats that have rows, newest first."""
        heads = select(_PAST_CHATS.c.id, _PAST_CHATS.c.meta).where(_PAST_CHATS.c.user_id == user_id)
        chats = await self._rows("reading the list of chats", heads)
        own = {row.id for row in chats if not _internal(row.meta)}
        query = (
            select(*_READ)
            .where(_PAST_MESSAGES.c.user_id == user_id)
            .order_by(_PAST_MESSAGES.c.created_at.desc())
            .limit(limit)
        )
        rows = await self._rows("reading past messages", query)
        return tuple(_message_of(row, user_id) for row in rows if row.chat_id in own)

    async def current(
        self, user_id: str, keys: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Messages by their primary key, of chats that are this user's."""
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        for start in range(0, len(keys), _KEYS_PER_STATEMENT):
            some = keys[start : start + _KEYS_PER_STATEMENT]
            ids = [f"{chat_id}-{message_id}" for chat_id, message_id in some]
            query = (
                select(*_READ)
                .join(_PAST_CHATS, _PAST_CHATS.c.id == _PAST_MESSAGES.c.chat_id)
                .where(_PAST_MESSAGES.c.id.in_(ids), _PAST_CHATS.c.user_id == user_id)
            )
            for row in await self._rows("reading past messages", query):
                message = _message_of(row, user_id)
                found[message["chat_id"], message["id"]] = message
        return found

    @uninterrupted
    async def _rows(self, doing: str, query: Any) -> Sequence[Any]:
        with HostFaults(doing):
            try:
                async with self._sessions() as session:
                    return list((await session.execute(query)).all())
            except DBAPIError as error:  # its own text quotes the statement
                raise HostError(f"{doing}: {describe_fault(error.orig or error)}") from error


def _head_of(row: Any) -> ChatHead:
    return ChatHead(row.id, row.title or "", int(row.updated_at or 0))


def _owned_chat(user_id: str, chat_id: str) -> Any:
    return select(_PAST_CHATS.c.id, _PAST_CHATS.c.meta).where(
        _PAST_CHATS.c.id == chat_id, _PAST_CHATS.c.user_id == user_id
    )


def _internal(meta: object) -> bool:
    return mapping(meta).get("internal") is True


def _message_of(row: Any, user_id: str) -> dict[str, Any]:
    """A row as the host hands messages to filters; one of somebody else is without its words.

    Since 0.12 others may write in a chat that was shared with them (host: models/chats.py,
    insert_chat_turn); its place in the tree stays.
    """
    own = row.user_id in (None, "", user_id)
    return {
        "id": str(row.id).removeprefix(f"{row.chat_id}-"),
        "chat_id": row.chat_id,
        "role": row.role,
        "parentId": row.parent_id,
        "content": row.content if own else "",
        "output": row.output if own else None,
        "done": row.done,
        "error": row.error,
        "timestamp": row.created_at,
    }


def _past_session() -> Any:
    from open_webui.internal.db import get_async_db_context

    return get_async_db_context()
