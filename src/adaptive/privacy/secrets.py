"""Secrets in a text: told by a word that names them near ("password is ..."), or by their form.

They are never a memory, and no status, log, table or request of ours carries them.

A closed list of nouns names, a sign, a copula or a blank links the noun to a value, and the look of
the value decides. What is read around a noun is bounded, so the work is linear.
"""

import re
from collections.abc import Iterator

from adaptive.core import (
    compiled_patterns,
    head_and_tail,
    pattern_table,
    word_table,
)
from adaptive.privacy.scanning import Finding, any_of, plain_text, spliced

SECRET_MARK = "[secret removed]"  # noqa: S105 - the mark in its place
_PASSWORD = "password"  # noqa: S105 - the kind
_CODE_KIND = "PIN or one-time code"
_KEY_KIND = "key or token"
_NO_KIND = "none"
_WORDS = word_table("secrets")
_CONTEXT = compiled_patterns("secret_context")
_KINDS = {
    noun: kind
    for kind in (_PASSWORD, _CODE_KIND, _KEY_KIND, _NO_KIND)
    for noun in _WORDS[kind]
}
# A letter beside a short noun, or a digit before it, makes it part of another word or of an id, in
# scripts with small letters.
_ALONE = r"{0[0]}(?<![^\W_].){1}(?![^\W\d_])"
# A noun and the ending of its case or number.
_NOUN = re.compile(
    "(?P<noun>"
    + any_of(
        _ALONE.format(noun, noun[1:])
        if len(noun) < 5 and noun.islower()
        else noun
        for noun in sorted(_KINDS, key=len, reverse=True)
    )
    + r")(?:(?<![\u2e80-\uffff])[a-z\u00e0-\u024f\u0430-\u0451]{1,3}(?![^\W\d_]))?"
)
_REACH = 120
# So much behind a noun is read; a value that is longer ends with its last sign that is no space.
_LONGEST = 400
_REST = re.compile(r"\S*")
_WIDEST_SECRET = 20_000  # a private key

_SECRET_FORMS = pattern_table("secret_forms")
# What issuers begin their keys with, but for those that their shape tells, as ``ghp_``.
_BEGINNINGS = any_of(sorted(map(re.escape, _WORDS["issuers"]), reverse=True))
_ISSUED = rf"(?:{_BEGINNINGS})[\w\-.+/]{{13,2000}}[\w=]=?"
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9][!-~]{17})"
    rf"(?:{'|'.join([_ISSUED, *_SECRET_FORMS['KEY']])})"
)
_FORMS = [
    (kind, re.compile(form))
    for kind, forms in _SECRET_FORMS.items()
    if not kind.isupper()
    for form in forms
]


def find_secrets(text: str) -> tuple[Finding, ...]:
    """All secrets in a text, in its order, none within or over another; linear in the text."""
    seen = plain_text(text)
    return seen.in_original(
        [*_formed_secrets(seen.text), *_named_secrets(seen.text)]
    )


def without_secrets(text: str) -> str:
    """The text with a fixed mark in the place of each secret; itself where there is none."""
    findings = find_secrets(text)
    pieces = [
        (finding.start, finding.end, SECRET_MARK) for finding in findings
    ]
    return spliced(text, pieces)


def excerpt_without_secrets(text: str, limit: int) -> str:
    """Head and tail of a text, about ``limit`` characters long, with marks in place of secrets.

    A secret is known by what stands around it, so that a wider excerpt is cleaned first.
    """
    return head_and_tail(without_secrets(wide_excerpt(text, limit)), limit)


def wide_excerpt(text: str, limit: int) -> str:
    """All of a text that an excerpt without secrets needs; their ends lie within the margin."""
    return head_and_tail(text, limit + 3 * _WIDEST_SECRET)


def _named_secrets(text: str) -> Iterator[Finding]:
    """Each secret near a noun that names it, in the order of the nouns."""
    lower = text.replace(
        "\u0130", "I"
    ).lower()  # the one letter that grows in small letters
    nouns = list(_NOUN.finditer(lower))
    next_starts = [*(noun.start() for noun in nouns[1:]), len(text)]
    former_end = 0
    value_end = 0
    for noun, next_start in zip(nouns, next_starts, strict=False):
        start, end = noun.span()
        kind = _KINDS[noun["noun"]]
        before = text[max(former_end, start - _REACH) : start]
        former_end = end
        if kind == _NO_KIND or start < value_end:
            continue
        value = _value_behind(
            kind,
            before=before,
            after=text[end : end + _LONGEST],
            reach=min(next_start - end, _REACH),
            may_be_joined=noun["noun"][-1] > "\u2e80",
        )
        offset = end
        if value is None:
            value = _value_before(kind, before)
            offset = start - len(before)
        if value is None:
            continue
        value_end = offset + value.end("value")
        start = offset + value.start("value")
        more = _CONTEXT["more codes"] if kind == _CODE_KIND else _REST
        is_followed = kind == _CODE_KIND or value_end == end + _LONGEST
        following = more.match(text, value_end) if is_followed else None
        value_end = following.end() if following else value_end
        yield Finding(kind, start, value_end)


