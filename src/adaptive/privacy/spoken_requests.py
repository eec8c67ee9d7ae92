"""Spoken requests to erase or restore memories, read by a closed vocabulary of 19 languages.

A message is a request where each of its words is one of these and the kinds of words come together.
So whatever is told, negated or about something else is none; a false hit costs a dialog. What is
nearly a request erases nothing: its user is told the command.
"""

# ruff: noqa: RUF001 - the words are in several scripts

import re
import time
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, timedelta
from typing import Literal

from adaptive.core import (
    Message,
    frozen,
    head_and_tail,
    local_time,
    pattern_table,
    said_at,
    word_table,
)
from adaptive.settings import Hook

_MONTHS = pattern_table("personal_shapes")["MONTH"]
_DATES = (
    r"(?:(?P<y>\d{4})[-年]|(?=\d\d?月))(?P<m>\d{1,2})[-月](?P<d>\d{1,2})日?",
    r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|o)?[ ./-]{1,2}(?:of |de )?(?P<m>\d{1,2}|[^\W\d]{3,})"
    r"[ .,/-]*(?:de )?(?P<y>\d{4})?(?: года)?",
    r"(?P<m>[^\W\d]{3,}) (?P<d>\d{1,2})(?:st|nd|rd|th)?,? ?(?P<y>\d{4})?",
)
_LONGEST_REQUEST = 160
_SENTENCE_END = re.compile(r"(?<=[.!?。！？।؟])|\n")
# Of a long message what is said at its head and its tail is read, in characters.
_LONGEST_READ = 2000

WordKinds = frozenset[str]
_UNKNOWN = frozenset({"unknown"})
_VERBS = frozenset({"erasing", "forgetting"})
# What may stand before the verb of a request, or behind it.
_AROUND_A_VERB = frozenset({"polite", "filler", "subject", "unknown"})
# How many unknown words may stand before it ("immediately").
_ADVERBS = 2

ErasureScope = Literal["everything", "chat", "day"]


@frozen
class ErasureRequest:
    """What to erase; ``day`` is one where the user lives."""

    scope: ErasureScope
    day: date | None = None


# What is to be erased, by what names it and by words of which one stands beside.
_SCOPES: tuple[tuple[ErasureScope, str, set[str]], ...] = (
    ("chat", "chat", {"forgetting", "said", "memories"}),
    ("day", "day", {"all", "said", "memories"}),
    ("everything", "memories", {"me", "my", "all"}),
    ("everything", "data", {"me", "my"}),
    ("everything", "all", {"me", "my", "forgetting", "said"}),
)


class _ReadMessage:
    """A folded message as the kinds of its words; a word may be of several kinds."""

    def __init__(self, folded: str) -> None:
        self.words = [
            _VOCABULARY.get(word, _UNKNOWN) for word in _WORD.findall(folded)
        ]
        self.kinds = frozenset[str]().union(*self.words)
        is_told = bool(self.words) and "subject" in self.words[0]
        # Whether it says what somebody does or asks a question, and wishes nothing.
        self.tells_or_asks = (
            is_told or "?" in folded
        ) and "polite" not in self.kinds

    def order(self, unknown: int = 0) -> Sequence[WordKinds]:
        """The words up to the one behind a verb that erases or forgets and begins or ends them.

        So many unknown words may stand before it.
        """
        for words in (self.words, self.words[::-1]):
            left = unknown
            for place, word in enumerate(words):
                if word & _VERBS:
                    return words[: place + 2]
                left -= word == _UNKNOWN
                if left < 0 or not word & _AROUND_A_VERB:
                    break
        return ()

    @property
    def requested(self) -> WordKinds:
        """The kinds of words of a request; none where one is unknown, negated, asked or told."""
        if self.tells_or_asks or self.kinds & {"unknown", "negated"}:
            return frozenset()
        return (
            self.kinds | _VERBS
            if self.kinds >= {"polite", "wished"}
            else self.kinds
        )


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
    folded, day = _without_day(_folded(words), today)
    kinds = _ReadMessage(folded).requested
    for days_ago in (2, 1, 0):
        if str(days_ago) in kinds:
            day = today - timedelta(days_ago)
    scope = _scope_of(kinds | {"day"} if day else kinds)
    if scope is None or kinds.isdisjoint(_VERBS):
        return None
    return ErasureRequest(scope, day if scope == "day" else None)


