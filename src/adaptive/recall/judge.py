"""Asking a model how well memories fit a message; an option, since the answer waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adaptive.core.cache import UserCache
from adaptive.core.errors import ReplyUnusable
from adaptive.core.measures import staged
from adaptive.core.messages import head_and_tail
from adaptive.core.model import Completion, CompletionRequest, Memory
from adaptive.core.ports import Completer
from adaptive.core.shapes import mapping
from adaptive.llm.ask import AnswerFormats, ask, render_prompt
from adaptive.llm.fields import list_schema, number
from adaptive.llm.reply import read_items
from adaptive.privacy.escaping import escaped_entry
from adaptive.search.vectors import content_hash
from adaptive.settings.merged import NOTHING_HIDDEN, LocalOnlyBanks

# Then the order by nearness stands.
_JUDGE_SECONDS = 1.5
# Relevance that needs no judge: from three times the evidence of the gate, and up to a quarter.
_CLEARLY_RELEVANT = 0.75
_CLEARLY_IRRELEVANT = 0.2
_LONGEST_MESSAGE = 4000
_LONGEST_FACT = 600

RELEVANCE_SCHEMA = list_schema("scores", {"id": "string", "score": "number"}, "id", "score")


@dataclass(frozen=True, slots=True)
class RelevanceJudge:
    """A model that scores candidates, with the scores that it has given lately.

    ``prompt`` replaces the built-in one unless it is empty. The model is not shown the memories of
    ``hidden``: whoever asks it keeps them back.
    """

    completer: Completer
    formats: AnswerFormats
    scores: UserCache[float]
    prompt: str = ""
    hidden: LocalOnlyBanks = NOTHING_HIDDEN
    deadline: float = _JUDGE_SECONDS

    @staged("judge")
    async def judged(
        self, user_id: str, message: str, candidates: Sequence[Candidate], least: float
    ) -> list[Candidate]:
        """Those that the model gives ``least`` or more, best first, with its score for theirs.

        Candidates that the model left out stand behind as they came. No call is made if each is
        clear by its own score or remembered; else all that are not remembered are asked for.

        Raises:
            AdaptiveMemoryError: there is no usable reply in time.
        """
        prompt = render_prompt("relevance", self.prompt, {})
        keys = {
            one.id: content_hash(repr((self.completer.key, prompt, message, one.id, one.content)))
            for one in (candidate.memory for candidate in candidates)
        }
        kept = ((id_, self.scores.get((user_id, key))) for id_, key in keys.items())
        scores = {id_: score for id_, score in kept if score is not None}
        unknown = [one for one in candidates if one.memory.id not in scores]
        if any(_CLEARLY_IRRELEVANT < one.score < _CLEARLY_RELEVANT for one in unknown):
            asked = [one.memory for one in unknown]
            request = _request(prompt, message, asked)
            # A second try would mostly cost the user the rest of the time.
            completion = await ask(self.completer, request, self.formats, self.deadline)
            for id_, score in read_relevance(completion, asked).items():
                scores[id_] = score
                self.scores.put((user_id, keys[id_]), score)
        known = [one for one in candidates if one.memory.id in scores]
        scored = [replace(one, score=scores[one.memory.id]) for one in known]
        fit = [one for one in sorted(scored, key=lambda one: -one.score) if one.score >= least]
        return [*fit, *(one for one in candidates if one.memory.id not in scores)]


def _request(prompt: str, message: str, memories: Sequence[Memory]) -> CompletionRequest:
    """The question to the model; ``prompt`` is its system message."""
    facts = {one.id: escaped_entry(head_and_tail(one.content, _LONGEST_FACT)) for one in memories}
    lines = "\n".join(f"- id={id_} | {fact}" for id_, fact in facts.items())
    said = head_and_tail(message, _LONGEST_MESSAGE)
    user = f"## Memories\n{lines}\n\n## Message of the user\n{said}"
    return CompletionRequest(prompt, user, "memory_relevance", RELEVANCE_SCHEMA)


def read_relevance(completion: Completion, asked: Sequence[Memory]) -> dict[str, float]:
    """The scores in a model's reply, 0 to 1, by id; the first one counts, unknown ids do not.

    Raises:
        ReplyUnusable: it scores none of the memories that were asked for.
    """
    offered = {memory.id for memory in asked}
    scores: dict[str, float] = {}
    for fields in map(mapping, read_items(completion, "scores", lambda one: "id" in one).items):
        # Earlier releases' prompts asked for ``relevance``; some models map ids to scores.
        own = {str(fields.get("id")): fields.get("score", fields.get("relevance"))}
        for id_, told in (own if "id" in fields else fields).items():
            score = number(told)
            if id_.strip() in offered and score is not None and 0 <= score <= 100:
                scores.setdefault(id_.strip(), score / 100 if "%" in str(told) else score)
    if not scores:
        raise ReplyUnusable("the model's reply scores none of the memories")
    # Some models score out of 10 or 100 whatever they are told.
    most = max(scores.values())
    scale = 1 if most <= 1 else 10 if most <= 10 else 100
    return {id_: score / scale for id_, score in scores.items()}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may fit a message; ``score`` is its relevance from 0 to 1."""

    memory: Memory
    score: float