def _value_behind(
    kind: str, *, before: str, after: str, reach: int, may_be_joined: bool
) -> re.Match[str] | None:
    """The value of a kind in ``after``, the text behind a noun, that the noun names.

    Only ``reach`` characters of it stand before the next noun. In scripts without blanks a value
    may be joined to the noun.
    """
    # Of nouns that follow one another directly the last leads to the value: SECRET_KEY=...
    for link in _CONTEXT["link"].finditer(after, 0, reach if reach > 2 else 0):
        quoted = (
            _CONTEXT["quoted"].match(after, link.end())
            if kind == _PASSWORD
            else None
        )
        code = (
            _CONTEXT["code"].match(after, link.end())
            if kind == _CODE_KIND
            else None
        )
        value = quoted or code or _CONTEXT["value"].match(after, link.end())
        if value is None or (link["joined"] is not None and not may_be_joined):
            continue
        is_amount = _CONTEXT["amount"].match(after, link.end())
        if is_amount or is_placeholder(value["value"]):
            continue
        is_other = _CONTEXT["other"].search(after[: link.start()]) is not None
        if code:
            is_secret = not (is_other or _CONTEXT["other"].search(before))
        elif kind != _PASSWORD:
            least = 16 if link["blank"] else 8
            is_secret = not is_other and _looks_random(value["value"], least)
        elif quoted:
            is_secret = not _CONTEXT["saying"].fullmatch(value["value"])
        else:
            is_secret = _is_password(value["value"], link)
        if is_secret:
            return value
    return None


def _is_password(value: str, link: re.Match[str]) -> bool:
    """Whether a value without quotation marks, to which a link leads, is a password."""
    if link["blank"]:
        # Nothing says that it is the password: it must look like one, and like nothing else.
        return len(value) >= 6 and _looks_chosen(value)
    if _looks_chosen(value) or _CONTEXT["figures"].fullmatch(value):
        return True
    # A plain word, where nothing else can stand, that says nothing about the password.
    is_told = link["sign"] or (link.start() == 1 and link[0].startswith("is "))
    if not is_told or not _CONTEXT["word"].match(link.string, link.end()):
        return False
    return not _CONTEXT["saying"].fullmatch(value.rstrip("!?"))


def _looks_chosen(value: str) -> bool:
    """Whether it is a password by its own look: letters with figures or signs within."""
    return _CONTEXT["chosen"].fullmatch(value) is not None


def _value_before(kind: str, before: str) -> re.Match[str] | None:
    """The value that the noun follows: "hunter2 is my password"."""
    match = _CONTEXT["value before"].search(before)
    if match is None or is_placeholder(match["value"]):
        return None
    if kind == _CODE_KIND:
        return match if _CONTEXT["code"].fullmatch(match["value"]) else None
    is_quoted = before[: match.start("value")].endswith(("'", '"', "`", "「"))
    return match if is_quoted or _looks_chosen(match["value"]) else None


def _formed_secrets(text: str) -> Iterator[Finding]:
    """Each secret that its form tells, in no order."""
    for match in _KEY.finditer(text):
        if _looks_random(match[0], 14) and not is_placeholder(match[0]):
            yield Finding("token", *match.span())
    for kind, form in _FORMS:
        for match in form.finditer(text):
            if not is_placeholder(match["value"]):
                yield Finding(kind, *match.span("value"))


def is_placeholder(value: str) -> bool:
    """Whether it stands in the place of a secret that is not told."""
    return _CONTEXT["placeholder"].fullmatch(value) is not None


def _looks_random(value: str, least: int) -> bool:
    """Whether it was made by chance: ``least`` letters and figures, well mixed.

    Capitals, small letters and figures follow one another at every second place of chance signs,
    at every eighth of joined words.
    """
    core = re.sub(r"[^A-Za-z0-9]", "", value)
    figures = sum(map(str.isdigit, core))
    if (
        len(core) < least
        or figures == len(core)
        or (not figures and len(core) < 20)
    ):
        return False
    changes = len(_CONTEXT["change of sort"].findall(core))
    return changes * 5 >= len(core) or figures * 2 >= len(core)
