"""The prompts of our own model calls, and the filling of their placeholders."""

from __future__ import annotations

import string
from collections.abc import Mapping

from adaptive.core.texts import PROMPTS


def render_prompt(name: str, override: str, values: Mapping[str, str]) -> str:
    """The built-in prompt ``name``, or the admin's ``override``, with ``$placeholders`` filled.

    An override may use fewer placeholders, and dollar signs of its own stay as they are.
    """
    if override.strip():
        return string.Template(override).safe_substitute(values).strip()
    return string.Template(PROMPTS[name]).substitute(values).strip()
