"""A fact that a model proposes, and all that may prove it: the user's words, and memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from adaptive.core.model import Memory, Proposal, Turn
from adaptive.learn.figures import SaidFigures
from adaptive.learn.pasted import typed_words, unpasted_words
from adaptive.learn.quotation import (
    UNSPACED,
    neighbourhood,
    quoted_share,
    word_units,
)
from adaptive.learn.support import (
    Vocabulary,
    beginning,
    beginnings,
    main_script,
    supported_share,
    telling_words,
    with_initials,
)
from adaptive.settings.merged import Settings

_LEAST_QUOTED = 0.7  # of a quotation, in one window of the typed words: small models misquote
_LEAST_SAME_LANGUAGE = (
    0.5  # of a fact's telling words stand in a message of its language
)
# A fact that repeats a memory may have its numbers, too.
_LEAST_REPEATED = 0.5  # of the memory's telling words
_LEAST_REPEATED_WORDS = 4
_LEAST_SHARED = 0.3  # of the telling words of the shorter of two sentences
_LEAST_LETTERS = 2
_LONGEST_ENDING = 2
_SAME_LETTERS = 5  # of words that differ more in length


@dataclass(frozen=True, slots=True)
class Source:
    """The newest message, what was typed of it and in the ones before it, and what is unpasted."""

    words: str
    earlier: str
    typed: str
    unpasted: str  # with what stands in quotation marks: others' sentences, or drafts
    remembered: tuple[
        str, ...
    ] = ()  # what the model was shown: names may be known from there

    @classmethod
    def of(cls, turn: Turn, shown: Iterable[Memory] = ()) -> Source:
        """The user's words in a turn, and the memories that were shown with it."""
        said = (
            typed_words(one.text) for one in turn.earlier if one.role == "user"
        )
        return cls(
            words=turn.words,
            earlier="\n".join(said),
            typed=typed_words(turn.words),
            unpasted=unpasted_words(turn.words),
            remembered=tuple(memory.content for memory in shown),
        )

    def quotes(self, spans: Sequence[str]) -> bool:
        """Whether a quotation stands in what was typed, near enough to its words."""
        return quoted_share(spans, self.typed) >= _LEAST_QUOTED

    def holds_memory_of(self, sentence: str) -> bool:
        """Whether one memory has all telling words of a sentence."""
        telling = beginnings(sentence)
        return any(telling <= beginnings(memory) for memory in self.remembered)


@dataclass(frozen=True)
class Claim:
    """A proposed change with all that may prove it."""

    proposal: Proposal
    source: Source
    changed: Memory | None
    has_own_language: (
        bool  # the admin's, in which the user need not have written
    )
    quotation: tuple[
        str, ...
    ]  # the model's evidence, if it stands in the user's words
    said: str  # the words in which it stands, or would have to

    @classmethod
    def of(
        cls,
        proposal: Proposal,
        source: Source,
        changed: Memory | None,
        settings: Settings,
    ) -> Claim:
        """A proposal, with its evidence looked for where the user's own words stand."""
        said = source.typed
        is_quoted = source.quotes(proposal.evidence)
        # Only the model can tell whose a sentence in quotation marks is, and says so in each field.
        is_complete = proposal.fact_kind in (
            "FACT",
            "STYLE",
        ) and proposal.about in (
            "user",
            "other",
        )
        if (
            is_complete
            and not is_quoted
            and quoted_share(proposal.evidence, source.unpasted) == 1
        ):
            is_quoted = True
            said = source.unpasted
        return cls(
            proposal=proposal,
            source=source,
            changed=changed,
            has_own_language=bool(settings.memory_language.strip()),
            quotation=proposal.evidence if is_quoted else (),
            said=said,
        )

    @cached_property
    def sentence(self) -> str:
        """What is to be remembered, with names as initials where those were said."""
        return with_initials(self.proposal.draft.content, self.message)

    @property
    def known(self) -> str:
        """What the memory says that is changed."""
        return self.changed.content if self.changed else ""

    @property
    def quoted_words(self) -> int:
        """How many words are quoted."""
        return sum(len(word_units(span)) for span in self.quotation)

    @property
    def quoted(self) -> tuple[str, ...]:
        """The quotation, or all that was said where the model quotes nothing."""
        return self.quotation or (self.said,)

    @cached_property
    def around(self) -> tuple[str, ...]:
        """What was said around the quotation and before."""
        return neighbourhood(
            self.quotation, self.source.words
        ), self.source.earlier

    @cached_property
    def message(self) -> Vocabulary:
        """The words that were said around the quotation and before."""
        return Vocabulary.of(self.around)

    @cached_property
    def familiar(self) -> Vocabulary:
        """The words that were said, and those of the memories that the model was shown."""
        return Vocabulary.of([*self.around, *self.source.remembered])

    @cached_property
    def support(self) -> float:
        """The share of the sentence's telling words that were said, or stood there before."""
        return supported_share(
            self.sentence, Vocabulary.of([*self.around, self.known])
        )

    @cached_property
    def is_translated(self) -> bool:
        """Whether sentence and message may be in two languages."""
        script = main_script(self.sentence.removeprefix("User"))
        return self.has_own_language or script != main_script(
            self.source.words
        )

    @property
    def repeated(self) -> list[str]:
        """The memories of which the sentence says most again: it puts two facts into one."""
        return [
            one
            for one in self.source.remembered
            if _repeats(self.sentence, one)
        ]

    @property
    def untold_numbers(self) -> frozenset[Decimal]:
        """The numbers in the quotation that the sentence does not have."""
        return (
            SaidFigures.of(self.quoted).values
            - SaidFigures.of([self.sentence]).values
        )

    @property
    def is_comparable(self) -> bool:
        """Whether words can tell what is new: it is in their language, and no memory has it all."""
        is_in_other_words = (
            self.is_translated and self.support < _LEAST_SAME_LANGUAGE
        )
        return not is_in_other_words and not self.source.holds_memory_of(
            self.sentence
        )


