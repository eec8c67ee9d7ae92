"""Asking a model how well memories fit a message; an option, since the answer waits for it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from adaptive.core import (
    PROMPTS,
    AdaptiveMemoryError,
    Completer,
    Completion,
    CompletionRequest,
    Memory,
    ReplyUnusable,
    UserCache,
    head_and_tail,
    log_failure,
    mapping,
    staged,
)
from adaptive.llm.ask import (
    AnswerFormats,
    ask,
    number,
)
from adaptive.llm.reply import read_items
from adaptive.privacy import escaped_entry
from adaptive.recall.selection import Candidates, fitting_memories
from adaptive.search import Ranked, content_hash, without_places
from adaptive.settings import Hook

# Then the order by nearness stands.
_JUDGE_SECONDS = 1.5
# The model is shown more than would go in without it.
_STRICTNESS_TO_JUDGE = 0.3
# Score from which a memory goes in, unless the valve says another.
_LEAST_JUDGED = 0.5
_LONGEST_MESSAGE = 4000
_LONGEST_FACT = 600
_QUESTIONS_KEPT = 1000
_SCORES_KEPT_SECONDS = 24 * 3600

RELEVANCE_SCHEMA = json.loads(PROMPTS["relevance_schema"])


@dataclass
class RelevanceJudge:
    """Models that score memories, with the scores that they have given lately."""

    formats: AnswerFormats
    deadline: float = _JUDGE_SECONDS

    def __post_init__(self) -> None:
        # Of each question with the memories that it is about, by their names in it.
        self._scores = UserCache[dict[str, float]](
            _QUESTIONS_KEPT, seconds=_SCORES_KEPT_SECONDS
        )
        self.forget = self._scores.forget

    async def judged(
        self,
        hook: Hook,
        candidates: Candidates,
        rankings: Sequence[Sequence[Ranked]],
        fit: dict[str, float],
    ) -> dict[str, float]:
        """What fits by the scores of a model, by id, best first; as it is where there are none.

        What the model left out, or may not see, comes where it would without a model.
        """
        settings = hook.settings
        try:
            completer = await hook.completer()
            hidden = await hook.hidden_from(completer)
            unseen = {
                place
                for place, memory in enumerate(candidates.index.memories)
                if hidden.holds(memory)
            }
            shown = fitting_memories(
                candidates,
                without_places(rankings, unseen),
                settings.top_n_memories,
                vector_floor=settings.vector_similarity_threshold,
                strictness=_STRICTNESS_TO_JUDGE,
            )
            scores = await self.scores(
                completer,
                settings.memory_relevance_prompt,
                hook.user_id,
                candidates.question.text,
                [candidates.memory(memory_id) for memory_id in shown],
            )
        except AdaptiveMemoryError as error:
            log_failure("memories are not judged", error)
            return fit
        least = settings.relevance_threshold or _LEAST_JUDGED
        judged = {
            memory_id: score
            for memory_id, score in {**fit, **scores}.items()
            if memory_id not in scores or score >= least
        }
        return dict(sorted(judged.items(), key=lambda each: -each[1]))

    @staged("judge")
    async def scores(
        self,
        completer: Completer,
        override: str,
        user_id: str,
        message: str,
        memories: Sequence[Memory],
    ) -> dict[str, float]:
        """The scores that a model gives to memories, by id; those it gave lately are remembered.

        Raises:
            AdaptiveMemoryError: there is no usable reply in time.
        """
        if not memories:
            return {}
        prompt = override.strip() or PROMPTS["relevance"].strip()
        shown = {
            str(number): memory
            for number, memory in enumerate(memories, start=1)
        }
        request = _relevance_request(prompt, message, shown)
        key = (user_id, content_hash(repr((completer.key, request))))
        scores = self._scores.get(key)
        if scores is None:
            # A second try would mostly cost the user the rest of the time.
            scores = await ask(
                completer,
                request,
                self.formats,
                self.deadline,
                partial(read_relevance, offered=shown),
            )
            self._scores.put(key, scores)
        return {shown[name].id: score for name, score in scores.items()}


def _relevance_request(
    prompt: str, message: str, shown: Mapping[str, Memory]
) -> CompletionRequest:
    """The question how well memories, by the names that the model is shown, fit a message."""
    user = "## Memories\n"
    for name, memory in shown.items():
        fact = head_and_tail(memory.content, _LONGEST_FACT)
        user += f"- id={name} | {escaped_entry(fact)}\n"
    user += (
        f"\n## Message of the user\n{head_and_tail(message, _LONGEST_MESSAGE)}"
    )
    return CompletionRequest(
        prompt, user, "memory_relevance", RELEVANCE_SCHEMA
    )


def read_relevance(
    completion: Completion, offered: Mapping[str, Memory]
) -> dict[str, float]:
    """The scores in a model's reply, 0 to 1, by the names of the memories that were offered.

    The first score of each counts. Memories may be named by their ids, too.

    Raises:
        ReplyUnusable: it scores none of the memories that were offered.
    """
    scores: dict[str, float] = {}
    names = {memory.id: name for name, memory in offered.items()}
    items = read_items(completion, "scores", lambda item: "id" in item).items
    for fields in map(mapping, items):
        name = str(fields.get("id")).strip()
        name = names.get(name, name)
        # Earlier releases' prompts asked for ``relevance``.
        told = fields.get("score", fields.get("relevance"))
        score = number(told)
        if name in offered and score is not None and 0 <= score <= 100:
            scores.setdefault(name, score)
    if not scores:
        raise ReplyUnusable(detail="it scores none of the memories")
    # Some models score out of 10 or 100 whatever they are told: then 1 is next to nothing.
    most = max(scores.values())
    scale = 1 if most <= 1 else 10 if most <= 10 else 100
    return {name: score / scale for name, score in scores.items()}
