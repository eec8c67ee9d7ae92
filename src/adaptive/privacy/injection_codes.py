"""Texts in a code, read: what a candidate memory may hide from the eye of its reader."""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from urllib.parse import unquote

from adaptive.privacy.word_places import WordTable

_MOST_RUNS = 40
# Of the signs of a text; French has one in twenty-five, Czech one in seven.
_MOST_ACCENTED = 0.15
# A code within a code within a code.
_DEEPEST_CODE = 3
# One word may be chance.
_LEAST_DISGUISED = 2
_LEET = str.maketrans("013457@$!|+8", "oieastasiltb")
_PLAIN_WORDS = (
    "ignore",
    "instruction",
    "recommend",
    "always",
    "system",
    "prompt",
    "reveal",
    "assistant",
    "previous",
    "answer",
    "never",
    "respond",
    "the user",
    "when asked",
    "say",
    "password",
    "send",
    "disregard",
    "forget",
    "prior",
    "rules",
    "obey",
)


def hidden_texts(text: str) -> Iterator[str]:
    """What stands in a text in a code that is there to be decoded: base64, hexadecimal, and such.

    Only what decodes to words is told, so that hashes and identifiers are none.
    """
    for pattern, decode in _decoders():
        for number, match in enumerate(pattern.finditer(text)):
            if number >= _MOST_RUNS:
                break
            decoded = decode(match.group())
            if _reads(decoded):
                yield decoded
    if html.unescape(text) != text and re.search(r"(?:&#x?[0-9a-fA-F]{2,6};\s?){4}", text):
        yield html.unescape(text)


def disguised_texts(text: str) -> Iterator[str]:
    """A text as it reads with its letters shifted, turned round, or figures read as letters.

    Nothing tells that it is one; so what they give counts only where it is a command.
    """
    lower = text.lower()
    yield from _respelt_texts(lower)
    if re.search(r"[a-z][013457@$!|+8][a-z]|\b[013457@$!][a-z]{2}", lower):
        yield lower.translate(_LEET)
    if not text.isascii() and not re.search("[a-z]{4}", lower):
        return
    table, ways = _disguised_words()
    held = table.held(lower)
    if len(held) < _LEAST_DISGUISED:
        return
    for alphabet, words in ways:
        if len(words & held) >= _LEAST_DISGUISED:
            yield lower.translate(alphabet)
    if sum(word[::-1] in held for word in _PLAIN_WORDS) >= _LEAST_DISGUISED:
        yield lower[::-1]
    if sum(_longest_part(word)[::-1] in held for word in _PLAIN_WORDS) >= _LEAST_DISGUISED:
        words_turned = re.sub(r"[a-z]+", lambda word: word.group()[::-1], lower)
        if sum(word in words_turned for word in _PLAIN_WORDS) >= _LEAST_DISGUISED:
            yield words_turned


def _respelt_texts(lower: str) -> Iterator[str]:
    """A lower-case text without what is written into its words, or in their place."""
    if re.search("%[2-7][0-9a-f]", lower):
        yield unquote(lower)
    if "&" in lower and html.unescape(lower) != lower:
        yield html.unescape(lower)
    if not lower.isascii() and len(_accented().findall(lower)) > _MOST_ACCENTED * len(lower):
        yield _without_accents(lower)
    if len(_inner_signs().findall(lower)) >= _LEAST_DISGUISED:
        yield _inner_signs().sub("", lower)


def joined_letters(text: str) -> str:
    """A text whose letters stand apart, joined; empty where they do not."""
    runs = [re.sub(r"[^\w]|_", "", run.group()) for run in _apart().finditer(text)]
    return " ".join(run for run in runs if len(run) >= 6).lower()


@cache
def _disguised_words() -> tuple[WordTable, tuple[tuple[Mapping[int, int], frozenset[str]], ...]]:
    """The plain words in every disguise; each alphabet that reads one, with what it reads."""
    letters = string.ascii_lowercase
    alphabets = [letters[shift:] + letters[:shift] for shift in range(1, 26)]
    ways: list[tuple[Mapping[int, int], frozenset[str]]] = []
    for alphabet in (*alphabets, letters[::-1]):
        hide = str.maketrans(alphabet, letters)
        hidden = frozenset(word.translate(hide) for word in _PLAIN_WORDS)
        ways.append((str.maketrans(letters, alphabet), hidden))
    turned = {part[::-1] for word in _PLAIN_WORDS for part in (word, _longest_part(word))}
    return WordTable(turned.union(*(hidden for _, hidden in ways))), tuple(ways)