def _scope_of(kinds: WordKinds) -> ErasureScope | None:
    """What a request to erase is about, by the kinds of its words."""
    for scope, named, beside in _SCOPES:
        if named in kinds and kinds & beside:
            return scope
    # "Forget what I said" is about the last message.
    return (
        "everything"
        if kinds >= {"me", "forgetting"} and "said" not in kinds
        else None
    )


def nearly_asks_to_erase(words: str) -> bool:
    """Whether a message that is no request may be meant as one to erase what is remembered.

    It is short, names memories, one's data or oneself, begins or ends with a verb of erasing or
    forgetting, and no more than half of it is unknown.
    """
    message = _ReadMessage(_folded(words))
    kinds = message.kinds
    is_known = 2 * message.words.count(_UNKNOWN) <= len(message.words)
    is_about_memory = kinds & {"memories", "me"} or kinds >= {"data", "my"}
    if not is_known or not is_about_memory or "negated" in kinds:
        return False
    return bool(message.order(_ADVERBS)) and not message.tells_or_asks


def sentences_to_forget(words: str) -> str:
    """Those sentences of a message that ask to forget or erase something, whatever it is.

    The verb begins or ends such a sentence, as an order does; what is not to be forgotten, told of
    somebody or asked about is none. It is read for what the model need not be reminded of.
    """
    sentences = _SENTENCE_END.split(head_and_tail(words, _LONGEST_READ))
    return "\n".join(filter(_orders_to_forget, sentences))


def _orders_to_forget(sentence: str) -> bool:
    """Whether a sentence begins or ends with a verb of forgetting that is not negated."""
    message = _ReadMessage(_folded(sentence[:_LONGEST_REQUEST]))
    order = message.order()
    is_negated = any("negated" in word for word in order)
    return bool(order) and not is_negated and not message.tells_or_asks


def _without_day(folded: str, today: date) -> tuple[str, date | None]:
    """A folded text without the day that it names, and the last such day up to today."""
    for form in _DATES:
        named = re.search(form, folded)
        day = _last_day(named, today) if named else None
        if named and day:
            return folded.replace(named[0], " "), day
    return folded, None


def _last_day(named: re.Match[str], today: date) -> date | None:
    """The last day up to today that is named so; ``None`` where there is no such day."""
    for year in [named["y"]] if named["y"] else [today.year, today.year - 1]:
        with suppress(ValueError):
            day = date(int(year), _month(named["m"]), int(named["d"]))
            if day <= today:
                return day
    return None


def _month(name: str) -> int:
    """The number of a month; 0 where there is none of the name."""
    if name.isdecimal():
        return int(name)
    heads = enumerate(_MONTHS, 1)
    return next((month for month, head in heads if re.match(head, name)), 0)


def asks_to_restore(words: str) -> bool:
    """Whether a message asks to bring archived memories back."""
    return _ReadMessage(_folded(words)).requested >= {
        "restoring",
        "archived",
        "memories",
    }


# Turkish has an i without a dot, whose capital folds to one with it; Arabic words may be stretched,
# and unseen marks of direction stand around them.
_SPELLINGS = str.maketrans("’ı؟", "'i?", "ـ\u200e\u200f")


def _folded(text: str) -> str:
    """A short text in small letters without accents; nothing of a longer one."""
    if len(text) > _LONGEST_REQUEST:
        return ""
    small = (
        text.casefold()
        .translate(_SPELLINGS)
        .replace("day before y", "day-before-y")
    )
    signs = unicodedata.normalize("NFKD", small)
    return "".join(sign for sign in signs if not unicodedata.combining(sign))


_VOCABULARY: dict[str, WordKinds] = {}
for _kind, _words in word_table("spoken_requests").items():
    for _word in map(_folded, _words):
        _VOCABULARY[_word] = _VOCABULARY.get(_word, frozenset()) | {_kind}


def request_kinds(word: str) -> WordKinds:
    """Which kinds of words of a spoken request a word is; none where it is of another."""
    return _VOCABULARY.get(_folded(word), frozenset())


# Words of scripts that leave no blanks, the longest first; else all up to a blank or stop.
_UNSPACED = [
    word for word in _VOCABULARY if re.match(r"[\u3040-\u9fff]", word)
]
_KNOWN_UNSPACED = "|".join(sorted(_UNSPACED, key=len, reverse=True))
_WORD = re.compile(
    rf"{_KNOWN_UNSPACED}|[\u3040-\u9fff]|[^\s.,!?¿¡。、।،\u3040-\u9fff]+"
)
