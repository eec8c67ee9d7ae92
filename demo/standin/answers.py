"""Plays the model's part in a chat: answers from the memory block of the system prompt."""

from __future__ import annotations

import re

from demo.standin.statements import forgotten_in, statements_in
from demo.standin.words import best_fitting, question_words

DISCLOSURE = "*I'm a small stand-in for a language model: I can only repeat what is remembered.*"

_BLOCK = re.compile(
    r"<adaptive_memory>(?P<inside>.*?)</adaptive_memory>", re.DOTALL
)
_PAST = "### Relevant past conversation"
# Entries are quoted in every format; behind one may stand what it said before.
_ENTRY = re.compile(r"\u201c([^\u201d]+)\u201d(?: \((?:until|before)[^)]*\))?")
# Only what the user said: what the stand-in itself answered is no source.
_SAID = re.compile(r"- User: (.+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ABOUT_EVERYTHING = re.compile(r"\b(?:me|myself)\b", re.IGNORECASE)


def answer(system: str, message: str) -> str:
    """Reply to the user's message, saying at its end what is speaking."""
    return f"{_reply(system, message)}\n\n{DISCLOSURE}"


def memories_in(system: str) -> list[str]:
    """The memories in the block of a system prompt, whatever their format."""
    return _ENTRY.findall(_inside(system).partition(_PAST)[0])


def said_before(system: str) -> list[str]:
    """What the user stated in the past conversation of a system prompt; no questions."""
    past = _SAID.findall(_inside(system).partition(_PAST)[2])
    said = (
        sentence for text in past for sentence in _SENTENCE_END.split(text)
    )
    return [
        one for one in dict.fromkeys(said) if not one.rstrip().endswith("?")
    ]


def _inside(system: str) -> str:
    block = _BLOCK.search(system)
    return block["inside"] if block else ""


def _reply(system: str, message: str) -> str:
    if any(forgotten_in(message)):
        return "All right."
    questions = [
        said
        for said in _SENTENCE_END.split(message)
        if said.rstrip().endswith("?")
    ]
    if statements_in(message) and not questions:
        return "Thanks for telling me."
    message = " ".join(questions) or message
    wanted, memories = question_words(message), memories_in(system)
    if not wanted and memories and _ABOUT_EVERYTHING.search(message):
        return f"From what I remember about you: {' '.join(memories)}"
    for lead, texts in (
        ("From what I remember about you:", memories),
        ("You told me earlier:", said_before(system)),
    ):
        if fitting := best_fitting(wanted, texts)[:3]:
            return (
                f"{lead} {' '.join(texts[position] for position in fitting)}"
            )
    return "I remember nothing about that."
