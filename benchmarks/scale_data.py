"""The data of ``scale``: users, memories, chats and vectors, which the database makes by itself.

Texts are LoCoMo's observations and messages. Observations come with eight endings each, whose
vectors are that of the observation with noise, as a real model would take hours. No user has one
of them twice, and each has others.
"""

from __future__ import annotations

import hashlib
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adaptive.core.model import Vectors
from adaptive.history.indexing import message_units, unit_texts
from adaptive.search.vectors import content_hash, normalised
from benchmarks.figures import say
from benchmarks.history import by_chat, replayed
from benchmarks.locomo import load_conversations, minilm
from tests.e2e.driver.services import Services

MEMORIES = 500
MESSAGES = 2_000
MESSAGES_OF_CHAT = 40
DIMENSION = 384
_ENDINGS = ("", *(f" That was in {year}." for year in range(2017, 2024)))
_NOISE = 0.25
_LONGEST_STEP_SECONDS = 3600
_FILLED = ("memory", "chat_message", "chat", "document_chunk")

# Written without waiting for the disk; undone behind it.
_HASTE = """
ALTER SYSTEM SET fsync = off;
ALTER SYSTEM SET full_page_writes = off;
ALTER SYSTEM SET max_wal_size = '8GB';
ALTER SYSTEM SET checkpoint_timeout = '1h';
ALTER SYSTEM SET maintenance_work_mem = '1GB';
SELECT pg_reload_conf();
"""
_NO_HASTE = """
ALTER SYSTEM RESET ALL;
SELECT pg_reload_conf();
CHECKPOINT;
"""
_TABLES = f"""
CREATE TABLE scale_user (number int PRIMARY KEY, id text, collection text);
CREATE TABLE scale_fact (number int PRIMARY KEY, content text, hash text, bytes bytea,
    vector vector({DIMENSION}));
CREATE TABLE scale_said (number int PRIMARY KEY, content text, vector vector({DIMENSION}));
"""
_USERS = """
INSERT INTO "user" (id, email, name, role, profile_image_url, last_active_at, updated_at, created_at)
SELECT id, id || '@example.com', id, 'user', '/user.png', 0, 0, 0 FROM scale_user
ON CONFLICT DO NOTHING;
"""
_OWNED_FACTS = f"""
    (SELECT u.number AS owner, u.id AS user_id, k AS number,
        md5('memory' || u.number || ' ' || k)::uuid::text AS id,
        (extract(epoch FROM now())::bigint - 63072000 + k * 126000) AS at, f.content, f.hash,
        f.bytes, f.vector
    FROM scale_user u CROSS JOIN generate_series(0, {MEMORIES - 1}) k
    JOIN scale_fact f ON f.number = (u.number * 131 + k * 19) % (SELECT count(*) FROM scale_fact)
    ) AS owned
"""
_MEMORIES = f"""
INSERT INTO memory (id, user_id, type, path, content, meta, created_at, updated_at)
SELECT id, user_id, 'context', 'General/preference', content, json_build_object(
    'created_by', 'adaptive_memory', 'source', 'adaptive_memory',
    'tags', json_build_array('preference'), 'bank', 'General', 'confidence', 0.9,
    'importance', 5, 'until', '', 'passed', hash, 'chat_id', md5('c' || id)::uuid,
    'message_id', md5('m' || id)::uuid, 'said_at', at), at, at
FROM {_OWNED_FACTS};
"""
_OUR_VECTORS = f"""
INSERT INTO adaptive_memory_vector (user_id, memory_id, embedder, content_hash, vector)
SELECT user_id, id, :'embedder', hash, bytes FROM {_OWNED_FACTS};
"""
_HOST_VECTORS = f"""
INSERT INTO document_chunk (id, vector, collection_name, text, vmetadata)
SELECT id, vector, 'user-memory-' || user_id, 'General/preference' || chr(10) || content,
    jsonb_build_object('created_at', at, 'updated_at', at, 'type', 'context')
FROM {_OWNED_FACTS};
"""
_CHATS = f"""
INSERT INTO chat (id, user_id, title, chat, created_at, updated_at, archived, pinned, meta)
SELECT md5('chat' || u.number || ' ' || c)::uuid::text, u.id, 'Chat ' || c, '{{}}',
    extract(epoch FROM now())::bigint - c * 864000, extract(epoch FROM now())::bigint - c * 864000,
    false, false, '{{}}'
FROM scale_user u CROSS JOIN generate_series(1, {MESSAGES // MESSAGES_OF_CHAT}) c
WHERE u.number < :with_past;
"""
_OWNED_MESSAGES = f"""
    (SELECT c.*, u.collection, n AS number, s.content, s.vector,
        md5(c.id || n)::uuid::text AS message_id,
        CASE n WHEN 0 THEN '' ELSE md5(c.id || (n - 1))::uuid::text END AS previous_id
    FROM scale_user u JOIN chat c ON c.user_id = u.id AND c.title LIKE 'Chat %'
    CROSS JOIN generate_series(0, {MESSAGES_OF_CHAT - 1}) n
    JOIN scale_said s ON s.number
        = (u.number * 977 + hashtext(c.id)::bigint + 2147483648 + n)
        % (SELECT count(*) FROM scale_said)
    WHERE u.number < :with_past) AS owned
"""
_MESSAGES = f"""
INSERT INTO chat_message (id, chat_id, user_id, role, parent_id, content, model_id, done,
    created_at, updated_at)
SELECT id || '-' || message_id, id, user_id,
    CASE number % 2 WHEN 0 THEN 'user' ELSE 'assistant' END, nullif(previous_id, ''),
    to_json(content), CASE number % 2 WHEN 0 THEN NULL ELSE 'bare' END, true,
    created_at + number * 60, created_at + number * 60
FROM {_OWNED_MESSAGES};
"""
_UNITS = f"""
INSERT INTO document_chunk (id, vector, collection_name, text, vmetadata)
SELECT md5('unit' || message_id)::uuid::text, vector, collection, md5(message_id),
    jsonb_build_object('chat_id', id, 'message_id', message_id, 'previous_id', previous_id,
        'digest', md5(message_id), 'embedder', :'embedder_hash',
        'first', CASE number WHEN 0 THEN 'yes' ELSE 'no' END)
FROM {_OWNED_MESSAGES} WHERE collection <> '';
INSERT INTO adaptive_memory_entries (user_id, kind, key, chat_id, message_id, created_at, body)
SELECT c.user_id, 'history', c.id, c.id, '', c.updated_at, ''
FROM chat c JOIN scale_user u ON u.id = c.user_id AND u.collection <> ''
WHERE c.title LIKE 'Chat %';
"""
# As the host makes it when it starts with enough rows (host: dbs/pgvector.py).
_VECTOR_INDEX = """
CREATE INDEX IF NOT EXISTS idx_document_chunk_vector ON document_chunk
USING ivfflat (vector vector_cosine_ops) WITH (lists = 100);
"""
_STEPS = {
    "users": _USERS,
    "memories": _MEMORIES,
    "vectors of the plug-in": _OUR_VECTORS,
    "vectors of the host": _HOST_VECTORS,
    "chats": _CHATS,
    "messages": _MESSAGES,
    "units of past conversation": _UNITS,
    "index of vectors": _VECTOR_INDEX,
}
_SIZES = """
SELECT relname AS name, reltuples::bigint AS rows,
    round(pg_table_size(oid) / 1048576.0)::int AS table_mib,
    round(pg_indexes_size(oid) / 1048576.0)::int AS indexes_mib
FROM pg_class WHERE relkind = 'r' AND (relname IN
    ('memory', 'document_chunk', 'chat', 'chat_message') OR relname LIKE 'adaptive_memory%')
ORDER BY relname
"""
_PLAIN_INDEXES = f"""
SELECT indexname AS name, indexdef AS definition FROM pg_indexes
JOIN pg_class ON relname = indexname JOIN pg_index ON indexrelid = pg_class.oid
WHERE tablename IN ({", ".join(map(repr, _FILLED))}) AND NOT indisunique
"""


