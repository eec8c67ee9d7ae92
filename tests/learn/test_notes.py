"""Notes on the lines of a message: how a message is shown, and how replies are read."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.core.providers import Completion
from adaptive.learn.extraction import (
    extraction_request,
    shown_message,
    typed_lines,
)
from adaptive.learn.proposals import (
    ExtractionSource,
    holds_notes,
    message_lines,
    numbered,
    read_notes,
    read_proposals,
)
from adaptive.learn.turns import marked_turn
from tests.fakes import hook_settings, memory, turn
from tests.learn.world import MORNING
from tests.rates import over

LINES = (
    "i work nights at a bakery so he cant come before 2pm.",
    "ruben switched to the oboe last week lol.",
    "forget about the van",
)
SHOWN = (
    memory("van", "User drives a red van."),
    memory("tuba", "User's son Ruben plays the tuba."),
)
SETTINGS = hook_settings()


@dataclass(frozen=True)
class Case:
    """A line of a reply, and what it proposes: kind, memory, content, evidence, end."""

    line: str
    proposed: tuple[str, str, str, str, str] | None


CASES = [
    Case(
        "1 User works nights at a bakery.",
        (
            "NEW",
            "",
            "User works nights at a bakery.",
            "i work nights at a bakery so he",
            "",
        ),
    ),
    Case(
        "[1] User works nights.",
        ("NEW", "", "User works nights.", "i work nights at a", ""),
    ),
    Case(
        "2 #2 User's son Ruben plays the oboe.",
        (
            "UPDATE",
            "tuba",
            "User's son Ruben plays the oboe.",
            "ruben switched to the oboe last week",
            "",
        ),
    ),
    Case(
        "- 2. #2: User's son Ruben plays the oboe. (until 2031-03-03)",
        (
            "UPDATE",
            "tuba",
            "User's son Ruben plays the oboe.",
            "ruben switched to the oboe last week",
            "2031-03-03",
        ),
    ),
    Case(
        "3 #1 forget",
        ("DELETE", "van", "forget", "forget about the van", ""),
    ),
    Case(
        "1 [Work] User works nights.",
        ("NEW", "", "User works nights.", "i work nights at a", ""),
    ),
    Case("1 -", None),
    Case("1 \u2014", None),
    Case("Here are the notes:", None),
]


@over("case", CASES)
def test_a_note_is_read(case: Case) -> None:
    """A line proposes what it says, quotes the words that say it, and names memories by number."""
    source = ExtractionSource(LINES, SHOWN)
    completion = Completion(f"<think>hm\n1 User is.</think>1 -\n{case.line}")
    read = read_proposals(completion, source, SETTINGS)
    proposed = [
        (
            one.kind,
            one.memory_id,
            one.draft.content,
            "".join(one.evidence),
            one.draft.until,
        )
        for one in read
        if one.is_open
    ]
    assert proposed == ([case.proposed] if case.proposed else [])


def test_banks_of_the_admin_are_asked_for() -> None:
    """A model files notes in banks where the admin has others than usual, and those are read."""
    banks = hook_settings(allowed_memory_banks="General, Health")
    source = ExtractionSource(LINES)
    words = turn("\n".join(LINES))
    for settings, asked in ((SETTINGS, False), (banks, True)):
        request = extraction_request(words, source, settings, MORNING)
        assert ("[General], [Health]" in request.earlier[-2]) == asked
    (note,) = read_proposals(
        Completion("1 [health] User works nights."), source, banks
    )
    assert note.draft.bank == "Health"


def test_kinds_that_the_admin_wants_are_asked_for() -> None:
    """Where the admin wants facts of some kinds only, the model is told which."""
    few = hook_settings(memory_categories="goal, health")
    source = ExtractionSource(LINES)
    request = extraction_request(turn("hm"), source, few, MORNING)
    assert "of these kinds: health, goal." in request.earlier[-2]


def test_notes_are_of_the_line_that_has_their_words() -> None:
    """A note under a wrong number quotes the line that says it; one on no memory is a new fact."""
    for number in (1, 7):
        (note,) = read_notes(f"{number} User works nights.", LINES, 0)
        assert note["evidence"] == "i work nights at a"
    for lines in ([], ["I am fine thanks"]):
        (note,) = read_notes("7 User works nights.", lines, 0)
        assert note["evidence"] == ""
        (note,) = read_notes("7 #1 quiet", lines, 1)
        assert note["evidence"] == ""
    lines = ["I always forget my keys.", "Please delete the van."]
    (note,) = read_notes("2 #1 forget", lines, 1)
    assert note["evidence"] == lines[1]
    source = ExtractionSource(LINES, SHOWN)
    (wrong,) = read_proposals(Completion("1 #3 User works."), source, SETTINGS)
    assert (wrong.kind, wrong.memory_id, wrong.before) == ("NEW", "", "")


def test_nothing_is_forgotten_without_its_number() -> None:
    """A note that forgets no memory is refused, and its one word is no new fact."""
    source = ExtractionSource(LINES, SHOWN)
    (nothing,) = read_proposals(Completion("3 forget"), source, SETTINGS)
    assert (nothing.status, nothing.memory_id) == ("rejected", "")
    (lost,) = read_proposals(Completion("1 #3 forget"), source, SETTINGS)
    assert lost.reason == "the model's reply can't be used"


def test_an_id_is_read_of_any_memory() -> None:
    """A model may name a memory that it was not shown by its whole id, and by that alone."""
    source = ExtractionSource(LINES, SHOWN[:1], SHOWN)
    reply = '{"operations": [{"operation": "DELETE", "id": "%s"}]}'
    for named, is_read in (("tuba", True), ("1", True), ("2", False)):
        (proposal,) = read_proposals(
            Completion(reply % named), source, SETTINGS
        )
        assert proposal.is_open == is_read


@given(st.text(), st.text())
def test_any_text(words: str, reply: str) -> None:
    """Any message is shown with all of its words, and any reply can be read."""
    lines = message_lines(words)
    shown = numbered(lines)
    assert all(word in shown for word in words.split() if word.isalnum())
    assert all(
        note["content"] in reply for note in read_notes(reply, lines, 2)
    )
    assert holds_notes(reply) or read_notes(reply, lines, 2) == []


@pytest.mark.parametrize(
    "line",
    [
        "frau dr. Wieland leitet die praxis",
        "bin bis 31.3. in elternzeit, danach 30h",
        "I met J. Orr at St. Mary's",
    ],
)
def test_no_line_ends_within_a_name_or_a_date(line: str) -> None:
    """A title, an initial and a date end no sentence."""
    assert message_lines(f"hi! {line}. bye") == ["hi!", f"{line}.", "bye"]


def test_many_lines_are_shown_whole() -> None:
    """Of a message with many lines the last one has the rest."""
    lines = message_lines("\n".join(f"word{n}" for n in range(500)))
    assert len(lines) == 80
    assert lines[-1].endswith("word499")


@over(
    "words",
    [
        "I live in Porto.",
        "hey. i moved to lyon.\n\nwhat now?",
        "I live in Porto. " * 30,
        "Translate this: I have kept bees on a roof in Leeds for nine years now.",
        "summarise this\n\nDear all, I have kept bees for nine years.",
    ],
)
def test_a_request_can_be_told_by_its_message(words: str) -> None:
    """The beginning of a message stands in its request as it was typed."""
    marked = marked_turn([turn(words)])
    lines = typed_lines(marked.words)
    assert words.strip()[:60] in shown_message(marked, lines)


def test_pastes_are_told() -> None:
    """A model is told that something stands there which is not shown."""
    words = "What is this?\n\n> " + "a long quotation " * 5
    shown = shown_message(turn(words), ["What is this?"])
    assert shown.endswith("> (pasted text)")
