"""An OpenAI-compatible server on loopback that answers as tests say and records what it is asked.

A request is of one of three kinds: somebody's chat, a call of the plug-in, or one of the host's
own tasks. Rules are for the first two. They are tried newest first, so a test overrides what a
fixture has set up; a request that no rule takes is answered with ``Understood.`` A task has a rule
of its own, or is answered at once as a small model would.

The server plays the host's search engine and image engine, too.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from aiohttp import web

from demo.standin.service import ROLES
from demo.standin.tasks import HostTask, host_task, task_answer
from tests.e2e.driver.replies import (
    Answer,
    Body,
    Hang,
    Reply,
    Say,
    Script,
    write_reply,
)
from tests.e2e.driver.waiting import until
from tests.fakes import WordEmbedder

CHAT_MODEL = "chat-model"
SECOND_MODEL = "second-model"
SMALL_MODEL = "small-model"
TASK_MODEL = "task-model"
MODELS = (CHAT_MODEL, SECOND_MODEL, SMALL_MODEL, TASK_MODEL)

LOOK_SECONDS = 0.05
BLOCK = re.compile(r"<adaptive_memory>\n.*?\n</adaptive_memory>", re.DOTALL)

RequestKind: TypeAlias = Literal["chat", "plug-in"] | HostTask
Predicate = Callable[[Body], bool]

# A picture of one pixel, as PNG in base64.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def text_of(content: Any) -> str:
    """The text in a message's content, be it a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part.get("text", "") for part in parts if part.get("type") == "text"
    )


def system_prompt(body: Body) -> str:
    """Everything that the system messages of a request say."""
    messages = body.get("messages", [])
    return "\n".join(
        text_of(message.get("content"))
        for message in messages
        if message.get("role") in {"system", "developer"}
    )


def user_texts(body: Body) -> list[str]:
    """What the messages of the user say, with what was added to them."""
    return [
        text_of(message.get("content"))
        for message in body.get("messages", [])
        if message.get("role") == "user"
    ]


def title(body: Body) -> str:
    """First line of the system prompt: the name of the prompt, for calls of the plug-in."""
    lines = system_prompt(body).strip().splitlines()
    return lines[0].strip() if lines else ""


def newest_user_text(body: Body) -> str:
    """What the newest user message of a request says, without what was added to it."""
    return (said_by_user(body) or [""])[-1]


def said_by_user(body: Body) -> list[str]:
    """What the messages of the user say, without what was added to them."""
    return [BLOCK.sub("", text).strip() for text in user_texts(body)]


def told_beside(body: Body) -> str:
    """The system prompt, and the blocks that were added to messages of the user."""
    added = BLOCK.findall("\n".join(user_texts(body)))
    return "\n\n".join(filter(None, [system_prompt(body), *added]))


def kind_of(body: Body) -> RequestKind:
    """Whose request it is: a call of the plug-in begins with the title of one of its prompts."""
    if title(body) in ROLES:
        return "plug-in"
    return host_task(system_prompt(body), newest_user_text(body)) or "chat"


@dataclass(slots=True)
class ModelRequest:
    """One request that reached the model. ``client_left`` turns true when it was cut off there."""

    path: str
    body: Body
    headers: Mapping[str, str]
    at: float = field(default_factory=time.perf_counter)
    answered_at: float | None = None
    client_left: bool = False

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[Body]:
        return list(self.body.get("messages", []))

    @property
    def title(self) -> str:
        return title(self.body)

    @property
    def system_prompt(self) -> str:
        return system_prompt(self.body)

    @property
    def prompt(self) -> str:
        """All that the model was told beside what the user said."""
        return told_beside(self.body)

    @property
    def user_text(self) -> str:
        """What the newest user message says."""
        return newest_user_text(self.body)

    @property
    def kind(self) -> RequestKind:
        return kind_of(self.body)