def _longest_part(words: str) -> str:
    return max(words.split(), key=len)


def _reads(decoded: str) -> bool:
    """Whether it is words: letters and spaces, and vowels among them."""
    letters = sum(sign.isalpha() or sign in " .,:;!?'\"\n" for sign in decoded)
    return (
        len(decoded) >= 6
        and letters >= 0.85 * len(decoded)
        and re.search(r"[a-z]{3}|[\u0400-\u9fff]{2}", decoded.lower()) is not None
        and re.search(r"[aeiou\u0400-\u9fff]", decoded.lower()) is not None
    )


def _of_base64(run: str) -> str:
    for _ in range(_DEEPEST_CODE):
        bare = run.rstrip("=").replace("-", "+").replace("_", "/")
        run = _as_text(partial(base64.b64decode, bare + "=" * (-len(bare) % 4)))
        if not _decoders()[0][0].fullmatch(run):
            break
    return run


def _of_base32(run: str) -> str:
    bare = run.rstrip("=")
    return _as_text(lambda: base64.b32decode(bare + "=" * (-len(bare) % 8)))


def _of_hexadecimal(run: str) -> str:
    figures = re.sub(r"0x|\\x|\\u00|[^0-9a-fA-F]", "", run)
    return _as_text(lambda: bytes.fromhex(figures[: len(figures) // 2 * 2]))


def _of_binary(run: str) -> str:
    return "".join(chr(int(code, 2)) for code in re.findall("[01]{8}|[01]{7}", run))


def _of_decimal(run: str) -> str:
    return "".join(chr(int(code)) for code in re.findall(r"\d+", run))


def _of_percent(run: str) -> str:
    return unquote(run)


def _of_morse(run: str) -> str:
    return "morse code" if len(run.split()) >= 8 else ""


def _as_text(decoded: Callable[[], bytes]) -> str:
    try:
        return decoded().decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""


@cache
def _decoders() -> tuple[tuple[re.Pattern[str], Callable[[str], str]], ...]:
    return (
        (re.compile(r"(?<![A-Za-z0-9+/=_\-.])[A-Za-z0-9+/_\-]{12,4000}={0,2}"), _of_base64),
        (re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{16,4000}={0,6}"), _of_base32),
        (
            re.compile(
                r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9a-fA-F]{2}[\s:,\-]{0,2}(?:0x)?){8,2000}"
                r"|(?:\\x[0-9a-fA-F]{2}){4,500}|(?:\\u00[0-9a-fA-F]{2}){4,500}"
            ),
            _of_hexadecimal,
        ),
        (
            re.compile(r"(?<!\d)(?:[01]{7,8}[\s,]{1,2}){4,500}[01]{7,8}|(?<!\d)(?:[01]{8}){6,500}"),
            _of_binary,
        ),
        (
            re.compile(r"(?<!\d)(?:(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])[\s,;]{1,2}){8,500}\d{2,3}"),
            _of_decimal,
        ),
        (re.compile(r"(?:%[2-7][0-9a-fA-F]){4,500}"), _of_percent),
        (re.compile(r"(?<![\w.\-])(?:[.\-\u2013\u00b7]{1,6}[ /|]{1,3}){8,500}"), _of_morse),
    )


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFD", text)
    return "".join(sign for sign in parts if unicodedata.category(sign) != "Mn")


@cache
def _accented() -> re.Pattern[str]:
    return re.compile("[\u00df-\u024f]")


@cache
def _inner_signs() -> re.Pattern[str]:
    """A sign between two letters of a word."""
    return re.compile(r"[*|~^+\u00b7_.\-/\\](?=[a-z])(?<=[a-z].)")


@cache
def _apart() -> re.Pattern[str]:
    return re.compile(r"(?<![^\W_])(?:[^\W\d_][ .\-_*/|]{1,3}){6,300}[^\W\d_](?![^\W_])")
