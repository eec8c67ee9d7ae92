"""A user's saved chats, read from the host's own tables, and changed message by message.

When a chat was indexed is noted in our own table, beside the time of its last change: so one
statement finds those that are new or changed, in whatever process and after any failure.

Since 0.9 each message has a row of its own (host: models/chat_messages.py, ChatMessage; its id is
chat and message id with a hyphen between them), written with the turn and changed with every edit;
the update to 0.9 has made those of older chats (host: migrations, add_chat_message_table).
Only what is asked for is read: the chat's own row holds a copy of all its messages.
"""

import asyncio
import itertools
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
)
from contextlib import asynccontextmanager
from operator import attrgetter, itemgetter
from typing import Any
from urllib.parse import unquote

from sqlalchemy import case, exists, func, literal, select, text, true
from sqlalchemy.orm.attributes import flag_modified

from adaptive.core import (
    JsonMapping,
    JsonObject,
    KeyedLocks,
    Message,
    mapping,
    scope_of,
    text_field,
)
from adaptive.host.database import (
    ENTRIES,
    HOST_AUTOMATION_RUNS,
    HOST_CHATS,
    HOST_DATABASE,
    HOST_FOLDERS,
    HOST_MESSAGES,
    OUR_DATABASE,
    host_session,
)
from adaptive.host.faults import uninterrupted
from adaptive.search import ListedChat, MessageKey, UnlearnedChat

# From a stored message the fields to change, ``None`` where nothing is to be written.
MessageChange = Callable[[Message], JsonObject | None]
# Chat, message and change; gives the fields that were stored, ``None`` where none were.
ChangeMessage = Callable[
    [str, str, MessageChange], Awaitable[JsonObject | None]
]

