"""Markdown links of an answer: found, and broken ones turned into searches for their text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal
from urllib.parse import quote_plus, unquote_plus

from adaptive.conversation.prose import MarkedCode
from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.secrets import find_secrets

LinkState = Literal["fine", "broken", "unknown"]

# A query is put in the place of ``%s``, or at the end.
SEARCH_ADDRESS = "https://duckduckgo.com/?q=%s"
_LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class MarkdownLink:
    """One link: ``target`` is its address, which stands from ``start`` to ``end``."""

    text: str
    target: str
    start: int
    end: int


def markdown_links(text: str) -> tuple[MarkdownLink, ...]:
    """Links ``[text](address)`` to http and https outside of code, pictures left out."""
    if "](" not in text:
        return ()
    code = MarkedCode(text)
    return tuple(
        MarkdownLink(found["text"], found["target"], *found.span("target"))
        for found in _inline_link().finditer(text)
        if not code.holds(found.start()) and found["target"].lower().startswith(("http:", "https:"))
    )


def targets_to_check(text: str, most: int) -> tuple[str, ...]:
    """The first so many different addresses of a text that tell nothing of anybody."""
    different = dict.fromkeys(link.target for link in markdown_links(text))
    return tuple(itertools.islice(filter(_tells_nothing, different), most))


def _tells_nothing(target: str) -> bool:
    """Whether an address holds neither a secret nor personal data, also not in quoted form.

    To ask such a one would hand over what it holds, as a text from a stranger may intend, and one
    that is good for one use, as those for setting a password anew, would be used up.
    """
    read = (target, unquote_plus(target))
    return not any(find_secrets(text) or find_personal_data(text) for text in read)


def link_state(status: int) -> LinkState:
    """What an HTTP status says of a link.

    4xx is broken but for what passes: time-out (408) and too many requests (429). So may 5xx.
    """
    if 400 <= status < 500 and status not in (408, 429):
        return "broken"
    return "fine" if 200 <= status < 400 else "unknown"


def corrected_links(
    text: str, states: Mapping[str, LinkState], search_address: str = SEARCH_ADDRESS
) -> str:
    """The text with each broken link leading to a search for what it says, all else untouched."""
    kept: list[str] = []
    position = 0
    for link in markdown_links(text):
        if states.get(link.target) == "broken":
            kept += [text[position : link.start], search_target(link, search_address)]
            position = link.end
    return "".join([*kept, text[position:]])


def search_target(link: MarkdownLink, search_address: str) -> str:
    """The address of a search for the link's text, or for its address where it has no words."""
    words = " ".join(_decoration().sub("", link.text).split())[:_LONGEST_SEARCH]
    if not any(sign.isalnum() for sign in words):
        words = link.target[:_LONGEST_SEARCH]
    query = quote_plus(words, errors="replace")
    if "%s" in search_address:
        return search_address.replace("%s", query)
    return f"{search_address}{query}"


@cache
def _inline_link() -> re.Pattern[str]:
    """A link on one line; addresses may hold up to three pairs of brackets, texts one level."""
    label = r"(?:[^\[\]\\\n]|\\.|\[[^\[\]\\\n]{0,200}\]){1,300}"
    plain = r"[^\s()<>]{1,2000}(?:\([^\s()]{0,500}\)[^\s()<>]{0,500}){0,3}"
    title = r"(?:[ \t]{1,9}(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'))?"
    address = rf"[ \t]{{0,9}}<?(?P<target>{plain})>?{title}[ \t]{{0,9}}"
    return re.compile(rf"(?<![!\\])\[(?P<text>{label})\]\({address}\)")


@cache
def _decoration() -> re.Pattern[str]:
    return re.compile(r"[*_`~\\\[\]]")
