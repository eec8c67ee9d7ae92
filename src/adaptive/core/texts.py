"""The texts of ``prompts/``, by the name of their file: prompts, and lists of natural language."""

import base64
import lzma
import re


def unpacked(packed: str) -> bytes:
    """What was packed as base 85 of LZMA: tables that nobody reads as they stand."""
    return lzma.decompress(base64.b85decode(packed))


# bundle: prompts from here
from pathlib import Path  # noqa: E402 - the bundle has no folder to read

PROMPTS: dict[str, str] = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted(
        (Path(__file__).resolve().parents[3] / "prompts").glob("*.*")
    )
}
# bundle: prompts to here


def listed_lines(name: str) -> list[str]:
    """The lines of a list, without its comments."""
    return [
        line for line in PROMPTS[name].splitlines() if not line.startswith("#")
    ]


def titled_parts(name: str) -> dict[str, str]:
    """What stands below each title ("= title") of a text."""
    parts: dict[str, str] = {}
    for titled in PROMPTS[name].split("\n= ")[1:]:
        title, _, lines = titled.partition("\n")
        parts[title] = lines.strip()
    return parts


def word_table(name: str) -> dict[str, list[str]]:
    """The words of a table by the title above them, parted by bars and lines."""
    return {
        title: re.split(r"[|\n]", words)
        for title, words in titled_parts(name).items()
    }


def pattern_table(name: str) -> dict[str, list[str]]:
    """The patterns of a table by the title above them, one a line; indented lines go on with it.

    A title in braces and capitals stands for all patterns of a title above.
    """
    table: dict[str, list[str]] = {}
    for title, lines in titled_parts(name).items():
        patterns = re.sub(
            r"\{([A-Z_]+)\}",
            lambda part: "|".join(table[part[1]]),
            lines.replace("\n  ", ""),
        )
        table[title] = [
            line for line in patterns.split("\n") if not line.startswith("# ")
        ]
    return table


def compiled_patterns(name: str) -> dict[str, re.Pattern[str]]:
    """The patterns of a table by their title, each compiled; parts of others are left out."""
    return {
        title: re.compile("|".join(patterns))
        for title, patterns in pattern_table(name).items()
        if not title.isupper()
    }
