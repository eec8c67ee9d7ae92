"""The settings in other languages: whole, consistent, and short enough for the panel."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

from adaptive.settings.valves import UserValves, Valves
from demo.install import frontmatter
from demo.translations import (
    LANGUAGES,
    translated,
    translation,
    translations,
)
from tests.conftest import PROJECT

# In signs, of which wide ones count twice; the panel of a phone has room for two such lines.
LONGEST_TITLE = 60
# How much longer than in English a sentence may be.
LONGEST_SENTENCE = 1.5


def english() -> dict[str, str]:
    """What the panel says in English, by the names that Open WebUI has for it."""
    texts: dict[str, str] = {}
    panels: list[tuple[str, type[BaseModel]]] = [
        ("valves", Valves),
        ("user_valves", UserValves),
    ]
    for kind, model in panels:
        for name, shown in model.model_json_schema()["properties"].items():
            valve = f"{kind}.{name}"
            texts[f"{valve}.title"] = shown["title"]
            texts[f"{valve}.description"] = shown["description"]
            annotation = model.model_fields[name].annotation
            if get_origin(annotation) is Literal:
                for value in get_args(annotation):
                    texts[f"{valve}.enum.{value}"] = value
    (automatic,) = Valves.model_choices()
    texts["valves.llm_host_model.enum."] = automatic["label"]
    source = (PROJECT / "adaptive_memory.py").read_text(encoding="utf-8")
    texts["description"] = frontmatter(source)["description"]
    return texts


ENGLISH = english()


def width(text: str) -> int:
    """How many signs wide a text is."""
    signs = [sign for sign in text if unicodedata.category(sign)[0] != "M"]
    wide = (unicodedata.east_asian_width(sign) in "WF" for sign in signs)
    return len(signs) + sum(wide)


def unchanging(text: str) -> set[str]:
    """What a sentence has that is the same in every language: what is typed, numbers and lists."""
    typed = re.findall(r"`[^`]+`", text)
    rest = re.sub(r"`[^`]+`", "", text)
    lists = re.findall(r"\w+(?:, \w+){5,}", rest, re.ASCII)
    return {*typed, *lists, *re.findall(r"\d+(?:[.,]\d+)*", rest)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_is_whole(language: str) -> None:
    """A language has a text for each of the panel's, which is not the English one."""
    texts = translations()[language]
    assert len(texts) > 150
    assert texts.keys() == ENGLISH.keys()
    for name, text in texts.items():
        assert text == text.strip() != "", name
        if name.endswith("description"):
            assert text != ENGLISH[name], name


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_typed_is_the_same(language: str) -> None:
    """Valves, values, addresses, numbers and lists in a sentence are those of the English one."""
    for name, text in translations()[language].items():
        if name.endswith("description"):
            assert unchanging(text) == unchanging(ENGLISH[name]), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_are_short(language: str) -> None:
    """A title stands on two lines of a phone at most, and a sentence is about as long as in English."""
    for name, text in translations()[language].items():
        if name.endswith("title"):
            assert width(text) <= LONGEST_TITLE, name
        if name.endswith("description"):
            room = 30 + LONGEST_SENTENCE * width(ENGLISH[name])
            assert width(text) <= room, name


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_has_the_same_name(language: str) -> None:
    """No two settings of a panel have one title, and no two values of a setting one label."""
    texts = translations()[language]
    for kind in ("valves.", "user_valves."):
        titles = [
            text
            for name, text in texts.items()
            if name.startswith(kind) and name.endswith(".title")
        ]
        assert len(set(titles)) == len(titles)
    labels = [
        (name.partition(".enum.")[0], text)
        for name, text in texts.items()
        if ".enum." in name
    ]
    assert len(set(labels)) == len(labels) > 30


def test_a_file() -> None:
    """A file's headings name the panel and the group; a label tells the value that it stands for."""
    text = """What it is.

= valves
first | Title | Sentence. | : None | keep: Behalten | ollama: Ollama

= valves 常规：
second | 标题 | 句子。

= user_valves Mine:
third | Title | Sentence.
"""
    assert translation(text) == {
        "description": "What it is.",
        "valves.first.title": "Title",
        "valves.first.description": "Sentence.",
        "valves.first.enum.": "None",
        "valves.first.enum.keep": "Behalten (keep)",
        "valves.first.enum.ollama": "Ollama",
        "valves.second.title": "常规：标题",
        "valves.second.description": "句子。",
        "user_valves.third.title": "Mine: Title",
        "user_valves.third.description": "Sentence.",
    }


def test_arabic_is_read_from_the_right() -> None:
    """Arabic texts keep their order in a page that is laid out from left to right."""
    for language, texts in translations().items():
        isolated = [
            text.startswith("\u2067") and text.endswith("\u2069")
            for text in texts.values()
        ]
        assert isolated == [language == "ar"] * len(texts)


def test_what_an_admin_has_written_stays() -> None:
    """Texts of other names and languages stay; ours are those of today, or go where not wanted."""
    title = "valves.priority.title"
    stored = {
        "de": {"name": "Gedächtnis", title: "Alt"},
        "fr": {title: "Rang"},
        "de-DE": {title: "Rang"},
    }
    texts = translated(stored, ["de"])
    assert texts == {
        "de": {"name": "Gedächtnis", **translations()["de"]},
        "fr": {title: "Rang"},
        "de-DE": {title: "Rang"},
    }
    assert translated(texts, ["de"]) == texts
    assert translated(texts, ()) == {
        "de": {"name": "Gedächtnis"},
        "fr": {title: "Rang"},
        "de-DE": {title: "Rang"},
    }
    assert translated({}, ()) == {}