@dataclass(frozen=True, slots=True)
class ScaleData:
    """Who has what: all ``users`` have memories, the first of them ``with_past`` messages, too.

    Those in ``recalling`` have their messages indexed. Vectors are those of the ``embedder``, by
    its key in the plug-in's table, and by the hash of its name among the units.
    """

    users: list[str]
    with_past: int
    recalling: dict[str, str]
    embedder: str
    embedder_hash: str


def fill(services: Services, folder: Path, data: ScaleData) -> dict[str, int]:
    """Make all rows, and tell how many seconds each step took."""
    took: dict[str, int] = {}
    _run(services, data, _HASTE)
    indexes = services.rows(_PLAIN_INDEXES)
    dropped = "".join(f"DROP INDEX {row['name']};\n" for row in indexes)
    _run(services, data, _TABLES + dropped + _pools(folder, data))
    remade = {row["name"]: f"{row['definition']};" for row in indexes}
    for name, statements in (
        _STEPS | remade | {"statistics": "VACUUM ANALYZE;"}
    ).items():
        began = time.monotonic()
        _run(services, data, statements)
        took[name] = round(time.monotonic() - began)
        say(f"  {name}: {took[name]} s")
    _run(services, data, _NO_HASTE)
    return took


def sizes(services: Services) -> dict[str, dict[str, int]]:
    """Rows, and the sizes of tables and indexes, by table."""
    return {row.pop("name"): row for row in services.rows(_SIZES)}