class ScriptedModel:
    """The server. Start it, give ``url`` to an Open WebUI, tell it what to answer, ask it later."""

    def __init__(self) -> None:
        self.models: tuple[str, ...] = MODELS
        self.requests: list[ModelRequest] = []
        self.embedding_requests: list[ModelRequest] = []
        self.search_requests: list[ModelRequest] = []
        self.image_requests: list[ModelRequest] = []
        self._rules: list[tuple[Predicate, Script]] = []
        self._task_rules: dict[HostTask, Script] = {}
        self._embedding_trouble: Script | None = None
        self._released = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def start(self) -> None:
        """Listen on a free port of the loopback interface."""
        application = web.Application(client_max_size=64 * 2**20)
        application.router.add_get("/v1/models", self._list_models)
        application.router.add_post("/v1/chat/completions", self._complete)
        application.router.add_post("/v1/embeddings", self._embed)
        application.router.add_post("/v1/search", self._search)
        application.router.add_post("/v1/images/generations", self._draw)
        self._runner = web.AppRunner(
            application, access_log=None, shutdown_timeout=1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Release what hangs and stop listening."""
        self._released.set()
        if self._runner:
            await self._runner.cleanup()

    def release(self) -> None:
        """Answer what hangs until now."""
        self._released.set()
        self._released = asyncio.Event()

    def reset(self) -> None:
        """Forget rules and records, and release what hangs: the state before the first test."""
        self.release()
        self.models = MODELS
        self._rules.clear()
        self._task_rules.clear()
        self.forget_requests()
        self._embedding_trouble = None

    def forget_requests(self) -> None:
        """Record anew."""
        self.requests.clear()
        self.embedding_requests.clear()
        self.search_requests.clear()
        self.image_requests.clear()

    # Telling it what to do

    def when(self, predicate: Predicate, answer: Answer) -> None:
        """Answer requests whose body satisfies the predicate, but no task of the host's."""
        self._rules.insert(0, (predicate, Script(answer)))

    def when_title(self, wanted: str, answer: Answer) -> None:
        """Answer the requests whose system message begins with this line."""
        self.when(lambda body: title(body) == wanted, answer)

    def when_chatting(self, answer: Answer) -> None:
        """Answer the requests that are somebody's chat."""
        self.when(lambda body: kind_of(body) == "chat", answer)

    def when_task(self, task: HostTask, answer: Answer) -> None:
        """Answer the host's tasks of this kind."""
        self._task_rules[task] = Script(answer)

    def trouble_embeddings(self, answer: Answer | None) -> None:
        """Let the embedding endpoint fail, hang, ... ; ``None`` makes it well again."""
        self._embedding_trouble = None if answer is None else Script(answer)

    # Asking what it saw

    def requests_titled(self, wanted: str) -> list[ModelRequest]:
        """The requests whose system message begins with this line, oldest first."""
        return [
            request for request in self.requests if request.title == wanted
        ]

    def chat_requests(self) -> list[ModelRequest]:
        """The requests that are somebody's chat, oldest first."""
        return self.requests_of("chat")

    def requests_of(self, *kinds: RequestKind) -> list[ModelRequest]:
        """The requests of these kinds, oldest first."""
        return [request for request in self.requests if request.kind in kinds]

    @property
    def last_prompt(self) -> str:
        """All that the model was told beside the messages, in the newest chat request."""
        return self.chat_requests()[-1].prompt

    async def wait_for_request(
        self, predicate: Callable[[ModelRequest], bool], timeout: float = 30
    ) -> ModelRequest:
        """The first recorded request that satisfies the predicate, waiting for it if need be."""
        found = await until(
            lambda: [
                request for request in self.requests if predicate(request)
            ],
            timeout,
            f"a model request among {[request.title for request in self.requests]}",
        )
        return found[0]

    # The endpoints

    async def _list_models(self, _: web.Request) -> web.Response:
        models = [
            {"id": name, "object": "model", "owned_by": "tests"}
            for name in self.models
        ]
        return web.json_response({"object": "list", "data": models})

    async def _complete(self, http: web.Request) -> web.StreamResponse:
        body = await http.json()
        request = ModelRequest(http.path, body, http.headers)
        self.requests.append(request)
        try:
            reply = self._reply_to(body)
            while isinstance(reply, Hang):
                await self._hold(reply.seconds, http)
                reply = reply.then
            return await write_reply(http, body, reply)
        except ConnectionError:
            request.client_left = True
            return web.Response()
        finally:
            request.answered_at = time.perf_counter()

    async def _embed(self, http: web.Request) -> web.StreamResponse:
        body = await http.json()
        self.embedding_requests.append(
            ModelRequest(http.path, body, http.headers)
        )
        if self._embedding_trouble:
            reply = self._embedding_trouble.next_reply(body)
            if isinstance(reply, Hang):
                with suppress(ConnectionError):
                    await self._hold(reply.seconds, http)
            else:
                return await write_reply(http, body, reply)
        texts = (
            [body["input"]]
            if isinstance(body["input"], str)
            else body["input"]
        )
        vectors = (
            await WordEmbedder(dimension=384).embed(texts, query=True)
        ).tolist()
        data = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        return web.json_response(
            {"object": "list", "model": body.get("model"), "data": data}
        )

    async def _search(self, http: web.Request) -> web.Response:
        self.search_requests.append(
            ModelRequest(http.path, await http.json(), http.headers)
        )
        page = {
            "link": "http://127.0.0.1/page",
            "title": "A page",
            "snippet": "It says little.",
        }
        return web.json_response([page])

    async def _draw(self, http: web.Request) -> web.Response:
        self.image_requests.append(
            ModelRequest(http.path, await http.json(), http.headers)
        )
        return web.json_response({"data": [{"b64_json": PIXEL}]})

    def _reply_to(self, body: Body) -> Reply:
        kind = kind_of(body)
        if kind not in ("chat", "plug-in"):
            script = self._task_rules.get(kind) or Script(
                task_answer(kind, newest_user_text(body))
            )
            return script.next_reply(body)
        for predicate, script in self._rules:
            if predicate(body):
                return script.next_reply(body)
        return Say()

    async def _hold(self, seconds: float, http: web.Request) -> None:
        """Wait so long, or until it is released; raises ``ConnectionError`` when the client leaves."""
        released = self._released
        deadline = time.monotonic() + seconds
        while not released.is_set() and time.monotonic() < deadline:
            if http.transport is None:
                raise ConnectionResetError
            with suppress(TimeoutError):
                await asyncio.wait_for(released.wait(), LOOK_SECONDS)
