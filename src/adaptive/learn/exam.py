"""An exam of the model that learns: short messages with known answers, of which nothing is kept."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from adaptive.core import (
    AdaptiveMemoryError,
    Memory,
    Proposal,
    Provenance,
    ReplyUnusable,
    Turn,
    frozen,
    log_failure,
    phrase,
    titled_parts,
)
from adaptive.learn.extraction import extraction, typed_lines
from adaptive.learn.grounding import screened
from adaptive.learn.lesson import LessonResources
from adaptive.learn.proposals import ExtractionSource

_QUESTIONS = 6
_OWN_QUESTIONS = 3  # in the user's language; the others are English
_MOST_SECONDS = 300.0
_LEAST_RIGHT = 4
_MOST_INVENTED = 1


@frozen
class ExamQuestion:
    """A message, one of whose ``spellings`` its right note holds, and a memory that it changes."""

    message: str
    spellings: tuple[str, ...]
    memory: str = ""

    def is_said_by(self, proposal: Proposal) -> bool:
        """Whether a proposal tells what the message does."""
        content = proposal.draft.content.casefold()
        return any(one.casefold() in content for one in self.spellings)

    def is_answered_by(self, proposal: Proposal) -> bool:
        """Whether a proposal is the right one; what the message changes has to be changed."""
        kind = "UPDATE" if self.memory else "NEW"
        return proposal.kind == kind and self.is_said_by(proposal)


def exam_questions(language: str) -> list[ExamQuestion]:
    """The questions of an exam, the first of them in a language, if that is known (``de-DE``)."""
    parts = titled_parts("exam")
    own = parts.get(language[:2].lower(), "").splitlines()[:_OWN_QUESTIONS]
    lines = [*own, *parts["en"].splitlines()]
    questions = list[ExamQuestion]()
    for line in dict.fromkeys(lines):
        message, spellings, memory = (f"{line} | ").split(" | ")[:3]
        alternatives = tuple(spellings.split(" / "))
        questions.append(ExamQuestion(message, alternatives, memory))
    return questions[:_QUESTIONS]


async def examination(
    room_of: Callable[[], Awaitable[LessonResources]],
    language: str,
    tell: Callable[[str], Awaitable[None]],
) -> tuple[str, str]:
    """The phrase for whether the model is good enough, and what is told of it."""
    questions = exam_questions(language)
    asked = right = invented = 0
    hindrance = ""
    began = time.monotonic()
    try:
        async with asyncio.timeout(_MOST_SECONDS):
            room = await room_of()
            for question in questions:
                step = phrase("exam_step", n=asked + 1, all=len(questions))
                await tell(step)
                proposals = await _answer(room, question)
                asked += 1
                right += any(map(question.is_answered_by, proposals))
                invented += sum(
                    not question.is_said_by(proposal) for proposal in proposals
                )
    except (AdaptiveMemoryError, TimeoutError) as error:
        log_failure("the model is not examined to the end", error)
        hindrance = str(error) or phrase("too_long")
    if not asked:
        return "problem", hindrance
    seconds = (time.monotonic() - began) / asked
    result = phrase(
        "exam_result",
        right=right,
        n=asked,
        invented=invented,
        seconds=round(seconds),
    )
    is_good = is_good_enough(right, invented)
    advice = "" if is_good else phrase("choose_another")
    told = "; ".join(filter(None, (result, hindrance, advice)))
    return "ok" if is_good else "note", told


def is_good_enough(right: int, invented: int) -> bool:
    """Whether a model may learn from people: it misses little, and invents next to nothing."""
    return right >= _LEAST_RIGHT and invented <= _MOST_INVENTED


async def _answer(
    room: LessonResources, question: ExamQuestion
) -> list[Proposal]:
    """What of a model's proposals would be saved; none where it can't be read."""
    now = datetime.now(UTC)
    said = Provenance("", "", int(now.timestamp()))
    turn = Turn(room.memory.user_id, "saved", question.message, (), said)
    shown = list[Memory]()
    if question.memory:
        shown.append(Memory("exam", question.memory, 0, 0))
    source = ExtractionSource(typed_lines(question.message), shown)
    try:
        extracted = await extraction(
            room.ask, turn, source, room.settings, now
        )
    except ReplyUnusable:
        return []
    screening = await asyncio.to_thread(
        screened, extracted, turn, shown, room.settings
    )
    return [proposal for proposal in screening if proposal.is_open]
