"""Spoken requests to erase or restore memories, read by a closed vocabulary of 19 languages.

A message is a request where each of its words is one of these and the kinds of words come together.
So whatever is told, negated or about something else is none; a false hit costs a dialog. What is
nearly a request erases nothing: its user is told the command.
"""

# ruff: noqa: RUF001 - the words are in several scripts

from __future__ import annotations

import contextlib
import re
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from adaptive.core.messages import Message, head_and_tail, local_time, said_at
from adaptive.core.texts import word_table
from adaptive.settings.hook import Hook

_KINDS = word_table("spoken_requests")
_MONTHS = [tuple(one.split()) for one in word_table("months")["heads"]]
_DATES = (
    r"(?:(?P<y>\d{4})[-年]|(?=\d\d?月))(?P<m>\d{1,2})[-月](?P<d>\d{1,2})日?",
    r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|o)?[ ./-]{1,2}(?:of |de )?(?P<m>\d{1,2}|[^\W\d]{3,})"
    r"[ .,/-]*(?:de )?(?P<y>\d{4})?(?: года)?",
    r"(?P<m>[^\W\d]{3,}) (?P<d>\d{1,2})(?:st|nd|rd|th)?,? ?(?P<y>\d{4})?",
)

_LONGEST_REQUEST = 160
HOW_TO_ERASE = "To have what is remembered about you erased, type /forget everything."


