"""Asking the user about suggested memories, one after the other, while the page is connected."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.errors import TablesUnavailable
from adaptive.ports import Dialog
from adaptive.suggestion_ports import SuggestionTable, WaitingSuggestion

log_offer = logging.getLogger("adaptive_memory.conversation")

_MOST_ASKED_AT_ONCE = 3
_OFFER_TITLE = "Remember this?"


@dataclass(frozen=True, slots=True)
class AnsweredOffer:
    """What the user said to each of the suggestions; those still ``waiting`` got no answer."""

    accepted: tuple[WaitingSuggestion, ...] = ()
    rejected: tuple[WaitingSuggestion, ...] = ()
    waiting: tuple[WaitingSuggestion, ...] = ()


async def offer_waiting(
    dialog: Dialog, table: SuggestionTable, user_id: str, now: int
) -> AnsweredOffer:
    """Ask for at most three waiting suggestions; the first that is not answered ends it.

    A rejection is written at once. An accepted one stays in the table until ``settle_accepted``,
    so that nothing is lost while it is stored as a memory.

    Raises:
        TablesUnavailable: what waits can't be read.
    """
    return await offer_suggestions(dialog, table, user_id, await table.waiting(user_id), now)


async def offer_suggestions(
    dialog: Dialog,
    table: SuggestionTable,
    user_id: str,
    suggestions: Sequence[WaitingSuggestion],
    now: int,
) -> AnsweredOffer:
    """The same for the suggestions given, of which those beyond the third go on waiting."""
    accepted: list[WaitingSuggestion] = []
    rejected: list[WaitingSuggestion] = []
    left = list(suggestions)
    while left and len(accepted) + len(rejected) < _MOST_ASKED_AT_ONCE:
        consent = await dialog.confirm(_OFFER_TITLE, _offer_text(left[0]))
        if consent == "unanswered":
            break
        answered = left.pop(0)
        if consent == "yes":
            accepted.append(answered)
            continue
        rejected.append(answered)
        try:
            await table.reject(user_id, answered.digest, now)
        except TablesUnavailable as error:
            log_offer.warning("a rejected suggestion may come back: %s", error)
    return AnsweredOffer(tuple(accepted), tuple(rejected), tuple(left))


async def settle_accepted(
    table: SuggestionTable, user_id: str, accepted: Sequence[WaitingSuggestion]
) -> None:
    """Let accepted suggestions wait no longer, once they are memories or were refused as such.

    Raises:
        TablesUnavailable: they still wait, and the user will be asked again.
    """
    await table.discard(user_id, [one.digest for one in accepted])


def _offer_text(waiting: WaitingSuggestion) -> str:
    suggestion = waiting.suggestion
    kinds = ", ".join(suggestion.tags or (suggestion.category,))
    return f"{suggestion.title}\n{suggestion.content}\n({suggestion.bank}; {kinds})"
