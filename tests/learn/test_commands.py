"""Commands to memory that need no model: which messages hold one, and which memories it means."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.commands import (
    ForgetCommand,
    RememberCommand,
    matching_memories,
    read_commands,
)
from adaptive.learn.worth import reason_to_skip
from tests.fakes import memory
from tests.rates import labelled_set, over


@dataclass(frozen=True)
class Told:
    """A message that asks to remember, and what."""

    words: str
    content: str


MESSAGES = labelled_set("commands")
TOLD = [Told(one["words"], one["remember"]) for one in MESSAGES if "remember" in one]
SILENT = [one["words"] for one in MESSAGES if len(one) == 1]


@over("case", TOLD, at_least=0.95)
def test_remember(case: Told) -> None:
    """What is to be remembered stands in the user's own words, and such a message is worth it."""
    assert read_commands(case.words)[0] == RememberCommand(case.content)
    assert reason_to_skip(case.words) is None


@over("words", SILENT, at_least=0.97)
def test_no_command(words: str) -> None:
    """Remembering and forgetting are spoken of in many ways that command nothing."""
    assert read_commands(words) == ()


@dataclass(frozen=True)
class Forgotten:
    """A message that asks to forget, and what; an empty subject stands for everything."""

    words: str
    subject: str


FORGOTTEN = [Forgotten(one["words"], one["forget"]) for one in MESSAGES if "forget" in one]


@over("case", FORGOTTEN, at_least=0.95)
def test_forget(case: Forgotten) -> None:
    """What is to be forgotten stands in the user's own words."""
    assert read_commands(case.words)[0] == ForgetCommand(case.subject, everything=not case.subject)
    assert reason_to_skip(case.words) is None


def test_several_commands() -> None:
    """A message may hold several, and they keep their order."""
    words = "Forget my old address. Remember that I live in Porto. And remember I like tea!"
    assert read_commands(words) == (
        ForgetCommand("my old address"),
        RememberCommand("I live in Porto."),
        RememberCommand("I like tea."),
    )


def test_content_is_bounded() -> None:
    """What no memory could hold is left to the model."""
    assert read_commands("Remember that I like " + "tea and " * 200) == ()


@given(st.text(max_size=300))
def test_any_text(words: str) -> None:
    """Any text is read, and what is found says something."""
    for command in read_commands(f"{words} Remember that {words}"):
        assert isinstance(command, ForgetCommand) or len(command.content) > 2


MEMORIES = [
    memory("porto", "User lives in Porto."),
    memory("lisbon", "User lived in Lisbon until 2019."),
    memory("ana", "User's sister is called Ana."),
    memory("anna", "User's boss is Anna, a lawyer in Lisbon."),
    memory("nuts", "User is allergic to nuts."),
    memory("job", "User works as a nurse at the hospital in Porto."),
    memory("adresse", "Die Adresse des Nutzers ist Hauptstraße 5."),
    memory("wohnt", "Der Nutzer wohnt in Köln."),
    memory("пёс", "Собаку пользователя зовут Шарик."),
    memory("里斯本", "用户住在里斯本"),
    memory("猫", "ユーザーは猫を飼っている。"),
]


@dataclass(frozen=True)
class Meant:
    """A subject, and the memories it means."""

    subject: str
    ids: list[str]


MEANT = [
    Meant("I live in Porto", ["porto"]),
    Meant("Porto", ["porto", "job"]),
    Meant("Lisbon", ["lisbon", "anna"]),
    Meant("my sister", ["ana"]),
    Meant("my sister's name is Ana", ["ana"]),
    Meant("Ana", ["ana"]),
    Meant("my allergy to nuts", ["nuts"]),
    Meant("I'm allergic to nuts", ["nuts"]),
    Meant("my old job as a nurse at the hospital", ["job"]),
    Meant("the hospital in Porto", ["job"]),
    Meant("meine alte Adresse", ["adresse"]),
    Meant("ich wohne in Köln", ["wohnt"]),
    Meant("мою собаку", ["пёс"]),
    Meant("我住在里斯本", ["里斯本"]),
    Meant("私が猫を飼っている", ["猫"]),
    Meant("my guitar", []),
    Meant("the trip to Rome in 2021", []),
    Meant("", []),
]


@over("case", MEANT, at_least=0.9)
def test_matching_memories(case: Meant) -> None:
    """All telling words of the subject are in the memory, or most of them in the best ones."""
    found = matching_memories(ForgetCommand(case.subject), MEMORIES)
    assert [one.id for one in found] == case.ids


def test_everything_means_all() -> None:
    """Everything is everything, also where nothing is kept."""
    assert matching_memories(ForgetCommand(everything=True), MEMORIES) == tuple(MEMORIES)
    assert matching_memories(ForgetCommand("tea"), []) == ()