ErasureScope = Literal["everything", "chat", "day", "imported", "tools"]


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """What to erase; ``day`` is one where the user lives."""

    scope: ErasureScope
    day: date | None = None


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a request names by a kind of words, beside ``any_of`` others and ``none_of`` these."""

    scope: ErasureScope
    needed: str
    any_of: frozenset[str]
    none_of: frozenset[str] = frozenset()


_WHOSE = frozenset({"me", "my"})
_SCOPES = (
    _Scope("imported", "imported", frozenset({"all", "memories"})),
    _Scope("tools", "tools", frozenset({"said", "memories"})),
    _Scope("chat", "chat", frozenset({"forgetting", "said", "memories"})),
    _Scope("day", "day", frozenset({"all", "said", "memories"})),
    _Scope("everything", "memories", _WHOSE | {"all"}),
    _Scope("everything", "data", _WHOSE),
    _Scope("everything", "all", _WHOSE | {"forgetting", "said"}),
    # "Forget what I said" is about the last message.
    _Scope("everything", "me", frozenset({"forgetting"}), none_of=frozenset({"said"})),
)
_UNKNOWN = frozenset({"unknown"})
_VERBS = frozenset({"erasing", "forgetting"})
_SENTENCE_END = re.compile(r"(?<=[.!?。！？।؟])|\n")
# Of a long message what is said at its head and its tail is read, in characters.
_LONGEST_READ = 2000
# What may stand before the verb of a request, or behind it.
_AROUND_A_VERB = frozenset({"polite", "filler", "subject", "unknown"})
# How many unknown words may stand before it where memories or data are named ("immediately").
_ADVERBS = 2


def spoken_request(
    hook: Hook, typed: tuple[Message, str] | None
) -> ErasureRequest | Literal["restore", "unclear"] | None:
    """What the user's newest message, with the words typed in it, asks the memory for.

    It is ``unclear`` where the message may be meant to erase, but is not understood.
    """
    if typed is None or hook.told_kind not in ("saved", "temporary", "api"):
        return None
    message, words = typed
    if asks_to_restore(words):
        return "restore"
    today = local_time(said_at(message, time.time()), *hook.time_zones).date()
    request = read_erasure_request(words, today)
    return request or ("unclear" if nearly_asks_to_erase(words) else None)


def read_erasure_request(words: str, today: date) -> ErasureRequest | None:
    """What a message asks to erase, if it does; ``today`` is the day where the user lives."""
    plain, day = _without_day(_folded(words), today)
    kinds = _kinds_of(plain)
    day = next((today - timedelta(past) for past in range(3) if str(past) in kinds), day)
    kinds |= {"day"} if day else set()
    if not kinds & {"erasing", "forgetting"}:
        return None
    for one in _SCOPES:
        if one.needed in kinds and kinds & one.any_of and not kinds & one.none_of:
            return ErasureRequest(one.scope, day if one.scope == "day" else None)
    return None


def nearly_asks_to_erase(words: str) -> bool:
    """Whether a message that is no request may be meant as one to erase what is remembered.

    It is short, names memories, one's data or oneself, begins or ends with a verb of erasing or
    forgetting, and no more than half of it is unknown.
    """
    plain = _folded(words)
    pieces = _pieces(plain)
    kinds = frozenset[str]().union(*pieces)
    unknown = pieces.count(_UNKNOWN)
    if "negated" in kinds or 2 * unknown > len(pieces) or _told_or_asked(plain, pieces):
        return False
    if "memories" in kinds or ("data" in kinds and kinds & _WHOSE):
        return _begins_with_verb(pieces, _ADVERBS) or _begins_with_verb(pieces[::-1])
    return "me" in kinds and _begins_with_verb(pieces)


def sentences_to_forget(words: str) -> str:
    """Those sentences of a message that ask to forget or erase something, whatever it is.

    The verb begins or ends such a sentence, as an order does; what is not to be forgotten, told of
    somebody or asked about is none. It is read for what the model need not be reminded of.
    """
    sentences = _SENTENCE_END.split(head_and_tail(words, _LONGEST_READ))
    return "\n".join(filter(_orders_to_forget, sentences))


def _orders_to_forget(sentence: str) -> bool:
    plain = _folded(sentence[:_LONGEST_REQUEST])
    pieces = _pieces(plain)
    if _told_or_asked(plain, pieces):
        return False
    for in_order in (pieces, pieces[::-1]):
        if _begins_with_verb(in_order):
            verb = next(at for at, piece in enumerate(in_order) if piece & _VERBS)
            return not any("negated" in piece for piece in in_order[: verb + 2])
    return False


def _begins_with_verb(pieces: Sequence[frozenset[str]], unknown: int = 0) -> bool:
    """Whether the first word that matters erases or forgets, behind so many unknown ones."""
    for piece in pieces:
        if piece & _VERBS:
            return True
        unknown -= piece == _UNKNOWN
        if unknown < 0 or not piece & _AROUND_A_VERB:
            return False
    return False


def _without_day(plain: str, today: date) -> tuple[str, date | None]:
    """A folded text without the day that it names, and the last such day up to today."""
    for found in (found for form in _DATES for found in re.finditer(form, plain)):
        months = (n for n, stems in enumerate(_MONTHS, 1) if found["m"].startswith(stems))
        month = int(found["m"]) if found["m"].isdecimal() else next(months, 0)
        for year in [int(found["y"])] if found["y"] else range(today.year, today.year - 9, -1):
            with contextlib.suppress(ValueError):
                if (day := date(year, month, int(found["d"]))) <= today:
                    return f"{plain[: found.start()]} {plain[found.end() :]}", day
    return plain, None


def asks_to_restore(words: str) -> bool:
    """Whether a message asks to bring archived memories back."""
    return _kinds_of(_folded(words)) >= {"restoring", "archived", "memories"}


def _kinds_of(plain: str) -> set[str]:
    """Of which kinds the words are; none where one is unknown, asked about or told of somebody."""
    pieces = _pieces(plain)
    kinds = set[str]().union(*pieces)
    if kinds & {"unknown", "negated"} or _told_or_asked(plain, pieces):
        return set()
    return kinds | {"erasing", "forgetting"} if kinds >= {"polite", "wished"} else kinds


def _told_or_asked(plain: str, pieces: Sequence[frozenset[str]]) -> bool:
    """Whether a text says what somebody does or asks a question, and wishes nothing."""
    told = bool(pieces) and "subject" in pieces[0]
    return (told or "?" in plain) and not any("polite" in piece for piece in pieces)


def _pieces(plain: str) -> list[frozenset[str]]:
    """Of which kinds each word of a folded text is; a word may be of several."""
    return [_VOCABULARY.get(piece, _UNKNOWN) for piece in _WORD.findall(plain)]


def _folded(text: str) -> str:
    """A short text in small letters without accents; nothing of a longer one."""
    small = text.casefold() if len(text) <= _LONGEST_REQUEST else ""
    for written, plain in _SPELLINGS:
        small = small.replace(written, plain)
    signs = unicodedata.normalize("NFKD", small)
    return "".join(sign for sign in signs if not unicodedata.combining(sign))


# Turkish has an i without a dot, whose capital folds to one with it; Arabic words may be stretched,
# and unseen marks of direction stand around them.
_SPELLINGS = (
    ("’", "'"),
    ("day before y", "day-before-y"),
    ("ı", "i"),
    ("ـ", ""),
    ("؟", "?"),
    ("\u200e", ""),
    ("\u200f", ""),
)
_VOCABULARY: dict[str, frozenset[str]] = {}
for _kind, _words in _KINDS.items():
    for _word in map(_folded, _words):
        _VOCABULARY[_word] = _VOCABULARY.get(_word, frozenset()) | {_kind}
# Words of scripts that leave no blanks, the longest first; else all up to a blank or stop.
_UNSPACED = [word for word in _VOCABULARY if re.match(r"[\u3040-\u9fff]", word)]
_KNOWN_UNSPACED = "|".join(sorted(_UNSPACED, key=len)[::-1])
_WORD = re.compile(rf"{_KNOWN_UNSPACED}|[\u3040-\u9fff]|[^\s.,!?¿¡。、।،\u3040-\u9fff]+")
