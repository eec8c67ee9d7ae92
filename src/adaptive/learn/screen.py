"""Which of the proposed changes may be written: a table of named rules, each with its reason.

The patterns behind the rules are for English, German, French, Spanish, Portuguese, Italian,
Russian, Chinese and Japanese. A rule that cannot be sure lets a fact pass: losing a true fact is
worse than keeping a trivial one.
"""

# ruff: noqa: RUF001 - signs of several scripts

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from adaptive.learn.commands import RememberCommand, read_commands
from adaptive.learn.parts import message_parts, quoted_sentences
from adaptive.learn.retraction import retracted
from adaptive.learn.screening_patterns import fits, plain, without_subject
from adaptive.learn.statement import bare_text, read_statement
from adaptive.learn.testimony import (
    is_imagined,
    is_of_somebody_else,
    is_told_in,
    is_turned_around,
)
from adaptive.learn.worth import has_first_person
from adaptive.measures import staged
from adaptive.model import Draft, Memory, Operation, OperationKind, Outcome, OutcomeStatus
from adaptive.search.tokens import tokens
from adaptive.settings import Settings

# A fact of which so much stands in "Remember that ..." is what the user asked for.
_LEAST_ASKED = 0.6
# Of a longer text the tokens tell only head and tail.
_WHOLLY_READ = 8000
# Beside own statements a chance resemblance to what was pasted is likely.
_LEAST_PASTED_WORDS = 3

# Signs of scripts without spaces, and of Korean, whose words carry their particles.
_UNSPACED_SIGNS = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_ONE_UNSPACED = re.compile(f"[{_UNSPACED_SIGNS}]")
_COMPARED_WORDS = re.compile(rf"[{_UNSPACED_SIGNS}]|[^\W_{_UNSPACED_SIGNS}]+")
_LIST_SIGNS = re.compile("[,;，、；\n]")
_DENIAL = re.compile(
    r"\b(?:no|not|never|longer|kein\w*|nicht|mehr|nie|pas|plus|jamais|ya|nunca|non|não|mais|mai|più|не"
    r"|нет|больше|никогда)\b|n't\b|[不没沒无無]|ない|ません"
)


@dataclass(frozen=True)
class ScreenContext:
    """What facts are screened against.

    ``words`` is what the user sent in the turn that is learned; empty: unknown. ``injected`` are
    the memories that the assistant was shown in it.
    """

    settings: Settings
    memories: tuple[Memory, ...] = ()
    words: str = ""
    injected: tuple[str, ...] = ()

    @cached_property
    def typed(self) -> str:
        """What the user typed, without somebody's sentences in quotation marks."""
        return self._own_and_others[0]

    @cached_property
    def typed_of_self(self) -> bool:
        """Whether they typed something about themselves."""
        return has_first_person(self.typed)

    @cached_property
    def pasted(self) -> str:
        """What they pasted or quoted."""
        return self._own_and_others[1]

    @cached_property
    def typed_words(self) -> frozenset[str]:
        """The telling words of what they typed."""
        return frozenset(tokens(self.typed))

    @cached_property
    def pasted_words(self) -> frozenset[str]:
        """The telling words of what they pasted or quoted."""
        return frozenset(tokens(self.pasted))

    @cached_property
    def asked_words(self) -> frozenset[str]:
        """The telling words of what they asked to remember."""
        commands = read_commands(self.words)
        asked = [one.content for one in commands if isinstance(one, RememberCommand)]
        return frozenset(word for content in asked for word in tokens(content))

    @cached_property
    def _own_and_others(self) -> tuple[str, str]:
        parts = message_parts(self.words)
        typed, quoted = quoted_sentences(parts.typed)
        return typed, f"{parts.pasted}\n{quoted}".strip()


@dataclass(frozen=True, slots=True)
class ScreenRule:
    """One reason to refuse a fact.

    ``valve`` names the setting by which an admin rules it; ``reason`` is a format string over the
    settings, the draft and its tags. A rule yields to nothing, to a whitelisted word, or also to
    the user's own "Remember that ...".
    """

    name: str
    valve: str
    reason: str
    refuses: Callable[[Draft, ScreenContext], bool]
    yields_to: Literal["nothing", "whitelist", "request"] = "request"
    kinds: frozenset[OperationKind] = frozenset({"NEW", "UPDATE"})
    status: OutcomeStatus = "rejected"


def _is_barred(draft: Draft, context: ScreenContext) -> bool:
    return holds_listed_word(draft.content, context.settings.blacklist_topics)


def _is_short(draft: Draft, context: ScreenContext) -> bool:
    """A Chinese or Japanese character says about what two letters do."""
    length = len(draft.content) + len(_ONE_UNSPACED.findall(draft.content))
    return length < context.settings.min_memory_length


