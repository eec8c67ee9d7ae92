"""Past messages for a question: in their order, and as a section of the memory block.

The vector database brings units: messages, each embedded with the one before it. Both messages of
a unit are candidates, and keywords are weighed over these alone.

    base  = closeness of the message's unit
            + keywords * BM25 of it with the candidate before it / best BM25
    score = base + max over candidates j near by of base_j * fade^distance

Closeness is 1 for the best hit and 0 for the last. The last line keeps together what was said in
one breath: of a question that names a person or a day, half the evidence stands next to the rest of
it, in other words.

Whether anything fits is judged apart, whatever the embedding model. As for memories (see
``search.calibration``), the nearest unit is held against prompts that have nothing to do with
anybody. How near these come to one another is known of a model, whoever asks:

    evidence = null spreads above the null mean + COVERAGE * share of the question's words that
               stand in one message or the one before it, rare words counting more

While a model's null prompts have no vectors the words decide.

The section is the same to the byte whenever the same messages are in it. Messages stand in the
order in which they were said, under the day of their chat, each on a line of its own that begins
with its role; no text can open a block, a heading or another one's turn.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adaptive.core import (
    Message,
    MessageFilter,
    Vectors,
    branch_to,
    estimated_tokens,
    frozen,
    has_words,
    head_and_tail,
    listed_lines,
    local_time,
    message_text,
    newest_branch,
    passages,
    said_at,
    spoken_text,
    text_field,
    without_spans,
)
from adaptive.privacy import (
    escaped_entry,
    excerpt_without_secrets,
    without_secrets,
)
from adaptive.search import (
    HistoryHit,
    MessageKey,
    NullLevel,
    Quotation,
    Script,
    content_hash,
    keyword_index,
    script_of,
    tokens,
)

_LONGEST_SEARCHED = 20_000


@frozen
class PastMessage:
    """A message of a chat as it is recalled."""

    id: str
    chat_id: str
    role: Literal["user", "assistant"]
    text: str  # without thinking and what tools returned
    said_at: int  # epoch seconds
    chat_title: str = ""

    @property
    def key(self) -> MessageKey:
        return self.chat_id, self.id

    @property
    def quotation(self) -> Quotation:
        """What tells later whether the message stands as it was quoted."""
        return self.chat_id, self.id, content_hash(self.text)

    @property
    def order(self) -> tuple[int, bool]:
        """Where it stands among others; of one second, an answer after its question."""
        return self.said_at, self.role == "assistant"


def secretless(text: str) -> str:
    """A text with a placeholder for each secret; of a very long one head and tail."""
    return excerpt_without_secrets(text, _LONGEST_SEARCHED)


def past_messages(
    chat_id: str,
    stored: Iterable[Message],
    rememberable: MessageFilter,
    newest_id: str = "",
) -> list[PastMessage]:
    """The messages of a chat that can be recalled, oldest first.

    Of its branches that one counts which goes through ``newest_id`` (see ``newest_branch``).
    Messages without words, unfinished and failed answers, and roles other than user
    and assistant are left out, and so is what is not ``rememberable``.
    """
    standing = rememberable(newest_branch(stored, newest_id))
    messages = (past_message(chat_id, message) for message in standing)
    return [message for message in messages if message is not None]


def past_message(chat_id: str, stored: Message) -> PastMessage | None:
    """One message without thinking, tool results and what a filter put in; ``None`` if left out."""
    role = stored.get("role")
    if role not in ("user", "assistant") or stored.get("done") is False:
        return None
    has_failed = role == "assistant" and stored.get("error")
    text = without_spans(
        spoken_text(message_text(stored)), "think|thinking|reasoning"
    ).strip()
    if has_failed or not has_words(text):
        return None
    return PastMessage(
        id=str(stored["id"]),
        chat_id=chat_id,
        role=role,
        text=text,
        said_at=said_at(stored, 0),
        chat_title=text_field(stored, "chat_title"),
    )


def unseen_messages(
    outline: Iterable[Message], newest_id: str, seen_questions: int
) -> frozenset[str]:
    """Ids of a chat's messages that stand before the oldest one that is sent to the model.

    Of the branch that ends in ``newest_id`` as many questions are sent as there are user messages
    in the request, whoever has cut it: the host's compaction, another filter, or this one. Empty
    where that message is not stored, since nobody could tell then.
    """
    branch = branch_to(
        {str(message["id"]): message for message in outline}, newest_id
    )
    questions = [
        at
        for at, message in enumerate(branch)
        if message.get("role") == "user"
    ]
    if not 0 < seen_questions <= len(questions):
        return frozenset()
    return frozenset(
        str(message["id"]) for message in branch[: questions[-seen_questions]]
    )


# How near null prompts come to one another by an embedder, in each script.
HistoryLevels = Mapping[Script, NullLevel]

# Evidence that a question needs: measured on LoCoMo (see ``benchmarks.history``).
HISTORY_GATE = 3.0
# Evidence of a question whose words all stand in one past message; the same without vectors.
_COVERAGE = 8.0
_COVERAGE_ALONE = 14.0
# What counts how much, against the closeness of a unit, which counts 1. Chosen on two of LoCoMo's
# conversations (conv-26 and conv-30), where most settings near by do as well.
_KEYWORDS = 2.0
_FADE = 0.85
# So many candidates before and after are near.
_NEAR = 4
# Head and tail of a long message; what is shown of it is chosen from the whole.
_LONGEST_COMPARED = 2000
_SMALL_TALK = frozenset(tokens(" ".join(listed_lines("small_talk"))))
HISTORY_HEADING = "### Relevant past conversation"
# Of a longer message the passage is shown that has most to do with the question.
LONGEST_SHOWN = 800
# Of the budget, for the names of similar chats.
_SHARE_FOR_CHATS = 0.2
# After so many messages that are too long for what is left, nobody looks for a shorter one.
_MOST_PASSED_OVER = 20


def rank_messages(
    question: str,
    hits: Sequence[HistoryHit],
    messages: Collection[PastMessage],
    levels: HistoryLevels,
    gate: float = HISTORY_GATE,
) -> dict[PastMessage, float]:
    """The messages of the hits with their scores, best first, of equals the newer; none where nothing fits.

    Hits come best first, and ``messages`` are those that still stand.
    """
    words = tokens(question)
    if not messages or _SMALL_TALK.issuperset(words):
        return {}
    ordered = sorted(
        messages, key=lambda message: (message.chat_id, message.order)
    )
    chats = np.array([message.chat_id for message in ordered])
    keywords = keyword_index(_exchanges(ordered))
    matches = keywords.matches(words)
    covered = float(matches.coverage.max())
    if _evidence(question, hits[0].cosine, covered, levels) < gate:
        return {}
    base = _closeness(ordered, hits)
    matched = matches.scores
    base += matched * np.float32(_KEYWORDS / max(matched.max(), 1e-9))
    score = base + _best_near(base, chats)
    scores = dict(zip(ordered, score.round(4).tolist(), strict=True))
    best_first = sorted(
        ordered, key=lambda message: (-scores[message], -message.said_at)
    )
    return {message: scores[message] for message in best_first}


def _exchanges(ordered: Sequence[PastMessage]) -> list[list[str]]:
    """The words of each message with those of the one before it in its chat."""
    exchanges: list[list[str]] = []
    former_chat = ""
    former_words: list[str] = []
    for message in ordered:
        words = tokens(head_and_tail(message.text, _LONGEST_COMPARED))
        if message.chat_id == former_chat:
            exchanges.append(former_words + words)
        else:
            exchanges.append(words)
        former_chat = message.chat_id
        former_words = words
    return exchanges


def _closeness(
    ordered: Sequence[PastMessage], hits: Sequence[HistoryHit]
) -> Vectors:
    """From 1 for the message of the best hit to 0 for that of the last, and for all others."""
    scores = {(hit.chat_id, hit.message_id): hit.cosine for hit in hits}
    least = hits[-1].cosine
    span = hits[0].cosine - least
    closeness = [
        (scores.get(message.key, least) - least) / (span or 1.0)
        for message in ordered
    ]
    return np.array(closeness, dtype=np.float32)


def _evidence(
    question: str, nearest: float, coverage: float, levels: HistoryLevels
) -> float:
    """How much speaks for recalling anything for a question."""
    level = levels.get(script_of(question))
    if level is None:
        return _COVERAGE_ALONE * coverage
    standing = max((nearest - level.mean) / level.spread, 0.0)
    return standing + _COVERAGE * coverage


def _best_near(base: Vectors, chats: NDArray[np.str_]) -> Vectors:
    """The best faded base of the messages around each, within its chat; itself not counted."""
    best = np.zeros_like(base)
    for distance in range(1, min(_NEAR, len(base) - 1) + 1):
        earlier = slice(None, -distance)
        later = slice(distance, None)
        fade = np.float32(_FADE**distance) * (chats[later] == chats[earlier])
        np.maximum(best[later], base[earlier] * fade, out=best[later])
        np.maximum(best[earlier], base[later] * fade, out=best[earlier])
    return best


@frozen
class HistorySection:
    """What is injected, the messages that are quoted in it, and what to tell the user about it.

    It is told of the messages ``behind`` it as well, without their own words.
    """

    text: str = ""
    messages: Sequence[PastMessage] = ()
    note: str = ""
    behind: Sequence[PastMessage] = ()

    @property
    def quoted(self) -> list[Quotation]:
        """The messages that must stand as they are for the text to stand."""
        messages = dict.fromkeys((*self.messages, *self.behind))
        return [message.quotation for message in messages]


def packed_section(
    question: str,
    messages: Sequence[PastMessage],
    similar_chats: Sequence[str],
    most_tokens: int,
    time_zones: Sequence[str] = (),
) -> HistorySection:
    """The section of the best messages that fit the budget; empty where none does.

    ``messages`` come best first, each whole or as its best passage; one that is too long for what
    is left is passed over. ``similar_chats`` are named first, within their share. A day's heading
    is paid for with the first line under it. Secrets have a placeholder.
    """
    words = frozenset(tokens(question))
    left = most_tokens - estimated_tokens(f"{HISTORY_HEADING}\n")
    parts = [HISTORY_HEADING]
    left_beside_chats = left - int(most_tokens * _SHARE_FOR_CHATS)
    for chat in similar_chats:
        line = f"- Similar chat: {escaped_entry(without_secrets(chat))}"
        cost = estimated_tokens(f"{line}\n")
        if left - cost >= left_beside_chats:
            left -= cost
            parts.append(line)
    lines: dict[PastMessage, str] = {}
    headings = set[tuple[str, str]]()
    passed_over = 0
    for message in messages:
        passage = escaped_entry(shown_passage(secretless(message.text), words))
        line = f"- {message.role.capitalize()}: {passage}"
        day = _day(message, time_zones)
        cost = estimated_tokens(f"{line}\n")
        if (day, message.chat_id) not in headings:
            cost += estimated_tokens(f"{day}\n")
        if cost > left:
            passed_over += 1
            if passed_over == _MOST_PASSED_OVER:
                break
            continue
        left -= cost
        headings.add((day, message.chat_id))
        lines[message] = line
    # A day's chats by their first line.
    days: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for message in sorted(lines, key=lambda each: (each.order, each.key)):
        day = _day(message, time_zones)
        days[day, message.chat_id].append(lines[message])
    for (day, _), day_lines in days.items():
        parts += [day, *day_lines]
    return HistorySection("\n".join(parts) if lines else "", tuple(lines))


def _day(message: PastMessage, time_zones: Sequence[str]) -> str:
    """The day on which a message was said, as the user's calendar has it."""
    return local_time(message.said_at, *time_zones).date().isoformat()


def shown_passage(text: str, words: frozenset[str]) -> str:
    """The text, or of a long one the passage in which most of the words stand."""
    if len(text) <= LONGEST_SHOWN:
        return text
    pieces = passages(text, LONGEST_SHOWN) or [""]
    best = max(
        pieces, key=lambda piece: len(words.intersection(tokens(piece)))
    )
    before = "[…] " if best is not pieces[0] else ""
    after = " […]" if best is not pieces[-1] else ""
    return f"{before}{best}{after}"
