"""How well it is told whether a fact lasts, and whether it says who the user is, by example and model.

usage: python -m tools.validate_facts MODEL ...

A MODEL is the folder of a SentenceTransformer, or the address of a service that speaks as OpenAI's.
Each tenth of the examples is judged by a fit on all others, then each kind and each language. The
figures stand in benchmarks/README.md.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.core.model import Vectors
from adaptive.core.texts import titled_parts
from adaptive.learn.examples import ExampleJudge
from adaptive.learn.lasting import lasting_judge, plain_judge
from adaptive.search.embedders import EndpointModel
from adaptive.search.encoding import LocalModel
from adaptive.search.vectors import normalised

Mask = NDArray[np.bool_]
_FOLDS = 10
_ENGLISH = "en"


def sections() -> dict[str, tuple[str, str]]:
    """The kind and the language of each example."""
    by_sentence: dict[str, tuple[str, str]] = {}
    for title, sentences in titled_parts("fact_examples").items():
        kind, _, language = title.partition(", ")
        for sentence in sentences.split("\n"):
            by_sentence[sentence] = (kind, language or _ENGLISH)
    return by_sentence


def refused(judge: ExampleJudge, vectors: Vectors, group: Mask) -> Mask:
    """Which examples of a group are taken for negative by a fit on all others."""
    others = np.flatnonzero(~group)
    rest = ExampleJudge(
        [judge.examples[at] for at in others if judge.is_positive[at]],
        [judge.examples[at] for at in others if not judge.is_positive[at]],
        refused=judge.refused,
        query=False,
    )
    fit = rest.fit(vectors[others])
    places = np.flatnonzero(group)
    return np.array(
        [not fit.accepts(judge.examples[at], vectors[at]) for at in places]
    )


def validate(judge: ExampleJudge, vectors: Vectors) -> Iterator[str]:
    """Lines with the shares of positive and of negative examples that are refused."""
    examples = judge.examples
    folds = np.random.default_rng(7).integers(_FOLDS, size=len(examples))
    in_tenths = np.zeros(len(examples), bool)
    for fold in range(_FOLDS):
        in_tenths[folds == fold] = refused(judge, vectors, folds == fold)
    yield _line("all", judge.is_positive, in_tenths)
    of = sections()
    for place in (1, 0):
        labels = np.array([of[example][place] for example in examples])
        for label in dict.fromkeys(labels):
            group = labels == label
            is_positive = judge.is_positive[group]
            line = _line(str(label), is_positive, in_tenths[group])
            alone = refused(judge, vectors, group)
            yield line + _line("; all of it left out", is_positive, alone)


def _line(name: str, is_positive: Mask, refusals: Mask) -> str:
    shares = [
        f"{refusals[some].mean():7.1%} of {some.sum():3}"
        if some.any()
        else " " * 14
        for some in (is_positive, ~is_positive)
    ]
    return f"  {name:13}{shares[0]}{shares[1]}"


async def embedded(model: str, texts: Sequence[str]) -> Vectors:
    """Normalised vectors by a local model or by a service."""
    chosen = (
        EndpointModel(model, "embedding")
        if model.startswith("http")
        else LocalModel(model)
    )
    return normalised(await chosen.embed(texts, query=False))


def main(models: Sequence[str]) -> None:
    """Print the figures of each model."""
    judges: dict[str, Callable[[], ExampleJudge]] = {
        "lasting; passing": lasting_judge,
        "other; who the user is": plain_judge,
    }
    for model in models:
        for name, judge_of in judges.items():
            judge = judge_of()
            vectors = asyncio.run(embedded(model, judge.examples))
            sys.stdout.write(f"{model}: refused of {name}\n")
            for line in validate(judge, vectors):
                sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
