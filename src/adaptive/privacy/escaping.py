"""A memory's text as one line of the system prompt that can neither end the block nor play a role.

Rows of any age and origin pass here, those of other tools included. Ordinary text stays as it is,
byte for byte; where a sign imitates structure, that sign alone is changed, so that a person can
still read what was said.
"""

# ruff: noqa: RUF001 - signs and words of several scripts

from __future__ import annotations

import re
import unicodedata

from adaptive.core.runtime import text_cache
from adaptive.core.texts import word_table
from adaptive.privacy.scanning import Respelling, respelled

# Never shown: controls, marks of direction, tags, fillers, and halves of characters.
_NEVER_SHOWN = (
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u115f\u1160\u17b4\u17b5\u200b\u202a-"
    "\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
# Scripts and emoji need these between their own signs: joiners, weak marks of direction, variants.
_JOINERS = "\u061c\u180b-\u180f\u200c-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20f0\ufe20-\ufe2f"
# A flag that is spelt with tags, as England's is.
TAG_FLAG = "\U0001f3f4[\U000e0061-\U000e007a]{3,6}\U000e007f"
_UNSEEN = re.compile(f"[{_NEVER_SHOWN}{_JOINERS}{_MARKS}]")
_NEVER = re.compile(f"({TAG_FLAG})|[{_NEVER_SHOWN}]+")
_LINE_BREAKS = re.compile("[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]+")
# Runs of joiners but for those between two signs that are no plain ones, one variant, and keycaps.
_STRAY_JOINERS = re.compile(
    f"(?<![{_JOINERS}])(?!(?<=[^\x00-\x7f])(?:[{_JOINERS}]{{1,2}}(?=[^\x00-\x7f{_JOINERS}])"
    f"|\ufe0f(?![{_JOINERS}]))|(?<=[0-9#*])\ufe0f\u20e3)[{_JOINERS}]+"
)
# Letters and brackets that look like these.
_TWINS = str.maketrans(
    "асԁеɡһіјкӏорԛѕтхуαεικνορτυ‹❮⟨〈˂ᐸ〈❬❰›❯⟩〉˃ᐳ〉❭❱",
    "acdeghijklopqstxyaeikvoptu<<<<<<<<<>>>>>>>>>",
)
_ROLES = {
    title: "|".join(roles).translate(_TWINS)
    for title, roles in word_table("roles").items()
}
_NAMES = r"system|assistant|user|human|developer|tools?|function|model|memory|instructions?|prompt"
_OWN_MARK = r"[\s_.\-]{0,3}".join("adaptivememory")
# The sign with which an imitation opens: our own mark, tokens of chat templates, and turns.
_IMITATION = re.compile(
    rf"<(?=[\s/|!?\\<]{{0,8}}+(?:{_OWN_MARK}|(?:{_NAMES}|inst|sys"
    rf"|s)[\w:.\-]{{0,20}}[\s/|]{{0,8}}>))"
    r"|<(?=\s{0,3}\||!--|(?:start|end)_of_|(?:im|eo)[_a-z]{0,10}>)"
    rf"|[\[{{](?=[\[{{]?\s{{0,3}}[/#|~]?\s{{0,3}}(?:inst|sys|end of [a-z ]{{3,30}}|{_NAMES})"
    r"(?:[\s_\-](?:message|note|calls?|results?|instructions?|prompt))?\s{0,3}[~\]:}])"
)
TAG_OPENING = re.compile(
    r"(?:(?<!\w)<|<(?=/))(?=[/!?]?[a-z][\w:.\-]{0,40}(?:\s[^<>\n]{0,300})?/?>)"
)
_COMMANDING_TURN = re.compile(
    rf"(?:^|[\n\"'`(\[{{|])[\s\-*#>_]{{0,8}}(?:{_ROLES['commanding']})[\s*_)\]\"'`]{{0,6}}:"
    rf"|(?:^|\n)[ \t]{{0,3}}#{{1,6}}[ \t]{{1,3}}(?:{_ROLES['commanding']})[ \t#]{{0,4}}"
    rf"(?:\n|$)"
    r"|\"(?:role|tool|tool_calls?|function_call|messages)\"\s?:"
)
_ROLE_OPENING = re.compile(
    rf"[\s\-*#>\"'`(\[_|.\d]{{0,12}}(?:{'|'.join(_ROLES.values())})[\s*_)\]\"'`]{{0,6}}"
    rf"(?P<colon>:)"
)
_LINE_OPENING = re.compile(
    r"^(?:[ \t]*(?:#{1,6}(?=[ \t#]|$)|[-=_*~]{3,}))+[ \t]*"
)
_BACKTICKS = re.compile("`{3,}")
# The bracket of a Markdown image, which whoever shows an answer would fetch.
_IMAGE = re.compile(r"(?<=!)\[(?=[^\]\n]{0,200}\]\s?[(\[])")
_ENTITIES = {"<": "&lt;", "[": "&#91;", "{": "&#123;"}


def seen_text(text: str) -> Respelling:
    """The text in small, plain signs without what cannot be seen."""
    if text.isascii() and text.isprintable():
        return Respelling(text.lower(), range(len(text)))
    return respelled(text, _seen_sign)


@text_cache(20_000)
def _seen_sign(sign: str) -> str:
    """One small, plain sign for what looks like it; nothing for what is not seen."""
    if _UNSEEN.match(sign):
        return ""
    if _LINE_BREAKS.match(sign):
        return "\n"
    plain = unicodedata.normalize("NFKC", sign).lower().translate(_TWINS)
    return plain if len(plain) == 1 else sign


def escaped_entry(text: str) -> str:
    """A text as one line that imitates no structure; the same for what was escaped before."""
    shown = _NEVER.sub(r"\1", text).encode("utf-8", "replace").decode("utf-8")
    shown = _STRAY_JOINERS.sub("", shown)
    lines = [
        _without_opening(line).strip(" \t")
        for line in _LINE_BREAKS.split(shown)
    ]
    shown = re.sub("\t+", " ", " ".join(filter(None, lines))).strip()
    shown = _BACKTICKS.sub(lambda run: "'" * len(run[0]), shown)
    shown = _without_imitations(_without_opening(shown))
    return _IMAGE.sub("&#91;", shown)


def imitates_structure(text: str) -> bool:
    """Whether a text imitates a mark of a block, a token of a chat template, or a commanding turn.

    A turn counts at the beginning of a line, of a quotation or of a bracket.
    """
    seen = seen_text(text).text
    return bool(_IMITATION.search(seen) or _COMMANDING_TURN.search(seen))


def _without_opening(line: str) -> str:
    """A line that begins neither as a heading or a rule nor as somebody's turn."""
    former = None
    while line != former:
        former = line
        line = _LINE_OPENING.sub("", line)
        seen = seen_text(line)
        role = _ROLE_OPENING.match(seen.text)
        if role:
            colon = seen.places[role.start("colon")]
            line = f"{line[:colon].rstrip()} -{line[colon + 1 :]}"
    return line


def _without_imitations(text: str) -> str:
    """A text in which each sign that opens an imitation or a tag is an entity."""
    seen = seen_text(text)
    signs = list(text)
    for pattern in (_IMITATION, TAG_OPENING):
        for match in pattern.finditer(seen.text):
            signs[seen.places[match.start()]] = _ENTITIES[match[0]]
    return "".join(signs)
