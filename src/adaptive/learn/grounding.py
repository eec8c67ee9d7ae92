"""Which of the proposed changes may be written: each fact proves it by the user's own words.

The model quotes the words that say a fact (``evidence``), and code looks for them in what the user
typed: by how words begin, and sign by sign where a script puts no spaces between them. Before that
come the rules that an admin sets, after it the gate of every write; each refusal has its reason.
"""

from __future__ import annotations

import difflib
import importlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adaptive.core.measures import stage
from adaptive.core.model import Draft, Memory, Operation, Outcome, Proof, Turn
from adaptive.learn.extraction import Extraction
from adaptive.learn.pasted import typed_words, unpasted_words
from adaptive.learn.words import UNSPACED, word_units
from adaptive.privacy.gate import SECRET_LEFT_OUT, gate_policy, gated_draft, tellable
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.search.tokens import folded_text, tokens
from adaptive.settings.merged import Settings

try:
    _rapidfuzz: Any = importlib.import_module("rapidfuzz")
except ImportError:  # words are compared by Python's own difflib
    _rapidfuzz = None
# Models mend the spelling of what they quote. A shorter word with another letter is another word.
_LEAST_ALIKE = 0.85
_LEAST_LETTERS = 5
_LEAST_QUOTED = 0.7  # of a quotation, in one window of the typed words: small models misquote
# Where the model quotes too little, or what was not typed, so many of a fact's telling words must
# begin like one of the newest message. What a share lets pass: benchmarks/grounding.py.
_LEAST_TOLD = 0.3
# What is to be deleted without a quotation has so many of its telling words in the message: at
# one word each 28 % of a user's memories would do for any message of theirs, at this share 2 %.
_LEAST_NAMED = 0.4
_WINDOW = 2  # times as long as its quotation, whose words may stand apart
_FIRST_LETTERS = 4
_LEAST_QUOTED_WORDS = 2  # fewer prove little: "yes"
_LARGEST_WRITTEN_NUMBER = 12  # up to a dozen numbers are often written as words
_LAST_DAY = 31
# By what the model itself says: of which kind a fact is, and whom it is about.
_REASONS = {
    "META": "it is about this conversation only",
    "STATE": "it will soon be over",
    "IMAGINED": "it is imagined or played",
    "QUOTED": "it stands only in what you quoted or pasted",
    "assistant": "it is about the assistant, not about you",
    "world": "it is general knowledge, not about you",
}
NOT_SAID = "it is not in your message"

_DIGITS = re.compile(r"\d+")
_LEAST_NEW = 0.3  # a fact of which less is new says no more than another one
_LIST_SIGNS = re.compile("[,;\uff0c\u3001\uff1b\n]")


@dataclass(frozen=True, slots=True)
class Source:
    """The newest message, what was typed of it and in the ones before it, and what is unpasted."""

    words: str
    earlier: str
    typed: str
    unpasted: str  # with what stands in quotation marks: others' sentences, or drafts

    @classmethod
    def of(cls, turn: Turn) -> Source:
        """The user's words in a turn."""
        said = (typed_words(one.text) for one in turn.earlier if one.role == "user")
        return cls(turn.words, "\n".join(said), typed_words(turn.words), unpasted_words(turn.words))


def grounding_refusal(
    operation: Operation, source: Source, changed: Memory | None, settings: Settings
) -> str:
    """Why a proposed change is not grounded in what the user said; empty where it is."""
    proof, translated = operation.proof, bool(settings.memory_language.strip())
    is_deletion, content = operation.kind == "DELETE", operation.draft.content
    # A wish on answers is about the assistant, too; what will be over has its day.
    dated = proof.kind == "STATE" and operation.draft.until
    is_judged = not is_deletion and proof.kind != "STYLE" and not dated
    if is_judged and (reason := _REASONS.get(proof.kind) or _REASONS.get(proof.about)):
        return reason
    said, share = source.typed, _quoted_share(proof, source.typed)
    # Only the model can tell whose a sentence in quotation marks is, and it says so in every field.
    complete = proof.kind in ("FACT", "STYLE") and proof.about in ("user", "other")
    if complete and share < _LEAST_QUOTED and _quoted_share(proof, source.unpasted) == 1:
        said, share = source.unpasted, 1.0
    # Long enough, it proves also what is implied without any word of it.
    words = sum(len(word_units(span)) for span in proof.evidence)
    is_enough = words >= _LEAST_QUOTED_WORDS or (translated and not is_deletion)
    if share < _LEAST_QUOTED or not is_enough:
        telling = beginnings(changed.content if is_deletion and changed else content)
        told = len(telling & beginnings(said))
        least = _LEAST_NAMED if is_deletion else _LEAST_TOLD
        if told < least * len(telling) or (is_deletion and not told):
            return NOT_SAID
    return "" if translated or is_deletion else _foreign_number(content, source, changed)


def _quoted_share(proof: Proof, said: str) -> float:
    """The share of the quotation's words that stand near each other in what was said."""
    units = word_units(said)
    typed = frozenset(units)
    spans = [[as_spelled(one, typed) for one in word_units(span)] for span in proof.evidence]
    total = sum(map(len, spans))
    return sum(_best_window(span, units) for span in spans) / total if total else 0.0