def _is_unsure(draft: Draft, context: ScreenContext) -> bool:
    return draft.confidence < context.settings.min_confidence_threshold


def _is_switched_off(draft: Draft, context: ScreenContext) -> bool:
    return bool(draft.tags) and not set(draft.tags) & set(context.settings.categories)


def _is_about_conversation(draft: Draft, _: ScreenContext) -> bool:
    """A wish on this answer or this chat; one that is to last is a preference."""
    text = plain(draft.content)
    return fits("conversation", text) and not fits("lasting", text)


def _is_question(draft: Draft, _: ScreenContext) -> bool:
    text = plain(draft.content)
    if fits("question", text):
        return True
    if not draft.content.rstrip().endswith(("?", "？")):
        return False
    # "User likes Who's Afraid of Virginia Woolf?": a title ends with a question mark too.
    last = draft.content.split()[-1]
    return not (fits("subject", text) and last[0].isupper())


def _is_of_assistant(draft: Draft, _: ScreenContext) -> bool:
    return fits("assistant", plain(draft.content))


def _is_pasted(draft: Draft, context: ScreenContext) -> bool:
    """None of its telling words was typed, and most of them stand in what was pasted or quoted.

    Where the user also typed something about themselves it takes more: three of them at least and
    no other, or two and a name or number, or the same said of its writer by what was pasted.
    """
    if not context.pasted or len(context.typed) > _WHOLLY_READ:
        return False
    telling = set(tokens(draft.content))
    found = telling & context.pasted_words
    if any(len(word) > 1 or word.isascii() for word in telling & context.typed_words):
        return False  # a single Han character is in many words
    if context.typed_of_self:
        hard = any(word.name or word.figure for word in read_statement(draft.content).words)
        certain = found == telling and len(found) + hard >= _LEAST_PASTED_WORDS
        return certain or is_told_in(draft.content, context.pasted)
    return len(telling) < 2 * len(found)


def _is_imagined(draft: Draft, context: ScreenContext) -> bool:
    return is_imagined(draft.content, context.typed)


def _is_of_another(draft: Draft, context: ScreenContext) -> bool:
    return is_of_somebody_else(draft.content, context.typed)


def _is_turned(draft: Draft, context: ScreenContext) -> bool:
    return is_turned_around(draft.content, context.typed)


def _is_passing(draft: Draft, context: ScreenContext) -> bool:
    return context.settings.filter_transient_states and fits("passing", plain(draft.content))


def _is_general(draft: Draft, context: ScreenContext) -> bool:
    """Whatever names the user, or somebody's people and things, is not general."""
    text = plain(draft.content)
    general = context.settings.filter_trivia and fits("knowledge", text)
    return general and not fits("personal", text)


def _is_restated(draft: Draft, context: ScreenContext) -> bool:
    """It stands word for word in a memory that was shown, and the user said nothing of it."""
    said = _compared(draft.content)
    for text in context.injected:
        shown = _compared(text)
        if said == shown:
            return True
        rest = shown.replace(said, " ", 1) if said.strip() else shown
        if rest != shown and context.words and not _DENIAL.search(rest):
            return not set(tokens(draft.content)) & context.typed_words
    return False


SCREEN_RULES: tuple[ScreenRule, ...] = (
    ScreenRule(
        "blacklist",
        "blacklist_topics",
        "it holds a word that your admin has ruled out",
        _is_barred,
        yields_to="nothing",
    ),
    ScreenRule(
        "length",
        "min_memory_length",
        "shorter than {settings.min_memory_length} characters",
        _is_short,
        yields_to="nothing",
    ),
    ScreenRule(
        "confidence",
        "min_confidence_threshold",
        "the model is not sure ({draft.confidence:.2f})",
        _is_unsure,
        yields_to="whitelist",
    ),
    ScreenRule(
        "category",
        "enable_<category>_memory",
        "{tags} is not to be remembered",
        _is_switched_off,
        yields_to="whitelist",
    ),
    ScreenRule(
        "conversation",
        "whitelist_keywords",
        "it is about the conversation, not about you",
        _is_about_conversation,
    ),
    ScreenRule(
        "question", "whitelist_keywords", "it is a question, not a fact about you", _is_question
    ),
    ScreenRule(
        "assistant", "whitelist_keywords", "the assistant says so, not you", _is_of_assistant
    ),
    ScreenRule(
        "quoted", "whitelist_keywords", "it stands only in what you quoted or pasted", _is_pasted
    ),
    ScreenRule("imagined", "whitelist_keywords", "you only imagined it", _is_imagined),
    ScreenRule("another", "whitelist_keywords", "you said it of somebody else", _is_of_another),
    ScreenRule("opposite", "whitelist_keywords", "you said the opposite", _is_turned),
    ScreenRule("passing", "filter_transient_states", "it will soon be over", _is_passing),
    ScreenRule("trivia", "filter_trivia", "it is general knowledge, not about you", _is_general),
    ScreenRule(
        "restated",
        "whitelist_keywords",
        "already known",
        _is_restated,
        yields_to="nothing",
        kinds=frozenset({"NEW"}),
        status="unchanged",
    ),
)


