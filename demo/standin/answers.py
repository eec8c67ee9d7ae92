"""Plays the model's part in a chat: answers from the memories in the system prompt."""

from __future__ import annotations

import re

from demo.standin.statements import forgotten_in, statements_in
from demo.standin.words import best_fitting, question_words

DISCLOSURE = "*I'm a small stand-in for a language model: I can only repeat what is remembered.*"

_BLOCK = re.compile(r"<adaptive_memory>(?P<inside>.*?)</adaptive_memory>", re.DOTALL)
_ENTRY = re.compile(r"(?:[-*\u2022]|\d+[.)])\s+(?P<text>.+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_MOST_NAMED_TOGETHER = 3
_ABOUT_EVERYTHING = re.compile(r"\b(?:me|myself)\b", re.IGNORECASE)


def answer(system: str, message: str) -> str:
    """Reply to the user's message, saying at its end what is speaking."""
    return f"{_reply(memories_in(system), message)}\n\n{DISCLOSURE}"


def memories_in(system: str) -> list[str]:
    """Entries of the memory block of a system prompt: a list, or the sentences of a paragraph."""
    block = _BLOCK.search(system)
    if not block:
        return []
    lines = [line.strip() for line in block["inside"].splitlines() if line.strip()]
    listed = [entry["text"] for line in lines if (entry := _ENTRY.fullmatch(line))]
    if listed:
        return listed
    # The line that says what the block is stands above the memories.
    paragraph = " ".join(lines[1:] or lines)
    return _SENTENCE_END.split(paragraph) if paragraph else []


def _reply(memories: list[str], message: str) -> str:
    if any(forgotten_in(message)):
        return "All right."
    questions = [said for said in _SENTENCE_END.split(message) if said.rstrip().endswith("?")]
    if statements_in(message) and not questions:
        return "Thanks for telling me."
    message = " ".join(questions) or message
    wanted = question_words(message)
    fitting = [memories[position] for position in best_fitting(wanted, memories)]
    if not wanted and _ABOUT_EVERYTHING.search(message):
        fitting = memories
    else:
        fitting = fitting[:_MOST_NAMED_TOGETHER]
    if fitting:
        return f"From what I remember about you: {' '.join(fitting)}"
    return "I remember nothing about that."