def as_spelled(word: str, words: Collection[str]) -> str:
    """The word, or the one of these that it is spelled nearly like."""
    if word in words or len(word) < _LEAST_LETTERS:
        return word
    if _rapidfuzz is not None:
        alike, least = _rapidfuzz.fuzz.ratio, 100 * _LEAST_ALIKE
        near = _rapidfuzz.process.extractOne(word, words, scorer=alike, score_cutoff=least)
        return str(near[0]) if near else word
    return next(iter(difflib.get_close_matches(word, words, 1, _LEAST_ALIKE)), word)


def _best_window(span: Sequence[str], units: Sequence[str]) -> int:
    """How many words of a span stand in the best window of the message."""
    wanted, width = Counter(span), _WINDOW * len(span)
    windows = (units[at : at + width] for at, unit in enumerate(units) if unit in wanted)
    return max(((Counter(window) & wanted).total() for window in windows), default=0)


def _foreign_number(content: str, source: Source, changed: Memory | None) -> str:
    """The refusal of a number that was not said by who writes in figures; dates may be computed."""
    if not _DIGITS.search(folded_text(source.words)):
        return ""
    said = f"{source.words}\n{source.earlier}\n{changed.content if changed else ''}"
    known, told = (_DIGITS.findall(folded_text(text)) for text in (said, content))
    years = [one for one in told if len(one) == 4 and one[:2] in ("19", "20")]
    largest_free = _LAST_DAY if years else _LARGEST_WRITTEN_NUMBER
    for number in told:
        if number not in known and number not in years and int(number) > largest_free:
            return f"{number} is not in your message"
    return ""


def beginnings(text: str) -> frozenset[str]:
    """How the telling words of a text begin."""
    return frozenset(token[:_FIRST_LETTERS] for token in tokens(text))


@stage("screening")
def screened(
    found: Extraction, turn: Turn, shown: Sequence[Memory], settings: Settings
) -> Extraction:
    """What of an extraction may be written, each content as it may be, and the rest refused."""
    source, policy, memories = (
        Source.of(turn),
        gate_policy(settings),
        {one.id: one for one in shown},
    )
    secret = secret_reason(find_secrets(turn.words)) or SECRET_LEFT_OUT
    operations: list[Operation] = []
    refused = [replace(one, content=tellable(one.content, policy)) for one in found.refused]
    for operation in found.operations:
        changed, is_deletion = memories.get(operation.id), operation.kind == "DELETE"
        told = operation.draft.content or (changed.content if changed else "")
        rules = refusal(operation, settings)
        if reason := rules or grounding_refusal(operation, source, changed, settings):
            status = "kept" if is_deletion else "rejected"
            refused.append(Outcome(status, tellable(told, policy), reason))
            continue
        draft = Draft("")
        if not is_deletion:
            # A wish on answers is an order by nature: the user's own, it may stand.
            quoted = _quoted_share(operation.proof, source.typed) >= _LEAST_QUOTED
            own_wish = operation.proof.kind == "STYLE" and quoted
            draft = gated_draft(operation.draft, replace(policy, typed=own_wish, quoted=quoted))
        if isinstance(draft, Draft):
            operations.append(replace(operation, draft=draft))
            continue
        reason = secret if draft.reason == SECRET_LEFT_OUT else draft.reason
        # What holds a secret or personal data is told by its reason alone.
        hidden = draft.rule in ("secret", "personal data")
        refused.append(Outcome("rejected", "" if hidden else tellable(told, policy), reason))
    return replace(found, operations=tuple(operations), refused=tuple(dict.fromkeys(refused)))


def says_no_more(content: str, said: Sequence[str]) -> bool:
    """Whether most of a fact's telling words stand in one of the sentences."""
    telling = beginnings(content)
    return any(len(telling - beginnings(one)) <= _LEAST_NEW * len(telling) for one in said)


def refusal(operation: Operation, settings: Settings) -> str:
    """Why the admin's rules let a change not be written; empty where they let it."""
    draft = operation.draft
    if operation.kind in ("DELETE", "END"):
        return ""
    if holds_listed_word(draft.content, settings.blacklist_topics):
        return "it holds a word that your admin has ruled out"
    if draft.confidence < settings.min_confidence_threshold:
        return f"the model is not sure ({draft.confidence:.2f})"
    if draft.tags and not set(draft.tags) & set(settings.categories):
        return f"{', '.join(draft.tags)} is not to be remembered"
    return ""


def holds_listed_word(text: str, listed: str) -> bool:
    """Whether a text holds one of the words that are listed with commas between them."""
    said, words = (unicodedata.normalize("NFKC", one).casefold() for one in (text, listed))
    terms = [one.strip() for one in _LIST_SIGNS.split(words) if one.strip()]
    form = {one: "{}" if UNSPACED.search(one) else r"(?<!\w){}(?!\w)" for one in terms}
    return any(re.search(form[one].format(re.escape(one)), said) for one in terms)
