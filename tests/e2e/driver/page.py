"""One signed-in user's browser tab: HTTP requests, the socket, and what arrives on it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import aiohttp
import socketio

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.events import Event, choice_text
from tests.e2e.driver.release import Release
from tests.e2e.driver.scripted_model import CHAT_MODEL
from tests.e2e.driver.turn import Turn
from tests.e2e.driver.waiting import until

PASSWORD = "Passw0rd!x"
HEARTBEAT_SECONDS = 30
# Events that the host waits for the page to answer.
QUESTIONS = ("confirmation", "input", "execute", "request:elicitation")


class RefusedError(Exception):
    """The host has answered a request with an HTTP error."""

    def __init__(
        self, method: str, path: str, status: int, detail: Any
    ) -> None:
        super().__init__(f"{method} {path} -> {status}: {str(detail)[:1000]}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Memory:
    """A row under Settings > Personalization; the last two are ``None`` before 0.10."""

    id: str
    content: str
    path: str | None
    meta: dict[str, Any] | None

    @classmethod
    def from_host(cls, row: Mapping[str, Any]) -> Memory:
        """Read a row as the host's API gives it."""
        return cls(row["id"], row["content"], row.get("path"), row.get("meta"))


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """What a plain API call got back, be it one object or a stream."""

    status: int
    content: str


