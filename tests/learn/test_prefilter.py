"""Which messages may hold something to remember, judged by the vectors of the local model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from adaptive.core.errors import EmbeddingError
from adaptive.core.ports import Vectors
from adaptive.learn.prefilter import (
    PREFILTER_EXAMPLES,
    FactWeights,
    Prefilter,
    holds_fact,
    trained_weights,
)
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.vectors import SharedVectors, normalised
from tests.fakes import ShelvedVectors, WordEmbedder
from tests.minilm import MINILM

# Written for the patterns that judged this before, none of them seen when the examples were made.
TELLING = """
I live in Porto.
i'm allergic to nuts
My sister's name is Ana.
We got a puppy last week!
Moved to Porto yesterday. Any tips?
More than ten years in Porto.
Allergic to nuts, vegetarian, two kids
Play tennis on Mondays.
Find it hard to sleep lately
What can I cook? My son eats no eggs.
Write a poem about my dog Biscuit
Was in Porto last week, any ideas for next time?
Can you help me with a letter to my landlord?
How do I tell my wife that we are moving?
Give me a recipe, Ana is coming and she is vegetarian.
Gonna continue my edu and check out career options.
Hey! Good to see you! I'm swamped with the kids & work.
Thanks! Been painting a lot since last year.
Remember that Ana is vegetarian
Ich wohne in Köln.
Suche eine Wohnung in Porto
J'habite à Lyon.
Que faire avec mes enfants à Lyon ?
Vivo en Vigo.
¿Qué puede comer mi hijo?
Moro no Porto.
Ho due figli.
Живу в Москве
Что подарить моей маме?
我住在里斯本。
猫を飼っています
서울에 살아요.
Mieszkam w Krakowie.
أنا أعيش في القاهرة
""".strip().splitlines()
IDLE = """
What is the capital of France?
how do I undo the last commit in git
Write a poem about autumn. Make it rhyme.
Can you explain photosynthesis?
Could you please tell me a joke?
Explain relativity like I'm five.
Who painted the Mona Lisa?
Implement a linked list in C.
Translate this sentence into French.
What does HTTP status 404 mean?
Give me ten names for a black cat in a novel
Write a haiku about the sea.
How far is the moon from the earth?
Summarize the plot of Hamlet.
Solve x^2 - 5x + 6 = 0
Was ist die Hauptstadt von Kanada?
Erkläre die Relativitätstheorie
Quelle est la capitale du Canada ?
¿Cuál es la capital de Canadá?
Escreva um poema sobre o mar
Spiegami la fotosintesi
""".strip().splitlines()


class NoEmbedder:
    """An embedding provider that is down."""

    async def name(self) -> str:
        """A model's name."""
        return "none"

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Nothing."""
        raise EmbeddingError("down")


@pytest.fixture
async def weights() -> FactWeights:
    """The fit for it."""
    nulls = normalised(await MINILM.embed(NULL_PROMPTS, query=True))
    examples = normalised(await MINILM.embed(PREFILTER_EXAMPLES, query=True))
    return trained_weights(nulls, examples)


async def test_telling_messages_are_sent(weights: FactWeights) -> None:
    """At least 97 % of the messages that tell something are sent."""
    vectors = normalised(await MINILM.embed(TELLING, query=True))
    rows = zip(TELLING, vectors, strict=True)
    missed = [words for words, row in rows if not holds_fact(words, row, weights)]
    assert len(missed) <= 0.03 * len(TELLING), missed


async def test_idle_messages_are_not_sent(weights: FactWeights) -> None:
    """At least half of the short questions and tasks cost no call, though many are not English."""
    vectors = normalised(await MINILM.embed(IDLE, query=True))
    rows = zip(IDLE, vectors, strict=True)
    sent = [words for words, row in rows if holds_fact(words, row, weights)]
    assert len(sent) <= 0.5 * len(IDLE), sent


async def test_fact_in_a_long_request() -> None:
    """A fact behind a long task is found, where the vector of the whole shows the task alone."""
    prefilter = Prefilter(SharedVectors(NULL_PROMPTS))
    task = "Explain how quicksort works. It is a sorting algorithm with a pivot. " * 12
    told = f"{task}\n\nI have been a nurse in Porto for nine years.\n\n{task}"
    idle, telling = normalised(await MINILM.embed([task, told], query=True))
    assert not await prefilter.may_hold_fact(task, MINILM, ShelvedVectors(), idle)
    assert await prefilter.may_hold_fact(told, MINILM, ShelvedVectors(), telling)


async def test_without_vectors() -> None:
    """While the embedding provider is down everything is sent that has words."""
    prefilter = Prefilter(SharedVectors(NULL_PROMPTS))
    with pytest.raises(EmbeddingError):
        await prefilter.weights(NoEmbedder(), ShelvedVectors())
    asked = WordEmbedder()
    assert await prefilter.may_hold_fact("What is 2 + 2?", asked, ShelvedVectors(), None)
    assert not asked.queries
    assert not await prefilter.may_hold_fact("👍 :-)", NoEmbedder(), ShelvedVectors(), None)
    known = np.ones((1, 3), np.float32)
    assert await prefilter.may_hold_fact("And 3 + 3?", NoEmbedder(), ShelvedVectors(), known)
