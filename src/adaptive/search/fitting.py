"""Which of the ranked memories fit a message, thought by thought.

Memories come for a thought if the best evidence reaches the gate, which is the higher the more
memories there are, for of many some come near to anything; and the more thoughts a message has.
Each entry needs a share of the best score, which grows with its place, and one of the best evidence
and of the gate: having been learned next to a good one is not enough. What holds a rare name of the
message needs no share of the best: of six things that are named each gets its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set

from adaptive.search.fusion import Ranked

# Of the best score, growing with the logarithm of the place, so that a question about two things
# gets both and one about nothing much few; and of the best evidence
ENTRY_SHARE = 0.34
_SHARE_GROWTH = 0.1
_EVIDENCE_SHARE = 0.25
# Of the gate: where the best barely reaches it, the rest is chance
_GATE_SHARE = 0.7
_RARE_NAME = 0.6


def fitting(
    rankings: Sequence[Sequence[Ranked]],
    limit: int,
    *,
    gate: float | None = None,
    strictness: float = 1.0,
    vector_floor: float = 0.0,
    relevance_floor: float = 0.0,
) -> list[Ranked]:
    """The memories that fit a message, the best of each thought first; none where nothing does.

    ``rankings`` are those of the message's thoughts, best first. A ``gate`` replaces
    that of the store; ``strictness`` scales what each needs of the best. A floor above 0 is an
    absolute cosine that each memory must reach. ``vector_floor`` makes the pool; ``relevance_floor``
    chooses from it in place of the calibrated gate.
    """
    floor = max(vector_floor, relevance_floor)
    fits: list[list[Ranked]] = []
    for ranked in rankings:
        pool = [near for near in ranked if not floor or near.cosine >= floor]
        del pool[limit:]
        if pool and not relevance_floor:
            least = pool[0].gate if gate is None else gate
            pool = _standing_out(pool, least, strictness)
        fits.append(pool)
    return interleaved(fits)[:limit]


def without_places(
    rankings: Sequence[Sequence[Ranked]], places: Set[int]
) -> list[list[Ranked]]:
    """Rankings without the memories of these places."""
    return [
        [near for near in ranked if near.place not in places]
        for ranked in rankings
    ]


def interleaved(rankings: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """The memories of several rankings, none of them twice: those of thoughts take turns.

    What several rankings hold stands where it comes first, with the figures of the one that speaks
    most for it.
    """
    placed = [
        (place, -near.evidence, near)
        for ranked in rankings
        for place, near in enumerate(ranked)
    ]
    placed.sort(key=lambda entry: entry[:2])
    merged: dict[int, Ranked] = {}
    for *_, near in placed:
        known = merged.setdefault(near.place, near)
        if near.relevance > known.relevance:
            merged[near.place] = near
    return [*merged.values()]


def _standing_out(
    pool: Sequence[Ranked], gate: float, strictness: float
) -> list[Ranked]:
    """Of memories that come best first, those that stand out; none below the gate."""
    most_evidence = max(near.evidence for near in pool)
    if most_evidence < gate:
        return []
    best = pool[0]
    own_evidence = (
        strictness * _EVIDENCE_SHARE * (most_evidence - best.personal)
    )
    own_gate = _GATE_SHARE * (gate - best.personal)
    fit: list[Ranked] = []
    for near in pool:
        share = strictness * (
            ENTRY_SHARE + _SHARE_GROWTH * math.log(len(fit) + 1)
        )
        is_close = near.score >= min(best.score, share * best.score)
        is_alike = near.evidence - near.personal >= own_evidence
        is_named = near.naming >= _RARE_NAME
        if near.evidence - near.personal >= own_gate and (
            is_named or (is_close and is_alike)
        ):
            fit.append(near)
    return fit
