"""Spoken requests to erase or restore memories, read by a closed vocabulary of eleven languages.

A message is a request where each of its words is one of these and the kinds of words come together.
So whatever is told, negated or about something else is none; a false hit costs a dialog.
"""

# ruff: noqa: RUF001 - the words are in several scripts

from __future__ import annotations

import contextlib
import re
import time
import unicodedata
from datetime import date, timedelta
from typing import Literal

from adaptive.core.messages import Message, local_time, said_at
from adaptive.core.texts import word_table
from adaptive.privacy.erasure import ErasureRequest, ErasureScope
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
# The kind that must be there for a scope, and those of which one must be there beside it.
_SCOPES: tuple[tuple[ErasureScope, str, set[str]], ...] = (
    ("imported", "imported", {"all", "memories"}),
    ("tools", "tools", {"said", "memories"}),
    ("chat", "chat", {"forgetting", "said", "memories"}),
    ("day", "day", {"all", "said", "memories"}),
    ("everything", "memories", {"all", "whose"}),
    ("everything", "all", {"forgetting", "whose", "said"}),
)


def spoken_request(
    hook: Hook, typed: tuple[Message, str] | None
) -> ErasureRequest | Literal["restore"] | None:
    """What the user's newest message, with the words typed in it, asks the memory for."""
    if typed is None or hook.told_kind not in ("saved", "temporary", "api"):
        return None
    message, words = typed
    if asks_to_restore(words):
        return "restore"
    today = local_time(said_at(message, time.time()), *hook.time_zones).date()
    return read_erasure_request(words, today)


def read_erasure_request(words: str, today: date) -> ErasureRequest | None:
    """What a message asks to erase, if it does; ``today`` is the day where the user lives."""
    plain, day = _without_day(_folded(words), today)
    kinds = _kinds_of(plain)
    day = next((today - timedelta(past) for past in range(3) if str(past) in kinds), day)
    kinds |= {"day"} if day else set()
    for scope, needed, others in _SCOPES if kinds & {"erasing", "forgetting"} else ():
        if needed in kinds and kinds & others:
            return ErasureRequest(scope, day if scope == "day" else None)
    return None


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
    pieces = [_VOCABULARY.get(piece.strip(), {"unknown"}) for piece in _WORD.findall(plain)]
    found = set[str]().union(*pieces)
    told = bool(pieces) and "subject" in pieces[0]
    unclear = "unknown" in found or ((told or "?" in plain) and "polite" not in found)
    return set() if unclear else found


def _folded(text: str) -> str:
    """A short text in small letters without accents; nothing of a longer one."""
    small = text.casefold().replace("’", "'") if len(text) <= _LONGEST_REQUEST else ""
    signs = unicodedata.normalize("NFKD", small.replace("day before y", "day-before-y"))
    return "".join(sign for sign in signs if not unicodedata.combining(sign))


_VOCABULARY: dict[str, set[str]] = {}
for _kind, _words in _KINDS.items():
    for _word in _words:
        _VOCABULARY.setdefault(_folded(_word), set()).add(_kind)
# Words of scripts that leave no blanks, the longest first; else all up to a blank or stop.
_UNSPACED = [word for word in _VOCABULARY if re.match(r"[\u3040-\u9fff]", word)]
_WORD = re.compile("|".join([*sorted(_UNSPACED, key=len)[::-1], r"[^\s.,!?¿¡。、]+"]))
