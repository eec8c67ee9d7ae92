"""Which memories a proposal may change: those that the user's words mean, at the place of its chat.

What belongs to a folder or a model stays in it, whatever is learned, and leaves with it.
"""

from collections.abc import Sequence
from dataclasses import replace

from adaptive.core import Draft, Memory, Phrase, Proposal, each_open, phrase
from adaptive.learn.quotation import UNSPACED, word_units
from adaptive.learn.support import (
    Source,
    Vocabulary,
    beginning,
    beginnings,
    telling_words,
)
from adaptive.memory import Memories
from adaptive.privacy import request_kinds, sentences_to_forget
from adaptive.search import MemoryIndex, MemoryIndexes, speaks_of_self
from adaptive.settings import Hook

NOT_SAID = Phrase("not_said")
NOT_ASKED_FOR = Phrase("not_asked_for")
NOT_CONFIRMED = Phrase("too_many")
_MOST_DELETIONS = 3  # in one turn; more are to be asked for first
# Of the subjects of the sentence with fewer, to be of one thing
_LEAST_SHARED = 0.3
# Of a memory's, in an update of it that nobody named
_LEAST_KEPT = 0.7
# Of a memory's, in a request to forget it
_LEAST_MEANT = 0.3
_LEAST_LETTERS = 2  # of a word that tells what a sentence speaks of
_LONGEST_ENDING = 2
_SAME_LETTERS = 5  # of words that differ more in length


def readdressed(
    proposal: Proposal, memory: Memory | None, source: Source
) -> Proposal:
    """An update, or a new fact where it does not prove that it is about the memory that it names.

    It has to have much in common with it, and to keep most of it, unless the user's words name it
    or what is quoted of them is about the user: of others and other things something else is told.
    Models copy numbers and ids badly, so nothing is overwritten on doubt. Where the memory said
    the same in another language, both stand until it is checked what no longer holds.
    """
    if proposal.kind != "UPDATE" or memory is None:
        return proposal
    draft = proposal.draft
    ours = subjects(draft.content)
    theirs = subjects(memory.content)
    shared = len(ours & theirs)
    fewer = max(1, min(len(ours), len(theirs)))
    # Elsewhere in the message a memory may be named for other reasons.
    quoted = "\n".join(source.quoted(proposal.evidence))
    is_meant = (
        shared >= _LEAST_KEPT * len(theirs)
        or is_named(memory.content, f"{quoted}\n{source.earlier}")
        or speaks_of_self(quoted)
    )
    if shared >= _LEAST_SHARED * fewer and is_meant:
        return proposal
    until = "" if draft.until == memory.until else draft.until
    return replace(
        proposal,
        kind="NEW",
        memory_id="",
        before="",
        draft=replace(draft, until=until),
    )


def allowed(proposal: Proposal, source: Source) -> Proposal:
    """A proposal, asked about where it deletes what the user may not want forgotten."""
    if proposal.kind != "DELETE":
        return proposal
    deletion = replace(proposal, draft=Draft(""))
    # Outside of what is quoted a memory may be named for other reasons.
    asked = "\n".join(source.quoted(proposal.evidence))
    if not is_named(deletion.before, asked):
        return deletion.decided("asked", NOT_SAID)
    requests = sentences_to_forget(asked).split("\n")
    if any(_is_to_forget(one, deletion.before) for one in requests):
        return deletion
    return deletion.decided("asked", NOT_ASKED_FOR)


def _is_to_forget(request: str, memory: str) -> bool:
    """Whether a request to erase something names much of a memory, and nothing else than it.

    Of other texts than memories things are erased, too, but few are asked to be forgotten.
    """
    theirs = subjects(memory)
    if len(theirs & beginnings(request)) < _LEAST_MEANT * len(theirs):
        return False
    known = Vocabulary.of([memory])
    words = [word for word in word_units(request) if not known.knows(word)]
    kinds = frozenset[str]().union(*map(request_kinds, words))
    others = " ".join(word for word in words if not request_kinds(word))
    is_of_memories = not kinds.isdisjoint(("forgetting", "memories"))
    return is_of_memories and not telling_words(others)


def without_many_deletions(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Proposals of which all deletions are asked about, if they are too many to be meant."""
    deletions = [
        one for one in proposals if one.is_open and one.kind == "DELETE"
    ]
    if len(deletions) <= _MOST_DELETIONS:
        return [*proposals]
    return [
        one.decided("asked", NOT_CONFIRMED) if one in deletions else one
        for one in proposals
    ]


def subjects(sentence: str) -> frozenset[str]:
    """How the words begin by which a sentence tells what it speaks of."""
    return frozenset(map(beginning, _subject_words(sentence)))


def is_named(known: str, said: str) -> bool:
    """Whether words that were said have something in common with what a memory says.

    What begins alike may be another word: "work" does not name a "workout".
    """
    words = telling_words(said)
    alike = {
        (beginning(word), len(word) + more)
        for word in words
        for more in range(-_LONGEST_ENDING, _LONGEST_ENDING + 1)
    }
    firsts = {word[:_SAME_LETTERS] for word in words}
    return any(
        (beginning(own), len(own)) in alike or own[:_SAME_LETTERS] in firsts
        for own in _subject_words(known)
    )


def _subject_words(sentence: str) -> list[str]:
    """The telling words of a sentence but numbers and the first word, which is the user."""
    first = sentence.partition(" ")[0]
    user = frozenset[str]()
    if not UNSPACED.search(first):
        user = beginnings(first)
    return [
        word
        for word in telling_words(sentence)
        if len(word) >= _LEAST_LETTERS
        and not word.isdecimal()
        and beginning(word) not in user
    ]


KNOWN_ELSEWHERE = "it is known elsewhere, too"


def placed(
    proposals: Sequence[Proposal], scope: str, index: MemoryIndex
) -> list[Proposal]:
    """Proposals as they may be carried out where what is learned has a scope, or none.

    A memory that is known in other places, too, is not changed by what is said here: its new words
    are a memory of this place. The user may have it forgotten.
    """

    def step(proposal: Proposal) -> Proposal:
        """One proposal, with the scope in which its words will be known."""
        if proposal.kind in ("DELETE", "QUIET"):
            return proposal
        memory = index.memory(proposal.memory_id)
        known_in = scope if memory is None else memory.scope
        if scope and known_in != scope:
            if proposal.kind == "END":
                return proposal.decided("superseded", KNOWN_ELSEWHERE)
            proposal = replace(proposal, kind="NEW", memory_id="")
            known_in = scope
        draft = replace(proposal.draft, tags=proposal.draft.tags_in(known_in))
        return replace(proposal, draft=draft)

    return each_open(proposals, step)


async def leave_deleted_folders(
    hook: Hook, indexes: MemoryIndexes, memories: Memories
) -> str:
    """Archive what belongs to folders that are gone, and return what to tell of it.

    Open WebUI tells no filter that a folder was deleted. It is asked for folders only where
    memories belong to some. Raises ``HostError``.
    """
    if not (hook.place.known and hook.place.is_divided):
        return ""
    sources = replace(await hook.sources(), place=None)
    index = await indexes.current(sources, patience=0)
    folders = {scope for scope in index.scopes if scope.startswith("folder=")}
    if not folders:
        return ""
    gone = folders - await hook.standing_folders(folders)
    if not gone:
        return ""
    memory = memories.over(sources, hook.settings)
    archived = await memory.archive_scopes(gone)
    return phrase("folder_archived", n=archived)
