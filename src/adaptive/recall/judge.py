"""Asking a model how well memories fit a message; an option, since it costs time before the answer.

Without a usable reply in time the order that the candidates came in stands.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Protocol

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from adaptive.errors import AdaptiveMemoryError, ReplyUnusable
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply import read_items
from adaptive.measures import staged
from adaptive.messages import head_and_tail
from adaptive.model import Candidate, Completion, CompletionRequest, Memory
from adaptive.ports import Completer
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.retry import RetryPolicy
from adaptive.shapes import mapping
from adaptive.soft import soft_import

JudgementKind = Literal["clear", "cached", "asked", "failed"]
ScoreKey = tuple[str, str, str, str, str]

_CACHETOOLS = soft_import("cachetools", "relevance scores are kept by simpler means")
_LONGEST_MESSAGE = 4000
_LONGEST_FACT = 600
_REMEMBERED_SCORES = 20_000
# A second try would mostly cost the user the rest of the time.
_NO_RETRY = RetryPolicy(retries=0)

RELEVANCE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "scores": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "score": {"type": "number"}},
                "required": ["id", "score"],
            },
        }
    },
    "required": ["scores"],
}


@dataclass(frozen=True, slots=True)
class JudgeRules:
    """When a model is asked, for how long, and how long its scores are kept; times in seconds.

    A candidate is clear by itself from ``clear_above`` on and up to ``clear_below``, both on the
    scale of the candidates' scores. ``prompt`` replaces the built-in one unless it is empty.
    """

    deadline: float
    clear_above: float = 1.0
    clear_below: float = 0.0
    cache_seconds: float = 86_400
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Candidates, best first, and where their order comes from.

    ``kind``: every candidate was ``clear``; scores were all ``cached``; a model was ``asked``; or
    that ``failed`` for ``reason``, and the candidates are those that were given, unchanged.
    ``scored`` holds the ids whose ``score`` is a model's.
    """

    candidates: tuple[Candidate, ...]
    kind: JudgementKind
    scored: frozenset[str] = frozenset()
    reason: str = ""


class _Scores(Protocol):
    def get(self, key: ScoreKey, /) -> float | None: ...

    def __setitem__(self, key: ScoreKey, score: float, /) -> None: ...

    def __iter__(self) -> Iterator[ScoreKey]: ...

    def pop(self, key: ScoreKey, default: None, /) -> object: ...


