"""One chat as the page holds it: its tree of messages, and the requests that its buttons send.

The page saves nothing itself when a message is sent: the host stores the message, creates the
chat with the first one, and says its id in the answer.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any

from tests.e2e.driver.turn import RunningTurn, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.e2e.driver.page import Page

Message = dict[str, Any]
Content = str | list[dict[str, Any]]


class Conversation:
    """A chat open in a page. ``id`` is empty until the host has stored the first message."""

    def __init__(
        self,
        page: Page,
        *,
        model: str,
        system: str | None = None,
        temporary: bool = False,
    ) -> None:
        self.page = page
        self.model = model
        self.system = system
        self.temporary = temporary
        self.id = (
            page.release.temporary_prefix + page.session_id
            if temporary
            else ""
        )
        self.messages: dict[str, Message] = {}
        self.current: str | None = None

    # What the user does

    async def send(
        self, said: Content, files: Sequence[dict[str, Any]] = (), **extra: Any
    ) -> Turn:
        """Send a message and wait for the end of the turn; ``extra`` goes into the request."""
        return await (await self.start(said, files, **extra)).finish()

    async def start(
        self, said: Content, files: Sequence[dict[str, Any]] = (), **extra: Any
    ) -> RunningTurn:
        """Send a message and return as soon as the host has taken it."""
        question = self._add_question(said, [self.model], self.current, files)
        attached = {"files": [*files]} if files else {}
        return (await self._ask(question, [self.model], **attached, **extra))[
            0
        ]

    async def send_to_models(
        self, said: Content, models: list[str]
    ) -> list[Turn]:
        """Send a message to several models at once and wait until all have answered."""
        question = self._add_question(said, models, self.current)
        return [
            await turn.finish() for turn in await self._ask(question, models)
        ]

    async def regenerate(self, wish: str | None = None) -> Turn:
        """Let the last answer be given again, with a wish like "More concise" if there is one."""
        answer = self._last_answer()
        guided = (
            self.page.release.guided_regeneration(wish, answer["id"])
            if wish
            else {}
        )
        running = await self._ask(
            answer["parentId"], [answer["model"]], **guided
        )
        return await running[0].finish()

    async def continue_(self) -> Turn:
        """Press "Continue response" under the last answer."""
        answer = self._last_answer()
        answer["done"] = False
        request = {"id": answer["id"], "assistant_message_id": answer["id"]}
        running = self._running(answer, text_before=answer["content"])
        await self._post({**self._request(answer), **request})
        return await running.finish()

    async def edit_last(self, said: Content) -> Turn:
        """Edit the last message of the user and send it again, beside the former one."""
        former = self.messages[self._last_answer()["parentId"]]
        question = self._add_question(
            said, former["models"], former["parentId"]
        )
        return await (await self._ask(question, former["models"]))[0].finish()

    async def stop(self) -> None:
        """Press the Stop button."""
        await self.page.request("POST", f"/api/tasks/chat/{self.id}/stop")

    # What the host has stored

    async def stored(self) -> dict[str, Any]:
        """The chat as the host has stored it."""
        return (await self.page.request("GET", f"/api/v1/chats/{self.id}"))[
            "chat"
        ]

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

    def _last_answer(self) -> Message:
        assert self.current, "nothing has been said in this chat yet"
        return self.messages[self.current]

    def _add_question(
        self,
        said: Content,
        models: list[str],
        parent: str | None,
        files: Sequence[dict[str, Any]] = (),
    ) -> str:
        told: Message = (
            {"models": models, "files": list(files)}
            if files
            else {"models": models}
        )
        if self.page.release.names_the_author:
            told["user"] = {"id": self.page.user_id, "name": self.page.name}
        return self._add(parent, role="user", content=said, **told)["id"]

    def _add(self, parent: str | None, **fields: Any) -> Message:
        """One more message in the tree, which is the newest one now."""
        author = (
            {"user_id": self.page.user_id}
            if self.page.release.names_the_author
            else {}
        )
        message = {
            "id": str(uuid.uuid4()),
            "parentId": parent,
            "childrenIds": [],
            "timestamp": int(time.time()),
            **author,
            **fields,
        }
        self.messages[message["id"]] = message
        self.current = message["id"]
        if parent:
            self.messages[parent]["childrenIds"].append(message["id"])
        return message

    async def _ask(
        self, question: str, models: list[str], **extra: Any
    ) -> list[RunningTurn]:
        """Have a message answered by these models, each with an answer of its own."""
        empty: Message = {"role": "assistant", "content": "", "done": False}
        answers = [
            self._add(
                question, **empty, model=model, modelName=model, modelIdx=index
            )
            for index, model in enumerate(models)
        ]
        request = {
            **self._request(answers[0]),
            "id": answers[0]["id"],
            **self.page.release.message_ids(answers),
            **extra,
        }
        running = [self._running(answer) for answer in answers]
        await self._post(request)
        return running

    def _running(self, answer: Message, text_before: str = "") -> RunningTurn:
        return RunningTurn(
            conversation=self,
            user_message_id=answer["parentId"],
            message_id=answer["id"],
            since=len(self.page.events),
            started=time.perf_counter(),
            text_before=text_before,
        )

    async def _post(self, request: dict[str, Any]) -> None:
        accepted = await self.page.request(
            "POST", "/api/chat/completions", request
        )
        self.id = self.id or accepted["chat_id"]

    def _request(self, answer: Message) -> dict[str, Any]:
        """What every request for an answer has in common."""
        question = self.messages[answer["parentId"]]
        request: dict[str, Any] = {
            "stream": True,
            "model": answer["model"],
            "params": {},
            "tool_servers": [],
            "features": self.page.features(),
            "variables": self.page.prompt_variables(),
            "model_item": {"id": answer["model"]},
            "session_id": self.page.session_id,
            "parent_id": question["parentId"],
            "user_message": question,
            "background_tasks": self._background_tasks(question),
        }
        if self.id:
            request["chat_id"] = self.id
        attached = [
            file
            for file in question.get("files", ())
            if file["type"] != "image"
        ]
        if attached:
            request["files"] = attached
        if messages := self._sent_messages(answer):
            request["messages"] = messages
        return request

    def _background_tasks(self, question: Message) -> dict[str, bool]:
        """Follow-ups with every answer; title and tags with the first one of a chat that stays."""
        tasks = {"follow_up_generation": True}
        is_unnamed = not self.id or self.page.release.names_a_chat_again
        if question["parentId"] is None and is_unnamed and not self.temporary:
            tasks |= {"title_generation": True, "tags_generation": True}
        return tasks

    def _sent_messages(self, answer: Message) -> list[Message]:
        """The system prompt, and in a temporary chat, of which the host has nothing, all of it."""
        fields = [
            "role",
            "content",
            *(["id"] if self.page.release.names_the_author else []),
        ]
        sent: list[Message] = []
        before = answer["parentId"] if self.temporary else None
        while before:
            message = self.messages[before]
            sent.insert(0, {name: message[name] for name in fields})
            before = message["parentId"]
        return (
            [{"role": "system", "content": self.system}, *sent]
            if self.system
            else sent
        )
