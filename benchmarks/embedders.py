"""Recall with other embedding models, for which nothing is tuned: against plain vector search.

The share of gold that comes with a question, beside that of the ten nearest memories; and how many
memories come with a prompt that has nothing to do with the user. The same for the small personal
stores. Each model has the instructions of its makers.
"""

from pathlib import Path
from typing import Any

from adaptive.core.model import Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.fusion import GATES
from benchmarks.abstention import curve, small_stores
from benchmarks.embedding_models import EmbeddingModel, mini_lm, mpnet, nano_e5
from benchmarks.figures import say, write_results
from benchmarks.locomo import (
    DEFAULT_DATA,
    load_conversations,
    load_off_topic,
)
from benchmarks.personal import PEOPLE
from benchmarks.quality import simple_quality
from benchmarks.world import Subject, World

MODELS = (mini_lm, nano_e5, mpnet)


def world_of(folder: Path, model: EmbeddingModel) -> World:
    """The users of LoCoMo as a model sees them."""
    subjects = tuple(
        Subject(
            about=person,
            memories=model.contents(person.memories),
            questions=model.queries(person.questions),
        )
        for person in load_conversations(folder)
    )
    prompts = tuple(load_off_topic(folder))
    return World(
        subjects=subjects,
        prompts=prompts,
        prompt_vectors=model.queries(prompts),
        nulls=model.queries(NULL_PROMPTS),
    )


def measured(folder: Path, model: EmbeddingModel) -> dict[str, Any]:
    """The figures of one model."""
    world = world_of(folder, model)
    plain = simple_quality(world, "vector")
    [ours] = curve(world, (GATES[1],))
    contents = {*(text for person in PEOPLE for text in person.memories)}

    def encode(texts: Any) -> Vectors:
        is_memory = texts and texts[0] in contents
        return model.contents(texts) if is_memory else model.queries(texts)

    [small] = small_stores(encode, world.nulls, (GATES[0],))
    share = ours["share_of_gold"]
    return {
        "plain_vectors_recall_10": plain["recall_10"],
        **ours,
        "gain_over_plain_vectors": round(share - plain["recall_10"], 3),
        "small_stores": small,
    }


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/embedders.json``."""
    figures: dict[str, Any] = {}
    for make in MODELS:
        model = make()
        figures[model.label] = measured(folder, model)
        say(f"{model.label}: {figures[model.label]}")
    say(f"written: {write_results('embedders', figures)}")


if __name__ == "__main__":
    main()
