"""Small personal stores in six languages, with multilingual-e5-small and two English models.

Three of the people of ``personal.py`` with all their questions, the unrelated prompts and three of
the paragraphs stand in ``languages.json`` as people who speak these languages would write them. Each
question is asked of memories in its own language and of English ones, alone and behind one of the
paragraphs. A question is served if a memory that it needs comes.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adaptive.search.calibration import NULL_PROMPTS
from benchmarks.embedding_models import EmbeddingModel, mini_lm, mpnet, nano_e5
from benchmarks.figures import say, write_results
from benchmarks.paragraphs import Message, Stores, behind
from benchmarks.personal import PEOPLE

MODELS = (mini_lm, nano_e5, mpnet)
# Nothing was chosen by what these give, but how much the spread of all null prompts says of that of
# a script (search/calibration.py), which was 10 before.
HELD_OUT = ("pl", "ja")
_TEXTS = Path(__file__).parent / "languages.json"


@dataclass(frozen=True, slots=True)
class Asked:
    """Messages to the stores of one language, by what they show."""

    alone: Sequence[Message]
    behind_paragraphs: Sequence[Message]
    unrelated: Sequence[Message]
    paragraphs: Sequence[Message]


def asked_in(
    language: Mapping[str, Any], stores: Stores, *, in_english: bool
) -> Asked:
    """The messages of a language to stores in it, or to English ones."""
    english = {person.name: person for person in PEOPLE}
    questions: list[Message] = []
    numbers: list[int] = []
    for name, texts in language["people"].items():
        person = english[name]
        memories = person.memories if in_english else texts["memories"]
        number = stores.add(memories)
        numbers.append(number)
        questions += [
            Message(number, text, frozenset(question.wanted))
            for text, question in zip(
                texts["questions"], person.questions, strict=True
            )
        ]

    def to_all(texts: Sequence[str]) -> list[Message]:
        return [Message(number, text) for number in numbers for text in texts]

    return Asked(
        alone=questions,
        behind_paragraphs=behind(language["before"], questions),
        unrelated=to_all(language["unrelated"]),
        paragraphs=to_all(language["before"]),
    )


def figures_of(stores: Stores, asked: Asked) -> dict[str, float]:
    """The share of questions that are served, and the mean entries of each kind of message."""
    figures: dict[str, float] = {}
    for name, questions in (
        ("alone", asked.alone),
        ("behind_60_words", asked.behind_paragraphs),
    ):
        given = [stores.found(one, whole=False) for one in questions]
        served = [
            not one.gold.isdisjoint(places)
            for one, places in zip(questions, given, strict=True)
        ]
        figures[f"{name}_served"] = statistics.fmean(served)
        figures[f"{name}_entries"] = statistics.fmean(map(len, given))
    for name, prompts in (
        ("unrelated_entries", asked.unrelated),
        ("paragraph_entries", asked.paragraphs),
    ):
        figures[name] = statistics.fmean(
            len(stores.found(one, whole=False)) for one in prompts
        )
    return {name: round(figure, 3) for name, figure in figures.items()}


def measured(model: EmbeddingModel) -> dict[str, Any]:
    """The figures of a model by the language of the memories and that of the messages."""
    languages = json.loads(_TEXTS.read_text(encoding="utf-8"))
    stores = Stores(
        [],
        nulls=model.queries(NULL_PROMPTS),
        contents=model.contents,
        queries=model.queries,
    )
    found: dict[str, Any] = {}
    for kind in ("own language", "English memories"):
        by_language: dict[str, dict[str, float]] = {}
        for code, language in languages.items():
            asked = asked_in(
                language, stores, in_english=kind == "English memories"
            )
            stores.embed(
                [
                    *asked.alone,
                    *asked.behind_paragraphs,
                    *asked.unrelated,
                    *asked.paragraphs,
                ]
            )
            by_language[code] = figures_of(stores, asked)
        found[kind] = {
            "all": mean_of([*by_language.values()]),
            "held out": mean_of([by_language[code] for code in HELD_OUT]),
            **by_language,
        }
    return found


def mean_of(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of the figures of several languages, each of which counts the same."""
    return {
        name: round(statistics.fmean(one[name] for one in figures), 3)
        for name in figures[0]
    }


def main() -> None:
    """Measure and write ``results/languages.json``."""
    figures: dict[str, Any] = {}
    for make in MODELS:
        model = make()
        figures[model.label] = measured(model)
        for kind, by_language in figures[model.label].items():
            for code, found in by_language.items():
                say(f"{model.label}, {kind}, {code}: {found}")
    say(f"written: {write_results('languages', figures)}")


if __name__ == "__main__":
    main()
