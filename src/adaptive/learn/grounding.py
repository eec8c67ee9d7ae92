"""Which of the proposed changes may be written: each fact proves it by the user's own words.

The model quotes the words that say a fact (``evidence``), and code looks for them in what the user
typed: by how words begin, and sign by sign where a script puts no spaces between them. Behind that
comes the gate of every write, with the rules that an admin sets; each refusal has its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive.core.model import Draft, Memory, Proposal, Turn, each_open
from adaptive.core.runtime import stage
from adaptive.learn.claim import Claim, Source, is_named, readdressed
from adaptive.learn.extraction import without_doubles
from adaptive.learn.figures import Figure, SaidFigures, figures, plain_figures
from adaptive.learn.support import (
    Vocabulary,
    beginnings,
    capitalises_nouns,
    left_over,
    may_be_spelled,
    new_ending,
    new_name,
    supported_share,
)
from adaptive.memory.gate import (
    SECRET_LEFT_OUT,
    GatePolicy,
    gate_policy,
    gated_draft,
    tellable,
)
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.settings.merged import Settings

# How much of what proves a fact has to be there; what each costs: benchmarks/grounding.py.
_LEAST_QUOTED_WORDS = 2  # fewer prove little: "yes"
_LEAST_TOLD = (
    0.3  # of a fact's telling words, where nothing that was typed is quoted
)
_LEAST_SUPPORTED = 0.2  # of a fact's telling words, where it is
_LEAST_IMPLIED = 0.5  # where the quotation has none of them
_LEAST_NEW_ENDING = 2  # telling words at the end that nothing bears out
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
NOT_CONFIRMED = "so many at once are not deleted; say which, one by one"
_MOST_DELETIONS = 3  # in one turn; more are to be asked for first
_LARGEST_DELETED_SHARE = 0.2
_LEAST_NEW = 0.3  # a fact of which less is new says no more than another one


def grounding_refusal(
    proposal: Proposal,
    source: Source,
    changed: Memory | None,
    settings: Settings,
) -> str:
    """Why a proposed change is not proven by what the user said; empty where it is."""
    claim = Claim.of(proposal, source, changed, settings)
    if proposal.kind == "DELETE":
        return _undeletable(claim)
    rules = _FACT_RULES + _WORD_RULES if claim.is_comparable else _FACT_RULES
    return next(filter(None, (rule(claim) for rule in rules)), "")


def _unlasting(claim: Claim) -> str:
    """The refusal of what is no lasting fact by the model's own account."""
    proposal = claim.proposal
    # A wish on answers is about the assistant, too; what will be over has its day.
    if proposal.fact_kind == "STYLE" or (
        proposal.fact_kind == "STATE" and proposal.draft.until
    ):
        return ""
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
    if not supported_share(claim.sentence, claim.message):
        return DOES_NOT_FOLLOW
    quoted = Vocabulary.of(claim.quotation)
    is_implied = claim.quotation and not supported_share(
        claim.sentence, quoted
    )
    least = _LEAST_IMPLIED if is_implied else _LEAST_SUPPORTED
    return "" if claim.support >= least else DOES_NOT_FOLLOW


def _unsaid_name(claim: Claim) -> str:
    """The refusal of a name that the user did not say and no memory holds."""
    if capitalises_nouns([claim.sentence, *claim.source.remembered]):
        return ""
    name = new_name(claim.sentence, claim.familiar)
    return f"you did not say {name}" if name else ""


def _unsaid_ending(claim: Claim) -> str:
    """The refusal of a sentence that ends with more than it puts in words of its own."""
    ending = new_ending(claim.sentence, claim.familiar)
    is_paraphrase = ending < left_over(claim.quoted, claim.sentence)
    return (
        "" if ending < _LEAST_NEW_ENDING or is_paraphrase else DOES_NOT_FOLLOW
    )


def _unsaid_figure(claim: Claim) -> str:
    """The refusal of a number that was not said; days and years may be worked out."""
    source = claim.source
    said = SaidFigures.of(
        [source.words, source.earlier, claim.known, *claim.repeated]
    )
    is_dated = any(figure.is_year for figure in figures(claim.sentence))
    for figure in said.lacking(claim.sentence):
        is_worked_out = figure.is_year or (is_dated and figure.is_day)
        if not is_worked_out and not _is_spelled(figure, claim):
            return f"{figure.written} is not in your message"
    return ""


