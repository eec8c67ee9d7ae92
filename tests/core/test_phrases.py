"""What users read: in every language whole, filled in, and short enough for a line on a phone."""

from __future__ import annotations

import ast
import pickle
import re
import string
from collections.abc import Iterator
from copy import deepcopy

import pytest

from adaptive.core.texts import (
    LANGUAGE,
    PROMPTS,
    Phrase,
    language_of,
    listed_lines,
    phrase,
    plural_place,
    retold,
)
from tests.conftest import PROJECT


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """The language of other tests, whatever one has chosen."""
    token = LANGUAGE.set("en")
    yield
    LANGUAGE.reset(token)


LANGUAGES = sorted(
    name.removeprefix("phrases/")
    for name in PROMPTS
    if name.startswith("phrases/")
)
# What is told above an answer, from which a phone shows some forty letters of it (wide signs count
# twice), then goes on in a second and third line.
STATUS_LINES = tuple(
    name
    for name in PROMPTS["phrases/en"].partition("\nrecalled")[0].split("\n")
    if name and name[0] != "#"
)
LONGEST_STATUS_LINE = 64
FORMS = re.compile(r"\{(\w+)\|([^{}]*)\}")
# How many forms of a word there are beside a number (CLDR).
FORM_COUNTS = {
    **dict.fromkeys(("ja", "ko", "zh", "zh-TW"), 1),
    **dict.fromkeys(("pl", "ru", "uk"), 3),
    "ar": 6,
}


def table(language: str) -> dict[str, str]:
    """The phrases of a language by their names."""
    lines = listed_lines(f"phrases/{language}")
    parted = (line.partition(" = ") for line in lines if line)
    return {name: text for name, _, text in parted}


