"""What a text must hold for a pattern to fit it: read off the pattern, without compiling it.

After Cox, "Regular expression matching with a trigram index" (2012), with words in the place of
trigrams. Reading a pattern takes a small part of the time of compiling it, and words are looked up
in a text for all patterns at once (``need_table``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

# One of these texts stands in whatever the pattern fits.
Need = frozenset[str]

# In a text of a need: an edge of a word (``\b``), which takes no room.
WORD_EDGE = "\0"
# The edge of the part of a pattern that is being read: what stands beyond it is not known yet.
_NEED_PART_EDGE = "\1"
_NEED_NO_SIGNS = _NEED_PART_EDGE + WORD_EDGE + " "
_FITS_EMPTY: Need = frozenset({""})
_FITS_NEVER: Need = frozenset()
_FITS_EDGE: Need = frozenset({WORD_EDGE})
# More texts than that are not joined with what stands beside them.
_NEED_MOST_JOINED = 16
_NEED_MOST_BRANCHES = 400
# Of so many branches all needs are combined, of more the best of each.
_NEED_FEW_BRANCHES = 3
_NEED_MOST = 4
# Beyond that, a longer text tells no more.
_NEED_TELLING_LENGTH = 6
_NEED_WIDEST_SORT = 4
# The end of a part, without what makes the signs beyond it optional.
_NEED_BRANCH_ENDS = frozenset({"bar", "close"})


class _NeedPart(NamedTuple):
    """What is known of a part of a pattern.

    Attributes:
        exact: all texts that it fits, if they are few and known.
        needs: what any text that it fits holds, where they are not.
    """

    exact: Need | None = None
    needs: tuple[Need, ...] = ()

    @property
    def told(self) -> tuple[Need, ...]:
        """Its needs, with the part's edges where a text reaches them."""
        if self.exact is None:
            return self.needs
        return _need_useful(
            [frozenset(f"{_NEED_PART_EDGE}{one}{_NEED_PART_EDGE}" for one in self.exact)]
        )


_FITS_ANYTHING = _NeedPart()


def needs_of(pattern: str, parts: Mapping[str, str] | None = None) -> tuple[Need, ...]:
    """What must stand in any text that a pattern fits: of each need one.

    A word in capitals in the pattern stands for the part of that name, and one that ``parts`` lacks
    for what fits nothing. Patterns may hold what the command patterns do: groups that capture
    nothing, lookarounds, sorts of signs, repeats; no flags.
    """
    part = _NeedReader(pattern, parts or {}).read()
    return tuple(
        dict.fromkeys(
            frozenset(one.replace(_NEED_PART_EDGE, "") for one in need) for need in part.told
        )
    )


class _NeedReader:
    """Reads one pattern, piece by piece."""

    def __init__(self, pattern: str, parts: Mapping[str, str]) -> None:
        self._pieces = [
            (str(match.lastgroup), match.group()) for match in _need_pieces().finditer(pattern)
        ]
        self._parts = parts
        self._at = 0

    def read(self) -> _NeedPart:
        """The branches up to the end of the group, or of the pattern."""
        branches: list[_NeedPart] = []
        while True:
            branches.append(self._branch())
            if self._at == len(self._pieces) or self._pieces[self._at][0] == "close":
                return _need_either(branches)
            self._at += 1

    def _branch(self) -> _NeedPart:
        pieces = self._pieces
        parts: list[_NeedPart] = []
        while self._at < len(pieces) and (sort := pieces[self._at][0]) not in _NEED_BRANCH_ENDS:
            if sort == "times":
                parts[-1] = _need_repeated(parts[-1], pieces[self._at][1])
                self._at += 1
            else:
                parts.append(self._piece())
        return parts[0] if len(parts) == 1 else _need_sequence(parts)

    def _piece(self) -> _NeedPart:
        sort, text = self._pieces[self._at]
        self._at += 1
        if sort == "signs":
            return _NeedPart(frozenset({text}))
        if sort == "words":
            return _NeedPart(frozenset(text.split("|")))
        if sort == "name":
            found = self._parts.get(text)
            return _NeedPart(_FITS_NEVER) if found is None else _need_named(found)
        if sort in ("open", "around"):
            part = self.read()
            self._at += 1
            # What a lookaround sees takes no room, and none may stand there.
            return part if sort == "open" else _NeedPart(_FITS_EMPTY)
        if sort == "sort":
            return _need_of_sort(text)
        if sort == "escaped":
            return _need_of_escape(text)
        if sort == "code":
            return _NeedPart(frozenset({chr(int(text[2:], 16))}))
        if text in "^$":
            return _NeedPart(_FITS_EMPTY)
        return _FITS_ANYTHING if text == "." else _NeedPart(frozenset({text}))


@cache
def _need_named(pattern: str) -> _NeedPart:
    return _NeedReader(pattern, {}).read()


def _need_either(branches: Sequence[_NeedPart]) -> _NeedPart:
    if len(branches) == 1:
        return branches[0]
    exact = [part.exact for part in branches if part.exact is not None]
    if len(exact) == len(branches) and sum(map(len, exact)) <= _NEED_MOST_BRANCHES:
        return _NeedPart(_FITS_NEVER.union(*exact))
    told = [part.told for part in branches if part.exact != _FITS_NEVER]
    if not all(told):
        return _FITS_ANYTHING
    if len(told) <= _NEED_FEW_BRANCHES and all(len(needs) <= _NEED_MOST for needs in told):
        combined: list[Need] = [_FITS_NEVER]
        for needs in told:
            combined = [one | other for one in combined for other in needs]
        return _NeedPart(None, _need_without_wider(combined))
    return _NeedPart(None, (_FITS_NEVER.union(*(max(needs, key=_need_telling) for needs in told)),))