def questions(folder: Path) -> list[str]:
    """What people ask of what the memories tell."""
    return [
        question
        for one in load_conversations(folder)
        for question in one.questions
    ]


def _run(services: Services, data: ScaleData, statements: str) -> None:
    """Have psql run statements, with what they name of the data."""
    named = {
        "with_past": str(data.with_past),
        "embedder": data.embedder,
        "embedder_hash": data.embedder_hash,
    }
    options = [f"--set={name}={value}" for name, value in named.items()]
    subprocess.run(
        [
            services.psql,
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            *options,
            "-f",
            "-",
            services.postgres,
        ],
        input=statements,
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=_LONGEST_STEP_SECONDS,
    )


def _pools(folder: Path, data: ScaleData) -> str:
    """What all rows are made of, as COPY takes it."""
    observations = [
        text for one in load_conversations(folder) for text in one.memories
    ]
    facts = [text + ending for ending in _ENDINGS for text in observations]
    of_facts = np.tile(minilm()(observations), (len(_ENDINGS), 1))
    noise = np.random.default_rng(5).normal(size=of_facts.shape)
    noise *= _NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
    of_facts = normalised(of_facts + noise)
    units = [
        unit
        for one in replayed(folder)
        for chat in by_chat(one.messages)
        for unit in message_units(chat, "")
    ]
    of_units = minilm()(unit_texts(units))
    fact_rows = [
        (
            text,
            content_hash(text),
            f"\\\\x{vector.astype('<f4').tobytes().hex()}",
            _shown(vector),
        )
        for text, vector in zip(facts, of_facts, strict=True)
    ]
    said_rows = [
        (unit.texts[-1], _shown(vector))
        for unit, vector in zip(units, of_units, strict=True)
    ]
    user_rows = [
        (user_id, data.recalling.get(user_id, "")) for user_id in data.users
    ]
    return "".join(
        _copied(table, rows)
        for table, rows in (
            ("scale_user", user_rows),
            ("scale_fact", fact_rows),
            ("scale_said", said_rows),
        )
    )


def _copied(table: str, rows: list[tuple[str, ...]]) -> str:
    lines = [
        "\t".join([str(number), *(" ".join(field.split()) for field in row)])
        for number, row in enumerate(rows)
    ]
    return "\n".join([f"COPY {table} FROM STDIN;", *lines, "\\.", ""])


def _shown(vector: Vectors) -> str:
    return f"[{','.join(f'{number:.6f}' for number in vector.tolist())}]"


def made_up_id(number: int) -> str:
    """The id of a user who never comes."""
    digest = hashlib.md5(f"scale {number}".encode(), usedforsecurity=False)
    return f"scale-{digest.hexdigest()[:12]}"
