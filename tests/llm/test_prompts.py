"""Prompts and the filling of their placeholders."""

from __future__ import annotations

import string

from adaptive.core.texts import PROMPTS
from adaptive.llm.ask import render_prompt
from tests.conftest import PROJECT

VALUES = {
    "date": "today",
    "timezone": "UTC",
    "categories": "goal",
    "banks": "General",
    "language": "English",
    "admin": "",
}


def test_every_prompt_file_is_there() -> None:
    """The prompts are those of the folder, to the letter, with a title and no stray dollar sign."""
    folder = PROJECT / "prompts"
    files = sorted(folder.rglob("*.*"))
    assert {
        str(file.relative_to(folder).with_suffix("")): file.read_text(
            encoding="utf-8"
        )
        for file in files
    } == PROMPTS
    for name in (file.stem for file in files if file.suffix == ".md"):
        prompt = PROMPTS[name]
        assert prompt.startswith("# "), name
        assert string.Template(prompt).is_valid(), name


def test_built_in_prompt_is_filled() -> None:
    """Every placeholder is filled, and the title stays in front."""
    prompt = render_prompt("outdated", VALUES)
    assert prompt.startswith("# Check what no longer holds\n")
    assert "It is today" in prompt
    assert "$" not in prompt
