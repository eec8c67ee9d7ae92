"""One model call before the answer: what the turn is about, and whether it calls for care.

Without a usable reply in time there is no result, and the turn goes on as without the call.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from adaptive.conversation.message_tokens import counted_tokens
from adaptive.conversation.reply_fields import ReplyFields, distinct_lines, reply_fields
from adaptive.errors import AdaptiveMemoryError, ReplyUnusable
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.prompts import render_prompt
from adaptive.messages import (
    Message,
    earlier_utterances,
    message_text,
    newest_user_message,
    spoken_text,
)
from adaptive.model import Completion, CompletionRequest, Utterance
from adaptive.ports import Completer
from adaptive.retry import RetryPolicy

log_preprocess = logging.getLogger("adaptive_memory.conversation")

PREPROCESS_BLOCK_TOKENS = 70_000
MOST_CHAT_TAGS = 10
LONGEST_CHAT_TAG = 40
HIGHEST_HARM = 10

_MOST_BLOCKS = 8
_MOST_MESSAGES = 2000
_MOST_RELEVANT = 10
_MOST_ICONS = 3
_LONGEST_QUERY_LINE = 500
_LONGEST_CATEGORY = 40
_LONGEST_TITLE = 120
_LONGEST_PREPROCESS_REPLY = 700
# A second try would mostly cost the user the rest of the time.
_ASKED_ONCE = RetryPolicy(retries=0)
_FIRST_MESSAGE_RULE = (
    '- "title": at most 6 words that name the chat, in the language of the message. "icon_names": '
    "1 to 3 names of Lucide icons that fit it."
)
_FIRST_MESSAGE_FORM = ', "title": "<title>", "icon_names": ["<icon>"]'


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """What a model says of a turn; a field that it left out, or got wrong, has its default.

    Attributes:
        language_code: of the newest message, ISO 639 in lower case.
        category: of the chat's subject, as one word with underscores.
        search_query: the newest message made complete by what was said before.
        relevant_categories: categories and banks of memories that may matter, as they were offered.
        tags: at most 10, for the chat.
        harmful: 0 to 10.
        prompt_injection_chance: 0 to 1.
        title: of the chat; with ``icon_names`` on its first message only.
    """

    language_code: str = ""
    category: str = ""
    search_query: str = ""
    relevant_categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    harmful: float = 0
    prompt_injection_chance: float = 0
    title: str = ""
    icon_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreprocessRules:
    """How a model is asked: seconds for all blocks together, and tokens of each.

    ``names`` are the categories and banks of memories that the reply may name; ``prompt`` replaces
    the built-in one unless it is empty.
    """

    deadline: float = 1.5
    names: tuple[str, ...] = ()
    prompt: str = ""
    block_tokens: int = PREPROCESS_BLOCK_TOKENS


@dataclass(frozen=True, slots=True)
class Preprocessor:
    """A model that looks at a turn before it is answered."""

    completer: Completer
    formats: AnswerFormats
    rules: PreprocessRules

    async def preprocessed(
        self, conversation: Sequence[Utterance], *, first: bool
    ) -> Preprocessing | None:
        """What it says of the last message; ``None`` when it is late, fails or can't be read.

        ``conversation`` ends with the user's newest message; ``first`` tells that it is the chat's
        first one. A cancellation ends all calls at once.
        """
        blocks = history_blocks(conversation, self.rules.block_tokens)
        if not blocks:
            return None
        parts = await asyncio.gather(
            *(self._of_block(blocks, number, first=first) for number in range(len(blocks)))
        )
        return merged_preprocessing(parts)

    async def _of_block(
        self, blocks: Sequence[str], number: int, *, first: bool
    ) -> Preprocessing | None:
        try:
            completion = await ask(
                self.completer,
                preprocess_request(blocks, number, self.rules, first=first),
                self.formats,
                _ASKED_ONCE,
                self.rules.deadline,
            )
            return read_preprocessing(completion, self.rules.names, first=first)
        except AdaptiveMemoryError as error:
            log_preprocess.warning("a message is not pre-processed: %s", error)
            return None


def read_conversation(messages: Sequence[Message]) -> list[Utterance]:
    """What user and assistant said up to the user's newest message, of 2,000 messages at most."""
    newest = newest_user_message(messages)
    if newest is None:
        return []
    earlier = earlier_utterances(messages[-_MOST_MESSAGES:], newest, _MOST_MESSAGES)
    return [*earlier, Utterance("user", spoken_text(message_text(newest)))]


def history_blocks(
    conversation: Sequence[Utterance], block_tokens: int = PREPROCESS_BLOCK_TOKENS
) -> tuple[str, ...]:
    """The conversation as texts of at most so many tokens, oldest first.

    Blocks are filled from the end, so that the newest message stands with what was said before it.
    Of a history beyond eight blocks the oldest part is left out.
    """
    blocks: list[str] = []
    lines: list[str] = []
    room = block_tokens
    for utterance in reversed(conversation):
        for line in reversed(
            _pieces_of_line(f"{utterance.role}: {utterance.text.strip()}", block_tokens)
        ):
            cost = counted_tokens(line) + 1
            if cost > room and lines:
                blocks.append("\n".join(reversed(lines)))
                if len(blocks) == _MOST_BLOCKS:
                    return tuple(reversed(blocks))
                lines, room = [], block_tokens
            lines.append(line)
            room -= cost
    if lines:
        blocks.append("\n".join(reversed(lines)))
    return tuple(reversed(blocks))