class RelevanceCache:
    """Scores that a model gave, bounded in number and in time; keys begin with the user's id."""

    def __init__(
        self, most: int = _REMEMBERED_SCORES, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._now = now
        self._seconds = -1.0
        self._scores: _Scores = _ScoresUntil(most, 0, now)

    def lasting(self, seconds: float) -> _Scores:
        """The scores; when they are to last for another time than before, they begin anew."""
        if seconds != self._seconds:
            kind = _ScoresUntil if _CACHETOOLS is None else _CACHETOOLS.TTLCache
            self._scores = kind(self._most, seconds, self._now)
            self._seconds = seconds
        return self._scores

    def forget(self, user_id: str) -> None:
        """Let go of the scores of a user's memories."""
        for key in [key for key in self._scores if key[0] == user_id]:
            self._scores.pop(key, None)


class _ScoresUntil:
    """What ``cachetools.TTLCache`` does, as far as it is needed here."""

    def __init__(self, most: int, seconds: float, now: Callable[[], float]) -> None:
        self._most = most
        self._seconds = seconds
        self._now = now
        self._held: OrderedDict[ScoreKey, tuple[float, float]] = OrderedDict()

    def get(self, key: ScoreKey, /) -> float | None:
        score, until = self._held.get(key, (0.0, 0.0))
        return score if self._now() < until else None

    def __setitem__(self, key: ScoreKey, score: float, /) -> None:
        now = self._now()
        self._held[key] = (score, now + self._seconds)
        self._held.move_to_end(key)
        # All last equally long, so the first one written is the first one over.
        while len(self._held) > self._most or next(iter(self._held.values()))[1] < now:
            self._held.popitem(last=False)

    def __iter__(self) -> Iterator[ScoreKey]:
        return iter(self._held)

    def pop(self, key: ScoreKey, default: None, /) -> object:
        return self._held.pop(key, default)


@dataclass(frozen=True, slots=True)
class RelevanceJudge:
    """A model that scores candidates, with what is remembered of it.

    It is not shown the memories of ``hidden``: whoever asks it keeps them back.
    """

    completer: Completer
    formats: AnswerFormats
    cache: RelevanceCache
    rules: JudgeRules
    hidden: LocalOnlyBanks = NOTHING_HIDDEN

    @staged("judge")
    async def judged(
        self, user_id: str, message: str, candidates: Sequence[Candidate]
    ) -> Judgement:
        """The candidates (best first) in the order of the model's scores; never raises its errors.

        A scored candidate carries the model's score in place of its own. Those without one, because
        the model left them out, keep their own and stand behind, in the order they came in. No call
        is made if each candidate is clear by its own score or its score is remembered; else all
        that are not remembered are asked for, so that they are judged side by side.
        """
        try:
            prompt = render_prompt("relevance", self.rules.prompt, {})
            keys = self._keys(user_id, _hashed(prompt, message), candidates)
            held = self.cache.lasting(self.rules.cache_seconds)
            found = ((id_, held.get(key)) for id_, key in keys.items())
            scores = {id_: score for id_, score in found if score is not None}
            unknown = [one for one in candidates if one.memory.id not in scores]
            if all(self._is_clear(one) for one in unknown):
                return _judgement(candidates, scores, "cached" if scores else "clear")
            asked = [one.memory for one in unknown]
            completion = await ask(
                self.completer,
                relevance_request(prompt, message, asked),
                self.formats,
                _NO_RETRY,
                self.rules.deadline,
            )
            fresh = read_relevance(completion, asked)
        except AdaptiveMemoryError as error:
            return Judgement(tuple(candidates), "failed", reason=str(error))
        for id_, score in fresh.items():
            held[keys[id_]] = score
        return _judgement(candidates, scores | fresh, "asked")

    def _is_clear(self, candidate: Candidate) -> bool:
        score = candidate.score
        return score >= self.rules.clear_above or score <= self.rules.clear_below

    def _keys(
        self, user_id: str, question: str, candidates: Sequence[Candidate]
    ) -> dict[str, ScoreKey]:
        model = self.completer.key
        memories = [one.memory for one in candidates]
        return {
            one.id: (user_id, question, one.id, _hashed(one.content), model) for one in memories
        }


def relevance_request(prompt: str, message: str, memories: Sequence[Memory]) -> CompletionRequest:
    """The question to the model; ``prompt`` is its system message."""
    lines = [
        f"- id={one.id} | {escaped_entry(head_and_tail(one.content, _LONGEST_FACT))}"
        for one in memories
    ]
    sections = [
        "## Memories\n" + "\n".join(lines),
        "## Message of the user\n" + head_and_tail(message, _LONGEST_MESSAGE),
    ]
    return CompletionRequest(prompt, "\n\n".join(sections), "memory_relevance", RELEVANCE_SCHEMA)


def _number_of(value: object) -> object:
    """Models write a score of 0.9 as 0.9, "0.9" or "90%"."""
    if not isinstance(value, str):
        return value
    share = value.strip().removesuffix("%")
    try:
        return float(share) / (1 if share == value.strip() else 100)
    except ValueError:
        return value


class ScoreItem(BaseModel):
    """One item of the model's reply; earlier releases' prompts asked for ``relevance``."""

    id: str
    score: Annotated[
        float,
        BeforeValidator(_number_of),
        Field(ge=0, le=100, validation_alias=AliasChoices("score", "relevance")),
    ]


def read_relevance(completion: Completion, asked: Sequence[Memory]) -> dict[str, float]:
    """The scores in a model's reply, 0 to 1, by id; the first one counts, unknown ids do not.

    Raises:
        ReplyUnusable: it scores none of the memories that were asked for.
    """
    offered = {memory.id for memory in asked}
    scores: dict[str, float] = {}
    for item in read_items(completion, "scores", lambda fields: "id" in fields).items:
        for read in _score_items(mapping(item)):
            if read.id.strip() in offered:
                scores.setdefault(read.id.strip(), read.score)
    if not scores:
        raise ReplyUnusable("the model's reply scores none of the memories")
    # Some models score out of 10 or 100 whatever they are told.
    most = max(scores.values())
    scale = 1 if most <= 1 else 10 if most <= 10 else 100
    return {id_: score / scale for id_, score in scores.items()}


def _score_items(item: Mapping[str, Any]) -> Iterator[ScoreItem]:
    """The usable items in one: itself, or where it maps ids to scores, each of these."""
    pairs = [item] if "id" in item else [{"id": id_, "score": value} for id_, value in item.items()]
    for pair in pairs:
        try:
            yield ScoreItem.model_validate(pair)
        except ValidationError:
            continue


def _judgement(
    candidates: Sequence[Candidate], scores: Mapping[str, float], kind: JudgementKind
) -> Judgement:
    scored = [
        replace(one, score=scores[one.memory.id]) for one in candidates if one.memory.id in scores
    ]
    scored.sort(key=lambda one: -one.score)
    others = [one for one in candidates if one.memory.id not in scores]
    return Judgement((*scored, *others), kind, frozenset(one.memory.id for one in scored))


def _hashed(*texts: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        encoded = text.encode(errors="replace")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()
