"""One question to a model, with the strictest answer format it takes, retries and a deadline."""

from __future__ import annotations

import asyncio
from functools import partial

from adaptive.core.errors import ModelBusy, ModelRejected
from adaptive.core.http import RetryPolicy, with_retry
from adaptive.core.measures import ModelCall
from adaptive.core.model import Completion, CompletionRequest
from adaptive.core.ports import Completer, ResponseFormat

_FORMATS: tuple[ResponseFormat, ...] = ("json_schema", "json_object", "text")
# What a provider answers that does not know a response format.
_FORMAT_REFUSED = frozenset({400, 404, 415, 422, 501})


class AnswerFormats:
    """Which answer format each model takes, learned from its refusals."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def for_model(self, key: str) -> tuple[ResponseFormat, ...]:
        """The formats to try, strictest first."""
        return _FORMATS[self._first.get(key, 0) :]

    def works(self, key: str, response_format: ResponseFormat) -> None:
        """Remember the format that the model answered to."""
        self._first[key] = _FORMATS.index(response_format)


async def ask(
    completer: Completer,
    request: CompletionRequest,
    formats: AnswerFormats,
    policy: RetryPolicy,
    timeout: float,
) -> Completion:
    """Ask until there is an answer, within ``timeout`` seconds over all tries and formats.

    Raises:
        ModelError: no answer in time, a refusal in every format, or an answer without text.
    """
    call = ModelCall(request)

    async def once(chosen: ResponseFormat) -> Completion:
        """One try, which is counted."""
        with call:
            return call.answered(await completer.complete(request, chosen))

    *choices, last = formats.for_model(completer.key)
    try:
        async with asyncio.timeout(timeout):
            for chosen in choices:
                try:
                    completion = await with_retry(partial(once, chosen), policy)
                except ModelRejected as rejected:
                    if rejected.status not in _FORMAT_REFUSED:
                        raise
                else:
                    formats.works(completer.key, chosen)
                    return completion
            completion = await with_retry(partial(once, last), policy)
    except TimeoutError as error:
        raise ModelBusy(f"the model did not answer within {timeout:g} s") from error
    formats.works(completer.key, last)
    return completion