# What the page calls a chat until there is a title.
UNTITLED = (None, "", "New Chat")
# SQLite has one writer at a time: whoever waits longer gives up.
_LONGEST_WRITING_SECONDS = 15.0
_MOST_SECONDS = 10_000_000_000
_CREATED_AT = HOST_MESSAGES.c.created_at
# Former releases noted some in milliseconds (host: models/chat_messages.py).
_SAID_AT = case(
    (_CREATED_AT > _MOST_SECONDS, _CREATED_AT // 1000), else_=_CREATED_AT
)
_CHATS = KeyedLocks()
# What tells the place of a message, and whose it is.
_OUTLINE = tuple(
    HOST_MESSAGES.c[name]
    for name in ("id", "chat_id", "user_id", "parent_id", "role")
)


class HostPastChats:
    """``PastChats`` on the host's database."""

    async def scopes(
        self, user_id: str, chat_ids: Collection[str]
    ) -> dict[str, set[str]]:
        """The scopes of each chat's folder and of the models that have answered in it."""
        chat = HOST_CHATS.c
        answer = HOST_MESSAGES.c
        query = (
            select(chat.id, chat.folder_id, answer.model_id)
            .distinct()
            .outerjoin(HOST_MESSAGES, answer.chat_id == chat.id)
            .where(chat.user_id == user_id, chat.id.in_(chat_ids))
        )
        scopes: dict[str, set[str]] = {}
        for row in await HOST_DATABASE.rows("reading where chats are", query):
            named = {
                scope_of("folder", row.folder_id or ""),
                scope_of("model", row.model_id or ""),
            }
            scopes.setdefault(row.id, set()).update(filter(None, named))
        return scopes

    async def standing_folders(
        self, scopes: Collection[str]
    ) -> frozenset[str]:
        """Those of the scopes of folders that the host has still; raises ``HostError``."""
        ids = [unquote(scope.partition("=")[2]) for scope in scopes]
        query = select(HOST_FOLDERS.c.id).where(HOST_FOLDERS.c.id.in_(ids))
        rows = await HOST_DATABASE.rows("looking for folders", query)
        return frozenset(scope_of("folder", row.id) for row in rows)

    async def messages(
        self, user_id: str, chat_id: str, *, words: bool = True
    ) -> list[JsonObject]:
        """A chat's messages of all branches."""
        columns = _message_columns() if words else _OUTLINE
        query = _own_messages(columns, user_id).where(
            HOST_MESSAGES.c.chat_id == chat_id
        )
        return await _found_messages(query, user_id)

    async def current(
        self, user_id: str, keys: Collection[MessageKey]
    ) -> dict[MessageKey, JsonMapping]:
        """Messages by their primary key, of chats that are this user's."""
        ids = ["-".join(key) for key in keys]
        query = _own_messages(_message_columns(), user_id).where(
            HOST_MESSAGES.c.id.in_(ids)
        )
        return {
            (message["chat_id"], message["id"]): message
            for message in await _found_messages(query, user_id)
        }

    async def to_index(
        self, user_id: str, chat_id: str = ""
    ) -> dict[str, int]:
        """Chats that have changed since, by one statement (see ``PastChats``)."""
        chat = HOST_CHATS.c
        note = ENTRIES.c
        changed_at = func.coalesce(chat.updated_at, 1)
        is_noted = exists().where(
            note.user_id == user_id,
            note.kind.in_(["history", "erased_history"]),
            note.key.in_(["", chat.id]),
            note.created_at >= changed_at,
        )
        changed = select(chat.id, changed_at).where(
            chat.user_id == user_id, ~is_noted
        )
        is_indexed = (note.user_id == user_id) & (note.kind == "history")
        if chat_id:
            was_indexed = exists().where(is_indexed, note.key == chat.id)
            changed = changed.where((chat.id == chat_id) | was_indexed)
        gone = select(note.key, literal(0)).where(
            is_indexed,
            ~exists().where(chat.id == note.key),
        )
        rows = await OUR_DATABASE.rows(
            "looking for chats to index", changed.union_all(gone)
        )
        last_first = sorted(rows, key=itemgetter(1), reverse=True)
        return dict(map(tuple, last_first))

    async def unlearned(
        self, user_id: str, since: float, until: float
    ) -> list[UnlearnedChat]:
        """Chats with messages that were not learned from, by one statement (see ``PastChats``)."""
        chat = HOST_CHATS.c
        message = HOST_MESSAGES.c
        note = ENTRIES.c
        message_id = func.substr(message.id, func.length(chat.id) + 2)
        queued = select(note.key).where(
            note.user_id == user_id, note.kind.in_(["done", "waiting"])
        )
        changed_by = select(note.message_id).where(
            note.user_id == user_id, note.kind == "audit"
        )
        is_erased = exists().where(
            note.user_id == user_id,
            note.kind == "erased_history",
            note.key == chat.id,
            note.created_at >= _SAID_AT,
        )
        automated = exists().where(HOST_AUTOMATION_RUNS.c.chat_id == chat.id)
        query = (
            _said(
                select(
                    chat.id, chat.updated_at, message_id.label("message_id")
                ),
                user_id,
                since,
                until,
            )
            .where(
                message_id.not_in(queued),
                message_id.not_in(changed_by),
                ~is_erased,
                ~automated,
            )
            .order_by(chat.updated_at.desc(), chat.id)
        )
        rows = await OUR_DATABASE.rows("looking for chats to learn", query)
        chats = itertools.groupby(rows, attrgetter("id", "updated_at"))
        return [
            UnlearnedChat(
                id=chat_id,
                changed_at=changed_at or 0,
                message_ids=[row.message_id for row in group],
            )
            for (chat_id, changed_at), group in chats
        ]

    async def listed(
        self, user_id: str, since: float, until: float
    ) -> list[ListedChat]:
        """Chats by their titles, by one statement (see ``PastChats``)."""
        chat = HOST_CHATS.c
        said_at = func.max(_SAID_AT).label("said_at")
        query = (
            _said(select(chat.id, chat.title, said_at), user_id, since, until)
            .group_by(chat.id, chat.title)
            .order_by(said_at.desc())
        )
        rows = await HOST_DATABASE.rows("looking for past chats", query)
        return [
            ListedChat(
                id=row.id,
                title="" if row.title in UNTITLED else row.title,
                said_at=int(row.said_at),
            )
            for row in rows
        ]


def _message_columns() -> list[Any]:
    """The columns of messages that this release has."""
    try:
        from open_webui.models.chat_messages import ChatMessage
    except ImportError:
        return [*HOST_MESSAGES.c]
    return [one for one in HOST_MESSAGES.c if hasattr(ChatMessage, one.name)]


def _said(query: Any, user_id: str, since: float, until: float) -> Any:
    """Narrow a query of chats to what their user has said in a time."""
    chat = HOST_CHATS.c
    message = HOST_MESSAGES.c
    return query.join(HOST_MESSAGES, message.chat_id == chat.id).where(
        chat.user_id == user_id,
        chat.meta["internal"].as_boolean().is_not(true()),
        message.user_id == user_id,
        message.role == "user",
        since <= _SAID_AT,
        until > _SAID_AT,
    )


def _own_messages(columns: Any, user_id: str) -> Any:
    """Messages of this user's chats, each with the title of its chat and what is noted of that."""
    chat = HOST_CHATS.c
    return (
        select(
            *columns,
            chat.title.label("chat_title"),
            chat.meta.label("chat_meta"),
        )
        .join(HOST_CHATS, chat.id == HOST_MESSAGES.c.chat_id)
        .where(chat.user_id == user_id)
    )


async def _found_messages(query: Any, user_id: str) -> list[JsonObject]:
    """What a query of messages finds, without the chats that the host keeps for itself.

    Such ones belong to notes and sub-agents (host: models/chats.py, is_internal_chat, 0.12).
    """
    rows = await HOST_DATABASE.rows("reading messages", query)
    return [
        _message_of(row, user_id)
        for row in rows
        if not _is_internal(row.chat_meta)
    ]


def _is_internal(meta: object) -> bool:
    """Whether a chat or a message is one that the host has made, and not its user."""
    return mapping(meta).get("internal") is True


def _message_of(row: Any, user_id: str) -> JsonObject:
    """A row as the host hands messages to filters; one of somebody else is without its words.

    So is one that a timer has brought. Since 0.12 others may write in a chat that was shared with
    them (host: models/chats.py, insert_chat_turn); its place in the tree stays.
    """
    fields = row._mapping
    message = {
        **fields,
        "id": str(row.id).removeprefix(f"{row.chat_id}-"),
        "parentId": row.parent_id,
        "timestamp": fields.get("created_at"),
    }
    is_others = message.get("user_id") not in (None, "", user_id)
    if is_others or _is_internal(message.get("meta")):
        message |= {"content": "", "output": None}
    return message


@asynccontextmanager
async def alone_in_chat(chat_id: str) -> AsyncGenerator[None, None]:
    """Hold off what else this process would write into a chat; ``TimeoutError`` after a while.

    A chat is one text that whoever changes a message reads and writes back. Without a lock, which
    the host has since 0.12, what is written behind an answer would undo the next message, which the
    user is sending meanwhile (host: models/chats.py).
    """
    async with asyncio.timeout(_LONGEST_WRITING_SECONDS), _CHATS.of(chat_id):
        yield


@uninterrupted
async def change_message(
    chat_id: str, message_id: str, change: MessageChange
) -> JsonObject | None:
    """Change fields of a message in the text of its chat, and in its row; the fields changed.

    The host's own function would, up to 0.10, make this message the chat's newest one.
    """
    from open_webui.models.chat_messages import ChatMessages
    from open_webui.models.chats import Chat

    async with host_session() as session:
        if session.get_bind().dialect.name == "sqlite":
            # Nothing else keeps a reader in SQLite from writing what is out of date.
            await session.execute(text("BEGIN IMMEDIATE"))
        row: Any = await session.get(
            Chat, chat_id, populate_existing=True, with_for_update=True
        )
        messages: Any = mapping(
            getattr(row, "chat", None), "history", "messages"
        )
        stored = mapping(messages, message_id)
        fields = change(stored) if stored else None
        if fields is None:
            await session.commit()
            return None
        message = {**stored, **fields}
        messages[message_id] = message
        flag_modified(row, "chat")
        owner = text_field(message, "user_id") or row.user_id
        await session.commit()
    await ChatMessages.upsert_message(
        message_id=message_id, chat_id=chat_id, user_id=owner, data=message
    )
    return fields
