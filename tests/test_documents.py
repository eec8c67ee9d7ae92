"""The documents say what is so: each table, each line of the log, and nothing that is not there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from adaptive.host.database import OUR_TABLES
from adaptive.memory.tables import EntryKind

PROJECT = Path(__file__).parents[1]
PRIVACY = (PROJECT / "docs/privacy.md").read_text(encoding="utf-8")
TROUBLE = (PROJECT / "docs/troubleshooting.md").read_text(encoding="utf-8")
# What a line is filled with stands as this in the document.
GAP = "..."
# A name that only one of the two has is told by fewer letters than this by chance.
SHORTEST_PIECE = 4
# A text with gaps that has fewer fits too much.
LEAST_LETTERS = 20
_LOGGED = ("warning", "error", "exception")


def section(document: str, heading: str) -> str:
    """The text below a heading, up to the next one of its level."""
    _, _, text = document.partition(f"\n## {heading}\n")
    assert text, heading
    return text.partition("\n## ")[0]


def test_what_is_stored() -> None:
    """Each table and each kind of rows stands in privacy.md with how long it is kept, and no other."""
    stored = section(PRIVACY, "What is stored, where, and for how long")
    rows = re.findall(r"^\| (.*?) \| (.*) \| .* \| ([^|]*)\|$", stored, re.M)
    named = {
        name: (holds, lasts.strip())
        for first, holds, lasts in rows
        for name in re.findall(r"`(\w+)`", first)
    }
    ours = {table.name for table in OUR_TABLES} | {*get_args(EntryKind)}
    # Leases are no sealed entries. A table of rows of many kinds has no time of its own.
    assert named.keys() - {"memory", "history_recall"} == ours | {"lease"}
    assert all(holds for holds, _ in named.values())
    untimed = [name for name, (_, lasts) in named.items() if not lasts]
    assert untimed == ["adaptive_memory_entries"]


def _pieces(message: ast.expr) -> str:
    """What a call logs, with a gap for all that is filled in."""
    if isinstance(message, ast.JoinedStr):
        parts = (
            part.value if isinstance(part, ast.Constant) else GAP
            for part in message.values
        )
        return "".join(map(str, parts))
    assert isinstance(message, ast.Constant), ast.unparse(message)
    return re.sub("%[srd]", GAP, str(message.value))


def _logged() -> Iterator[str]:
    """What the code logs as trouble."""
    for file in sorted((PROJECT / "src/adaptive").rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.func)
            if name == "log_failure" or name in {
                f"log.{level}" for level in _LOGGED
            }:
                yield _pieces(call.args[0])


def test_log() -> None:
    """Each line that the log can have as trouble is explained, and each one explained can be."""
    # Whoever calls ``log_failure`` and ``faults_logged`` says what these write.
    logged = {*_logged()} - {GAP, f"{GAP}: {GAP}"}
    assert len(logged) > 40
    rows = section(TROUBLE, "What the log says").splitlines()
    told = [row.split(" | ")[0] for row in rows if row.startswith("| *")]
    explained = re.findall(r"\*([^*]+)\*", "".join(told))
    assert {*explained} - logged == logged - {*explained} == set()


def _texts() -> list[str]:
    """Whatever the plug-in can show: texts of its source, and of its files, with gaps."""
    found: list[str] = []
    for file in sorted((PROJECT / "src/adaptive").rglob("*.py")):
        for part in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                found.append(part.value)
            elif isinstance(part, ast.JoinedStr):
                found.append(_pieces(part))
    files = sorted((PROJECT / "prompts").rglob("*.*"))
    found.extend(file.read_text(encoding="utf-8") for file in files)
    # With the last form of each word beside a number, too.
    english = (PROJECT / "prompts/phrases/en.txt").read_text(encoding="utf-8")
    found.append(re.sub(r"\{\w+\|(?:[^{}|]*\|)*([^{}|]*)\}", r"\1", english))
    return found


def test_status_lines() -> None:
    """What troubleshooting.md explains can be shown: each part of a line stands in the plug-in."""
    rows = re.findall(r"^\| (.*?) \| ", TROUBLE, re.MULTILINE)
    lines = [line for row in rows for line in re.findall(r"\*([^*]+)\*", row)]
    assert len(lines) > 60
    texts = _texts()
    whole = "\n".join(texts)
    filled = [
        re.compile(".+".join(map(re.escape, text.split(GAP))))
        for text in texts
        if GAP in text and len(text.replace(GAP, "")) >= LEAST_LETTERS
    ]
    missing = [
        line
        for line in lines
        for part in re.split(r"\.\.\.|\([^)]*\)|: |; |\bN\b", line)
        if len(part.strip()) >= SHORTEST_PIECE
        and part.strip().rstrip(".") not in whole
        and not any(text.search(line) for text in filled)
    ]
    assert missing == []
