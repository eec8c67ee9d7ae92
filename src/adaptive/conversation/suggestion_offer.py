"""Asking the user about suggested memories, one after the other, while the page is connected."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from adaptive.conversation.suggestions import MOST_SUGGESTIONS
from adaptive.errors import TablesUnavailable
from adaptive.ports import Dialog
from adaptive.suggestion_ports import Suggestion, SuggestionTable, WaitingSuggestion

log_offer = logging.getLogger("adaptive_memory.conversation")

_OFFER_TITLE = "Remember this?"

# Saves an accepted suggestion; false where it is neither a memory nor refused as one.
KeepSuggestion = Callable[[WaitingSuggestion], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Offered:
    """How an offer went: how many questions were asked, and whether the last got no answer."""

    asked: int = 0
    unanswered: bool = False


async def offer_suggestions(
    dialog: Dialog,
    table: SuggestionTable,
    user_id: str,
    chat_id: str,
    clock: Callable[[], float],
    keep: KeepSuggestion,
) -> Offered:
    """Ask for at most three suggestions that wait; the first that is not answered ends it.

    Each answer is acted on before the next question. What is not answered, or can't be saved,
    waits on; it is not asked again in this chat for a while.

    Raises:
        TablesUnavailable: what waits can't be read.
    """
    for asked in range(MOST_SUGGESTIONS):
        one = await table.claim(user_id, chat_id, int(clock()))
        if one is None:
            return Offered(asked)
        consent = await dialog.confirm(_OFFER_TITLE, offer_text(one.suggestion))
        if consent == "no":
            await _reject(table, user_id, one.digest, int(clock()))
        elif consent == "yes" and await keep(one):
            await _settle(table, user_id, one.digest)
        else:
            await table.release(user_id, one.digest)
        if consent == "unanswered":
            return Offered(asked + 1, unanswered=True)
    return Offered(MOST_SUGGESTIONS)


async def _reject(table: SuggestionTable, user_id: str, digest: str, now: int) -> None:
    try:
        await table.reject(user_id, digest, now)
    except TablesUnavailable as error:
        log_offer.warning("a rejected suggestion may come back: %s", error)


async def _settle(table: SuggestionTable, user_id: str, digest: str) -> None:
    try:
        await table.discard(user_id, [digest])
    except TablesUnavailable as error:  # saved again it would be known already
        log_offer.warning("an accepted suggestion may be offered again: %s", error)


def offer_text(suggestion: Suggestion) -> str:
    """What the user is asked about: the title, the sentence, and where it would be kept."""
    kinds = ", ".join(suggestion.tags or (suggestion.category,))
    return f"{suggestion.title}\n{suggestion.content}\n({suggestion.bank}; {kinds})"


def waiting_line(number: int) -> str:
    """The status line of suggestions that nobody has answered; empty where there is none."""
    if not number:
        return ""
    told = "1 suggestion waits" if number == 1 else f"{number} suggestions wait"
    return f"{told} for your answer"
