"""Who answers our own questions: the host's models by default."""

import json
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response

from adaptive.core import (
    Completer,
    Completion,
    CompletionRequest,
    JsonMapping,
    JsonObject,
    ModelBusy,
    ModelRejected,
    Phrase,
    ReplyUnusable,
    ResponseFormat,
    failure,
    frozen,
    mapping,
    text_field,
)
from adaptive.host.application import (
    host_state,
    isolated_request,
    recent_setting,
    task_model,
)
from adaptive.host.faults import HostFaults, describe_fault, faults_logged
from adaptive.llm.endpoints import (
    OllamaCompleter,
    OpenAICompleter,
    chat_body,
    chat_text,
    ollama_options,
)
from adaptive.privacy import RedactingCompleter
from adaptive.settings import Settings

# Titles are short: an answer of that length would be cut.
_LENGTHS = ("max_tokens", "num_predict")


async def chosen_completer(
    settings: Settings,
    request: Request,
    user: Any,
    chat_model: object,
    *,
    direct: bool,
) -> Completer:
    """Who answers our own questions, and what of them it is not shown."""
    if settings.llm_provider_type == "host":
        model = await learning_model(
            request, settings.host_model, chat_model, direct=direct
        )
        completer: Completer = HostCompleter(request, user, model)
    else:
        kind = (
            OllamaCompleter
            if settings.llm_provider_type == "ollama"
            else OpenAICompleter
        )
        completer = kind(
            url=settings.llm_api_endpoint_url,
            model=settings.llm_model_name,
            api_key=settings.llm_api_key,
        )
    return RedactingCompleter(
        completer, settings.pii_redaction in ("model", "all")
    )


async def learning_model(
    request: Request, chosen: str, chat_model: object, *, direct: bool
) -> str:
    """Id of the model to learn with: the valve's, else the task model, else the chat's own.

    Where there is none, ``ModelRejected`` says which valve helps.
    """
    if chosen.strip():
        return chosen.strip()
    model_id = text_field(mapping(chat_model), "id")
    if not model_id:
        raise _no_model("the model that this was said to is not there now")
    task_id = await task_model(request, chat_model)
    if direct and not task_id:
        raise _no_model("this chat's model is reached from the browser only")
    model = request.app.state.MODELS.get(task_id) if task_id else chat_model
    if _is_workflow(model):
        raise _no_model(
            f"{task_id or model_id} is a pipe, which may do or cost anything"
        )
    return task_id or model_id


def _is_workflow(model: object) -> bool:
    """Whether a model is a pipe function's, a Pipelines server's, or made of one of these."""
    kind = text_field(mapping(model, "pipeline"), "type")
    return bool(mapping(model).get("pipe")) or kind == "pipe"


def _no_model(reason: str) -> ModelRejected:
    return ModelRejected(Phrase("no_model"), detail=reason)


async def known_model(request: Request, model_id: str) -> JsonMapping:
    """What the host knows of a model; nothing where there is none of that id.

    A worker lists the models when a page first asks it for them, so until then they are listed
    here (host: utils/models.py).

    Raises:
        ModelBusy: the models can't be listed.
    """
    model = request.app.state.MODELS.get(
        model_id
    )  # a dict, or a table in Redis
    if model is None and model_id:
        with HostFaults("listing the models", ModelBusy):
            from open_webui.utils.models import get_all_models

            await get_all_models(isolated_request(request))
        model = request.app.state.MODELS.get(model_id)
    return mapping(model)


@frozen
class HostCompleter:
    """Asks one of the host's models outside the user's turn.

    The call has a request of its own, passes no filter, leaves out a workspace model's own system
    prompt, and may use a model that only the admin, who chose it, can see (``bypass_filter``).
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

        own = isolated_request(self.request)
        with HostFaults(f"asking {self.model!r}", ModelBusy):
            body = await self._body(request, response_format)
            try:
                reply = await generate_chat_completion(
                    own,
                    body,
                    self.user,
                    bypass_filter=True,
                    bypass_system_prompt=True,
                )
            except HTTPException as error:
                detail = f"{self.model!r}: {describe_fault(error)}"
                raise failure(error.status_code, detail) from error
        return chat_text(_body_of(reply))

    async def _body(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> JsonObject:
        """The request, with what the admin has set for the host's own tasks (0.11.1 and later)."""
        body = chat_body(self.model, request, response_format)
        body["metadata"] = {"task": "adaptive_memory"}
        model = await known_model(self.request, self.model)
        params = await recent_setting(self.request, "task_params")
        chosen = {
            name: value
            for name, value in mapping(params).items()
            if value not in (None, "") and name not in _LENGTHS
        }
        if model.get("owned_by") == "ollama":
            # The host takes ``think`` from there (host: utils/payload.py).
            options = ollama_options(request, response_format)
            body["options"] = {
                name: chosen.get(name, value)
                for name, value in options.items()
            }
        if chosen:
            from open_webui.utils.payload import apply_params_to_form_data

            apply_params_to_form_data(body, dict(model), chosen)
        return body


def _body_of(reply: object) -> object:
    """The JSON body of whatever the host returned; provider errors come as responses."""
    if not isinstance(reply, Response):
        return reply
    raw = getattr(reply, "body", None)
    if not isinstance(raw, bytes):
        raise ReplyUnusable(detail="it streams although asked not to")
    text = raw.decode(errors="replace")
    if reply.status_code >= 400:
        raise failure(reply.status_code, text, reply.headers)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReplyUnusable(detail="it is no JSON") from error


def known_models(saved: str) -> list[dict[str, str]]:
    """The host's models by name, for the panel (see ``Valves.model_catalogue``), without arenas.

    The ``saved`` one is there even if it is not known now, as none is while the host starts.
    """
    labels: dict[str, str] = {}
    with faults_logged("listing the models"):
        models: Any = host_state("MODELS") or {}
        for model in map(mapping, list(models.values())):
            model_id = text_field(model, "id")
            name = text_field(model, "name") or model_id
            if model_id and model.get("owned_by") != "arena":
                is_named = name != model_id
                labels[model_id] = f"{name} ({model_id})" if is_named else name
    choices = sorted(labels.items(), key=lambda choice: choice[1].casefold())
    chosen = saved.strip()
    if chosen and chosen not in labels:
        choices.insert(0, (chosen, f"{chosen} (not available now)"))
    return [{"value": model_id, "label": label} for model_id, label in choices]
