"""What the panel says of the function and its valves, in other languages than English.

From 0.11.4 on Open WebUI keeps such texts with a function, by language and name (``meta.i18n``), and
its page shows those of its own language: ``de`` where there is no ``de-DE``. ``languages/`` holds a
file for each. Its first line describes the function. A heading names a panel and, where there is
one, the group that stands before its titles; a line below it is a valve, its title, its sentence and
the labels of its values, parted by `` | ``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

Translations = Mapping[str, Mapping[str, str]]

_FOLDER = Path(__file__).parent / "languages"
_WIDE_COLON = "\uff1a"
# The page lays all panels out from left to right (0.12.4): Latin words would tear these texts apart.
_RIGHT_TO_LEFT = ("ar",)
_ISOLATE = "\u2067"
_END_OF_ISOLATE = "\u2069"
LANGUAGES = sorted(file.stem for file in _FOLDER.glob("*.txt"))


def translation(text: str) -> dict[str, str]:
    """The texts of a language's file, by the names that Open WebUI has for them."""
    description, *panels = text.split("\n= ")
    texts = {"description": description.strip()}
    for panel in panels:
        heading, *lines = panel.strip().splitlines()
        kind, _, group = heading.partition(" ")
        # A wide colon brings its own space with it.
        before = group if group.endswith(_WIDE_COLON) else f"{group} ".lstrip()
        for line in lines:
            valve, title, sentence, *labels = line.split(" | ")
            name = f"{kind}.{valve}"
            texts[f"{name}.title"] = before + title
            texts[f"{name}.description"] = sentence
            for labelled in labels:
                value, _, label = labelled.partition(": ")
                texts[f"{name}.enum.{value}"] = _with_value(label, value)
    return texts


def _with_value(label: str, value: str) -> str:
    """A value's label, and the value itself, which the sentences and the documentation name."""
    return f"{label} ({value})" if value not in ("", label.lower()) else label


def translations() -> dict[str, dict[str, str]]:
    """The texts of all languages."""
    texts = {
        language: translation(
            (_FOLDER / f"{language}.txt").read_text(encoding="utf-8")
        )
        for language in LANGUAGES
    }
    for language in _RIGHT_TO_LEFT:
        for name, text in texts[language].items():
            texts[language][name] = f"{_ISOLATE}{text}{_END_OF_ISOLATE}"
    return texts


def translated(
    stored: Translations, languages: Collection[str]
) -> dict[str, dict[str, str]]:
    """The texts to store: ours in these languages, and whatever else is stored already."""
    ours = translations()
    texts: dict[str, dict[str, str]] = {}
    for language in {**stored, **ours}:
        kept = dict(stored.get(language, {}))
        for name, text in ours.get(language, {}).items():
            if language in languages:
                kept[name] = text
            elif kept.get(name) == text:
                del kept[name]
        if kept:
            texts[language] = kept
    return texts
