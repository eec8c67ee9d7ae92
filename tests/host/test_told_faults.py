"""Whatever fails, people read a sentence of ours, and the log reads what was really said."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi import HTTPException
from sqlalchemy import Column, MetaData, String, Table, select
from sqlalchemy.exc import OperationalError
from starlette.responses import JSONResponse

from adaptive.core.model import AdaptiveMemoryError, StoreError, with_detail
from adaptive.core.providers import Completion, CompletionRequest, post_json
from adaptive.host.database import HostDatabase
from adaptive.host.embedding import SecretlessEndpoint
from adaptive.host.faults import HostFaults
from adaptive.host.providers import _body_of
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter, chat_text
from adaptive.privacy.redaction import RedactingCompleter
from adaptive.search.embedders import (
    LocalModel,
    checked_vectors,
)
from tests.loopback import Answer, Loopback

# An account at an address, as drivers and providers name them; no text for people holds it.
PLANTED = "svc_webui@db-7.corp.internal"
KEY = "sk-proj-4fXq81LmZpT0vWc2Rb7YkN3uHd6JgA9s"
SAID = f"FATAL: {PLANTED} may not use relation adaptive_memory_entries (key {KEY})"
REQUEST = CompletionRequest("system", "user", "name", {"type": "object"})
ANY_TABLE = Table(
    "planted_table", MetaData(), Column("id", String(8), primary_key=True)
)


@asynccontextmanager
async def refused_session() -> AsyncGenerator[Any, None]:
    """A session of a database that lets nobody in."""
    raise OperationalError("SELECT 1", {}, Exception(SAID))
    yield


async def raised_by_host(error: Exception) -> None:
    """What the host raises, at the seam."""
    with HostFaults("writing a memory", StoreError):
        raise error


async def of(call: Callable[[], object]) -> None:
    """A call that waits for nothing."""
    call()


@dataclass
class Model:
    """A model whose answer is read by one of our functions."""

    read: Callable[[], Any]
    key: str = "m"

    async def complete(self, *_: object) -> Completion:
        """What is read."""
        return self.read()


def asked(completer: Any) -> Awaitable[Completion]:
    """A question to a model, which is shown no secrets."""
    return RedactingCompleter(completer).complete(REQUEST, "text")


@dataclass(frozen=True, slots=True)
class Case:
    """A seam that fails; a server on loopback answers it, if it asks one."""

    name: str
    fails: Callable[[str], Awaitable[object]]
    answer: Answer = field(default_factory=Answer)


REFUSED = Answer({"error": SAID}, 401)
CASES = [
    Case(
        "table",
        lambda _: HostDatabase(refused_session).rows("x", select(ANY_TABLE)),
    ),
    Case(
        "change",
        lambda _: HostDatabase(refused_session).upsert(
            "x", ANY_TABLE, [{"id": "1"}]
        ),
    ),
    Case(
        "host's table",
        lambda _: HostDatabase(refused_session, ()).rows(
            "reading", select(ANY_TABLE)
        ),
    ),
    Case("host", lambda _: raised_by_host(Exception(SAID))),
    Case("router", lambda _: raised_by_host(HTTPException(500, SAID))),
    Case(
        "provider",
        lambda _: asked(
            Model(lambda: _body_of(JSONResponse({"e": SAID}, 429)))
        ),
    ),
    Case(
        "pipe",
        lambda _: asked(
            Model(lambda: chat_text({"error": {"message": SAID}}))
        ),
    ),
    Case(
        "no JSON",
        lambda url: post_json(f"{url}/{PLANTED}", {}, ""),
        Answer(SAID.encode()),
    ),
    Case("gone", lambda _: post_json(f"http://127.0.0.1:9/{PLANTED}", {}, "")),
    Case("no address", lambda _: post_json(f"ftp://{PLANTED}", {}, "")),
    Case("OpenAI", lambda url: asked(OpenAICompleter(url, "m", KEY)), REFUSED),
    Case(
        "Ollama",
        lambda url: asked(OllamaCompleter(url, "m", KEY)),
        Answer({"e": SAID}, 503),
    ),
    Case(
        "vectors", lambda _: of(lambda: checked_vectors([["a"]], 1, PLANTED))
    ),
    Case(
        "embedding",
        lambda url: SecretlessEndpoint(url, "m").embed(["a"], query=True),
        REFUSED,
    ),
    Case(
        "local model",
        lambda _: LocalModel(f"/nowhere/{PLANTED}").embed(["a"], query=True),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_people_read_sentences(case: Case, server: Loopback) -> None:
    """No address, account or table stands in the sentence; the detail has it, without the key."""
    server.will_answer(case.answer)
    with pytest.raises(AdaptiveMemoryError) as failed:
        await case.fails(server.url)
    sentence, full = str(failed.value), with_detail(failed.value)
    assert 10 < len(sentence) < 80
    assert not any(
        word in sentence
        for word in (PLANTED, KEY, "127.0.0.1", "adaptive_memory_")
    )
    assert PLANTED in full
    assert KEY not in full


async def test_redaction_leaves_out_what_a_provider_says() -> None:
    """Where personal data is replaced the log has the sentence alone: a reply may quote a user."""
    model = Model(lambda: chat_text({"error": {"message": SAID}}))
    with pytest.raises(AdaptiveMemoryError) as failed:
        await RedactingCompleter(model, personal_data=True).complete(
            REQUEST, "text"
        )
    assert with_detail(failed.value) == str(failed.value)
