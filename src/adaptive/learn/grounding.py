"""Which of the proposed changes may be written: each fact proves it by the user's own words.

The model quotes the words that say a fact (``evidence``), and code looks for them in what the user
typed: by how words begin, and sign by sign where a script puts no spaces between them. Behind that
comes the gate of every write, with the rules that an admin sets; each refusal has its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from adaptive.core import (
    Draft,
    Memory,
    Phrase,
    Proposal,
    Turn,
    each_open,
    stage,
)
from adaptive.learn.addressing import (
    NOT_SAID,
    allowed,
    readdressed,
    without_many_deletions,
)
from adaptive.learn.derivation import Said
from adaptive.learn.entailment import turns_round
from adaptive.learn.figures import Figures
from adaptive.learn.proposals import without_doubles
from adaptive.learn.quotation import (
    UNSPACED,
    quoted_share,
    word_units,
)
from adaptive.learn.support import (
    Source,
    Vocabulary,
    beginnings,
    capitalises_nouns,
    main_script,
    new_name,
    reworded,
    said_marks,
    says_again,
    supported_share,
    without_unsaid_relation,
)
from adaptive.memory import Gate
from adaptive.settings import Settings

# How much of what proves a fact has to be there; what each costs: benchmarks/grounding.py.
_LEAST_QUOTED_WORDS = 2  # fewer prove little: "yes"
# Of a fact's telling words, where nothing that was typed is quoted
_LEAST_TOLD = 0.3
_LEAST_SUPPORTED = 0.2  # of a fact's telling words, where it is
_LEAST_IMPLIED = 0.5  # where the quotation has none of them
# Telling words in a row that nothing bears out, or pairs of signs where words are not spaced
_LEAST_ADDED = 2
_LEAST_ADDED_PAIRS = 6
# Quoted words that a sentence may put in words of its own, and add to all the same
_MOST_REWORDED = 3
# Of a memory's telling words, to delete it unquoted: 2 % of a user's memories reach it by chance.
_LEAST_NAMED = 0.4
# By what the model itself says: of which kind a fact is, and whom it is about.
_REASONS = {
    "IMAGINED": Phrase("imagined"),
    "QUOTED": Phrase("quoted"),
    "assistant": Phrase("not_about_you"),
    "world": Phrase("not_about_you"),
}
# Of the telling words, in a message of their language
_LEAST_SAME_LANGUAGE = 0.5


@dataclass(frozen=True)
class Claim:
    """A proposed change with all that may prove it."""

    proposal: Proposal
    source: Source
    # The admin's language, in which the user need not have written.
    has_own_language: bool
    # The model's evidence, if it stands in the user's words.
    quotation: tuple[str, ...]
    said: str  # the words in which it stands, or would have to

    @classmethod
    def of(
        cls, proposal: Proposal, source: Source, settings: Settings
    ) -> Claim:
        """A proposal, with its evidence looked for where the user's own words stand."""
        evidence = proposal.evidence
        said = source.typed
        # Only the model can tell whose a sentence in quotation marks is, and says so in each field.
        is_complete = proposal.fact_kind in ("FACT", "STYLE") and (
            proposal.about in ("user", "other")
        )
        if not source.quotes(evidence):
            is_draft = quoted_share(evidence, source.unpasted) == 1
            if is_complete and is_draft:
                said = source.unpasted
            else:
                evidence = ()
        return cls(
            proposal=proposal,
            source=source,
            has_own_language=bool(settings.memory_language.strip()),
            quotation=evidence,
            said=said,
        )

    @property
    def sentence(self) -> str:
        """What is claimed."""
        return self.proposal.draft.content

    @property
    def quoted_words(self) -> int:
        """How many words are quoted."""
        return len(word_units("\n".join(self.quotation)))

    @property
    def quoted(self) -> tuple[str, ...]:
        """The quotation, or all that was said where the model quotes nothing."""
        return self.quotation or (self.said,)

    @cached_property
    def familiar(self) -> Vocabulary:
        """The words that were said or shown, in the forms that the sentence has for them."""
        return self.source.familiar.reading(self.sentence)

    @cached_property
    def support(self) -> float:
        """The share of the sentence's telling words that were said."""
        said = self.source.message.reading(self.sentence)
        return supported_share(self.sentence, said)

    @cached_property
    def is_translated(self) -> bool:
        """Whether sentence and message may be in two languages."""
        script = main_script(self.sentence.removeprefix("User"))
        return self.has_own_language or script != main_script(
            self.source.words
        )


def grounding_refusal(
    proposal: Proposal, source: Source, settings: Settings
) -> str:
    """Why a proposed change is not proven by what the user said; empty where it is."""
    claim = Claim.of(proposal, source, settings)
    if proposal.states_nothing:
        named = supported_share(proposal.before, Vocabulary.of([claim.said]))
        is_meant = claim.quoted_words >= _LEAST_QUOTED_WORDS
        return "" if is_meant or named >= _LEAST_NAMED else NOT_SAID
    telling = beginnings(proposal.draft.content)
    is_comparable = (
        not claim.is_translated or claim.support >= _LEAST_SAME_LANGUAGE
    ) and not any(telling <= beginnings(one) for one in source.remembered)
    rules = _FACT_RULES + _WORD_RULES if is_comparable else _FACT_RULES
    return next(filter(None, (rule(claim) for rule in rules)), "")


def _not_of_their_life(claim: Claim) -> str:
    """The refusal of what is imagined, quoted or of nobody here, by the model's own account."""
    proposal = claim.proposal
    if proposal.fact_kind == "STYLE":
        return ""  # a wish on answers is about the assistant, too
    return (
        _REASONS.get(proposal.fact_kind) or _REASONS.get(proposal.about) or ""
    )


