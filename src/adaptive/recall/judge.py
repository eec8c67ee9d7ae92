"""Asking a model how well memories fit a message; an option, since the answer waits for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adaptive.core.messages import head_and_tail, mapping
from adaptive.core.model import Memory
from adaptive.core.providers import (
    Completer,
    Completion,
    CompletionRequest,
    ReplyUnusable,
)
from adaptive.core.runtime import UserCache, staged
from adaptive.llm.ask import (
    AnswerFormats,
    ask,
    list_schema,
    number,
    render_prompt,
)
from adaptive.llm.reply import read_items
from adaptive.privacy.escaping import escaped_entry
from adaptive.search.vectors import content_hash

# Then the order by nearness stands.
_JUDGE_SECONDS = 1.5
# Relevance that needs no judge: from three times the evidence of the gate, and up to a quarter.
_CLEARLY_RELEVANT = 0.75
_CLEARLY_IRRELEVANT = 0.2
_LONGEST_MESSAGE = 4000
_LONGEST_FACT = 600

RELEVANCE_SCHEMA = list_schema(
    "scores", {"id": "string", "score": "number"}, "id", "score"
)


@dataclass(frozen=True, slots=True)
class RelevanceJudge:
    """A model that scores memories, with the scores that it has given lately.

    ``prompt`` replaces the built-in one unless it is empty.
    """

    completer: Completer
    formats: AnswerFormats
    scores: UserCache[float]
    prompt: str = ""
    deadline: float = _JUDGE_SECONDS

    @staged("judge")
    async def judged(
        self,
        user_id: str,
        message: str,
        memories: Sequence[Memory],
        relevance: Mapping[str, float],
        least: float,
    ) -> dict[str, float]:
        """The scores of those that the model gives ``least`` or more, by id, best first.

        ``relevance`` is that of all the memories by the search, best first; those that the model
        left out stand behind with it. No call is made if each is clear by it or remembered; else
        all that are not remembered are asked for.

        Raises:
            AdaptiveMemoryError: there is no usable reply in time.
        """
        prompt = render_prompt("relevance", self.prompt, {})
        keys: dict[str, str] = {}
        scores: dict[str, float] = {}
        for memory in memories:
            scored = (
                self.completer.key,
                prompt,
                message,
                memory.id,
                memory.content,
            )
            keys[memory.id] = content_hash(repr(scored))
            score = self.scores.get((user_id, keys[memory.id]))
            if score is not None:
                scores[memory.id] = score
        asked = [memory for memory in memories if memory.id not in scores]
        if any(
            _CLEARLY_IRRELEVANT < relevance[memory.id] < _CLEARLY_RELEVANT
            for memory in asked
        ):
            request = _request(prompt, message, asked)
            # A second try would mostly cost the user the rest of the time.
            completion = await ask(
                self.completer, request, self.formats, self.deadline
            )
            for memory_id, score in read_relevance(completion, asked).items():
                scores[memory_id] = score
                self.scores.put((user_id, keys[memory_id]), score)
        ordered = sorted(scores, key=lambda memory_id: -scores[memory_id])
        fit = {
            memory_id: scores[memory_id]
            for memory_id in ordered
            if scores[memory_id] >= least
        }
        unscored = relevance.keys() - scores
        return fit | {
            one: score for one, score in relevance.items() if one in unscored
        }


def _request(
    prompt: str, message: str, memories: Sequence[Memory]
) -> CompletionRequest:
    """The question to the model; ``prompt`` is its system message."""
    user = "## Memories\n"
    for memory in memories:
        fact = escaped_entry(head_and_tail(memory.content, _LONGEST_FACT))
        user += f"- id={memory.id} | {fact}\n"
    user += (
        f"\n## Message of the user\n{head_and_tail(message, _LONGEST_MESSAGE)}"
    )
    return CompletionRequest(
        prompt, user, "memory_relevance", RELEVANCE_SCHEMA
    )


def read_relevance(
    completion: Completion, asked: Sequence[Memory]
) -> dict[str, float]:
    """The scores in a model's reply, 0 to 1, by id; the first one counts, unknown ids do not.

    Raises:
        ReplyUnusable: it scores none of the memories that were asked for.
    """
    offered = {memory.id for memory in asked}
    scores: dict[str, float] = {}
    for fields in map(
        mapping,
        read_items(completion, "scores", lambda item: "id" in item).items,
    ):
        if "id" in fields:
            # Earlier releases' prompts asked for ``relevance``.
            fields = {
                fields["id"]: fields.get("score", fields.get("relevance"))
            }
        for key, value in fields.items():  # some models map ids to scores
            memory_id = str(key).strip()
            score = number(value)
            if (
                memory_id in offered
                and score is not None
                and 0 <= score <= 100
            ):
                scores.setdefault(
                    memory_id, score / 100 if "%" in str(value) else score
                )
    if not scores:
        raise ReplyUnusable("the model's reply scores none of the memories")
    # Some models score out of 10 or 100 whatever they are told.
    most = max(scores.values())
    scale = 1 if most <= 1 else 10 if most <= 10 else 100
    return {memory_id: score / scale for memory_id, score in scores.items()}
