"""Tags of a memory: what it is about, how its user has marked it; and tags inside of texts."""

import re
from collections.abc import Iterable
from datetime import date
from typing import TypedDict

PINNED = "pinned"
QUIET = "quiet"
# Where alone a memory is known: in a folder or with a model, by its id.
_SCOPE = re.compile(r"in (?:folder|model)=[^\s,\[\]]{1,100}")
# No two neighbouring parts may take the same character, and a run of spaces is entered at its
# start only: a text of the user may be long, and is read in linear time.
_TAGS = re.compile(r"^\s*\[Tags:([^\[\]]*)\]\s*", re.IGNORECASE)
_BANK = re.compile(r"(?<!\s)\s*\[Memory Bank:([^\[\]]*)\]\s*", re.IGNORECASE)
_UNTIL = re.compile(r"(?<!\s)\s*\[Until:\s*([\d-]{10})\]\s*", re.IGNORECASE)
_CONFIDENCE = re.compile(
    r"(?<!\s)\s*\[Confidence:\s*[\d.]+\]\s*", re.IGNORECASE
)


def marked(tags: Iterable[str], mark: str) -> tuple[str, ...]:
    """The same tags with a mark of when a memory comes, in the place of the other one."""
    return (*(tag for tag in tags if tag not in (PINNED, QUIET)), mark)


def is_mark(tag: str) -> bool:
    """Whether a tag says what a user wants of a memory, and not what it is about."""
    return tag in (PINNED, QUIET) or _is_scope(tag)


class Tagged:
    """What bears tags: first what it is about, then the marks that its user has given it."""

    __slots__ = ()
    tags: tuple[str, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """The tags that say what it is about."""
        return tuple(tag for tag in self.tags if not is_mark(tag))

    @property
    def marks(self) -> tuple[str, ...]:
        """The tags by which its user rules when it comes."""
        return tuple(filter(is_mark, self.tags))

    @property
    def is_pinned(self) -> bool:
        """Whether it always comes."""
        return PINNED in self.tags

    @property
    def is_quiet(self) -> bool:
        """Whether it never comes by itself."""
        return QUIET in self.tags

    @property
    def scope(self) -> str:
        """Where alone it is known, as "folder=ID" or "model=ID"; empty for everywhere."""
        scopes = [tag[3:] for tag in self.tags if _is_scope(tag)]
        return next(iter(scopes), "")

    def tags_in(self, scope: str) -> tuple[str, ...]:
        """The tags of the same known in another scope alone, or everywhere."""
        others = [tag for tag in self.tags if not _is_scope(tag)]
        return (*others, f"in {scope}") if scope else tuple(others)


def _is_scope(tag: str) -> bool:
    # The first look is for the many memories that are known everywhere.
    return tag[:3] == "in " and _SCOPE.fullmatch(tag) is not None


class Notation(TypedDict, total=False):
    """What a stored text holds: its content, and of tags, bank and end date those that it has."""

    content: str
    tags: tuple[str, ...]
    bank: str
    until: str


def read_notation(text: str) -> Notation:
    """Take tags, bank, end date and the former confidence mark out of a stored text."""
    noted = Notation()
    listed_tags, text = _without_mark(_TAGS, text)
    tags = [tag.strip() for tag in listed_tags.split(",")]
    if any(tags):
        noted["tags"] = tuple(tag for tag in tags if tag)
    bank, text = _without_mark(_BANK, text)
    if bank:
        noted["bank"] = bank
    until, shorter = _without_mark(_UNTIL, text)
    if iso_day(until):
        noted["until"] = until
        text = shorter
    noted["content"] = _CONFIDENCE.sub(" ", text).strip()
    return noted


def _without_mark(mark: re.Pattern[str], text: str) -> tuple[str, str]:
    """What the first mark of a kind holds, and the text without that mark."""
    match = mark.search(text)
    if match is None:
        return "", text
    return match.group(
        1
    ).strip(), f"{text[: match.start()]} {text[match.end() :]}"


def iso_day(value: object) -> str:
    """The value if it is a day of the calendar as "YYYY-MM-DD", else nothing."""
    try:
        return (
            value
            if isinstance(value, str)
            and str(date.fromisoformat(value)) == value
            else ""
        )
    except ValueError:
        return ""
