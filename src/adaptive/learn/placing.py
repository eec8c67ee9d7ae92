"""What belongs to a folder or a model stays in it, whatever is learned, and leaves with it."""

from collections.abc import Sequence
from dataclasses import replace

from adaptive.core.model import Proposal, each_open
from adaptive.memory.archive import memories_counted
from adaptive.memory.user_memory import Memories
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook

_KNOWN_ELSEWHERE = "it is known elsewhere, too"


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
                return proposal.decided("superseded", _KNOWN_ELSEWHERE)
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
    if not hook.place.is_divided:
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
    counted = memories_counted(await memory.archive_scopes(gone))
    return f"{counted} of a deleted folder archived: /memory restore brings back what was there"
