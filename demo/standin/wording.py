"""From what people type to clauses that rules can match, and from the first person to the third."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demo.standin.words import listed

# A message of this demo is a few sentences; the rest of a pasted book is not looked at.
_LONGEST_MESSAGE = 20_000
_LONGEST_CLAUSE = 300

_TYPOGRAPHY = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"'}
)
_SPELLED_OUT = (
    (re.compile(r"\bI'?m\b", re.IGNORECASE), "I am"),
    (re.compile(r"\bI'?ve\b", re.IGNORECASE), "I have"),
    (re.compile(r"\bwe've\b", re.IGNORECASE), "we have"),
    (re.compile(r"\bwe're\b", re.IGNORECASE), "we are"),
    (re.compile(r"'s (?=(?:called|named)\b)", re.IGNORECASE), " is "),
    (re.compile(r"\b(name|birthday)'s (?=\w)", re.IGNORECASE), r"\1 is "),
)

# Not after "St." and the like, and not inside "3.5".
_SENTENCE_END = re.compile(
    r"(?<!\bSt\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<=[.!?;])[\"')]*\s+|\n+",
    re.IGNORECASE,
)
_NEXT_CLAUSE = re.compile(
    r"(?:,\s*(?:and|but)|\s+and|\s+but|,)\s+"
    r"(?=(?:I|we|he|she|it|they|call me)\b|(?:my|our|his|her) [\w' -]{1,40}? (?:is|are)\b)",
    re.IGNORECASE,
)
_SAME_SUBJECT = re.compile(
    r"(?:,?\s+and|,?\s+but)\s+"
    r"(?=(?:live in|work (?:as|at|for)|am |have an? |moved to|want to|plan to"
    r"|like|love|hate|prefer|enjoy)\b)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"(?:(?:actually|well|oh|no|yes|sorry|hi|hello|hey|there|so|ok|okay|also|and|but|btw|fyi|now"
    r"|by the way|correction|for the record|just so you know|to be clear|please|you can"
    r"|(?:can|could|would|will) you|i want you to|i would like you to)\b[,:!]?\s+)+",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"(?:if|when|imagine|suppose|let's say|pretend)\b", re.IGNORECASE)
_WISH = re.compile(r"(?:remember|forget|do not forget|don't forget|keep in mind)\b", re.IGNORECASE)
_TRAILING = re.compile(
    r"(?:,?\s+(?:right now|now|these days|nowadays|too|as well|by the way|btw|please|actually"
    r"|any ?more)|,?\s+(?:and )?not (?!only\b)[^,]{1,60}|\s*[:;]-?[)(DP]|[^\w)%°€$£+#]+)$",
    re.IGNORECASE,
)

_PERSONS = (
    (re.compile(r"\bI am\b", re.IGNORECASE), "they are"),
    (re.compile(r"\b(?:I|i)\b"), "they"),
    (re.compile(r"\b[Mm]yself\b"), "themselves"),
    (re.compile(r"\b(?:[Mm]y|[Oo]ur)\b"), "their"),
    (re.compile(r"\b[Mm]ine\b"), "theirs"),
    (re.compile(r"\b(?:me|us)\b"), "them"),
    (re.compile(r"\b[Ww]e\b"), "they"),
)

_UNCHANGED_VERBS = listed(
    """
    can can't cannot could couldn't had may might must should shouldn't will won't would wouldn't
    ate bought broke came did gave got grew knew left lost made met sat saw sold spoke took
    was went wrote
    """
)
_IRREGULAR_VERBS = {
    "am": "is",
    "have": "has",
    "don't": "does not",
    "do": "does",
    "haven't": "has not",
}
_ADVERBS = listed("always also never often only really still sometimes usually")


def sentences_of(message: str) -> Iterator[str]:
    """Clauses of a message that may state something: no questions, no suppositions."""
    text = message[:_LONGEST_MESSAGE].translate(_TYPOGRAPHY)
    for sentence in _SENTENCE_END.split(text):
        sentence = _without_lead_in(" ".join(sentence.split()))
        asked = sentence.endswith("?") and not _WISH.match(sentence)
        if not sentence or asked or _SUPPOSED.match(sentence):
            continue
        for pattern, plain in _SPELLED_OUT:
            sentence = pattern.sub(plain, sentence)
        yield from _clauses_of(sentence)


def _clauses_of(sentence: str) -> Iterator[str]:
    for part in _NEXT_CLAUSE.split(sentence):
        first, *others = _SAME_SUBJECT.split(part) if part[:2].casefold() == "i " else [part]
        for clause in (first, *(f"I {other}" for other in others)):
            if len(clause) <= _LONGEST_CLAUSE and (plain := tidy(_without_lead_in(clause))):
                yield plain


def _without_lead_in(text: str) -> str:
    lead = _LEAD_IN.match(text)
    return text[lead.end() :] if lead else text


def tidy(text: str) -> str:
    """The text without closing punctuation, emoji, quotation marks and words that add nothing."""
    while True:
        shorter = _TRAILING.sub("", text.lstrip(" \t\"'"))
        if shorter == text:
            return text
        text = shorter


def in_third_person(text: str) -> str:
    """A part of a sentence as somebody else would say it of the user."""
    for pattern, other in _PERSONS:
        text = pattern.sub(other, text)
    return text


def about_the_user(sentence: str) -> str:
    """A whole sentence of the user's as a sentence about the user."""
    first, _, rest = tidy(sentence).partition(" ")
    if first.casefold() in ("i", "we"):
        text = f"User {conjugated(rest)}"
    elif first.casefold() in ("my", "our"):
        text = f"User's {in_third_person(rest)}"
    else:
        text = in_third_person(f"{first} {rest}".strip())
    return f"{text[:1].upper()}{text[1:]}."


def conjugated(predicate: str) -> str:
    """What follows "I", as it follows "User"."""
    verb, space, rest = predicate.partition(" ")
    plain = verb.casefold()
    if plain in _ADVERBS and rest:
        return f"{verb} {conjugated(rest)}"
    if plain in _IRREGULAR_VERBS:
        verb = _IRREGULAR_VERBS[plain]
    elif plain not in _UNCHANGED_VERBS and not plain.endswith("ed"):
        verb += "es" if plain.endswith(("s", "sh", "ch", "x", "z", "o")) else "s"
        verb = f"{verb[:-2]}ies" if re.search(r"[^aeiou]ys$", verb) else verb
    return f"{verb}{space}{in_third_person(rest)}"