def placeholders(text: str) -> set[str]:
    """The values that a phrase names, in forms or outside."""
    plain = FORMS.sub(lambda forms: f"{{{forms[1]}}}", text)
    fields = string.Formatter().parse(plain)
    return {name for _, name, _, _ in fields if name is not None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_tables(language: str) -> None:
    """A language has the names of the English table in their order, and the same values in each."""
    english = table("en")
    own = table(language)
    assert [*own] == [*english]
    for name, text in own.items():
        assert text == text.strip() != "", name
        named = placeholders(text)
        assert named <= placeholders(english[name]), name
        # A word beside a number that stands elsewhere may have one form.
        bare = re.sub(r"\{(\w+)\|([^{}#]*)\}", "", english[name])
        assert named >= placeholders(bare), name
        # The commands are the same in every language.
        commands = set(re.findall(r"/[a-z]+(?: [a-z]+)?", english[name]))
        for command in commands:
            assert command.split()[0] in text, (name, command)


@pytest.mark.parametrize("language", LANGUAGES)
def test_plural_forms(language: str) -> None:
    """Each word beside a number has the forms of its language, and some number takes each of them."""
    count = FORM_COUNTS.get(language, 2)
    taken = {plural_place(language, number) for number in range(202)}
    assert taken >= set(range(count))
    for name, text in table(language).items():
        for forms in FORMS.findall(text):
            number = len(forms[1].split("|"))
            # One form where all are the same.
            assert number in (1, count), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_status_lines(language: str) -> None:
    """What stands above an answer is no longer than what a phone shows of it."""
    own = table(language)
    names = [line.partition(" = ")[0] for line in STATUS_LINES]
    assert len(names) > 15
    for name in names:
        text = FORMS.sub(lambda forms: forms[2].split("|")[-1], own[name])
        width = sum(1 + (sign > "\u1100") for sign in text)
        assert width <= LONGEST_STATUS_LINE, (name, width)


def test_numbers() -> None:
    """A number takes the form that its language has for it."""
    told = {
        "en": {0: "0 memories", 1: "1 memory", 2: "2 memories"},
        "de": {0: "0 Erinnerungen", 1: "1 Erinnerung", 2: "2 Erinnerungen"},
    }
    for language, lines in told.items():
        LANGUAGE.set(language)
        assert {n: phrase("memories", n=n) for n in lines} == lines
    places = {
        "pl": [2, 0, 1, 1, 2, 2, 1, 2],
        "ru": [2, 0, 1, 1, 2, 2, 1, 0],
        "ar": [0, 1, 2, 3, 3, 4, 4, 4],
        "fr": [0, 0, 1, 1, 1, 1, 1, 1],
        "en": [1, 0, 1, 1, 1, 1, 1, 1],
    }
    numbers = (0, 1, 2, 3, 5, 12, 22, 21)
    for language, expected in places.items():
        found = [plural_place(language, number) for number in numbers]
        assert found == expected, language
    assert [plural_place("ar", n) for n in (100, 102, 103, 111)] == [
        5,
        5,
        3,
        4,
    ]


def test_language() -> None:
    """The page's language counts, then the script of the message; English is what is left."""
    assert language_of("de-DE", "Привет") == "de"
    assert language_of("xx-XX", "Привет") == "en"
    assert language_of("zh-Hant-HK", "") == "zh-TW"
    assert language_of("zh-Hans-HK", "") == "zh"
    assert language_of("", "Hello") == "en"
    assert language_of("", "") == "en"


def test_phrase_for_later() -> None:
    """A phrase is compared and joined in English, and shown in the language of who reads it."""
    english = "you did not say Porto"
    german = "Porto haben Sie nicht erwähnt"
    reason = Phrase("name_unsaid", name="Porto")
    LANGUAGE.set("de")
    assert reason == english
    assert "".join([reason]) == english
    assert f"{reason}" == german
    assert str(ValueError(reason)) == german
    for copied in (deepcopy(reason), pickle.loads(pickle.dumps(reason))):
        assert (copied, f"{copied}") == (english, german)


def named_phrases() -> Iterator[str]:
    """The words in quotation marks of the source, as which phrases are named."""
    for file in (PROJECT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_each_is_used() -> None:
    """No phrase stands in the tables that neither code nor a text of ``prompts/`` names."""
    in_texts = re.findall(r"\$(\w+)", "".join(PROMPTS.values()))
    assert set(table("en")) <= {*named_phrases(), *in_texts}


def test_texts_with_phrases() -> None:
    """What stands in a text for a $name has no sign that would end a string or a tag of it."""
    template = PROMPTS["memory_page"]
    names = set(re.findall(r"\$(\w+)", template))
    names -= {"language", "counted", "groups"}
    assert len(names) > 10
    for language in LANGUAGES:
        own = table(language)
        for name in names & own.keys():
            assert not set(own[name]) & set('"\\<>&|'), (language, name)
        in_table = set(re.findall(r"\$(\w+)", PROMPTS["commands"]))
        for name in in_table & own.keys():
            assert "|" not in own[name], (language, name)


def test_kept_reasons() -> None:
    """What was kept in English is told in the language of who reads it, values included."""
    LANGUAGE.set("de")
    assert retold("you did not say Porto") == "Porto haben Sie nicht erwähnt"
    assert retold("what nobody says") == "what nobody says"
    endless = f"you did not say {'Porto ' * 60}"
    assert retold(endless) == endless, "it would take long to read"
    # Another phrase fits as well, whose name would be "what was noted is not to be remembered".
    kinds = phrase("unwanted_kind", kinds=("health", "golf"))
    assert retold("health, golf is not to be remembered") == kinds
    named = retold("it holds personal data that is not to be stored: phone")
    assert named == phrase("personal_data", kinds="phone")
    assert phrase("unwanted_kind", kinds=("health", "golf")).endswith(
        ": Gesundheit, golf"
    )


# What shows its arguments to a user.
SHOWING = {
    "Report",
    "PageQuestion",
    "HindranceLine",
    "failure_told",
    "failure_line",
    "notice",
    "reply",
    "confirm",
    "status",
}


def shown_literals(text: str) -> list[str]:
    """The words in quotation marks that stand in an argument of what shows it to a user."""
    return [
        part.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in SHOWING
        for argument in [*node.args, *(word.value for word in node.keywords)]
        if isinstance(argument, ast.Constant | ast.JoinedStr)
        for part in ast.walk(argument)
        if isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and re.search("[A-Za-z]{2} [A-Za-z]", part.value)
    ]


def test_no_text_escapes() -> None:
    """No line, question or report is given words that stand in the code."""
    assert shown_literals('notice(hook, f"{failed}: {why}")') == []
    assert shown_literals('notice(hook, "Nothing was saved")') != []
    escaped = {
        str(file.relative_to(PROJECT)): found
        for file in (PROJECT / "src").rglob("*.py")
        if (found := shown_literals(file.read_text(encoding="utf-8")))
    }
    assert escaped == {}
