"""Prompts and the filling of their placeholders."""

from __future__ import annotations

import string

import pytest

from adaptive.core.errors import PromptError
from adaptive.llm.prompts import PROMPTS, render_prompt
from tests.conftest import PROJECT
from tests.rates import over

VALUES = {
    "date": "today",
    "timezone": "UTC",
    "categories": "goal",
    "banks": "General",
    "language": "English",
    "admin": "",
}


def test_every_prompt_file_is_there() -> None:
    """The prompts are those of the folder, to the letter, in the source as in the bundle."""
    files = sorted((PROJECT / "prompts").glob("*.md"))
    assert {file.stem: file.read_text(encoding="utf-8") for file in files} == PROMPTS


@over("name", sorted(PROMPTS))
def test_prompt_is_a_template(name: str) -> None:
    """Each prompt begins with its title and holds no stray dollar sign."""
    template = string.Template(PROMPTS[name])
    assert template.is_valid()
    assert PROMPTS[name].startswith("# ")


def test_built_in_prompt_is_filled() -> None:
    """Every placeholder is filled, and the title stays in front."""
    prompt = render_prompt("extract", "", VALUES)
    assert prompt.startswith("# Extract memories\n")
    assert "It is today" in prompt
    assert "$" not in prompt


def test_missing_value() -> None:
    """A built-in prompt that asks for more than its caller has is an error that names it."""
    with pytest.raises(PromptError, match=r"'extract' asks for \['admin', 'date',"):
        render_prompt("extract", "", {"categories": "goal", "banks": "General"})


@pytest.mark.parametrize(
    ("override", "prompt"),
    [
        ("It is $date.", "It is today."),
        ("It is ${date}.", "It is today."),
        ("Costs $5, $$6 and $unknown on $date", "Costs $5, $6 and $unknown on today"),
        ('{"a": 1} {date} %s', '{"a": 1} {date} %s'),
        ("  No placeholders. \n", "No placeholders."),
    ],
)
def test_override(override: str, prompt: str) -> None:
    """An admin's prompt takes the placeholders it names; whatever else is in it stays."""
    assert render_prompt("extract", override, VALUES) == prompt
