"""Which of the proposed changes may be written: each fact proves it by the user's own words.

The model quotes the words that say a fact (``evidence``), and code looks for them in what the user
typed: by how words begin, and sign by sign where a script puts no spaces between them. Before that
come the rules that an admin sets, after it the gate of every write; each refusal has its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from adaptive.core.measures import stage
from adaptive.core.model import Draft, Memory, Operation, Outcome, Turn
from adaptive.learn.addressed import is_named, readdressed
from adaptive.learn.extraction import Extraction
from adaptive.learn.figures import Figure, SaidFigures, figures, plain_figures
from adaptive.learn.pasted import typed_words, unpasted_words
from adaptive.learn.quotation import neighbourhood, quoted_share
from adaptive.learn.support import (
    Vocabulary,
    beginnings,
    left_over,
    main_script,
    may_be_spelled,
    new_ending,
    new_name,
    supported_share,
)
from adaptive.learn.words import word_units
from adaptive.memory.gate import SECRET_LEFT_OUT, gate_policy, gated_draft, tellable
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.settings.merged import Settings

# How much of what proves a fact has to be there; what each costs: benchmarks/grounding.py.
_LEAST_QUOTED = 0.7  # of a quotation, in one window of the typed words: small models misquote
_LEAST_QUOTED_WORDS = 2  # fewer prove little: "yes"
_LEAST_TOLD = 0.3  # of a fact's telling words, where nothing that was typed is quoted
_LEAST_SUPPORTED = 0.2  # of a fact's telling words, where it is
_LEAST_IMPLIED = 0.5  # where the quotation has none of them
_LEAST_NEW_ENDING = 2  # telling words at the end that nothing bears out
_LEAST_SAME_LANGUAGE = 0.5  # of a fact's telling words stand in a message of its language
# What is to be deleted without a quotation has so many of its telling words in the message: at
# one word each 28 % of a user's memories would do for any message of theirs, at this share 2 %.
_LEAST_NAMED = 0.4
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
DOES_NOT_FOLLOW = "your words do not say it"
NOT_NAMED = "your message does not name it"
_LEAST_NEW = 0.3  # a fact of which less is new says no more than another one


@dataclass(frozen=True, slots=True)
class Source:
    """The newest message, what was typed of it and in the ones before it, and what is unpasted."""

    words: str
    earlier: str
    typed: str
    unpasted: str  # with what stands in quotation marks: others' sentences, or drafts
    remembered: tuple[str, ...] = ()  # what the model was shown: names may be known from there

    @classmethod
    def of(cls, turn: Turn, shown: Iterable[Memory] = ()) -> Source:
        """The user's words in a turn, and the memories that were shown with it."""
        said = (typed_words(one.text) for one in turn.earlier if one.role == "user")
        return cls(
            words=turn.words,
            earlier="\n".join(said),
            typed=typed_words(turn.words),
            unpasted=unpasted_words(turn.words),
            remembered=tuple(memory.content for memory in shown),
        )

    def holds_memory_of(self, sentence: str) -> bool:
        """Whether one memory has all telling words of a sentence."""
        telling = beginnings(sentence)
        return any(telling <= beginnings(known) for known in self.remembered)


@dataclass(frozen=True, slots=True)
class Claim:
    """A proposed change with all that may prove it."""

    operation: Operation
    source: Source
    changed: Memory | None
    has_own_language: bool  # the admin's, in which the user need not have written
    quotation: tuple[str, ...]  # the model's evidence, if it stands in the user's words
    said: str  # the words in which it stands, or would have to

    @classmethod
    def of(
        cls, operation: Operation, source: Source, changed: Memory | None, settings: Settings
    ) -> Claim:
        """An operation, with its evidence looked for where the user's own words stand."""
        proof, said = operation.proof, source.typed
        is_quoted = quoted_share(proof.evidence, said) >= _LEAST_QUOTED
        # Only the model can tell whose a sentence in quotation marks is, and says so in each field.
        is_complete = proof.kind in ("FACT", "STYLE") and proof.about in ("user", "other")
        if is_complete and not is_quoted and quoted_share(proof.evidence, source.unpasted) == 1:
            is_quoted, said = True, source.unpasted
        return cls(
            operation=operation,
            source=source,
            changed=changed,
            has_own_language=bool(settings.memory_language.strip()),
            quotation=proof.evidence if is_quoted else (),
            said=said,
        )

    @property
    def sentence(self) -> str:
        """What is to be remembered."""
        return self.operation.draft.content

    @property
    def known(self) -> str:
        """What the memory says that is changed."""
        return self.changed.content if self.changed else ""

    @property
    def quoted_words(self) -> int:
        """How many words are quoted."""
        return sum(len(word_units(span)) for span in self.quotation)

    @property
    def is_translated(self) -> bool:
        """Whether sentence and message may be in two languages."""
        script = main_script(self.sentence.removeprefix("User"))
        return self.has_own_language or script != main_script(self.source.words)


def grounding_refusal(
    operation: Operation, source: Source, changed: Memory | None, settings: Settings
) -> str:
    """Why a proposed change is not proven by what the user said; empty where it is."""
    claim = Claim.of(operation, source, changed, settings)
    rules = _DELETION_RULES if operation.kind == "DELETE" else _FACT_RULES
    return next(filter(None, (rule(claim) for rule in rules)), "")


def _unlasting(claim: Claim) -> str:
    """The refusal of what is no lasting fact by the model's own account."""
    proof = claim.operation.proof
    # A wish on answers is about the assistant, too; what will be over has its day.
    if proof.kind == "STYLE" or (proof.kind == "STATE" and claim.operation.draft.until):
        return ""
    return _REASONS.get(proof.kind) or _REASONS.get(proof.about) or ""