class Page:
    """A tab of one user. ``events`` grows with all that the host sends to that user."""

    def __init__(
        self, url: str, release: Release, http: aiohttp.ClientSession
    ) -> None:
        self.url = url
        self.release = release
        self.token = ""
        self.user_id = ""
        self.name = ""
        self.email = ""
        self.time_zone = "Europe/Berlin"
        self.language = "en-US"
        # The host's own memory, as switched under Settings; None for a switch never touched.
        self.native_memory: bool | None = None
        self.events: list[Event] = []
        # What the user answers when the host asks; a callable gets the question's data.
        self.answers: dict[str, Any] = dict.fromkeys(QUESTIONS, False)
        self._memories_enabled = False
        self._http = http
        self._socket: socketio.AsyncClient | None = None
        self._heartbeat: asyncio.Task[None] | None = None

    # Signing in

    @classmethod
    async def sign_up(cls, url: str, name: str, email: str) -> Page:
        """Create an account on the sign-up page; the first one on a host is its admin."""
        account = {"name": name, "email": email, "password": PASSWORD}
        return await cls._opened(url, None, "/api/v1/auths/signup", account)

    async def new_user(self, name: str, email: str, url: str) -> Page:
        """A page of an account that this admin adds, without the host's slow check of passwords."""
        account = {
            "name": name,
            "email": email,
            "password": PASSWORD,
            "role": "user",
        }
        return await self._opened(url, self, "/api/v1/auths/add", account)

    @classmethod
    async def _opened(
        cls, url: str, asking: Page | None, path: str, account: Any
    ) -> Page:
        """A page of the account of which a request tells, which another page may have to send."""
        page = cls(url, Release("0.0.0"), _http_session())
        try:
            session = await (asking or page).request("POST", path, account)
            page.token, page.user_id = session["token"], session["id"]
            page.name, page.email = session["name"], session["email"]
            settings = await page.request("GET", "/api/config")
            page.release = Release(settings["version"])
            page._memories_enabled = bool(
                settings["features"].get("enable_memories")
            )
            await page.connect()
        except BaseException:
            await page.close()
            raise
        return page

    # HTTP

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request with the user's token and return the JSON of the answer.

        Raises ``RefusedError`` when the status is 400 or above.
        """
        headers = (
            {"Authorization": f"Bearer {self.token}"} if self.token else {}
        )
        sent = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            sent = io.BytesIO(
                json.dumps(body).encode()
            )  # aiohttp warns of large texts
        async with self._http.request(
            method, self.url + path, data=sent, headers=headers
        ) as response:
            text = await response.text()
            try:
                content = json.loads(text)
            except ValueError:
                content = text
            if response.status >= 400:
                raise RefusedError(method, path, response.status, content)
            return content

    async def upload(self, name: str, content: bytes) -> dict[str, Any]:
        """Upload a file as the page does, and return it as it stands with a message then."""
        form = aiohttp.FormData()
        form.add_field("file", content, filename=name)
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self._http.post(
            f"{self.url}/api/v1/files/", data=form, headers=headers
        ) as response:
            file = await response.json()
        return {
            "type": "file",
            "file": file,
            "id": file["id"],
            "url": file["id"],
            "name": name,
            "status": "uploaded",
        }

    # The socket

    async def connect(self) -> None:
        """Open the socket as the page does when it loads."""
        # With a session of its own, each try to reach a server that is gone would leave one open.
        client = socketio.AsyncClient(http_session=self._http)
        self._socket = client
        joined = asyncio.Event()

        async def join() -> None:
            user = {"auth": {"token": self.token}}
            await client.emit(
                "user-join", user, callback=lambda *_: joined.set()
            )

        client.on("connect", join)
        client.on("events", self._receive)
        await client.connect(
            self.url,
            socketio_path="/ws/socket.io",
            transports=["websocket"],
            auth={"token": self.token},
        )
        await asyncio.wait_for(joined.wait(), 10)
        self._heartbeat = asyncio.create_task(self._beat(client))

    async def disconnect(self) -> None:
        """Close the socket, as closing the tab does; requests still work."""
        if self._heartbeat:
            self._heartbeat.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._heartbeat
            self._heartbeat = None
        if self._socket:
            await (
                self._socket.shutdown()
            )  # also one that tries to reach a server that is gone
            self._socket = None

    async def reload(self) -> None:
        """Load the page anew, as after a restart of the host: a new socket, and the models."""
        await self.disconnect()
        await self.connect()
        await self.request("GET", "/api/models")

    async def sign_in_again(self) -> None:
        """Sign in once more where the host knows this session no more, and load the page anew."""
        account = {"email": self.email, "password": PASSWORD}
        session = await self.request("POST", "/api/v1/auths/signin", account)
        self.token = session["token"]
        await self.reload()

    async def close(self) -> None:
        """Close the socket and every connection."""
        await self.disconnect()
        await self._http.close()

    @property
    def session_id(self) -> str:
        """The socket's id, by which a request says where its answer is to go."""
        assert self._socket, "the page has no socket"
        return str(self._socket.get_sid())

    async def _beat(self, client: socketio.AsyncClient) -> None:
        """A session without a heartbeat for two minutes counts as gone."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            if client.connected:
                await client.emit("heartbeat", {})

    async def _receive(self, packet: dict[str, Any], *_: Any) -> Any:
        event = Event.from_socket(packet, time.perf_counter())
        self.events.append(event)
        if event.kind not in QUESTIONS:
            return None
        answer = self.answers[event.kind]
        return answer(event.data) if callable(answer) else answer

    def will_choose(self, *options: int) -> None:
        """Have the user choose these options of what is asked about, in whatever form that is."""
        signs = ("", "", "-")
        numbers = " ".join(
            f"{signs[option]}{number}"
            for number, option in enumerate(options, 1)
            if option
        )

        def choose(asked: dict[str, Any]) -> str:
            return str(options[0]) if "input" in asked else numbers

        def fill(asked: dict[str, Any]) -> dict[str, Any]:
            fields = asked["requestedSchema"]["properties"]
            names = [name for name in fields if name != "all"]
            content = dict(zip(names, map(str, options), strict=True))
            return {"action": "accept", "content": content}

        self.answers |= {"input": choose, "request:elicitation": fill}

    def questions(self, *kinds: str) -> list[dict[str, Any]]:
        """What the user was asked that is more than yes or no."""
        kinds = kinds or ("input", "request:elicitation")
        return [event.data for event in self.events if event.kind in kinds]

    def statuses(self, turn: Turn) -> list[dict[str, Any]]:
        """All statuses of a turn's message so far, the late ones included."""
        return [
            event.data
            for event in self.events[turn.since :]
            if event.kind == "status" and event.message_id == turn.message_id
        ]

    def messages_after(self, turn: Turn) -> list[dict[str, Any]]:
        """The turn's answer each time that the page was sent it after the outlet."""
        return [
            message
            for event in self.events[turn.since :]
            if event.kind == "chat:outlet"
            for message in event.data["messages"]
            if message.get("id") == turn.message_id
        ]

    async def wait_for_status(
        self, turn: Turn, wanted: str, timeout: float = 30
    ) -> dict[str, Any]:
        """Wait for a status of the turn's message that holds this text."""
        found = await until(
            lambda: [
                one
                for one in self.statuses(turn)
                if wanted in str(one.get("description"))
            ],
            timeout,
            lambda: f"the status {wanted!r} among {self.statuses(turn)}",
        )
        return found[0]

    # Chats

    async def say(self, words: str, status: str, timeout: float = 30) -> Turn:
        """Say something in a new chat, and wait for what is told of it."""
        turn = await self.new_chat().send(words)
        await self.wait_for_status(turn, status, timeout)
        return turn

    def new_chat(
        self, model: str = CHAT_MODEL, system: str | None = None
    ) -> Conversation:
        """Open a new chat; the host stores it with the first message, as for the page."""
        return Conversation(self, model=model, system=system)

    def temporary_chat(
        self, model: str = CHAT_MODEL, system: str | None = None
    ) -> Conversation:
        """Open a temporary chat, which the host does not store."""
        return Conversation(self, model=model, system=system, temporary=True)

    def features(self) -> dict[str, Any]:
        """What the page asks for with each message."""
        features: dict[str, Any] = dict.fromkeys(
            ("voice", "image_generation", "code_interpreter", "web_search"),
            False,
        )
        memory = self.native_memory
        if memory is None:
            memory = (
                self.release.memory_is_on_unless_switched_off
                and self._memories_enabled
            )
        return {**features, "memory": True} if memory else features

    def prompt_variables(self) -> dict[str, str]:
        """What the page tells about the user's name, time and place with each message."""
        now = datetime.now(ZoneInfo(self.time_zone))
        return {
            "{{USER_NAME}}": self.name,
            "{{USER_EMAIL}}": self.email,
            "{{USER_LOCATION}}": "Unknown",
            "{{CURRENT_DATETIME}}": now.strftime("%Y-%m-%d %H:%M:%S"),
            "{{CURRENT_DATE}}": now.strftime("%Y-%m-%d"),
            "{{CURRENT_TIME}}": now.strftime("%H:%M:%S"),
            "{{CURRENT_WEEKDAY}}": now.strftime("%A"),
            "{{CURRENT_TIMEZONE}}": self.time_zone,
            "{{USER_LANGUAGE}}": self.language,
        }

    async def complete(
        self,
        said: str | list[dict[str, Any]],
        *,
        model: str = CHAT_MODEL,
        stream: bool = False,
        **extra: Any,
    ) -> ApiAnswer:
        """Call the completions API as a program does: no chat, no socket; never raises on 4xx.

        ``said`` is the user's text or the whole list of messages.
        """
        messages = (
            [{"role": "user", "content": said}]
            if isinstance(said, str)
            else said
        )
        body = {
            "model": model,
            "messages": messages,
            "stream": stream,
            **extra,
        }
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self._http.post(
            self.url + "/api/chat/completions", json=body, headers=headers
        ) as response:
            return ApiAnswer(response.status, _said_in(await response.text()))

    # Settings > Personalization > Memory

    async def switch_memory(self, on: bool) -> None:
        """Throw the switch: it is stored, and the page asks for memory accordingly from then on.

        Up to 0.10 the stored settings of the page are replaced whole, so all of them are sent.
        """
        stored = await self.request("GET", "/api/v1/users/user/settings") or {}
        settings = {**(stored.get("ui") or {}), "memory": on}
        await self.request(
            "POST", "/api/v1/users/user/settings/update", {"ui": settings}
        )
        self.native_memory = on

    async def memories(self) -> list[Memory]:
        """The user's memories as the Settings page lists them."""
        rows = await self.request("GET", "/api/v1/memories/")
        return [Memory.from_host(row) for row in rows]

    async def add_memory(self, content: str) -> Memory:
        """Add a memory by hand."""
        return Memory.from_host(
            await self.request(
                "POST", "/api/v1/memories/add", {"content": content}
            )
        )

    async def update_memory(self, memory_id: str, content: str) -> Memory:
        """Edit a memory by hand."""
        path = f"/api/v1/memories/{memory_id}/update"
        return Memory.from_host(
            await self.request("POST", path, {"content": content})
        )

    async def delete_memory(self, memory_id: str) -> None:
        """Delete one memory by hand."""
        await self.request("DELETE", f"/api/v1/memories/{memory_id}")

    async def clear_memories(self) -> None:
        """Press "Clear memory": delete all of them."""
        await self.request("DELETE", "/api/v1/memories/delete/user")


def _http_session() -> aiohttp.ClientSession:
    # A connection of its own for each request: an idle one that the host has dropped would
    # fail the next POST, where a browser silently tries again.
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(force_close=True),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=300),
    )


def _said_in(text: str) -> str:
    """What an answer of the API says, in one piece or as a stream; nothing in a refusal."""
    lines = [
        line for line in text.splitlines() if line.startswith(("data: {", "{"))
    ]
    pieces: list[Any] = [
        json.loads(line.removeprefix("data: ")) for line in lines
    ]
    choices = [
        choice for piece in pieces for choice in piece.get("choices", ())[:1]
    ]
    return "".join(map(choice_text, choices))