def _unquoted(claim: Claim) -> str:
    """The refusal of what is neither quoted nor told in the words that the user typed."""
    least = 1 if claim.has_own_language else _LEAST_QUOTED_WORDS
    if claim.quoted_words >= least:
        return ""
    told = supported_share(claim.sentence, Vocabulary.of([claim.said]))
    return "" if told >= _LEAST_TOLD else NOT_SAID


def _unsupported(claim: Claim) -> str:
    """The refusal of a sentence with too few words of what was said around its quotation."""
    quoted = Vocabulary.of(claim.quotation).reading(claim.sentence)
    is_implied = claim.quotation and not supported_share(
        claim.sentence, quoted
    )
    least = _LEAST_IMPLIED if is_implied else _LEAST_SUPPORTED
    return "" if claim.support >= least else NOT_SAID


def _unsaid_name(claim: Claim) -> str:
    """The refusal of a name that the user did not say and no memory holds."""
    if capitalises_nouns([claim.sentence, *claim.source.remembered]):
        return ""
    name = new_name(claim.sentence, claim.familiar)
    return Phrase("name_unsaid", name=name) if name else ""


def _embroidered(claim: Claim) -> str:
    """The refusal of a sentence that adds words which nothing bears out to what was said."""
    marks = said_marks(claim.sentence, claim.familiar).lstrip("-")
    own_words = reworded(claim.quoted, claim.sentence)
    runs = marks.split("+")
    added = len(runs[-1])
    least = _LEAST_ADDED
    if UNSPACED.search(claim.sentence):
        # There the verb, which is put in many words, stands at the end.
        added = len(max(runs))
        least = _LEAST_ADDED_PAIRS
    is_mostly_said = 2 * marks.count("+") >= len(marks) - added
    is_paraphrase = own_words > max(added, _MOST_REWORDED)
    if added < least or is_paraphrase or not is_mostly_said:
        return ""
    return NOT_SAID


def _turned_round(claim: Claim) -> str:
    """The refusal of a sentence that says of the user what is said of others, or is not so."""
    # Wishes on answers are told in orders and in questions; of a draft the model itself has told
    # whose it is.
    is_judged = (
        claim.quotation
        and claim.proposal.fact_kind != "STYLE"
        and claim.said == claim.source.typed
    )
    is_turned = is_judged and turns_round(
        claim.source.sentences, claim.quotation, claim.sentence
    )
    return NOT_SAID if is_turned else ""


def _unsaid_figure(claim: Claim) -> str:
    """The refusal of a number or a month that was not said and follows from nothing said."""
    source = claim.source
    sentence = Figures(claim.sentence)
    if not source.said.unsaid(sentence):
        return ""
    repeated = [
        memory
        for memory in source.remembered
        if says_again(claim.sentence, memory)
    ]
    texts = [
        source.unpasted,
        source.earlier,
        claim.proposal.before,
        *repeated,
    ]
    unsaid = Said(Figures(*texts), source.day).unsaid(sentence)
    return Phrase("name_unsaid", name=unsaid) if unsaid else ""


_FACT_RULES = (_not_of_their_life, _unquoted, _unsaid_figure)
_WORD_RULES = (_unsupported, _unsaid_name, _embroidered, _turned_round)


@stage("screening")
def screened(
    proposals: Sequence[Proposal],
    turn: Turn,
    shown: Sequence[Memory],
    settings: Settings,
) -> list[Proposal]:
    """Proposals of which those that may not be written are decided: grounded, allowed, gated."""
    source = Source.of(turn, shown)
    gate = Gate(settings)
    screening = each_open(
        proposals, lambda one: grounded(one, source, shown, settings)
    )
    screening = each_open(screening, lambda one: allowed(one, source))
    screening = without_many_deletions(screening)
    screening = each_open(screening, lambda one: gated(one, source, gate))
    screening = [
        one if one.is_open else _tellable(one, gate) for one in screening
    ]
    return without_doubles(screening)


def grounded(
    proposal: Proposal,
    source: Source,
    shown: Sequence[Memory],
    settings: Settings,
) -> Proposal:
    """A proposal under the right id, refused unless the user's words prove it."""
    memories = {memory.id: memory for memory in shown}
    memory = memories.get(proposal.memory_id)
    proposal = readdressed(proposal, memory, source)
    content = without_unsaid_relation(proposal.draft.content, source.familiar)
    proposal = replace(
        proposal, draft=replace(proposal.draft, content=content)
    )
    reason = grounding_refusal(proposal, source, settings)
    if not reason:
        return proposal
    return proposal.decided(
        "kept" if proposal.is_removal else "rejected", reason
    )


def gated(proposal: Proposal, source: Source, gate: Gate) -> Proposal:
    """A proposal with the content that may be written, or refused with the gate's reason."""
    if proposal.states_nothing:
        return proposal
    # A wish on answers is an order, which a user may give.
    quoted = source.quotes(proposal.evidence)
    is_wish = proposal.fact_kind == "STYLE" and quoted
    gate = replace(gate, typed=is_wish, quoted=quoted)
    draft = gate.judged_draft(proposal.draft)
    if isinstance(draft, Draft):
        return replace(proposal, draft=draft)
    # What holds a secret or personal data is told by its reason alone.
    if draft.rule in ("secret", "personal data"):
        proposal = replace(proposal, draft=Draft(""))
    return proposal.decided("rejected", draft.reason)


def _tellable(proposal: Proposal, gate: Gate) -> Proposal:
    """A decided proposal with no more of its words than may be told."""
    return replace(
        proposal,
        draft=Draft(gate.tellable(proposal.draft.content)),
        before=gate.tellable(proposal.before),
    )
