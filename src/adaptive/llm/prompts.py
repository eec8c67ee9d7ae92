"""The prompts of our own model calls, and the filling of their placeholders."""

from __future__ import annotations

import string
from collections.abc import Mapping

# bundle: prompts from here
from pathlib import Path

from adaptive.core.errors import PromptError

PROMPTS: dict[str, str] = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).resolve().parents[3] / "prompts").glob("*.md"))
}
# bundle: prompts to here


def render_prompt(name: str, override: str, values: Mapping[str, str]) -> str:
    """The built-in prompt ``name``, or the admin's ``override``, with ``$placeholders`` filled.

    An override may use fewer placeholders, and dollar signs of its own stay as they are.

    Raises:
        PromptError: the built-in prompt asks for a placeholder that is not in ``values``.
    """
    if override.strip():
        return string.Template(override).safe_substitute(values).strip()
    template = string.Template(PROMPTS[name])
    missing = set(template.get_identifiers()) - set(values)
    if missing:
        raise PromptError(f"prompt {name!r} asks for {sorted(missing)!r}, which its caller lacks")
    return template.substitute(values).strip()