@staged("reconcile")
def screened(
    operations: Sequence[Operation],
    memories: Sequence[Memory],
    settings: Settings,
    words: str = "",
    injected: Sequence[str] = (),
) -> tuple[list[Operation], list[Outcome]]:
    """Split operations into those to carry out and the outcomes of those that are not.

    ``memories`` is the whole store as it is now: a NEW fact that it holds word for word, or that
    stands twice in the batch, is not written again. What the batch deletes is not held. ``words``
    is what the user sent, ``injected`` the memories that the assistant was shown.
    """
    borne_out = retracted(operations, memories, words)
    operations = borne_out.operations
    accepted: list[Operation] = []
    outcomes = list(borne_out.outcomes)
    leaving = {operation.id for operation in operations if operation.kind == "DELETE"}
    held = {comparable(one.content): one for one in memories if one.id not in leaving}
    gone = {comparable(one.content) for one in memories if one.id in leaving}
    shown = tuple(text for text in injected if comparable(text) not in gone)
    context = ScreenContext(settings, tuple(memories), words, shown)
    touched: set[str] = set()
    for operation in operations:
        outcome = _double(operation, held, touched) or refusal(operation, context)
        if outcome:
            outcomes.append(outcome)
            continue
        accepted.append(operation)
        if operation.id:
            touched.add(operation.id)
        if operation.kind != "DELETE":
            held[comparable(operation.draft.content)] = Memory(operation.id, "", 0, 0)
    return accepted, outcomes


def refusal(operation: Operation, context: ScreenContext) -> Outcome | None:
    """The outcome by the first rule that refuses an operation; ``None`` if it may be written."""
    draft = operation.draft
    for rule in SCREEN_RULES:
        if operation.kind not in rule.kinds or not rule.refuses(draft, context):
            continue
        if not _is_lifted(rule, draft, context):
            tags = ", ".join(draft.tags)
            reason = rule.reason.format(settings=context.settings, draft=draft, tags=tags)
            return Outcome(rule.status, draft.content, reason)
    return None


def comparable(text: str) -> str:
    """A text as facts are compared word for word: case, spaces and the final stop do not count."""
    return bare_text(text)


def holds_listed_word(text: str, listed: str) -> bool:
    """Whether a text holds one of the words that are listed with commas between them.

    Letter case does not count. In scripts with spaces a word must stand alone; Chinese, Japanese,
    Korean and Thai ones may stand within others.
    """
    said = _folded_width(text)
    terms = (_folded_width(term).strip() for term in _LIST_SIGNS.split(listed))
    return any(term and _stands_in(term, said) for term in terms)


def _stands_in(term: str, said: str) -> bool:
    place = said.find(term)
    while place >= 0:
        end = place + len(term)
        if not (_within_word(said, place) or _within_word(said, end)):
            return True
        place = said.find(term, place + 1)
    return False


def _within_word(text: str, place: int) -> bool:
    """Whether a place in a text is in the middle of a word."""
    around = text[max(0, place - 1) : place + 1]
    return len(around) == 2 and around.isalnum() and not _ONE_UNSPACED.search(around)


def _folded_width(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _compared(text: str) -> str:
    """The words of a text without the user as its subject, each between spaces."""
    words = _COMPARED_WORDS.findall(without_subject(plain(_folded_width(text))))
    return f" {' '.join(words)} "


def _double(operation: Operation, held: dict[str, Memory], touched: set[str]) -> Outcome | None:
    """What repeats the store or the batch word for word."""
    content = operation.draft.content
    if operation.id in touched and operation.id:
        return Outcome("rejected", content, "the model changed the same memory twice")
    twin = held.get(comparable(content)) if operation.kind != "DELETE" else None
    if twin and twin.id == operation.id and operation.id:
        return Outcome("unchanged", content, "it already says so")
    return Outcome("unchanged", content, "already known") if twin else None


def _is_lifted(rule: ScreenRule, draft: Draft, context: ScreenContext) -> bool:
    """Whether a whitelisted word, or the user's own request, overrules a rule."""
    if rule.yields_to == "nothing":
        return False
    if holds_listed_word(draft.content, context.settings.whitelist_keywords):
        return True
    if rule.yields_to == "whitelist" or not context.asked_words:
        return False
    telling = set(tokens(draft.content))
    return len(telling & context.asked_words) >= _LEAST_ASKED * len(telling)
