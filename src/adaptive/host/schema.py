"""The tables that statements of ours name, our own and the host's, in the host's schema."""

from __future__ import annotations

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

ENTRIES = Table(
    "adaptive_memory_entries",
    TABLES,
    Column("user_id", String(64), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("chat_id", String(255), nullable=False),
    Column("message_id", String(255), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, index=True),
    # Sealed JSON; of a lease nothing.
    Column("body", Text, nullable=False),
)
PENDING = Table(
    "adaptive_memory_pending",
    TABLES,
    Column("user_id", String(64), primary_key=True),
    Column("message_id", String(255), primary_key=True),
    Column("chat_id", String(255), nullable=False, default=""),
    Column("state", String(8), nullable=False),
    Column("payload", Text, nullable=False, default=""),
    Column("queued_at", Double, nullable=False, default=0.0),
    Column("due_at", Double, nullable=False, default=0.0),
    Column("lease_owner", String(64), nullable=False, default=""),
    Column("lease_until", Double, nullable=False, default=0.0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("learned_at", Double, nullable=False, default=0.0),
    Column("model_calls", Integer, nullable=False, default=0),
)
VECTORS = Table(
    "adaptive_memory_vector",
    TABLES,
    Column("user_id", String(64), primary_key=True),
    Column("memory_id", String(64), primary_key=True),
    Column("embedder", String(32), primary_key=True),
    Column("content_hash", String(32), nullable=False),
    Column("vector", LargeBinary, nullable=False),
)
OUR_TABLES = (ENTRIES, PENDING, VECTORS)

# The host's own (host: models/memories.py, models/users.py, models/chats.py).
HOST_MEMORIES = Table(
    "memory",
    TABLES,
    Column("id", String),
    Column("user_id", String),
)
HOST_USERS = Table("user", TABLES, Column("id", String))
HOST_CHATS = Table(
    "chat",
    TABLES,
    *(Column(name, String) for name in ("id", "user_id", "title")),
    Column("updated_at", BigInteger),
    Column("meta", JSON),
)
# Of 0.9 and later (host: models/chat_messages.py).
HOST_MESSAGES = Table(
    "chat_message",
    TABLES,
    *(
        Column(name, String)
        for name in ("id", "chat_id", "user_id", "role", "parent_id")
    ),
    Column("created_at", BigInteger),
    *(Column(name, JSON) for name in ("content", "output", "error")),
    Column("done", Boolean),
)
