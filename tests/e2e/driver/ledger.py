"""What must stand in the users' memories after a long run, and how what stands there differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.e2e.driver.extraction import EXTRACT
from tests.e2e.driver.made_up_lives import (
    Saying,
    extracted_facts,
    facts_in,
    user_of,
    users_in,
)
from tests.e2e.driver.scripted_model import ModelRequest, text_of


@dataclass(slots=True)
class _Version:
    """One content of a fact; ``owed`` once it must be remembered, else it may be."""

    told: str
    owed: bool = False


@dataclass(slots=True)
class Ledger:
    """The facts that were told, in their order. ``people`` are the users' ids, by their number."""

    people: Mapping[int, str]
    _facts: dict[int, list[_Version]] = field(
        default_factory=lambda: defaultdict[int, list[_Version]](list)
    )

    @property
    def expected(self) -> int:
        """How many facts must be there."""
        return sum(
            any(version.owed for version in facts)
            for facts in self._facts.values()
        )

    def tell(self, saying: Saying) -> None:
        """A message was sent: its facts may be learned from now on."""
        for fact in saying.facts:
            self._facts[fact.number].append(_Version(fact.told))

    def owe(self, saying: Saying) -> None:
        """The turn with this message, the newest with these facts, is complete: they must be."""
        for fact in saying.facts:
            self._owe(fact.number, fact.told)

    def owe_extracted(self, request: ModelRequest) -> None:
        """The model's answer to this request was sent: what it found must be learned."""
        if request.title == EXTRACT:
            for told in extracted_facts(request.body):
                self._owe(facts_in(told)[0][0], told)

    def compare(
        self, rows: Iterable[Mapping[str, Any]]
    ) -> dict[str, list[str]]:
        """What is wrong with all rows of the memory table, by its kind; nothing if nothing is."""
        wrong: dict[str, list[str]] = defaultdict(list)
        found: dict[int, list[str]] = defaultdict(list)
        for row in rows:
            told = facts_in(row["content"])
            if len(told) != 1 or told[0][0] not in self._facts:
                wrong["unknown"].append(row["content"])
            elif self.people.get(user_of(told[0][0])) != row["user_id"]:
                wrong["mixed"].append(f"{row['content']} ({row['user_id']})")
            else:
                found[told[0][0]].append(told[0][1])
        for number, versions in self._facts.items():
            stands = found[number]
            if not stands and any(version.owed for version in versions):
                wrong["lost"].append(versions[-1].told)
            elif len(stands) > 1:
                wrong["doubled"].append(" | ".join(stands))
            elif stands and stands[0] not in self._final(number):
                wrong["outdated"].append(
                    f"{stands[0]} instead of {versions[-1].told}"
                )
        return wrong

    def _owe(self, number: int, told: str) -> None:
        next(
            one for one in reversed(self._facts[number]) if one.told == told
        ).owed = True

    def _final(self, number: int) -> set[str]:
        """What a fact may be in the end: what must be was learned, what was said later may be."""
        facts = self._facts[number]
        owed = [place for place, version in enumerate(facts) if version.owed]
        return {version.told for version in facts[owed[-1] if owed else 0 :]}


def mixed_requests(requests: Iterable[ModelRequest]) -> list[str]:
    """Requests in which facts of two users stand, be it in the words or in the memories."""
    return [
        f"{request.title[:30]!r} for {request.user_text[-200:]!r}"
        for request in requests
        if len(
            users_in(
                *(text_of(one.get("content")) for one in request.messages)
            )
        )
        > 1
    ]