def _repeats(sentence: str, memory: str) -> bool:
    """Whether a sentence has most telling words of a memory, and so many that it is no chance."""
    telling = beginnings(memory)
    shared = telling & beginnings(sentence)
    return len(shared) >= max(
        _LEAST_REPEATED_WORDS, _LEAST_REPEATED * len(telling)
    )


def readdressed(proposal: Proposal, memory: Memory | None) -> Proposal:
    """An update, or a new fact where it has too little in common with the memory that it names.

    Models copy numbers and ids badly, so nothing is overwritten on doubt. Where the memory said
    the same in another language, both stand until it is checked what no longer holds.
    """
    if proposal.kind != "UPDATE" or memory is None:
        return proposal
    draft = proposal.draft
    ours = subjects(draft.content)
    theirs = subjects(memory.content)
    if len(ours & theirs) >= _LEAST_SHARED * max(
        1, min(len(ours), len(theirs))
    ):
        return proposal
    until = "" if draft.until == memory.until else draft.until
    return Proposal(
        kind="NEW",
        draft=replace(draft, until=until),
        evidence=proposal.evidence,
        about=proposal.about,
        fact_kind=proposal.fact_kind,
    )


def is_named(known: str, said: str) -> bool:
    """Whether words that were said have something in common with what a memory says."""
    lengths: dict[str, set[int]] = {}
    for own in _subject_words(known):
        lengths.setdefault(beginning(own), set()).add(len(own))
    firsts = {own[:_SAME_LETTERS] for own in _subject_words(known)}
    return any(_is_form(word, lengths, firsts) for word in telling_words(said))


def _is_form(
    word: str, lengths: Mapping[str, Set[int]], firsts: Set[str]
) -> bool:
    """Whether a word may be a form of another one: "work" is no form of "workout".

    The others are given by their lengths behind how they begin, and by their first letters.
    """
    alike = lengths.get(beginning(word), frozenset())
    return (
        any(abs(len(word) - length) <= _LONGEST_ENDING for length in alike)
        or word[:_SAME_LETTERS] in firsts
    )


def subjects(sentence: str) -> frozenset[str]:
    """How the words begin by which a sentence tells what it speaks of."""
    return frozenset(map(beginning, _subject_words(sentence)))


def _subject_words(sentence: str) -> list[str]:
    """The telling words of a sentence but the first word, which is the user, and numbers."""
    first = sentence.split(maxsplit=1)[:1]
    is_spaced = first and not UNSPACED.search(first[0])
    user = (
        set(map(beginning, telling_words(first[0])))
        if is_spaced
        else set[str]()
    )
    return [
        word
        for word in telling_words(sentence)
        if len(word) >= _LEAST_LETTERS
        and not word.isdecimal()
        and beginning(word) not in user
    ]
