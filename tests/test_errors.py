"""The exception tree: drawn in the docstring as the classes are."""

from __future__ import annotations

import ast
import re

from adaptive.errors import AdaptiveMemoryError, ModelBusy, ModelRejected
from tests.conftest import SOURCE

BRANCH = re.compile(r"^(?P<indent>(?:[│ ]   )*)(?:[├└]── )?(?P<name>\w+)(?: {2,}\S.*)?$")


def drawn_tree(text: str) -> dict[str, str]:
    """Each drawn class with the one it hangs from."""
    parents: dict[str, str] = {}
    path: list[str] = []
    for line in text.splitlines():
        found = BRANCH.match(line)
        if not found or not found["name"].endswith(
            ("Error", "able", "Busy", "Rejected", "Refused", "Lost", "Unfinished")
        ):
            continue
        depth = len(found["indent"]) // 4 + (1 if "── " in line else 0)
        path[depth:] = [found["name"]]
        if depth:
            parents[found["name"]] = path[depth - 1]
    return parents


def real_tree(root: type[Exception]) -> dict[str, str]:
    """Each subclass that the module defines with its base."""
    parents: dict[str, str] = {}
    for child in root.__subclasses__():
        if child.__module__ == root.__module__:
            parents |= {child.__name__: root.__name__, **real_tree(child)}
    return parents


def test_tree_is_drawn_as_it_is() -> None:
    """The tree in the docstring names every exception under the one it derives from."""
    source = (SOURCE / "adaptive" / "errors.py").read_text(encoding="utf-8")
    drawing = ast.get_docstring(ast.parse(source)) or ""
    assert drawn_tree(drawing) == real_tree(AdaptiveMemoryError)


def test_errors_say_their_text() -> None:
    """Errors with more than a text still print as their text alone, fit for a status line."""
    assert str(ModelBusy("the model is busy", retry_after=3.0)) == "the model is busy"
    assert str(ModelRejected("the model refuses", status=400)) == "the model refuses"
