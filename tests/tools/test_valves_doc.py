"""The reference of the valves: complete, fresh, readable in a Markdown viewer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from adaptive.user_valves import UserValves
from adaptive.valves import Valves
from tests.bundle.small_project import PROJECT
from tools.valves_doc import REFERENCE, chapters, main, render


class SmallValves(BaseModel):
    """Valves with every kind of field."""

    mode: Literal["auto", "off"] = Field(
        default="auto",
        description="What it does.",
        json_schema_extra={"group": "First", "when": "You want another."},
    )
    key: str = Field(
        default="",
        description="A key.",
        json_schema_extra={"group": "Second", "input": {"type": "password"}},
    )
    share: float = Field(default=0.5, ge=0, le=1, json_schema_extra={"group": "First"})
    count: int = Field(default=3, gt=0)
    name: str = Field(default="a `quoted` | name", max_length=40)


class SmallUserValves(BaseModel):
    """A field of the same name as the admin's."""

    mode: bool = Field(default=True, json_schema_extra={"group": "First"})


SMALL = chapters(SmallValves, SmallUserValves)


def section(text: str, name: str) -> str:
    """What stands under a valve's heading."""
    return text.split(f"#### `{name}`\n")[1].split("\n#", 1)[0].strip()


def test_fresh() -> None:
    """The committed reference is what the valves give now."""
    text = (PROJECT / REFERENCE).read_text(encoding="utf-8")
    assert text == render(chapters(Valves, UserValves)), "run `python -m tools.valves_doc`"


def test_real_valves_are_described() -> None:
    """Each valve says what it does, when to change it, and where it belongs."""
    for model in (Valves, UserValves):
        for name, field in model.model_fields.items():
            if name != "priority":
                assert field.description, name
            assert isinstance(field.json_schema_extra, dict), name
            assert field.json_schema_extra["group"], name
            assert field.json_schema_extra["when"], name
            assert field.json_schema_extra.keys() <= {"group", "when", "input"}, name


def test_first_line() -> None:
    """The first line says that the file is generated, and by which command."""
    first = render(SMALL).splitlines()[0]
    assert first.startswith("<!--")
    assert "`python -m tools.valves_doc`" in first


def test_sections() -> None:
    """A section has type, default and range, then what the valve does and when to change it."""
    text = render(SMALL)
    assert section(text, "mode") == (
        "one of `auto`, `off` · default `auto`\n\nWhat it does.\n\n"
        "**When to change it:** You want another."
    )
    assert section(text, "key") == "text (hidden) · default empty\n\nA key."
    assert section(text, "share") == "number · default `0.5` · from `0` to `1`"
    assert section(text, "count") == "whole number · default `3` · above `0`"
    assert (
        section(text, "name") == "text · default `` a `quoted` | name `` · at most `40` characters"
    )
    assert text.split("## User valves")[1].rstrip().endswith("switch · default on")


def test_groups_in_order_of_appearance() -> None:
    """Groups stand in the order in which they appear, each once, with all their valves."""
    headings = re.findall(r"^#+ (.*)$", render(SMALL), re.MULTILINE)
    assert headings == [
        "Valves of Adaptive Memory",
        "Valves",
        "First",
        "`mode`",
        "`share`",
        "Second",
        "`key`",
        "Other",
        "`count`",
        "`name`",
        "User valves",
        "First",
        "`mode`",
    ]


@pytest.mark.parametrize("parts", [SMALL, chapters(Valves, UserValves)], ids=["small", "real"])
def test_links_of_the_index(parts: tuple) -> None:
    """Each link of the index leads to its own heading, also where two headings are alike."""
    text = render(parts)
    anchors: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        again = anchors.count(slug)
        anchors.append(f"{slug}-{again}" if again else slug)
    links = re.findall(r"\]\(#([^)]*)\)", text)
    assert len(links) == len(set(links))
    assert set(links) <= set(anchors)
    assert len(links) == 2 + sum(len(part.model.model_fields) for part in parts)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command writes the file; its check tells fresh from stale and absent."""
    stale = "valves.md:1: is stale; run `python -m tools.valves_doc`\n"
    assert main(["--check"], tmp_path, SMALL) == 1
    assert capsys.readouterr().out == stale
    assert main([], tmp_path, SMALL) == 0
    assert main(["--check"], tmp_path, SMALL) == 0
    assert capsys.readouterr().out == ""
    (tmp_path / REFERENCE).write_text("old\n")
    assert main(["--check"], tmp_path, SMALL) == 1
    assert capsys.readouterr().out == stale
