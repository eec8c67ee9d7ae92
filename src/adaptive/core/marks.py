"""Tags of a memory: what it is about, how its user has marked it, and where it is known.

A place is where a chat is, and what may be shown there of what belongs to folders and models. Open
WebUI 0.9 has tags inside of texts.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, TypedDict
from urllib.parse import quote

CORE_CATEGORIES = ("identity", "health", "work", "home")
CATEGORIES = (
    *CORE_CATEGORIES,
    "behavior",
    "preference",
    "goal",
    "relationship",
    "possession",
)
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
    # Forks of Adaptive Memory 3.1 write "none" where there are no tags.
    tags = [tag for tag in tags if tag not in ("", "none")]
    if tags:
        noted["tags"] = tuple(tags)
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


# Of what is learned in a place: it is known everywhere, or there alone; and whether nothing else
# comes there.
PlaceChoice = Literal["everywhere", "here", "here only"]
# What a user has chosen, by the scopes of folders and models.
PlaceChoices = dict[str, PlaceChoice]
# Of the signs of an id, as many as a mark has room for.
_LONGEST_ID = 100


def scope_of(kind: Literal["folder", "model"], host_id: str) -> str:
    """What a folder or a model of the host is called in marks; empty for none."""
    quoted = quote(host_id, safe="", errors="replace")[-_LONGEST_ID:]
    return quoted and f"{kind}={quoted}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chat is, by the scopes of its folder and its model, and what its user has chosen.

    ``choices`` are by scope; a folder that is not among them is as ``new_folders`` says. Of a chat
    whose place is not ``known`` nothing is shown or learned: it may be one that is kept apart.
    """

    folder: str = ""
    model: str = ""
    choices: Mapping[str, PlaceChoice] = field(default_factory=PlaceChoices)
    new_folders: PlaceChoice = "everywhere"
    known: bool = True

    def choice(self, scope: str) -> PlaceChoice:
        """What is chosen for a folder or a model."""
        is_folder = scope.startswith("folder=")
        otherwise = self.new_folders if is_folder else "everywhere"
        return self.choices.get(scope, otherwise)

    @property
    def is_divided(self) -> bool:
        """Whether not everything is known everywhere, or that can't be told."""
        is_chosen = bool(self.choices) or self.new_folders != "everywhere"
        return is_chosen or not self.known

    @property
    def only_scope(self) -> str:
        """The scope from which alone memories come: the folder's before the model's, or none."""
        return self._chosen("here only")

    @property
    def scope(self) -> str:
        """The scope of what is learned here, empty for everywhere."""
        return self.only_scope or self._chosen("here")

    def _chosen(self, choice: PlaceChoice) -> str:
        """The first of both scopes for which this is chosen, if any."""
        scopes = (self.folder, self.model)
        return next((one for one in scopes if self.choice(one) == choice), "")

    def admits(self, scope: str) -> bool:
        """Whether a memory of a scope, or of none, may be shown here: the one rule of places."""
        admitted = {"", self.folder, self.model}
        if self.only_scope:
            admitted = {self.only_scope}
        return self.known and scope in admitted

    def quotes(self, scopes: Collection[str]) -> bool:
        """Whether a past chat may be quoted here, by the scopes of its folder and its models."""
        if self.only_scope:
            return self.only_scope in scopes
        apart = {one for one in scopes if self.choice(one) != "everywhere"}
        return self.known and apart <= {self.folder, self.model}


NOWHERE = Place(known=False)
