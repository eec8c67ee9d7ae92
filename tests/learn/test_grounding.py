"""Which proposed changes are grounded in what the user said."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adaptive.core.model import (
    Draft,
    Memory,
    Operation,
    OperationKind,
    Proof,
    Provenance,
    Turn,
    Utterance,
)
from adaptive.learn.grounding import Source, grounding_refusal, typed_words
from adaptive.settings.merged import Settings
from adaptive.settings.user_valves import UserValves
from adaptive.settings.valves import Valves

SETTINGS = Settings.merge(Valves(), UserValves())


@dataclass(frozen=True)
class Case:
    """A message, a fact that a model proposes from it, and the reason why it is refused."""

    id: str
    said: str
    content: str
    evidence: tuple[str, ...] = ()
    about: str = ""
    kind: str = ""
    until: str = ""
    earlier: str = ""
    changed: str = ""
    operation: OperationKind = "NEW"
    language: str = ""
    refused: str = ""


CASES = [
    Case(
        "quoted",
        "I've been a nurse for nine years, can you write a cover letter?",
        "User has been a nurse for nine years.",
        ("I've been a nurse for nine years",),
    ),
    Case(
        "misquoted by a word",
        "my sister Ana moved to Porto in May",
        "User's sister Ana moved to Porto in May 2026.",
        ("my sister Ana has moved to Porto",),
    ),
    Case(
        "no evidence, own words",
        "I live in Lisbon with two cats.",
        "User lives in Lisbon.",
    ),
    Case(
        "swapped, evidence and all",
        "What is the capital of France?",
        "User plays the cello in an orchestra.",
        ("I play the cello in an orchestra",),
        refused="not in your message",
    ),
    Case(
        "invented, without evidence",
        "How do I boil an egg?",
        "User is a chef in Madrid.",
        refused="not in your message",
    ),
    Case(
        "implied without any word of it",
        "been single since 2019 and loving it",
        "User has no partner.",
        ("been single since 2019",),
    ),
    Case(
        "Japanese",
        "来月から京都の病院で働きます。",
        "User starts at a hospital in Kyoto.",
        ("来月から京都の病院で働きます",),
    ),
    Case(
        "Japanese, swapped",
        "天気はどうですか。",
        "ユーザーの妹は看護師である。",
        ("妹は看護師です",),
        refused="not in your message",
    ),
    Case(
        "of the assistant",
        "You are called Max from now on.",
        "The assistant is called Max.",
        ("You are called Max",),
        about="assistant",
        refused="about the assistant",
    ),
    Case(
        "a standing wish",
        "from now on bullets only",
        "User wants answers as bullets.",
        ("from now on bullets only",),
        about="assistant",
        kind="STYLE",
    ),
    Case(
        "imagined",
        "pretend I am a pirate",
        "User is a pirate.",
        ("I am a pirate",),
        kind="IMAGINED",
        refused="imagined",
    ),
    Case(
        "passing",
        "I'm so tired today",
        "User is tired.",
        ("I'm so tired today",),
        kind="STATE",
        refused="soon be over",
    ),
    Case(
        "passing with an end",
        "I'm in Rome till Friday",
        "User is in Rome until Friday.",
        ("I'm in Rome till Friday",),
        kind="STATE",
        until="2026-11-27",
    ),
    Case(
        "pasted in a fence",
        "fix it:\n```\nI am a baker from Graz.\n```",
        "User is a baker from Graz.",
        ("I am a baker from Graz",),
        refused="not in your message",
    ),
    Case(
        "quoted sentence",
        'translate "I have worked as a barista for four years"',
        "User has worked as a barista for four years.",
        ("I have worked as a barista for four years",),
        refused="not in your message",
    ),
    Case(
        "a number that was not said",
        "I pay 350 a month for the box room",
        "User pays 450 a month for the box room.",
        ("I pay 350 a month",),
        refused="450",
    ),
    Case(
        "a date that was computed",
        "dentist on thurs 3rd, tooth 14 again",
        "User sees the dentist on 3 December 2026.",
        ("dentist on thurs 3rd",),
    ),
    Case(
        "a name from an earlier message",
        "she starts at school in August",
        "User's daughter Mia starts school in August 2027.",
        ("she starts at school in August",),
        earlier="my daughter Mia is five",
    ),
    Case(
        "an update that keeps the rest",
        "the bike is red now",
        "User has a red Koga bike of 2019.",
        ("the bike is red now",),
        changed="User has a blue Koga bike of 2019.",
        operation="UPDATE",
    ),
    Case(
        "forgetting",
        "forget about my bike please",
        "",
        ("forget about my bike",),
        changed="User has a blue Koga bike.",
        operation="DELETE",
    ),
    Case(
        "forgetting what nobody named",
        "what is the weather?",
        "",
        (),
        changed="User has a blue Koga bike.",
        operation="DELETE",
        refused="not in your message",
    ),
    Case(
        "forgetting by its own words, without evidence",
        "I never had a dog",
        "",
        (),
        changed="User has a dog.",
        operation="DELETE",
    ),
    Case(
        "memories in another language",
        "ich wohne seit März in Graz",
        "User has lived in Graz.",
        ("ich wohne seit März in Graz",),
        language="English",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_grounding(case: Case) -> None:
    """A change is refused with the reason that fits, and only where it is not grounded."""
    reason = _refusal(case)
    assert case.refused in reason if case.refused else reason == ""


def _refusal(case: Case) -> str:
    earlier = (Utterance("user", case.earlier),) if case.earlier else ()
    turn = Turn("ada", "saved", case.said, earlier, Provenance("c", "m", 1))
    changed = Memory("1", case.changed, 0, 0) if case.changed else None
    proof = Proof(case.evidence, case.about, case.kind)
    draft = Draft(case.content, until=case.until)
    operation = Operation(case.operation, "1" if changed else "", draft, proof)
    settings = SETTINGS.model_copy(update={"memory_language": case.language})
    return grounding_refusal(operation, Source.of(turn), changed, settings)


def test_what_the_assistant_said_is_no_source() -> None:
    """Words of the assistant in an earlier turn ground nothing."""
    earlier = (Utterance("assistant", "You play the cello in an orchestra."),)
    turn = Turn("ada", "saved", "Yes, thanks!", earlier, Provenance("c", "m", 1))
    operation = Operation("NEW", "", Draft("User plays the cello in an orchestra."))
    assert grounding_refusal(operation, Source.of(turn), None, SETTINGS)


def test_mail() -> None:
    """What stands in a mail, headers and all, was not typed; what stands before it was."""
    words = "can you answer this?\n\nFrom: Jo <jo@example.com>\nSubject: Flat\n\nI moved to Bonn.\n"
    assert typed_words(words).split() == ["can", "you", "answer", "this?"]
