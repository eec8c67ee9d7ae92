"""How well it is told whether a fact lasts, and whether it says who the user is, by language and model.

usage: python -m tools.validate_facts MODEL ...

A MODEL is the folder of a SentenceTransformer, or the address of a service that speaks as OpenAI's.
The examples of each language are judged by what was learned without them; of the author who is kept
for this nothing was learned at all. The figures stand in benchmarks/README.md.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.learn.lasting import LASTING_BARS, PLAIN_BARS
from benchmarks.figures import say
from tools.example_vectors import ByModel, embedded
from tools.train_examples import (
    TEST_AUTHOR,
    Fact,
    FactTraining,
    Mask,
    fact_examples,
)


def validate(facts: Sequence[Fact], vectors: ByModel) -> Iterator[str]:
    """Lines with the shares of right and of wrong examples that are refused, by language."""
    training = FactTraining(facts, vectors)
    tested = training.authors == TEST_AUTHOR
    scores = training.left_out(training.languages)
    for model, some in scores.items():
        for place, (judge, right, wrong, _) in enumerate(
            training.judgements()
        ):
            bars = (LASTING_BARS, PLAIN_BARS)[place]
            is_latin = training.scripts < 2
            refused = some[:, place] < np.where(
                is_latin, bars.latin, bars.others
            )
            yield f"{model}: refused by the judge of {judge}"
            for language in np.unique(training.languages):
                group = training.languages == language
                own, other = group & ~tested, group & tested
                yield f"  {language}" + "".join(
                    _share(refused, among & kind)
                    for among in (own, other)
                    for kind in (right, wrong)
                )


def _share(refused: Mask, group: Mask) -> str:
    if not group.any():
        return " " * 14
    return f"{refused[group].mean():7.1%} of {group.sum():3}"


def main(models: Sequence[str]) -> None:
    """Print the figures of each model."""
    facts = fact_examples()
    sentences = [fact.text for fact in facts]
    vectors = {
        model: asyncio.run(embedded(model, sentences, query=False))
        for model in models
    }
    for line in validate(facts, vectors):
        say(line)


if __name__ == "__main__":
    main(sys.argv[1:])
