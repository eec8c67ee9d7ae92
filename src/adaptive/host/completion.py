"""A model of the host as a ``Completer``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response

from adaptive.errors import ModelBusy, ModelRejected, ReplyUnusable
from adaptive.host.configuration import host_settings
from adaptive.host.faults import HostFaults, describe_fault
from adaptive.host.requests import isolated_request
from adaptive.llm.openai_wire import chat_body, chat_text
from adaptive.model import Completion, CompletionRequest
from adaptive.ports import ResponseFormat
from adaptive.shapes import mapping
from adaptive.transport import failure


@dataclass(frozen=True, slots=True)
class HostCompleter:
    """Asks one of the host's models outside the user's turn.

    The call has a request of its own, passes no filter, leaves out a workspace model's own system
    prompt, and may use a model that only the admin can see (``bypass_filter``): the admin chose it
    in a valve or as the task model.
    """

    request: Request
    user: Any
    model: str

    @property
    def key(self) -> str:
        return f"host:{self.model}"

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask the model once (see ``Completer``)."""
        from open_webui.utils.chat import generate_chat_completion

        body = chat_body(self.model, request, response_format)
        body["metadata"] = {"task": "adaptive_memory"}
        with HostFaults(f"model {self.model!r} failed", ModelBusy):
            try:
                reply = await generate_chat_completion(
                    isolated_request(self.request),
                    body,
                    self.user,
                    bypass_filter=True,
                    bypass_system_prompt=True,
                )
            except HTTPException as error:
                raise failure(error.status_code, describe_fault(error)) from error
        return chat_text(_body_of(reply))


def _body_of(reply: object) -> object:
    """The JSON body of whatever the host returned; provider errors come as responses.

    Raises:
        ModelBusy, ModelRejected: the provider's status says so.
        ReplyUnusable: a stream, or a body that is no JSON.
    """
    if not isinstance(reply, Response):
        return reply
    raw = getattr(reply, "body", None)
    if not isinstance(raw, bytes):
        raise ReplyUnusable("the model streams although it was asked not to")
    text = raw.decode(errors="replace")
    if reply.status_code >= 400:
        raise failure(reply.status_code, text, reply.headers.get("Retry-After"))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReplyUnusable("the model answered no JSON") from error


async def learning_model(request: Request, chosen: str, chat_model: object, direct: bool) -> str:
    """Id of the model to learn with: the valve's, else the task model, else the chat's own.

    Raises:
        ModelRejected: there is none; the text says which valve helps.
    """
    if chosen.strip():
        return chosen.strip()
    from open_webui.utils.task import get_task_model_id

    model = mapping(chat_model)
    chat_id = str(model.get("id") or "")
    with HostFaults("choosing the model", ModelBusy):
        tasks = await host_settings(request, "task_model", "task_model_external")
        models = request.app.state.MODELS
        # The host's rule reads the chat's model from this mapping; a dict spares a shared one.
        known = {chat_id: model, **_present(models, tasks.values())}
        task_id = str(
            get_task_model_id(chat_id, tasks["task_model"], tasks["task_model_external"], known)
            or ""
        )
    if direct and task_id == chat_id:
        raise ModelRejected(
            "this chat's model is reached from the browser only; set the valve `llm_host_model`", 0
        )
    if not task_id:
        raise ModelRejected("no model is known to learn with; set the valve `llm_host_model`", 0)
    return task_id


def _present(models: Any, names: Any) -> dict[str, Any]:
    found = {str(name): models.get(str(name)) for name in names if name}
    return {name: model for name, model in found.items() if model}
