"""Plays the model's part in suggestions: what of a message the user may want to have remembered."""

from __future__ import annotations

from demo.standin.statements import Statement, statements_in

_MESSAGE = "## Message of the user\n"


def categories(request: str) -> list[str]:
    """The categories of the message's statements, in their order."""
    return list(dict.fromkeys(said.tags[0] for said in _statements(request)))


def suggestions(request: str) -> list[dict[str, object]]:
    """One entry for each category: the first statement of it."""
    first: dict[str, Statement] = {}
    for said in _statements(request):
        first.setdefault(said.tags[0], said)
    return [
        {
            "category": category,
            "title": said.content.removesuffix("."),
            "bank": said.bank,
            "tags": list(said.tags),
            "content": said.content,
        }
        for category, said in first.items()
    ]


def _statements(request: str) -> list[Statement]:
    """What the newest message states; the first heading counts, as the user may repeat it."""
    before, heading, newest = request.partition(_MESSAGE)
    return statements_in(newest if heading else before)
