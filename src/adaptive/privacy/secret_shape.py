"""What the form of a secret is: where it is looked for, and its pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class SecretShape:
    """One form: it is looked for where one of its anchors (in lower case) stands in the text.

    The group ``value`` is the secret. Where ``told`` is set, it must not be a placeholder or a
    plain word. With
    ``assigned`` an equals sign or colon stands soon behind an anchor; with ``least_word`` it
    stands within one run of so many signs without white space.
    """

    kind: str
    anchors: tuple[str, ...]
    shape: str
    told: bool = False
    least_word: int = 0
    assigned: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """The form, compiled when it is first looked for."""
        return _shape_pattern(self.shape)


@cache
def _shape_pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