def _is_spelled(figure: Figure, claim: Claim) -> bool:
    """Whether a figure may stand in the quotation as a word."""
    if not figure.is_often_spelled:
        return False
    if claim.is_translated:
        is_another = bool(claim.untold_numbers)
        return not is_another and left_over(claim.quoted, claim.sentence) > 0
    content = plain_figures(claim.sentence)
    return may_be_spelled(
        content[: figure.begin], content[figure.end :], claim.quoted
    )


def _undeletable(claim: Claim) -> str:
    """The refusal of a deletion that is neither quoted nor names what the memory says."""
    if claim.quoted_words >= _LEAST_QUOTED_WORDS:
        return ""
    named = supported_share(claim.known, Vocabulary.of([claim.said]))
    return "" if named >= _LEAST_NAMED else NOT_SAID


_FACT_RULES = (_unlasting, _unquoted, _unsaid_figure)
_WORD_RULES = (_unsupported, _unsaid_name, _unsaid_ending)


@stage("screening")
def screened(
    proposals: Sequence[Proposal],
    turn: Turn,
    shown: Sequence[Memory],
    settings: Settings,
    store_size: int,
) -> list[Proposal]:
    """Proposals of which those that may not be written are decided: grounded, allowed, gated."""
    source = Source.of(turn, shown)
    policy = gate_policy(settings)
    screening = each_open(
        proposals, lambda one: grounded(one, source, shown, settings)
    )
    screening = each_open(screening, lambda one: allowed(one, source))
    screening = without_many_deletions(screening, store_size)
    screening = each_open(screening, lambda one: gated(one, source, policy))
    screening = [
        one if one.is_open else _tellable(one, policy) for one in screening
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
    proposal = readdressed(proposal, memories.get(proposal.memory_id))
    reason = grounding_refusal(
        proposal, source, memories.get(proposal.memory_id), settings
    )
    if not reason:
        return proposal
    return proposal.decided(
        "kept" if proposal.is_removal else "rejected", reason
    )


def allowed(proposal: Proposal, source: Source) -> Proposal:
    """A proposal, asked about where it deletes a memory that the user did not name."""
    if proposal.kind != "DELETE":
        return proposal
    deletion = replace(proposal, draft=Draft(""))
    if is_named(deletion.before, f"{source.typed}\n{source.earlier}"):
        return deletion
    return deletion.decided("asked", NOT_NAMED)


def without_many_deletions(
    proposals: Sequence[Proposal], store_size: int
) -> list[Proposal]:
    """Proposals of which all deletions are asked about, if they are too many to be meant."""
    deletions = [
        one for one in proposals if one.is_open and one.kind == "DELETE"
    ]
    if len(deletions) <= min(
        _MOST_DELETIONS, max(1, _LARGEST_DELETED_SHARE * store_size)
    ):
        return [*proposals]
    return [
        one.decided("asked", NOT_CONFIRMED) if one in deletions else one
        for one in proposals
    ]


def gated(proposal: Proposal, source: Source, policy: GatePolicy) -> Proposal:
    """A proposal with the content that may be written, or refused with the gate's reason."""
    if proposal.is_removal:
        return proposal
    # A wish on answers is an order, which a user may give.
    quoted = source.quotes(proposal.evidence)
    is_wish = proposal.fact_kind == "STYLE" and quoted
    draft = gated_draft(
        proposal.draft, replace(policy, typed=is_wish, quoted=quoted)
    )
    if isinstance(draft, Draft):
        return replace(proposal, draft=draft)
    reason = draft.reason
    if reason == SECRET_LEFT_OUT:
        reason = secret_reason(find_secrets(source.words)) or reason
    # What holds a secret or personal data is told by its reason alone.
    if draft.rule in ("secret", "personal data"):
        proposal = replace(proposal, draft=Draft(""))
    return proposal.decided("rejected", reason)


def _tellable(proposal: Proposal, policy: GatePolicy) -> Proposal:
    """A decided proposal with no more of its words than may be told."""
    return replace(
        proposal,
        draft=Draft(tellable(proposal.draft.content, policy)),
        before=tellable(proposal.before, policy),
    )


def says_no_more(content: str, said: Sequence[str]) -> bool:
    """Whether most of a fact's telling words stand in one of the sentences."""
    telling = beginnings(content)
    return any(
        len(telling - beginnings(one)) <= _LEAST_NEW * len(telling)
        for one in said
    )
