"""Taking sentences out of earlier answers that only comment on memory.

A model that reads "I've updated my memory." in its own earlier answers goes on writing it. Only
whole sentences of a few known forms go; whatever says anything else stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

from adaptive.messages import Message
from adaptive.recall.remarks import REMARK_STEMS, memory_remarks
from adaptive.shapes import mapping

_SHORTEST_REMARK = 3
_LONGEST_REMARK = 160
_EMOJI = "\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff"
# These introduce a remark on memory; any other emoji closes the sentence before it.
_MEMORY_EMOJI = "🧠💾📝✅📌🔖💭🗂🗃✍"
_CLOSERS = "*_)\\]\"'”’»」』）】"
# Where a sentence ends, with what still belongs to it. No run of marks is tried twice.
_SENTENCE_END = re.compile(
    rf"(?:(?<![.!?…])[.!?…]++[{_CLOSERS}]*+(?=\s|[{_EMOJI}]|$)|(?<![。！？])[。！？]++[{_CLOSERS}]*+)"
    rf"(?:[^\S\n]*+(?![{_MEMORY_EMOJI}])[{_EMOJI}])*+[^\S\n]*+"
)
_DECORATION = re.compile(rf"[\s{_EMOJI}]*")
_AROUND = re.compile(rf"^[\s{_EMOJI}¡]+|[\s{_EMOJI}.!…。！~]+$")
_WRAPPERS = (
    ("**", "**"),
    ("*", "*"),
    ("__", "__"),
    ("_", "_"),
    ("(", ")"),
    ("[", "]"),
    ("（", "）"),
)
_LETTER = re.compile(r"[^\W_]")

_FENCE_LINE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE_LINE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}\s*$")
_CITING_LINE = re.compile(r" {0,3}(?:>|[-+*•][ \t]|\d{1,9}[.)][ \t])")
_OTHER_LINE = re.compile(r" {4}| {0,3}\t| {0,3}[#|]")
_CITING_TAG = re.compile(
    r"<(details|pre|code|blockquote|think|thinking|reasoning)\b", re.IGNORECASE
)
# Each of these stands an even number of times where no quote is open.
_QUOTES = ('"', "“”„‟", "«»", "‹›", "「」", "『』", "`")
_SINGLE_QUOTE = re.compile(r"(?:^|(?<=[\s(]))['‘](?=\w)")


def without_memory_comments(messages: Sequence[Message]) -> list[Message]:
    """The messages without remarks on memory in the answers before the newest user message.

    A message in which nothing changes is the same object. Code, quotes, lists, tables, headings
    and what another speaker wrote are never touched, and no text becomes empty.
    """
    users = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    newest = users[-1] if users else 0
    return [
        _uncommented(message) if at < newest and message.get("role") == "assistant" else message
        for at, message in enumerate(messages)
    ]


def text_without_remarks(text: str) -> str:
    """The text without sentences that only comment on memory; as it is if nothing else is in it."""
    if not _may_remark(text):
        return text
    lines = text.splitlines(keepends=True)
    left: list[str] = []
    gone = False
    for kept in _lines_left(lines):
        if not kept:
            gone = True
        elif gone and not kept.strip() and not (left and left[-1].strip()):
            continue  # of the blank lines around what is gone one is enough
        else:
            gone = gone and not kept.strip()
            left.append(kept)
    if left == lines:
        return text
    result = "".join(left)
    result = result if text[-1].isspace() else result.rstrip()
    return result if _LETTER.search(result) else text


def _uncommented(message: Message) -> Message:
    content = message.get("content")
    changed: object = content
    if isinstance(content, str):
        changed = text_without_remarks(content)
    elif isinstance(content, list):
        changed = [_part_without_remarks(part) for part in cast(list[Any], content)]
    return message if changed == content else {**message, "content": changed}


def _part_without_remarks(part: Any) -> Any:
    fields = mapping(part)
    text = fields.get("text")
    if fields.get("type", "text") not in ("text", "output_text") or not isinstance(text, str):
        return part
    left = text_without_remarks(text)
    return part if left == text else {**fields, "text": left}


def _lines_left(lines: Sequence[str]) -> Iterator[str]:
    """Each line as it is to stand, empty where nothing is left of it."""
    quotes: Counter[str] = Counter()
    announced = False
    for line, running in zip(lines, _running_text(lines), strict=True):
        if not running:
            quotes.clear()
            yield line
        elif announced:  # what follows a colon is shown, not said
            _count_quotes(quotes, line)
            yield line
        else:
            yield _line_left(line, quotes)
        if line.strip():
            announced = line.rstrip("*_ \t\r\n").endswith((":", "："))


def _running_text(lines: Sequence[str]) -> Iterator[bool]:
    """Of each line, whether it is running text that the assistant says itself."""
    rules = [at for at, line in enumerate(lines) if _RULE_LINE.match(line)]
    # A draft for the user is often set between two rules.
    drafts = {
        at
        for first, last in zip(rules[::2], rules[1::2], strict=False)
        for at in range(first, last + 1)
    }
    fence = tag = ""
    citing = False
    for at, line in enumerate(lines):
        running = False
        if fence:
            closing = line.strip()
            fence = "" if closing.startswith(fence) and not closing.strip(fence[0]) else fence
        elif tag:
            tag = "" if f"</{tag}" in line.lower() else tag
        elif opening := _FENCE_LINE.match(line):
            fence = opening[1]
        elif opening := _CITING_TAG.search(line):
            name = opening[1].lower()
            tag = "" if line.lower().rfind(f"</{name}") > opening.start() else name
        elif not line.strip():
            citing = False
        else:
            citing = citing or bool(_CITING_LINE.match(line))
            running = not (citing or at in drafts or _OTHER_LINE.match(line))
        yield running


def _line_left(line: str, quotes: Counter[str]) -> str:
    kept: list[str] = []
    cut = was_cut = False
    for sentence in _sentences(line):
        was_cut = (was_cut and _DECORATION.fullmatch(sentence) is not None) or (
            not _in_quotes(quotes) and _is_remark(sentence)
        )
        cut = cut or was_cut
        _count_quotes(quotes, sentence)
        if not was_cut:
            kept.append(sentence)
    if not cut:
        return line
    text = "".join(kept).rstrip()
    return text + line[len(line.rstrip("\r\n")) :] if text else ""


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(line):
        yield line[start : end.end()]
        start = end.end()
    if start < len(line):
        yield line[start:]


def _count_quotes(quotes: Counter[str], text: str) -> None:
    quotes.update(text)
    # An apostrophe can't be told from a closing single quote: one that opens is open for good.
    quotes["opened"] += _SINGLE_QUOTE.search(text) is not None


def _in_quotes(quotes: Counter[str]) -> bool:
    odd = any(sum(quotes[mark] for mark in marks) % 2 for marks in _QUOTES)
    return odd or quotes["opened"] > 0


def _is_remark(sentence: str) -> bool:
    text = sentence.strip()
    if not _SHORTEST_REMARK <= len(text) <= _LONGEST_REMARK or not _may_remark(text):
        return False
    bare = " ".join(_bare(text).lower().replace("’", "'").split())
    return any(pattern.fullmatch(bare) for pattern in memory_remarks())


def _may_remark(text: str) -> bool:
    lowered = text.lower()
    return any(stem in lowered for stem in REMARK_STEMS)


def _bare(text: str) -> str:
    """A sentence without emoji, full stops and emphasis around it."""
    for _ in range(4):
        text = _AROUND.sub("", text)
        for opening, closing in _WRAPPERS:
            if len(text) > 4 and text.startswith(opening) and text.endswith(closing):
                text = text[len(opening) : -len(closing)]
                break
    return text
