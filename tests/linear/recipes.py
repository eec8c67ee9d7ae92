"""How functions are called that need more than a text, and why others are not called at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from adaptive.answer.postprocessing import (
    AnsweredTurn,
    Postprocessing,
    _new_notes,
    _request,
)
from adaptive.control.about import _fitting, _resting_on, read_about
from adaptive.control.commands import _told_of
from adaptive.control.entries import _of_table, _rewritten
from adaptive.control.requests import (
    _told_change,
    changes_told,
    memory_page,
    named_memories,
    overview,
    undone_told,
)
from adaptive.control.transfer import read_import
from adaptive.control.turn import rememberable_messages
from adaptive.core.marks import Place, scope_of
from adaptive.core.messages import normalised_text
from adaptive.core.model import Draft, Memory, Turn
from adaptive.core.providers import Completion, CompletionRequest
from adaptive.core.texts import classifier
from adaptive.history.conversation import history_summary_request
from adaptive.history.finding import titled_like
from adaptive.history.indexing import message_units
from adaptive.history.section import (
    PastMessage,
    _closeness,
    _evidence,
    _exchanges,
    packed_section,
    past_messages,
    rank_messages,
)
from adaptive.host.dialog import _chosen_by_numbers, _field, _option_of, _parts
from adaptive.learn.duplicates import reconciled
from adaptive.learn.extraction import extraction_request
from adaptive.learn.grounding import screened
from adaptive.learn.outdated import read_outdated
from adaptive.learn.pastes import introduced_apart
from adaptive.learn.proposals import (
    ExtractionSource,
    _proposals_in,
    message_lines,
    read_notes,
    read_proposals,
)
from adaptive.learn.suggestions import (
    joined_lines,
)
from adaptive.learn.support import (
    Vocabulary,
    new_name,
    said_marks,
    supported_share,
)
from adaptive.learn.turns import (
    _shortened,
    joined_turn,
    marked_turn,
    past_turns,
    typed_turn,
)
from adaptive.llm.endpoints import chat_body, chat_text, ollama_options
from adaptive.llm.reply import _found, read_items, read_object
from adaptive.memory.archive import _said, plan_restoration
from adaptive.memory.audit import AuditEntry, _secretless
from adaptive.memory.gate import Gate, holds_listed_word, listed_words
from adaptive.memory.tables import ArchivedMemory, ChatNotes
from adaptive.privacy.redacted_chat import EventRestorer, redacted_chat
from adaptive.privacy.redaction import Redaction, redacted_request
from adaptive.privacy.scanning import spliced
from adaptive.privacy.sealing import Sealer
from adaptive.privacy.secrets import excerpt_without_secrets
from adaptive.recall.block import (
    _reason_against,
    entry_of,
    extended_block,
)
from adaptive.recall.chat_so_far import ChatSoFar, message_keys
from adaptive.recall.placement import placed_entries
from adaptive.recall.prompt import (
    MessageBlock,
    with_block,
    with_message_blocks,
)
from adaptive.recall.question import question_of, thought_queries, thoughts_of
from adaptive.recall.request import plain_window
from adaptive.search.fusion import ranking_index, ranking_query
from adaptive.search.history_ports import HistoryHit, ListedChat
from adaptive.search.index import MemoryIndex, build_index
from adaptive.search.tokens import KnownWords, keyword_index
from tests.linear.functions import (
    SETTINGS,
    memories,
    messages,
    parts,
    proposal,
    turn,
)

Recipe = Callable[[str], Callable[[], Any]]

# A sentence that a fact may have, and a quotation: replies with longer ones are refused, or cut.
LONGEST_SENTENCE = 4000
HOOK: Any = SimpleNamespace(
    settings=SETTINGS,
    state={},
    user_id="ada",
    chat_id="chat",
    question_id="m1",
    answer_id="m2",
    chat_model_id="model",
    place=Place(),
    is_direct=False,
    told_kind="saved",
    regenerated_message={},
    time_zones=(),
    metadata={},
)
NAMES = [f"name{number}" for number in range(300)]
_DAY: Callable[[float], str] = str
_LAST_DAY = date(2026, 11, 26)


LISTED = listed_words("salary, credit card, \u7cd6") or re.compile("")


def entry(text: str) -> AuditEntry:
    """A change from one text to nearly the same."""
    return AuditEntry(
        "updated",
        "1",
        1,
        before=Memory("1", text, 0, 0),
        after=text[1:],
        reason=text,
    )


def archived(text: str) -> list[ArchivedMemory]:
    """Two archived memories."""
    return [ArchivedMemory(one, text, 1) for one in memories(text)]


PAST_HIT = HistoryHit("c", "0", "", 0.5)


def past(text: str) -> list[PastMessage]:
    """Past messages, one of them long, and its parts."""
    several = [text, text[1:], *parts(text)[:400]]
    return [
        PastMessage(str(at), "c", "user", one, at)
        for at, one in enumerate(several)
    ]


def index(text: str) -> MemoryIndex:
    """Two memories with their index."""
    return build_index(memories(text), {}, None, "")


def answered(text: str) -> AnsweredTurn:
    """A turn in which both say it."""
    return AnsweredTurn(HOOK, text, text, turn(text))


def body(text: str) -> dict[str, Any]:
    """A request, or the messages of an outlet."""
    return {"messages": messages(text)}


def restored_event(text: str) -> Any:
    """A piece of an answer, and the last one, through what restores placeholders."""
    events = EventRestorer(Redaction())
    choice = {
        "index": 0,
        "delta": {"content": text, "tool_calls": []},
        "finish_reason": None,
    }
    events.restored({"choices": [choice]})
    return events.restored({"choices": [{**choice, "finish_reason": "stop"}]})


def redacted(text: str) -> Any:
    """A text in which something was found, with what is restored of it."""
    redaction = Redaction()
    there = redaction.redact_all([text, "I am at ada@example.org."])
    return redaction.restore(there[0]), redaction.restore(
        there[0], json_text=True
    )


def is_operation(fields: Mapping[str, Any]) -> bool:
    """Whether an item of a reply is one."""
    return "operation" in fields


def queued_turn(text: str) -> Turn:
    """A turn as it comes out of the queue."""
    return joined_turn([turn(text)])


RECIPES: Mapping[str, Recipe] = {
    "privacy.scanning.spliced": lambda text: partial(
        spliced, text, [(at, at + 1, "") for at in range(0, len(text), 8)]
    ),
    "answer.postprocessing._new_notes": lambda text: partial(
        _new_notes,
        answered(text),
        ChatNotes(text[:1000], ("a",)),
        Postprocessing(chat_summary=text[:1000]),
        memories(text),
    ),
    "answer.postprocessing._request": lambda text: partial(
        _request, answered(text), ChatNotes()
    ),
    "control.about._fitting": lambda text: partial(
        _fitting,
        memories(text),
        {memory.id: 1 for memory in memories(text)},
        3000,
    ),
    "control.about._resting_on": lambda text: partial(
        _resting_on, text, [1], dict(enumerate(memories(text), 1))
    ),
    "control.about.read_about": lambda text: partial(
        read_about,
        Completion(text),
        dict(enumerate(memories(text), 1)),
        "2026-11-22",
    ),
    "control.entries._rewritten": lambda text: partial(
        _rewritten, "lists", text
    ),
    "control.entries._of_table": lambda text: partial(
        _of_table, text.splitlines()
    ),
    "control.transfer.read_import": lambda text: partial(read_import, text),
    "control.requests.overview": lambda text: partial(
        overview,
        "2 memories",
        memories(text),
        {each.id: 1 for each in memories(text)},
        _DAY,
        [text],
    ),
    "control.requests.memory_page": lambda text: partial(
        memory_page,
        memories(text),
        {each.id: 1 for each in memories(text)},
        _DAY,
    ),
    "control.requests.changes_told": lambda text: partial(
        changes_told, [entry(text)] * 2, 2, withheld=lambda _: False
    ),
    "control.requests.undone_told": lambda text: partial(
        undone_told, [entry(text)] * 2, [entry(text)], withheld=lambda _: False
    ),
    "host.dialog._chosen_by_numbers": lambda text: partial(
        _chosen_by_numbers, text, 9
    ),
    "host.dialog._option_of": lambda text: partial(
        _option_of, text, ["Keep", text]
    ),
    "host.dialog._field": lambda text: partial(_field, text, [text]),
    "host.dialog._parts": lambda text: partial(_parts, text, text),
    "control.requests._told_change": lambda text: partial(
        _told_change, entry(text)
    ),
    "core.marks.scope_of": lambda text: partial(scope_of, "model", text),
    "memory.archive._said": lambda text: partial(_said, archived(text)[0]),
    "memory.archive.plan_restoration": lambda text: partial(
        plan_restoration, archived(text), memories(text), 10
    ),
    "control.requests.named_memories": lambda text: partial(
        named_memories, memories(text)
    ),
    "control.commands._told_of": lambda text: partial(_told_of, [], text),
    "core.messages.normalised_text": lambda text: partial(
        normalised_text, text, "NFKD"
    ),
    "history.section.past_messages": lambda text: partial(
        past_messages, "c", messages(text), rememberable_messages
    ),
    "history.section.rank_messages": lambda text: partial(
        rank_messages, text, [PAST_HIT], past(text), {}
    ),
    "history.section._exchanges": lambda text: partial(_exchanges, past(text)),
    "history.section._closeness": lambda text: partial(
        _closeness, past(text), [PAST_HIT]
    ),
    "history.section._evidence": lambda text: partial(
        _evidence, text, 0.5, 0.5, {}
    ),
    "history.section.packed_section": lambda text: partial(
        packed_section, text, past(text), [text, text], 1000
    ),
    "history.conversation.history_summary_request": lambda text: partial(
        history_summary_request, text, past(text), 500
    ),
    "history.indexing.message_units": lambda text: partial(
        message_units, past(text), "model"
    ),
    "learn.duplicates.reconciled": lambda text: partial(
        reconciled,
        [proposal(text[:LONGEST_SENTENCE])],
        index(text),
        {},
        SETTINGS,
    ),
    "learn.extraction.extraction_request": lambda text: partial(
        extraction_request,
        turn(text),
        ExtractionSource(message_lines(text), memories(text)),
        SETTINGS,
        datetime(2026, 11, 22, tzinfo=UTC),
    ),
    "learn.proposals._proposals_in": lambda text: partial(
        lambda fields: list(
            _proposals_in(fields, ExtractionSource((text,)), SETTINGS)
        ),
        {"operation": "NEW", "content": text, "evidence": text},
    ),
    "core.texts.Classifier.scores": lambda text: partial(
        classifier("paste").scores, text
    ),
    "learn.pastes.introduced_apart": lambda text: partial(
        introduced_apart, text, classifier("paste").scores
    ),
    # A message has 80 lines at most.
    "learn.proposals.read_notes": lambda text: partial(
        read_notes, text, message_lines(text), 0
    ),
    "learn.proposals.read_proposals": lambda text: partial(
        read_proposals,
        Completion(text),
        ExtractionSource((text,), memories(text)),
        SETTINGS,
    ),
    "learn.grounding.screened": lambda text: partial(
        screened,
        [proposal(text[:100]), proposal(text).decided("rejected", "")],
        queued_turn(text),
        memories(text),
        SETTINGS,
    ),
    "learn.suggestions.joined_lines": lambda text: partial(
        joined_lines, text, text[1:]
    ),
    "learn.outdated.read_outdated": lambda text: partial(
        read_outdated, Completion(text), [], memories(text), text, _LAST_DAY
    ),
    "learn.turns._shortened": lambda text: partial(
        _shortened, turn(text).earlier, excerpt_without_secrets
    ),
    "learn.turns.marked_turn": lambda text: partial(
        marked_turn, [turn(text)] * 2
    ),
    "learn.turns.joined_turn": lambda text: partial(
        joined_turn, [turn(text)] * 2
    ),
    "history.finding.titled_like": lambda text: partial(
        titled_like, [ListedChat("c", text, 0)], text
    ),
    "learn.turns.past_turns": lambda text: partial(
        past_turns, messages(text), ["m1"], turn(""), {}
    ),
    "learn.turns.typed_turn": lambda text: partial(
        typed_turn, HOOK, messages(text), messages(text)
    ),
    "learn.support.said_marks": lambda text: partial(
        said_marks, text, Vocabulary.of([text[1:]])
    ),
    "learn.support.new_name": lambda text: partial(
        new_name, text, Vocabulary.of([text[1:]])
    ),
    "learn.support.supported_share": lambda text: partial(
        supported_share, text, Vocabulary.of([text[1:]])
    ),
    "llm.endpoints.chat_body": lambda text: partial(
        chat_body, "model", CompletionRequest(text, text, "form", {}), "text"
    ),
    "llm.endpoints.ollama_options": lambda text: partial(
        ollama_options, CompletionRequest(text, text, "form"), "text"
    ),
    "llm.endpoints._completion": lambda text: partial(
        chat_text, {"choices": [{"message": {"content": text}}]}
    ),
    "llm.reply.read_items": lambda text: partial(
        read_items, Completion(text), "operations", is_operation
    ),
    "llm.reply.read_object": lambda text: partial(
        read_object, Completion(text), "operations", is_operation
    ),
    "llm.reply._found": lambda text: partial(
        _found, text, "operations", is_operation
    ),
    "memory.gate.holds_listed_word": lambda text: partial(
        holds_listed_word, text, LISTED
    ),
    "memory.gate.Gate.judged": lambda text: partial(
        Gate(SETTINGS).judged, text
    ),
    "memory.gate.Gate.tellable": lambda text: partial(
        Gate(SETTINGS).tellable, text
    ),
    "memory.gate.Gate.allows_label": lambda text: partial(
        Gate(SETTINGS).allows_label, text
    ),
    "memory.gate.Gate.judged_draft": lambda text: partial(
        Gate(SETTINGS).judged_draft, Draft(text)
    ),
    "memory.audit._secretless": lambda text: partial(_secretless, entry(text)),
    "privacy.redacted_chat.EventRestorer.restored": lambda text: partial(
        restored_event, text
    ),
    "privacy.redacted_chat.EventRestorer.restored_line": lambda text: partial(
        EventRestorer(Redaction()).restored_line, f"data: {text}"
    ),
    "privacy.redaction.Redaction.redact_all": lambda text: partial(
        redacted, text
    ),
    "privacy.redaction.redacted_request": lambda text: partial(
        redacted_request,
        CompletionRequest(text, text, "form", {}),
        Redaction(),
    ),
    "privacy.redacted_chat.redacted_chat": lambda text: partial(
        redacted_chat, messages(text), Redaction()
    ),
    "privacy.sealing.Sealer.seal": lambda text: partial(
        Sealer("s").seal, "ada", "x", text
    ),
    "privacy.sealing.Sealer.open": lambda text: partial(
        Sealer("s").open, "ada", "x", Sealer("s").seal("ada", "x", text)
    ),
    "recall.block.entry_of": lambda text: partial(entry_of, memories(text)[0]),
    "recall.placement.placed_entries": lambda text: partial(
        placed_entries, ChatSoFar(), parts(text), parts(text), {}, 1000
    ),
    "recall.chat_so_far.message_keys": lambda text: partial(
        message_keys, messages(text)
    ),
    "recall.prompt.with_message_blocks": lambda text: partial(
        with_message_blocks, messages(text), [MessageBlock(text, text)]
    ),
    "recall.block.extended_block": lambda text: partial(
        extended_block, text, text[1:]
    ),
    "recall.prompt.with_block": lambda text: partial(
        with_block,
        [{"role": "system", "content": text}, *messages(text)],
        extended_block("", text),
    ),
    "recall.question.question_of": lambda text: partial(
        question_of, HOOK, messages(text)
    ),
    "recall.block._reason_against": lambda text: partial(
        _reason_against, "1", True, text, text[1:]
    ),
    "recall.request.plain_window": lambda text: partial(
        plain_window, HOOK, {"messages": messages(text)}
    ),
    "search.tokens.keyword_index": lambda text: partial(
        keyword_index, [parts(text)]
    ),
    "search.tokens.KeywordIndex.matches": lambda text: partial(
        keyword_index([parts(text)[:400]]).matches, parts(text)
    ),
    "search.tokens.KeywordIndex.as_spelled": lambda text: partial(
        keyword_index([NAMES], [NAMES]).as_spelled, parts(text)
    ),
    "search.tokens.KnownWords.as_spelled": lambda text: partial(
        KnownWords(parts(text)).as_spelled, text[1:41]
    ),
    "search.tokens.KeywordIndex.rarest": lambda text: partial(
        keyword_index([parts(text)[:400]]).rarest, parts(text)
    ),
    "recall.question.thoughts_of": lambda text: partial(
        thoughts_of, text, keyword_index([NAMES])
    ),
    "recall.question.thought_queries": lambda text: partial(
        thought_queries, [text, text], None
    ),
    "search.fusion.ranking_query": lambda text: partial(
        ranking_query, text, text[1:], None
    ),
    "search.fusion.ranking_index": lambda text: partial(
        ranking_index,
        parts(text)[:400],
        np.zeros((len(parts(text)[:400]), 0), np.float32),
        None,
    ),
    "search.index.build_index": lambda text: partial(index, text),
}