def _need_without_wider(needs: Sequence[Need]) -> tuple[Need, ...]:
    return tuple(need for need in dict.fromkeys(needs) if not any(one < need for one in needs))


def _need_telling(need: Need) -> tuple[int, int]:
    """How much a need tells: by its shortest text, then by how few there are."""
    shortest = min((len(one.strip(_NEED_NO_SIGNS)) for one in need), default=0)
    return min(shortest, _NEED_TELLING_LENGTH), -len(need)


def _need_sequence(parts: Sequence[_NeedPart]) -> _NeedPart:
    """Known texts are joined as far as they are few; else each part tells its own needs."""
    needs: list[Need] = []
    # Those of the part right before, which may reach the edge of what follows.
    reaching: list[Need] = []
    joined = _FITS_EMPTY
    at_head = True
    for part in parts:
        if part.exact is None:
            edge = _need_edge(joined, _NEED_PART_EDGE if at_head else "")
            needs += [*_need_ending(reaching, ""), *_need_useful([_need_framed(joined, at_head)])]
            reaching = [_need_with_head(need, edge) for need in part.needs]
            joined, at_head = _FITS_EMPTY, False
            continue
        if reaching and part.exact != _FITS_EMPTY:
            is_edge = all(one.startswith(WORD_EDGE) for one in part.exact)
            needs += _need_ending(reaching, WORD_EDGE if is_edge else "")
            reaching = []
        if _need_are_few(joined, part.exact):
            joined = frozenset(one + other for one in joined for other in part.exact)
        else:
            needs += _need_useful([_need_framed(joined, at_head)])
            joined, at_head = part.exact, False
    if at_head:
        return _NeedPart(joined)
    last = _need_useful([frozenset(one + _NEED_PART_EDGE for one in joined)])
    return _NeedPart(None, (*needs, *reaching, *last))


def _need_are_few(ones: Need, others: Need) -> bool:
    return min(len(ones), len(others)) <= 1 or len(ones) * len(others) <= _NEED_MOST_JOINED


def _need_edge(before: Need, unknown: str) -> str:
    """The edge that texts make for what follows them; ``unknown`` where there are none."""
    if before == _FITS_EMPTY:
        return unknown
    return WORD_EDGE if all(one.endswith(WORD_EDGE) for one in before) else ""


def _need_framed(texts: Need, at_head: bool) -> Need:
    return frozenset(_NEED_PART_EDGE + one for one in texts) if at_head else texts


def _need_ending(needs: Sequence[Need], edge: str) -> list[Need]:
    """Needs whose texts reach an edge that is known now."""
    return [frozenset(_need_with_tail(one, edge) for one in need) for need in needs]


def _need_with_tail(text: str, edge: str) -> str:
    return text[:-1] + edge if text.endswith(_NEED_PART_EDGE) else text


def _need_with_head(need: Need, edge: str) -> Need:
    return frozenset(edge + one[1:] if one.startswith(_NEED_PART_EDGE) else one for one in need)


def _need_useful(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Those needs each of whose texts says something."""
    return tuple(need for need in needs if all(one.strip(_NEED_NO_SIGNS) for one in need))


def _need_repeated(part: _NeedPart, times: str) -> _NeedPart:
    least, most = _need_times(times)
    if not least:
        is_optional = most == 1 and part.exact is not None
        return _NeedPart(part.exact | _FITS_EMPTY) if is_optional and part.exact else _FITS_ANYTHING
    if most == 1:
        return part
    needs = (frozenset(one.replace(_NEED_PART_EDGE, "") for one in need) for need in part.told)
    return _NeedPart(None, tuple(need for need in needs if all(need)))


def _need_times(text: str) -> tuple[int, int]:
    """The least of a repeat and, if it is one, the most; else two."""
    if text[0] != "{":
        return (1 if text[0] == "+" else 0), (1 if text[0] == "?" else 2)
    least, _, most = text.rstrip("?+")[1:-1].partition(",")
    return int(least or 0), 1 if (most or least) == "1" else 2


def _need_of_sort(text: str) -> _NeedPart:
    signs = text[1:-1]
    if len(signs) > _NEED_WIDEST_SORT or signs[0] == "^" or "\\" in signs or "-" in signs:
        return _FITS_ANYTHING
    return _NeedPart(frozenset(signs))


def _need_of_escape(text: str) -> _NeedPart:
    if text == r"\b":
        return _NeedPart(_FITS_EDGE)
    if text == r"\n":
        return _NeedPart(frozenset({"\n"}))
    return _FITS_ANYTHING if text[1].isalnum() else _NeedPart(frozenset({text[1]}))


@cache
def _need_pieces() -> re.Pattern[str]:
    return re.compile(
        # Whole branches without anything but signs, and their bars, are read at once.
        r"(?P<words>(?:(?<=\(\?:)|(?<=\|)|\A)[^A-Z\\\[\]().*+?{}^$]+(?=[|)]|\Z))"
        r"|(?P<signs>[^A-Z\\\[\]().|*+?{}^$]+(?![*+?{]))"
        r"|(?P<name>(?<![A-Z\\])[A-Z]{3,}(?![A-Z]))|(?P<code>\\u[0-9a-fA-F]{4})|(?P<escaped>\\.)"
        r"|(?P<sort>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<around>\(\?<?[=!])|(?P<open>\((?:\?:)?)"
        r"|(?P<close>\))|(?P<bar>\|)|(?P<times>(?:[*+?]|\{[0-9]*,?[0-9]*\})[?+]?)|(?P<sign>.)",
        re.DOTALL,
    )
