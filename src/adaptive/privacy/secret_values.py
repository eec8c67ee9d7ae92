"""Whether a run of signs looks like a secret: made by chance, or chosen as a password."""

# ruff: noqa: RUF001 - signs and words of several scripts

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache

from adaptive.privacy.secret_words import KNOWN_NAMES, SAYING

_LEAST_CHANCE = 2.9  # bits per sign; English words joined have 2.5 to 3.6, hexadecimal chance 3.4
_LEAST_PASSWORD = 4
_TRIMMED = ".,;:!?)]}>\"'`*»”’。，、；！？」』）"


def bare_value(value: str) -> str:
    """A value without the marks that a sentence puts after it."""
    return value.rstrip(_TRIMMED)


def is_placeholder(value: str) -> bool:
    """Whether it stands for a secret that is not told: ``<key>``, ``$KEY``, ``****``, ``xxxx``."""
    return not value or _placeholder().match(value) is not None


def looks_random(value: str, least: int = 16) -> bool:
    """Whether a run of key signs was made by chance: of letters and figures mixed, no name.

    ``least`` is the number of signs from which on it counts.
    """
    value = bare_value(value)
    if len(value) < least:
        return False
    # What costs little is asked first.
    core = value.rstrip("=")
    figures = sum(map(str.isdigit, core))
    mixed = figures >= 2 or (figures and len(core) < 14) or _case_changes(core) >= 4
    if not mixed or not any(map(str.isalpha, core)) or value.lower() in KNOWN_NAMES:
        return False
    if is_placeholder(value) or (_plain_run().fullmatch(value) and not _is_mixed_case(core)):
        return False
    return entropy(core) >= min(_LEAST_CHANCE, math.log2(len(core)) * 0.72)


def looks_chosen(value: str) -> bool:
    """Whether it is a password by its own look: letters with figures, signs or case within."""
    value = bare_value(value)
    if len(value) < _LEAST_PASSWORD or not _is_marked(value) or value.lower() in KNOWN_NAMES:
        return False
    if value[-1] > "\u2e80":  # signs of a language without spaces: the rest of the sentence
        return False
    return not (
        is_placeholder(value) or _plain_run().fullmatch(value) or _unit_like().fullmatch(value)
    )


def _is_marked(value: str) -> bool:
    """Letters with figures, signs or capitals within."""
    letters = any(map(str.isalpha, value))
    if letters and (any(map(str.isdigit, value)) or _strange_sign().search(value)):
        return True
    return len(value) >= 2 * _LEAST_PASSWORD and bool(re.search(r"[a-z][A-Z]", value))


def is_saying(word: str) -> bool:
    """Whether a word in the place of a password says something about it."""
    word = bare_value(word).lower()
    return word in SAYING or _participle().fullmatch(word) is not None


def entropy(value: str) -> float:
    """Bits per sign of a text, of the frequencies of its signs (Shannon)."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def _is_mixed_case(value: str) -> bool:
    """Letters whose case changes more often than at the words of a name in a program."""
    return len(value) >= 20 and value.isalpha() and 4 * _case_changes(value) > len(value)


def _case_changes(value: str) -> int:
    return len(re.findall(r"[a-z][A-Z]|[A-Z][a-z]", value))


@cache
def _placeholder() -> re.Pattern[str]:
    return re.compile(
        r"(?:<[^>]{0,60}>?|\$[({A-Za-z_].*|%[({A-Z].*|\{\{?[^}]{0,60}\}?.*"
        r"|\[[A-Za-z_ .\-0-9]{0,60}\]?"
        r"|[*•●xX.\-_#]+|\.{3}.*|(?:your|my|insert|enter|put|some|dein|ihr|votre|tu|seu|sua)"
        r"[_\-][a-z_\-]+.*|your[a-z]*(?:key|token|secret|password)[a-z]*"
        r"|(?:process|os|env|config|settings|secrets|vars|self|args)\.[a-z].*"
        r"|password|passwd|pass|pwd|passwort|secret|token|api[_\-]?key|key|user|none|null|true"
        r"|false"
        r"|nil|undefined|changeme|change[_\-]me|redacted|example|placeholder|!(?:vault|secret"
        r"|env|env_var|include|ref|sub)\b.*|(?:x{3,}|\*{2,}"
        r"|•{2,}).*"
        r"|.{0,12}(?:\*{3,}|x{5,}|X{5,}|•{3,}|\.{3,}|…).{0,6})[\"'),;.]*$",
        re.IGNORECASE,
    )


@cache
def _plain_run() -> re.Pattern[str]:
    """Addresses, dates, times, versions, numbers, paths and words joined by hyphens."""
    return re.compile(
        r"https?://\S+|www\.\S+|[\w.+\-]+@[\w\-]+\.[\w.]+|v?\d+(?:[.:/,\-]\d+)+(?:[ap]m|[A-Z])?"
        r"|\d{1,3}(?:st|nd|rd|th|s|k|m|px|kg|cm|km|gb|mb|ms|am|pm|x|h|er|te|%|€|\$)"
        r"|[A-Za-z]+(?:['’\-/][A-Za-z]+)*|[A-Za-z]+(?:[_.][A-Za-z]+)+(?:\(\)?)?|[/~][\w.\-/]+"
        r"|[A-Za-z_]\w*\([^)]*\)|[A-Za-z_.]+\[[^\]]*\]",
        re.IGNORECASE,
    )


@cache
def _unit_like() -> re.Pattern[str]:
    return re.compile(
        r"\d+[\-\u2011]?(?:char\w*|digits?|zeichen|stellige?[rnsm]?|bits?|days?|letters?"
        r"|words?|fold)|\W+",
        re.IGNORECASE,
    )


@cache
def _strange_sign() -> re.Pattern[str]:
    return re.compile(r"[@#$%^&*+=~|\\!?<>{}\[\]](?=.)")


@cache
def _participle() -> re.Pattern[str]:
    return re.compile(r"[a-zäöü]{3,}(?:ed|able|ible|less|ful)|(?:ge|ver|be)[a-zäöü]{3,}t")
