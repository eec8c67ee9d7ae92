"""Tags of a memory: what it is about, and how its user has marked it."""

import re
from collections.abc import Iterable

PINNED = "pinned"
QUIET = "quiet"
# Where alone a memory is known: in a folder or with a model, by its id.
_SCOPE = re.compile(r"in (?:folder|model)=[^\s,\[\]]{1,100}")


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
