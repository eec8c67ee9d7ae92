"""Learn which rewordings leave a fact the same: ``python -m tools.train_duplicates [--check]``.

From ``duplicate_wordings.txt`` and the pairs of the set *development* in
``benchmarks/deduplication_pairs.json``; those of *control* are only looked at. Two wordings of one
meaning differ in words, which become a rewording, unless the same words tell two meanings apart
somewhere. Five folds of the development pairs are judged by what the others and the wordings teach.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.learn.duplicates import (
    calibrated_likeness,
    counted_words,
    differing_words,
    rewording,
    same_fact,
    unrelated_likeness,
)
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.tokens import tokens
from benchmarks.deduplication import Pair, load_pairs, with_cosines
from benchmarks.figures import say
from benchmarks.locomo import minilm
from tools.packing import packed

WORDINGS = Path(__file__).parent / "duplicate_wordings.txt"
MODULE = (
    Path(__file__).resolve().parent.parent / "src/adaptive/learn/duplicates.py"
)
FOLDS = 5
Couple = tuple[str, str]


def wordings() -> tuple[list[Couple], list[Couple]]:
    """Couples of wordings that mean the same, and couples that do not."""
    text = WORDINGS.read_text(encoding="utf-8").replace("X", "Zzz")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    families, phrases = "\n".join(lines).split("\n==\n")
    same: list[Couple] = []
    different: list[Couple] = []
    for family in families.split("\n--\n"):
        meanings = [
            [one.strip() for one in line.split("|")]
            for line in family.split("\n")
        ]
        for meaning in meanings:
            same += itertools.combinations(meaning, 2)
        for one, other in itertools.combinations(meanings, 2):
            different += itertools.product(one, other)
    for line in phrases.strip().split("\n"):
        framed = [f"User zz {one.strip()} zzz." for one in line.split("|")]
        same += itertools.combinations(framed, 2)
    return same, different


def learned(
    same: Iterable[Couple], different: Iterable[Couple]
) -> frozenset[str]:
    """What tells wordings of one meaning apart, and mostly not two meanings."""
    nothing = frozenset[str]()
    unknown = [
        couple for couple in same if not same_fact(*couple, learned=nothing)
    ]
    kept, apart = (
        Counter(map(_difference, couples)) for couples in (unknown, different)
    )
    return frozenset(
        one
        for one in kept
        if not _has_digit(one)
        and (one not in apart or (kept[one] >= apart[one] and _tells(one)))
    )


def _difference(couple: Couple) -> str:
    return rewording(*differing_words(*map(counted_words, couple)))


def _has_digit(difference: str) -> bool:
    return any(sign.isdigit() for sign in difference)


def _tells(difference: str) -> bool:
    """Whether no function word is in it: "to" and "from" would be the same."""
    words = difference.replace("|", " ").split()
    return all(tokens(f"{word} x0x") != ["x0x"] for word in words)


def groups_of(rewordings: Iterable[str]) -> list[str]:
    """The same in fewer signs: groups of which any two may stand for each other."""
    left = {
        (one, other)
        for one, _, other in (
            pair.partition("|") for pair in sorted(rewordings)
        )
    }
    known = frozenset(left)
    phrases = sorted(set(itertools.chain(*known)))
    groups: list[str] = []
    while left:
        group = list(min(left))
        for phrase in phrases:
            pairs = {(min(one, phrase), max(one, phrase)) for one in group}
            if (
                phrase not in group
                and pairs <= known
                and not pairs.isdisjoint(left)
            ):
                group.append(phrase)
        left -= set(itertools.combinations(sorted(group), 2))
        groups.append("|".join(sorted(group)))
    return groups


def packed_groups(rewordings: Iterable[str]) -> str:
    """Rewordings as the module keeps them."""
    text = "\n".join(groups_of(rewordings)).encode()
    return packed(text)


def couples_of(pairs: Sequence[Pair], *, same: bool) -> list[Couple]:
    """The texts of pairs that are the same, or that are facts of their own."""
    labels = ("same",) if same else ("different",)
    return [(pair.known, pair.said) for pair in pairs if pair.label in labels]


def figures(
    pairs: Sequence[Pair],
    likeness: dict[Couple, float],
    rewordings: Sequence[frozenset[str]],
) -> str:
    """Duplicates found and facts lost, each pair judged by its own of the rewordings."""
    found: Counter[str] = Counter()
    lost: list[str] = []
    for pair, own in zip(pairs, rewordings, strict=True):
        near = likeness[pair.known, pair.said]
        if same_fact(pair.known, pair.said, near, learned=own):
            found[pair.label] += 1
            if pair.label != "same":
                lost.append(f"{pair.label}: {pair.known} | {pair.said}")
    total = Counter(pair.label for pair in pairs)
    share = found["same"] / total["same"]
    return (
        f"duplicates found {share:.3f} of {total['same']}, near-misses lost {found['different']}"
        f" of {total['different']}, changes lost {len(lost) - found['different']}\n"
        + "".join(f"    {one}\n" for one in lost)
    )


def folds_of(pairs: Sequence[Pair]) -> list[int]:
    """The fold of each pair; pairs that share a text are in one."""
    group: dict[str, str] = {}

    def top(text: str) -> str:
        while group.setdefault(text, text) != text:
            text = group[text]
        return text

    for pair in pairs:
        group[top(pair.said)] = top(pair.known)
    number = {
        one: at % FOLDS
        for at, one in enumerate(sorted({top(pair.known) for pair in pairs}))
    }
    return [number[top(pair.known)] for pair in pairs]


def main() -> None:
    """Train, print the figures, write the module."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.train_duplicates", description=__doc__
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing, fail when stale"
    )
    check = parser.parse_args().check
    pairs = load_pairs()
    development = [pair for pair in pairs if pair.group == "development"]
    same, different = wordings()
    whole = learned(
        same + couples_of(development, same=True),
        different + couples_of(development, same=False),
    )
    text = packed_groups(whole)
    former = MODULE.read_text(encoding="utf-8")
    line = f'PACKED_REWORDINGS = "{text}"  # noqa: E501'
    module = re.sub(
        r"^PACKED_REWORDINGS = .*$", lambda _: line, former, flags=re.MULTILINE
    )
    if check:
        sys.exit(0 if former == module else f"{MODULE} is stale")
    MODULE.write_text(module, encoding="utf-8")
    say(f"{len(whole)} rewordings, {len(text)} signs")
    encode = minilm()
    unrelated = unrelated_likeness(encode(NULL_PROMPTS))
    known, said = (
        encode([getattr(p, side) for p in pairs]) for side in ("known", "said")
    )
    likeness = {
        (pair.known, pair.said): calibrated_likeness(pair.cosine, unrelated)
        or 0.0
        for pair in with_cosines(pairs, known, said)
    }
    folds = folds_of(development)
    by_fold: list[frozenset[str]] = []
    for fold in range(FOLDS):
        rest = [
            pair
            for pair, own in zip(development, folds, strict=True)
            if own != fold
        ]
        both = couples_of(rest, same=True), couples_of(rest, same=False)
        by_fold.append(learned(same + both[0], different + both[1]))
    say(
        "cross-validated: "
        + figures(development, likeness, [by_fold[fold] for fold in folds])
    )
    control = [pair for pair in pairs if pair.group == "control"]
    say("control: " + figures(control, likeness, [whole] * len(control)))


if __name__ == "__main__":
    main()
