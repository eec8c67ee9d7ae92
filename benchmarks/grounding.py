"""How much of a fact must stand in the user's words: right facts refused, swapped ones let through.

And how many memories a model that quotes nothing could delete by each message.

The facts are those that a reader who played the model has found in the messages of ten people
(``tests/learn/reader``). Each is held against the message that it was read in, and each new one
against a message of every other person. No host, no model.
"""

from __future__ import annotations

from dataclasses import replace

from adaptive.core.model import Proposal
from adaptive.learn.grounding import grounding_refusal
from adaptive.learn.support import Source, beginnings
from adaptive.settings.merged import Settings
from adaptive.settings.valves import UserValves, Valves
from benchmarks.figures import say, write_results
from tests.learn.reader.lessons import ReadLesson, read_lessons

SHARES = (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
QUOTED_WORDS = 8
ENGLISH = ("d01", "d02", "d03", "d04", "d05", "d06")
Fact = tuple[ReadLesson, Proposal]


def main() -> None:
    """Print the curves and write ``results/grounding.json``."""
    settings = Settings.merge(Valves(), UserValves())
    right, swapped = right_facts(settings), swapped_facts(settings)
    say(f"{len(right)} right facts, {len(swapped)} of somebody else's message")
    figures = {
        "facts": len(right),
        "swapped": len(swapped),
        "right_refused": refused_share(right, settings),
        "swapped_passed": 1 - refused_share(swapped, settings),
        "without_evidence": {
            "right_refused": refused_share(bare(right), settings),
            "swapped_passed": 1 - refused_share(bare(swapped), settings),
        },
        "swapped_quoted_passed": 1 - refused_share(quoting(swapped), settings),
        "embroidered_passed": 1 - refused_share(embroidered(right), settings),
        "deleted_unquoted": deleted_share(settings),
        "shares": [share_figures(share, right, swapped) for share in SHARES],
    }
    for row in figures["shares"]:
        say(" ".join(f"{name} {value:.3f}" for name, value in row.items()))
    say(
        f"deleted without a quotation: {figures['deleted_unquoted']:.3f} of what was shown"
    )
    say(
        f"under a true quotation: {figures['swapped_quoted_passed']:.3f} of the others passed"
    )
    say(f"with something added: {figures['embroidered_passed']:.3f} passed")
    say(
        f"as it is: {figures['right_refused']:.3f} refused, {figures['swapped_passed']:.3f} passed"
    )
    write_results("grounding", figures)


def share_figures(
    share: float, right: list[Fact], swapped: list[Fact]
) -> dict[str, float]:
    """What words alone would do: the newest message's, and the user's earlier ones as well."""
    return {
        "share": share,
        "right_refused": 1 - told_share(right, share, earlier=False),
        "swapped_passed": told_share(swapped, share, earlier=False),
        "right_refused_with_earlier": 1
        - told_share(right, share, earlier=True),
        "swapped_passed_with_earlier": told_share(
            swapped, share, earlier=True
        ),
    }


def told_share(facts: list[Fact], share: float, *, earlier: bool) -> float:
    """The part of the facts of which so many telling words begin like one that was said."""
    held = 0
    for lesson, operation in facts:
        source = Source.of(lesson.turn, lesson.memories.values())
        said = beginnings(
            f"{source.typed}\n{source.earlier if earlier else ''}"
        )
        telling = beginnings(operation.draft.content)
        held += len(telling & said) >= share * len(telling)
    return held / len(facts)


def refused_share(facts: list[Fact], settings: Settings) -> float:
    """The part that the plug-in refuses."""
    refused = [
        one
        for lesson, one in facts
        if grounding_refusal(
            one,
            Source.of(lesson.turn, lesson.memories.values()),
            settings,
        )
    ]
    return len(refused) / len(facts)


def deleted_share(settings: Settings) -> float:
    """The part of the memories shown with a message that it would let go without a quotation."""
    shown = [
        (one, Proposal("DELETE", id, before=content))
        for one in read_lessons()
        for id, content in one.shown.items()
    ]
    return 1 - refused_share(shown, settings)


def bare(facts: list[Fact]) -> list[Fact]:
    """The facts as a model that quotes nothing would give them."""
    return [
        (lesson, replace(one, evidence=(), about="", fact_kind=""))
        for lesson, one in facts
    ]


def quoting(facts: list[Fact]) -> list[Fact]:
    """The facts under a quotation that does stand in the message."""
    return [
        (lesson, replace(one, evidence=(opening(lesson.words),)))
        for lesson, one in facts
    ]


def opening(words: str) -> str:
    """The first words of a message."""
    return " ".join(words.split()[:QUOTED_WORDS])


def embroidered(facts: list[Fact]) -> list[Fact]:
    """Each English fact with the beginning of another person's behind it, of seven others each."""
    english = [fact for fact in facts if fact[0].user in ENGLISH]
    found: list[Fact] = []
    for place, (lesson, one) in enumerate(english):
        others = [other for who, other in english if who.user != lesson.user]
        for step in range(7):
            other = others[
                (place * 13 + step * 29) % len(others)
            ].draft.content
            added = " ".join(other.split()[1:6])
            content = f"{one.draft.content.rstrip('.')} and {added}."
            found.append(
                (
                    lesson,
                    replace(one, draft=replace(one.draft, content=content)),
                )
            )
    return found


def right_facts(settings: Settings) -> list[Fact]:
    """What was found in each message, as far as it is to be kept."""
    return [
        (one, found) for one in read_lessons() for found in kept(one, settings)
    ]


def swapped_facts(settings: Settings) -> list[Fact]:
    """Each message with the new facts of a message of each other person."""
    by_user: dict[str, list[ReadLesson]] = {}
    for lesson in read_lessons():
        by_user.setdefault(lesson.user, []).append(lesson)
    return [
        (lesson, found)
        for user, lessons in by_user.items()
        for other, others in by_user.items()
        if other != user
        for place, lesson in enumerate(lessons)
        for found in kept(others[place % len(others)], settings)
        if found.kind == "NEW"
    ]


def kept(lesson: ReadLesson, settings: Settings) -> list[Proposal]:
    """The proposals of a reply that it says are to be kept."""
    found = lesson.proposals(settings)
    return [one for one in found if one.fact_kind in ("FACT", "STYLE", "")]


if __name__ == "__main__":
    main()
