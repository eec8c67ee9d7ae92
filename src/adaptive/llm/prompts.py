"""The prompts of our own model calls, and the filling of their placeholders."""

from __future__ import annotations

import string
from collections.abc import Mapping

# bundle: prompts from here
from pathlib import Path

PROMPTS: dict[str, str] = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).resolve().parents[3] / "prompts").glob("*.md"))
}
# bundle: prompts to here


def render_prompt(name: str, override: str, values: Mapping[str, str]) -> str:
    """The built-in prompt ``name``, or the admin's ``override``, with ``$placeholders`` filled.

    An override may use fewer placeholders, and dollar signs of its own stay as they are.
    """
    if override.strip():
        return string.Template(override).safe_substitute(values).strip()
    return string.Template(PROMPTS[name]).substitute(values).strip()