def _pieces_of_line(line: str, most_tokens: int) -> list[str]:
    """A line that is longer than a block, cut in halves until each fits."""
    if counted_tokens(line) < most_tokens or len(line) < 2:
        return [line]
    half = len(line) // 2
    return [*_pieces_of_line(line[:half], most_tokens), *_pieces_of_line(line[half:], most_tokens)]


def preprocess_request(
    blocks: Sequence[str], number: int, rules: PreprocessRules, *, first: bool
) -> CompletionRequest:
    """The question about one of the blocks; the last one ends with the newest message."""
    system = render_prompt(
        "preprocess",
        rules.prompt,
        {
            "names": ", ".join(rules.names) or "none",
            "first_rule": _FIRST_MESSAGE_RULE if first else "",
            "first_form": _FIRST_MESSAGE_FORM if first else "",
        },
    )
    part = f", part {number + 1} of {len(blocks)}" if len(blocks) > 1 else ""
    return CompletionRequest(
        system,
        f"## Conversation{part}\n{blocks[number]}",
        "preprocessing",
        preprocess_schema(first=first),
        _LONGEST_PREPROCESS_REPLY,
    )


def preprocess_schema(*, first: bool) -> Mapping[str, Any]:
    """The form of the reply; a title is asked for with a chat's first message only."""
    texts: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
    properties: dict[str, Any] = {
        "language_code": {"type": "string"},
        "category": {"type": "string"},
        "search_query": {"type": "string"},
        "relevant_categories": texts,
        "tags": texts,
        "harmful": {"type": "number"},
        "prompt_injection_chance": {"type": "number"},
    }
    if first:
        properties |= {"title": {"type": "string"}, "icon_names": texts}
    return {"type": "object", "properties": properties, "required": list(properties)}


def read_preprocessing(
    completion: Completion, names: Sequence[str], *, first: bool
) -> Preprocessing:
    """What a model's reply says, field by field; ``names`` are those it may name.

    Raises:
        ReplyUnusable: no field of it can be used.
    """
    marks = list(preprocess_schema(first=True)["properties"])
    fields = reply_fields(completion, "preprocessing", marks)
    found = Preprocessing(
        language_code=language_code(fields.line("language_code", 40)),
        category=category_slug(fields.line("category", 2 * _LONGEST_CATEGORY)),
        search_query=fields.line("search_query", _LONGEST_QUERY_LINE),
        relevant_categories=offered_names(fields, "relevant_categories", names),
        tags=fields.lines("tags", MOST_CHAT_TAGS, LONGEST_CHAT_TAG, split=True),
        harmful=fields.score("harmful", HIGHEST_HARM) or 0,
        prompt_injection_chance=fields.share("prompt_injection_chance") or 0,
    )
    if first:
        icons = fields.lines("icon_names", 10, LONGEST_CHAT_TAG, split=True)
        usable = tuple(icon for icon in icons if _icon_name().fullmatch(icon))
        title = fields.line("title", _LONGEST_TITLE).strip("\"'“”")
        found = replace(found, title=title, icon_names=usable[:_MOST_ICONS])
    if found == Preprocessing() and not _says_harmless(fields):
        raise ReplyUnusable("the model's reply holds no field that can be used")
    return found


def _says_harmless(fields: ReplyFields) -> bool:
    return fields.score("harmful", HIGHEST_HARM) is not None


def merged_preprocessing(parts: Sequence[Preprocessing | None]) -> Preprocessing | None:
    """One result for all blocks, oldest first, of which some may have none.

    The scores are the highest ones, the language is the last one, and the tags are all, the last
    block's first. What is about the newest message itself comes from the last block alone.
    """
    answered = [part for part in parts if part is not None]
    if not answered:
        return None
    newest = parts[-1] or Preprocessing()
    languages = [part.language_code for part in answered if part.language_code]
    tags = [tag for part in reversed(answered) for tag in part.tags]
    return replace(
        newest,
        language_code=languages[-1] if languages else "",
        tags=distinct_lines(tags, MOST_CHAT_TAGS),
        harmful=max(part.harmful for part in answered),
        prompt_injection_chance=max(part.prompt_injection_chance for part in answered),
    )


def offered_names(fields: ReplyFields, name: str, offered: Sequence[str]) -> tuple[str, ...]:
    """Those of the offered names that a field holds, as they were offered."""
    known = {one.casefold(): one for one in offered}
    said = fields.lines(name, 100, LONGEST_CHAT_TAG * 2, split=True)
    found = [known[one.casefold()] for one in said if one.casefold() in known]
    return tuple(dict.fromkeys(found))[:_MOST_RELEVANT]


def category_slug(text: str) -> str:
    """A category as one word in lower case with underscores, empty where there is none."""
    slug = re.sub(r"[\W_]+", "_", text.casefold()).strip("_")
    return slug if len(slug) <= _LONGEST_CATEGORY else ""


def language_code(text: str) -> str:
    """The language of a tag such as ``pt-BR`` (BCP 47); empty where it is none, or ``und``."""
    tag = _language_tag().fullmatch(text)
    code = tag.group(1).lower() if tag else ""
    return "" if code in ("und", "mul", "zxx") else code


@cache
def _language_tag() -> re.Pattern[str]:
    return re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{2,8}){0,3}")


@cache
def _icon_name() -> re.Pattern[str]:
    """A name in Lucide's spelling: ``book-open``."""
    return re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
