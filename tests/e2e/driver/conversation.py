"""One chat as the page holds it: its tree of messages, and the requests that its buttons send.

The page saves nothing itself when a message is sent: the host stores the message, creates the
chat with the first one, and says its id in the answer.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any

from tests.e2e.driver.turn import ANSWER_TIMEOUT, RunningTurn, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.e2e.driver.page import Page

Message = dict[str, Any]
Content = str | list[dict[str, Any]]


class Conversation:
    """A chat open in a page. ``id`` is empty until the host has stored the first message."""

    def __init__(
        self, page: Page, *, model: str, system: str | None = None, temporary: bool = False
    ) -> None:
        self.page = page
        self.model = model
        self.system = system
        self.temporary = temporary
        self.id = page.release.temporary_prefix + page.session_id if temporary else ""
        self.messages: dict[str, Message] = {}
        self.current: str | None = None

    # What the user does

    async def send(
        self,
        said: Content,
        *,
        model: str | None = None,
        files: Sequence[dict[str, Any]] = (),
        features: dict[str, Any] | None = None,
        timeout: float = ANSWER_TIMEOUT,
        **extra: Any,
    ) -> Turn:
        """Send a message and wait for the end of the turn; ``extra`` goes into the request."""
        running = await self.start(said, model=model, files=files, features=features, **extra)
        return await running.finish(timeout)

    async def start(
        self,
        said: Content,
        *,
        model: str | None = None,
        files: Sequence[dict[str, Any]] = (),
        features: dict[str, Any] | None = None,
        **extra: Any,
    ) -> RunningTurn:
        """Send a message and return as soon as the host has taken it."""
        models = [model or self.model]
        question = self._add_question(said, models, self.current, files)
        return (await self._ask(question, models, features=features, **extra))[0]

    async def send_to_models(
        self, said: Content, models: Sequence[str], timeout: float = ANSWER_TIMEOUT, **extra: Any
    ) -> list[Turn]:
        """Send a message to several models at once and wait until all have answered."""
        question = self._add_question(said, list(models), self.current, ())
        running = await self._ask(question, list(models), **extra)
        return [await turn.finish(timeout) for turn in running]

    async def regenerate(self, wish: str | None = None, *, timeout: float = ANSWER_TIMEOUT) -> Turn:
        """Let the last answer be given again, with a wish like "More concise" if there is one."""
        answer = self.messages[self._last_answer()]
        question = answer["parentId"]
        guided = self.page.release.guided_regeneration(wish, answer["id"]) if wish else {}
        running = await self._ask(question, [answer["model"]], **guided)
        return await running[0].finish(timeout)

    async def continue_(self, *, timeout: float = ANSWER_TIMEOUT) -> Turn:
        """Press "Continue response" under the last answer."""
        answer = self.messages[self._last_answer()]
        answer["done"] = False
        request = {"id": answer["id"], "assistant_message_id": answer["id"]}
        running = self._running(answer, text_before=answer["content"])
        await self._post([running], {**self._request(answer, None), **request})
        return await running.finish(timeout)

    async def edit_last(
        self, said: Content, *, timeout: float = ANSWER_TIMEOUT, **extra: Any
    ) -> Turn:
        """Edit the last message of the user and send it again, beside the former one."""
        former = self.messages[self.messages[self._last_answer()]["parentId"]]
        question = self._add_question(
            said, former["models"], former["parentId"], former.get("files", ())
        )
        running = await self._ask(question, former["models"], **extra)
        return await running[0].finish(timeout)

    async def stop(self) -> None:
        """Press the Stop button."""
        await self.page.request("POST", f"/api/tasks/chat/{self.id}/stop")

    # What the host has stored

    async def stored(self) -> dict[str, Any]:
        """The chat as the host has stored it."""
        return (await self.page.request("GET", f"/api/v1/chats/{self.id}"))["chat"]

    async def stored_message(self, message_id: str) -> Message:
        """One message as the host has stored it."""
        return (await self.stored())["history"]["messages"][message_id]

    async def status_history(self, turn: Turn) -> list[dict[str, Any]]:
        """The statuses that are stored with the turn's answer, waiting for the first.

        The page is shown a status before it is stored (host: socket/main.py, get_event_emitter).
        """
        for _ in range(100):
            message = await self.stored_message(turn.message_id)
            if stored := message.get("statusHistory"):
                return stored
            await asyncio.sleep(0.1)
        return []

    def keep(self, turn: Turn, output: list[dict[str, Any]] | None) -> None:
        """Take over what came of an answer; the turn calls this when it is over."""
        answer = self.messages[turn.message_id]
        answer.update(content=turn.content, done=True)
        if output:
            answer["output"] = output
        if turn.error is not None:
            answer["error"] = {"content": turn.error}

    # The requests

    def _last_answer(self) -> str:
        assert self.current, "nothing has been said in this chat yet"
        return self.current

    def _add_question(
        self,
        said: Content,
        models: list[str],
        parent: str | None,
        files: Sequence[dict[str, Any]],
    ) -> str:
        message: Message = {
            "id": str(uuid.uuid4()),
            "parentId": parent,
            "childrenIds": [],
            "role": "user",
            "content": said,
            "timestamp": int(time.time()),
            "models": models,
            **self._author(),
        }
        if self.page.release.names_the_author:
            message["user"] = {"id": self.page.user_id, "name": self.page.name}
        if files:
            message["files"] = list(files)
        self._add(message)
        return message["id"]

    def _add_answer(self, question: str, model: str, index: int) -> Message:
        message: Message = {
            "id": str(uuid.uuid4()),
            "parentId": question,
            "childrenIds": [],
            "role": "assistant",
            "content": "",
            "done": False,
            "model": model,
            "modelName": model,
            "modelIdx": index,
            "timestamp": int(time.time()),
            **self._author(),
        }
        self._add(message)
        return message

    def _author(self) -> dict[str, Any]:
        return {"user_id": self.page.user_id} if self.page.release.names_the_author else {}

    def _add(self, message: Message) -> None:
        self.messages[message["id"]] = message
        self.current = message["id"]
        if message["parentId"]:
            self.messages[message["parentId"]]["childrenIds"].append(message["id"])

    async def _ask(
        self,
        question: str,
        models: list[str],
        *,
        features: dict[str, Any] | None = None,
        **extra: Any,
    ) -> list[RunningTurn]:
        """Have a message answered by these models, each with an answer of its own."""
        answers = [self._add_answer(question, model, i) for i, model in enumerate(models)]
        request = {
            **self._request(answers[0], features),
            "id": answers[0]["id"],
            **self.page.release.message_ids(answers),
            **extra,
        }
        running = [self._running(answer) for answer in answers]
        await self._post(running, request)
        return running

    def _running(self, answer: Message, text_before: str = "") -> RunningTurn:
        return RunningTurn(
            conversation=self,
            user_message_id=answer["parentId"],
            message_id=answer["id"],
            model=answer["model"],
            since=len(self.page.events),
            started=time.perf_counter(),
            text_before=text_before,
        )

    async def _post(self, running: list[RunningTurn], request: dict[str, Any]) -> None:
        started = time.perf_counter()
        accepted = await self.page.request("POST", "/api/chat/completions", request)
        milliseconds = (time.perf_counter() - started) * 1000
        for turn in running:
            turn.accepted = milliseconds
        self.id = self.id or accepted["chat_id"]

    def _request(self, answer: Message, features: dict[str, Any] | None) -> dict[str, Any]:
        """What every request for an answer has in common."""
        question = self.messages[answer["parentId"]]
        request: dict[str, Any] = {
            "stream": True,
            "model": answer["model"],
            "params": {},
            "tool_servers": [],
            "features": self.page.features() if features is None else features,
            "variables": self.page.prompt_variables(),
            "model_item": {"id": answer["model"]},
            "session_id": self.page.session_id,
            "parent_id": question["parentId"],
            "user_message": question,
            "background_tasks": {"follow_up_generation": True},
        }
        if self.id:
            request["chat_id"] = self.id
        elif question["parentId"] is None:
            request["background_tasks"] |= {"title_generation": True, "tags_generation": True}
        if messages := self._sent_messages(answer):
            request["messages"] = messages
        if documents := [f for f in question.get("files", ()) if f.get("type") != "image"]:
            request["files"] = documents
        return request

    def _sent_messages(self, answer: Message) -> list[Message]:
        """The system prompt, and in a temporary chat, of which the host has nothing, all of it."""
        sent: list[Message] = []
        if self.system:
            sent.append({"role": "system", "content": self.system})
        if self.temporary:
            sent += [self._sent(message) for message in self._chain(answer)]
        return [m for m in sent if m["role"] != "assistant" or m.get("content") or m.get("output")]

    def _chain(self, answer: Message) -> list[Message]:
        chain = [answer]
        while parent := chain[0]["parentId"]:
            chain.insert(0, self.messages[parent])
        return chain

    def _sent(self, message: Message) -> Message:
        sent: Message = {"role": message["role"], "content": message["content"]}
        images = [f for f in message.get("files", ()) if f.get("type") == "image"]
        if message.get("output"):
            sent = {"role": message["role"], "output": message["output"]}
        elif message["role"] == "user" and images:
            parts = [{"type": "image_url", "image_url": {"url": image["url"]}} for image in images]
            sent["content"] = [{"type": "text", "text": message["content"]}, *parts]
        if self.page.release.replays_message_ids and "output" not in sent:
            sent["id"] = message["id"]
        return sent