def _unquoted(claim: Claim) -> str:
    """The refusal of what is neither quoted nor told in the words that the user typed."""
    least = 1 if claim.has_own_language else _LEAST_QUOTED_WORDS
    if claim.quoted_words >= least:
        return ""
    told = supported_share(claim.sentence, Vocabulary.of([claim.said]))
    return "" if told >= _LEAST_TOLD else NOT_SAID


def _unsupported(claim: Claim) -> str:
    """The refusal of a sentence that does not follow from the words around its quotation."""
    source, sentence, spans = claim.source, claim.sentence, claim.quotation
    if source.holds_memory_of(sentence):
        return ""  # it is not new; reconciliation tells so
    message = [neighbourhood(spans, source.words), source.earlier]
    share = supported_share(sentence, Vocabulary.of([*message, claim.known]))
    if claim.is_translated and share < _LEAST_SAME_LANGUAGE:
        return ""  # words can't be compared over languages
    is_about = not spans or supported_share(sentence, Vocabulary.of(spans)) > 0
    is_said = supported_share(sentence, Vocabulary.of(message)) > 0
    if not is_said or share < (_LEAST_SUPPORTED if is_about else _LEAST_IMPLIED):
        return DOES_NOT_FOLLOW
    known = Vocabulary.of([*message, *source.remembered])
    if name := new_name(sentence, known):
        return f"you did not say {name}"
    # A sentence may say in its own words what is quoted, but no more than that.
    ending = new_ending(sentence, known)
    is_added = ending >= _LEAST_NEW_ENDING and left_over(spans or [claim.said], sentence) <= ending
    return DOES_NOT_FOLLOW if is_added else ""


def _unsaid_figure(claim: Claim) -> str:
    """The refusal of a number that was not said; days and years may be worked out."""
    source, sentence = claim.source, claim.sentence
    said = SaidFigures.of((source.words, source.earlier, claim.known))
    lacking = said.lacking(sentence)
    is_dated = any(figure.is_year for figure in figures(sentence))
    for figure in lacking:
        is_worked_out = figure.is_year or (is_dated and figure.is_day)
        if not is_worked_out and not _is_spelled(figure, claim):
            return f"{figure.written} is not in your message"
    return ""


def _is_spelled(figure: Figure, claim: Claim) -> bool:
    """Whether a figure may stand in the quotation as a word."""
    spans = claim.quotation or (claim.said,)
    if not figure.is_often_spelled:
        return False
    if claim.is_translated:
        return left_over(spans, claim.sentence) > 0
    sentence = plain_figures(claim.sentence)
    return may_be_spelled(sentence[: figure.begin], sentence[figure.end :], spans)


_FACT_RULES: tuple[Callable[[Claim], str], ...] = (
    _unlasting,
    _unquoted,
    _unsupported,
    _unsaid_figure,
)


def _undeletable(claim: Claim) -> str:
    """The refusal of a deletion that is neither quoted nor names what the memory says."""
    if claim.quoted_words >= _LEAST_QUOTED_WORDS:
        return ""
    named = supported_share(claim.known, Vocabulary.of([claim.said]))
    return "" if named >= _LEAST_NAMED else NOT_SAID


_DELETION_RULES: tuple[Callable[[Claim], str], ...] = (_undeletable,)


@stage("screening")
def screened(
    found: Extraction, turn: Turn, shown: Sequence[Memory], settings: Settings
) -> Extraction:
    """What of an extraction may be written, each content as it may be, and the rest refused."""
    source, policy, memories = (
        Source.of(turn, shown),
        gate_policy(settings),
        {one.id: one for one in shown},
    )
    secret = secret_reason(find_secrets(turn.words)) or SECRET_LEFT_OUT
    operations: list[Operation] = []
    doubtful: list[Operation] = []
    refused = [replace(one, content=tellable(one.content, policy)) for one in found.refused]
    for proposed in found.operations:
        operation = readdressed(proposed, memories.get(proposed.id))
        changed, is_deletion = memories.get(operation.id), operation.kind == "DELETE"
        told = operation.draft.content or (changed.content if changed else "")
        if reason := grounding_refusal(operation, source, changed, settings):
            status = "kept" if is_deletion else "rejected"
            refused.append(Outcome(status, tellable(told, policy), reason))
            continue
        if is_deletion:
            is_doubtful = changed and not is_named(changed, f"{source.typed}\n{source.earlier}")
            (doubtful if is_doubtful else operations).append(replace(operation, draft=Draft("")))
            continue
        # A wish on answers is an order by nature: the user's own, it may stand.
        quoted = quoted_share(operation.proof.evidence, source.typed) >= _LEAST_QUOTED
        own_wish = operation.proof.kind == "STYLE" and quoted
        draft = gated_draft(operation.draft, replace(policy, typed=own_wish, quoted=quoted))
        if isinstance(draft, Draft):
            operations.append(replace(operation, draft=draft))
            continue
        reason = secret if draft.reason == SECRET_LEFT_OUT else draft.reason
        # What holds a secret or personal data is told by its reason alone.
        hidden = draft.rule in ("secret", "personal data")
        refused.append(Outcome("rejected", "" if hidden else tellable(told, policy), reason))
    return Extraction(
        operations=tuple(operations),
        refused=tuple(dict.fromkeys(refused)),
        doubtful=tuple(doubtful),
    )


def says_no_more(content: str, said: Sequence[str]) -> bool:
    """Whether most of a fact's telling words stand in one of the sentences."""
    telling = beginnings(content)
    return any(len(telling - beginnings(one)) <= _LEAST_NEW * len(telling) for one in said)
