"""One question to a model: its prompt, the strictest answer format, retries and a deadline."""

from __future__ import annotations

import asyncio
import string
from collections.abc import Mapping
from functools import partial

from adaptive.core.errors import ModelBusy, ModelError, ModelRejected
from adaptive.core.http import with_retry
from adaptive.core.measures import tally
from adaptive.core.model import Completion, CompletionRequest
from adaptive.core.ports import Completer, ResponseFormat
from adaptive.core.texts import PROMPTS

_FORMATS: tuple[ResponseFormat, ...] = ("json_schema", "json_object", "text")
# What a provider answers that does not know a response format.
_FORMAT_REFUSED = frozenset({400, 404, 415, 422, 501})

# Which answer format a model takes, by its place above, learned from refusals; by ``key``.
AnswerFormats = dict[str, int]


async def ask(
    completer: Completer,
    request: CompletionRequest,
    formats: AnswerFormats,
    timeout: float,
    retries: int = 0,
) -> Completion:
    """Ask until there is an answer, within ``timeout`` seconds over all tries and formats.

    Raises:
        ModelError: no answer in time, a refusal in every format, or an answer without text.
    """
    name = request.schema_name

    async def once(chosen: ResponseFormat) -> Completion:
        """One try, which is counted."""
        tally("model_calls", name)
        try:
            completion = await completer.complete(request, chosen)
        except (ModelError, asyncio.CancelledError):
            tally("model_failures", name)
            raise
        tokens_in, tokens_out = completion.tokens
        tally("tokens_in", name, tokens_in)
        tally("tokens_out", name, tokens_out)
        return completion

    place = formats.get(completer.key, 0)
    try:
        async with asyncio.timeout(timeout):
            while True:
                try:
                    completion = await with_retry(
                        partial(once, _FORMATS[place]), retries
                    )
                except ModelRejected as rejected:
                    place += 1
                    if rejected.status not in _FORMAT_REFUSED or place == len(
                        _FORMATS
                    ):
                        raise
                else:
                    formats[completer.key] = place
                    return completion
    except TimeoutError as error:
        raise ModelBusy(
            f"the model did not answer within {timeout:g} s"
        ) from error


def render_prompt(name: str, override: str, values: Mapping[str, str]) -> str:
    """The built-in prompt ``name``, or the admin's ``override``, with ``$placeholders`` filled.

    An override may use fewer placeholders, and dollar signs of its own stay as they are.
    """
    if override.strip():
        return string.Template(override).safe_substitute(values).strip()
    return string.Template(PROMPTS[name]).substitute(values).strip()
