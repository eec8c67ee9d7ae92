"""What becomes of an answer: cleaned before it is stored, its broken links corrected behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from adaptive.conversation.clean_answer import AnswerAnomaly, cleaned_answer
from adaptive.conversation.link_probe import ProbeRules, link_states
from adaptive.conversation.links import LinkState, corrected_links, targets_to_check
from adaptive.host.answer_note import StoredAnswer
from adaptive.host.corrected_answer import rewritten_answer
from adaptive.host.hook import Hook
from adaptive.host.noted_answer import is_whole_answer, said_in_answer
from adaptive.messages import Message, message_text, spoken_text
from adaptive.shapes import listing, mapping

log_answers = logging.getLogger("adaptive_memory")

# Names of what was wrong with the turn's answer, for whoever measures the turn.
ANOMALIES = "adaptive_memory_anomalies"
# Some 10 ms on the event loop; longer answers are read in a thread.
_READ_ON_THE_LOOP = 20_000
# The host stores what the outlets made of the answer, and other filters' outlets may be slow.
_STORED_SECONDS = 1.0
# Answers whose links are checked at a time in this process, and answers that wait for it.
_CHECKED_AT_ONCE = 4
_MOST_UNCHECKED = 100


class Answers:
    """Cleans and corrects answers; ``writing`` is held by all that write with an answer."""

    def __init__(
        self,
        writing: asyncio.Semaphore,
        rules: ProbeRules | None = None,
        stored: Callable[[Hook], StoredAnswer] | None = None,
        stored_seconds: float = _STORED_SECONDS,
    ) -> None:
        self._writing = writing
        self._stored = stored or _stored_answer
        self._rules = rules or ProbeRules()
        self._stored_seconds = stored_seconds
        self._checking = asyncio.Semaphore(_CHECKED_AT_ONCE)
        self._unchecked = 0

    async def cleaned(self, hook: Hook, body: dict[str, Any]) -> dict[str, Any]:
        """An outlet's body whose answer is clean; the same object where it was, or none is wanted.

        The host stores what it gets back, and tells the page. What was wrong is counted in the
        hook's metadata and logged, without any text.
        """
        answer = _answer_of(body)
        if not hook.settings.clean_answers or not answer:
            return body
        if _length_of(answer) <= _READ_ON_THE_LOOP:
            fields, anomalies = _cleaned_fields(answer)
        else:
            fields, anomalies = await asyncio.to_thread(_cleaned_fields, answer)
        if anomalies:
            log_answers.info("anomalies of an answer: %s", ", ".join(anomalies))
            hook.metadata[ANOMALIES] = [*listing(hook.metadata.get(ANOMALIES)), *anomalies]
        if not fields:
            return body
        messages = listing(body.get("messages"))
        return {**body, "messages": [*messages[:-1], {**answer, **fields}]}

    def with_links(self, hook: Hook, body: Mapping[str, Any]) -> str:
        """What the answer says, if its links are to be checked; empty where there is no need.

        That is so where it is not wanted, and in chats that are not stored.
        """
        if not hook.settings.validate_links or hook.told_kind != "saved":
            return ""
        answered = message_text(_answer_of(body))
        return answered if "](" in answered else ""

    async def correct_links(self, hook: Hook, answered: str) -> None:
        """Check the links of an answer that was given, and turn broken ones into searches.

        One correction is written, and only if the answer still says what it said when its links
        were checked. Nobody is told but the pages that show it. When too many answers wait for it,
        the links of this one stay as they are.
        """
        if self._unchecked >= _MOST_UNCHECKED:
            log_answers.info("links of an answer are not checked: too many answers wait for it")
            return
        self._unchecked += 1
        try:
            await asyncio.sleep(self._stored_seconds)
            async with self._checking:
                await self._correct(hook, answered)
        finally:
            self._unchecked -= 1

    async def _correct(self, hook: Hook, answered: str) -> None:
        stored = self._stored(hook)
        said = await stored.said()
        if said is None or _signs(answered) not in _signs(said):
            log_answers.debug("links are not checked: the answer is not stored as it was given")
            return
        targets = await asyncio.to_thread(targets_to_check, said, self._rules.most)
        states = await link_states(targets, self._rules)
        if "broken" not in states.values():
            return
        search_address = hook.settings.link_search_address

        def correct(message: Message) -> dict[str, Any] | None:
            """The answer with its links corrected, unless it was edited meanwhile."""
            if not is_whole_answer(message) or said_in_answer(message) != said:
                return None
            return _corrected_fields(message, states, search_address)

        async with self._writing:
            corrected = await stored.change(correct, "correcting its links")
        count = sum(state == "broken" for state in states.values())
        log_answers.info("broken links of an answer: %d, corrected: %s", count, corrected)


def _stored_answer(hook: Hook) -> StoredAnswer:
    return StoredAnswer(hook.chat_id, str(hook.metadata.get("message_id") or ""), hook.emitter)


def _answer_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer that ends an outlet's messages; empty where none does."""
    messages = listing(body.get("messages"))
    answer = dict(mapping(messages[-1])) if messages else {}
    return answer if answer.get("role") == "assistant" else {}


def _length_of(answer: Message) -> int:
    return len(message_text(answer)) + len(message_text({**answer, "content": ""}))


def _cleaned_fields(answer: Message) -> tuple[dict[str, Any], list[AnswerAnomaly]]:
    """The fields of an answer that change by cleaning, and what was wrong with it."""
    fields = rewritten_answer(answer, lambda text: cleaned_answer(text).text)
    anomalies: list[AnswerAnomaly] = ["sanitised"] if fields else []
    # Up to 0.9 the content holds reasoning and calls of tools, too.
    if not spoken_text(message_text({**answer, **fields})):
        anomalies.append("empty_response")
    return fields, anomalies


def _corrected_fields(
    message: Message, states: Mapping[str, LinkState], search_address: str
) -> dict[str, Any] | None:
    """The fields of an answer that change by correcting it, ``None`` where none do."""
    return (
        rewritten_answer(message, lambda text: corrected_links(text, states, search_address))
        or None
    )


def _signs(text: str) -> str:
    """What is said without any space, which hosts change; reasoning and calls left out."""
    return "".join(spoken_text(text).split())
