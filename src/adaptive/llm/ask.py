"""One question to a model, with the strictest answer format it takes, retries and a deadline."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from adaptive.errors import ModelBusy, ModelRejected
from adaptive.measures import model_call
from adaptive.model import Completion, CompletionRequest
from adaptive.ports import Completer, ResponseFormat
from adaptive.retry import RetryPolicy, with_retry

_FORMATS: tuple[ResponseFormat, ...] = ("json_schema", "json_object", "text")
# What a provider answers that does not know a response format.
_FORMAT_REFUSED = frozenset({400, 404, 415, 422, 501})
_REMEMBERED_MODELS = 256


class AnswerFormats:
    """Which answer format each model takes, learned from its refusals; bounded."""

    def __init__(self) -> None:
        self._first: OrderedDict[str, int] = OrderedDict()

    def for_model(self, key: str) -> tuple[ResponseFormat, ...]:
        """The formats to try, strictest first."""
        return _FORMATS[self._first.get(key, 0) :]

    def works(self, key: str, response_format: ResponseFormat) -> None:
        """Remember the format that the model answered to."""
        self._first[key] = _FORMATS.index(response_format)
        self._first.move_to_end(key)
        while len(self._first) > _REMEMBERED_MODELS:
            self._first.popitem(last=False)


async def ask(
    completer: Completer,
    request: CompletionRequest,
    formats: AnswerFormats,
    policy: RetryPolicy,
    timeout: float,
) -> Completion:
    """Ask until there is an answer, within ``timeout`` seconds over all tries and formats.

    Raises:
        ModelBusy: no answer in time, or none after the last retry.
        ModelRejected: the provider refuses the request in every format.
        ReplyUnusable: the answer holds no text.
    """
    try:
        async with asyncio.timeout(timeout):
            return await _ask_in_formats(completer, request, formats, policy)
    except TimeoutError as error:
        raise ModelBusy(f"the model did not answer within {timeout:g} s") from error


async def _ask_in_formats(
    completer: Completer, request: CompletionRequest, formats: AnswerFormats, policy: RetryPolicy
) -> Completion:
    choices = formats.for_model(completer.key)
    call = model_call(request)
    for response_format in choices:

        async def once(chosen: ResponseFormat = response_format) -> Completion:
            with call:
                return call.answered(await completer.complete(request, chosen))

        try:
            completion = await with_retry(once, policy)
        except ModelRejected as rejected:
            if rejected.status not in _FORMAT_REFUSED or response_format == choices[-1]:
                raise
            continue
        formats.works(completer.key, response_format)
        return completion
    raise AssertionError("unreachable: the last format returns or raises")
