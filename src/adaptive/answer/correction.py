"""What becomes of an answer: cleaned before it is stored, its broken links corrected behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from adaptive.answer.cleaning import cleaned_answer
from adaptive.answer.links import LinkRules, corrected_links, link_states, links_to_check
from adaptive.host.answer_note import StoredAnswer, stored_answer
from adaptive.host.corrected_answer import rewritten_answer
from adaptive.host.hook import Hook
from adaptive.host.noted_answer import is_whole_answer, said_in_answer
from adaptive.messages import Message, message_text, spoken_text
from adaptive.shapes import listing, mapping
from adaptive.turn_state import turn_state

log_correction = logging.getLogger("adaptive_memory.answer")

# The host stores what the outlets made of the answer, and other filters' outlets may be slow.
_STORED_SECONDS = 1.0
_MOST_UNCHECKED = 100


class AnswerCorrection:
    """Cleans and corrects answers; ``writing`` is held by all that write with an answer."""

    def __init__(
        self,
        writing: asyncio.Semaphore,
        rules: LinkRules | None = None,
        stored: Callable[[Hook], StoredAnswer] = stored_answer,
        stored_seconds: float = _STORED_SECONDS,
    ) -> None:
        self._writing, self._rules = writing, rules or LinkRules()
        self._stored, self._stored_seconds = stored, stored_seconds
        # The links of one answer are checked at a time in this process.
        self._checking, self._unchecked = asyncio.Semaphore(1), 0

    async def cleaned(self, hook: Hook, body: dict[str, Any]) -> dict[str, Any]:
        """An outlet's body whose answer is clean; the same object where it was, or none is wanted.

        The host stores what it gets back, and tells the page. What was wrong is counted in the
        turn's state and logged, without any text.
        """
        answer = _answer_of(body)
        if not hook.settings.clean_answers or not answer:
            return body
        # In a thread: a long answer takes tens of milliseconds, and other chats go on.
        fields = await asyncio.to_thread(rewritten_answer, answer, cleaned_answer)
        anomalies = ["sanitised"] if fields else []
        # Up to 0.9 the content holds reasoning and calls of tools, too.
        if not spoken_text(message_text({**answer, **fields})):
            anomalies.append("empty_response")
        if anomalies:
            log_correction.info("anomalies of an answer: %s", ", ".join(anomalies))
            turn_state(hook.metadata).setdefault("anomalies", []).extend(anomalies)
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
            log_correction.info("links of an answer are not checked: too many answers wait for it")
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
            return
        targets = await asyncio.to_thread(links_to_check, said, self._rules.most)
        states = await link_states(targets, self._rules)
        broken = sum(state == "broken" for state in states.values())
        if not broken:
            return
        search = hook.settings.link_search_address

        def correct(message: Message) -> dict[str, Any] | None:
            """The answer with its links corrected, unless it was edited meanwhile."""
            if not is_whole_answer(message) or said_in_answer(message) != said:
                return None
            fields = rewritten_answer(message, lambda text: corrected_links(text, states, search))
            return fields or None

        async with self._writing:
            corrected = await stored.change(correct, "correcting its links")
        log_correction.info("broken links of an answer: %d, corrected: %s", broken, corrected)


def _answer_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer that ends an outlet's messages; empty where none does."""
    messages = listing(body.get("messages"))
    answer = dict(mapping(messages[-1])) if messages else {}
    return answer if answer.get("role") == "assistant" else {}


def _signs(text: str) -> str:
    """What is said without any space, which hosts change; reasoning and calls left out."""
    return "".join(spoken_text(text).split())
