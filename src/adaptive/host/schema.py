"""The tables that statements of ours name, our own and the host's, in the host's schema."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)
from sqlalchemy.types import TypeEngine


def host_schema() -> str | None:
    """The schema of PostgreSQL in which the admin has put the host's tables, if any is named.

    The host's own models name it in each statement, without a search path (host: internal/db.py).
    """
    try:
        from open_webui.env import DATABASE_SCHEMA
    except ImportError:
        return None
    return DATABASE_SCHEMA or None


TABLES = MetaData(schema=host_schema())
_KEY = String(64)
_ID = String(255)


def _own_table(
    name: str,
    keys: Mapping[str, TypeEngine[Any]],
    fields: Mapping[str, TypeEngine[Any]],
    *more: Column[Any],
) -> Table:
    """A table of ours whose fields, none of them null, are empty where nothing is said."""
    columns: list[Column[Any]] = [
        Column(key, kind, primary_key=True) for key, kind in keys.items()
    ]
    for field, kind in fields.items():
        empty = kind.python_type()
        columns.append(Column(field, kind, nullable=False, default=empty))
    return Table(name, TABLES, *columns, *more)


ENTRIES = _own_table(
    "adaptive_memory_entries",
    {"user_id": _KEY, "kind": String(16), "key": _ID},
    {
        "chat_id": _ID,
        "message_id": _ID,
        "created_at": BigInteger(),
        # Sealed JSON; of a lease nothing.
        "body": Text(),
    },
    Column("expires_at", BigInteger, index=True),
)
PENDING = _own_table(
    "adaptive_memory_pending",
    {"user_id": _KEY, "message_id": _ID},
    {
        "chat_id": _ID,
        "state": String(8),
        "payload": Text(),
        "queued_at": Double(),
        "due_at": Double(),
        "lease_owner": _KEY,
        # Nobody reads it, but tables of former builds have it, and not null.
        "lease_until": Double(),
        "attempts": Integer(),
        "learned_at": Double(),
        "model_calls": Integer(),
    },
)
VECTORS = _own_table(
    "adaptive_memory_vector",
    {"user_id": _KEY, "memory_id": _KEY, "embedder": String(32)},
    {"content_hash": String(32), "vector": LargeBinary()},
)
OUR_TABLES = (ENTRIES, PENDING, VECTORS)


def _host_table(name: str, texts: str, *others: Column[Any]) -> Table:
    """A table of the host's, with those of its columns that statements of ours name."""
    columns = [Column(text, String) for text in texts.split()]
    return Table(name, TABLES, *columns, *others)


# See models/memories.py, models/users.py, models/chats.py of the host.
HOST_MEMORIES = _host_table("memory", "id user_id")
HOST_USERS = _host_table("user", "id")
HOST_CHATS = _host_table(
    "chat",
    "id user_id title",
    Column("updated_at", BigInteger),
    Column("meta", JSON),
)
# Of 0.9 and later (host: models/chat_messages.py).
HOST_MESSAGES = _host_table(
    "chat_message",
    "id chat_id user_id role parent_id",
    Column("created_at", BigInteger),
    Column("content", JSON),
    Column("output", JSON),
    Column("error", JSON),
    Column("done", Boolean),
)
