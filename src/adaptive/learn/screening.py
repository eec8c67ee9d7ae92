"""Which of the proposed changes may be written, and what is told of the others.

First the rules that an admin sets: excluded words, confidence, categories; then what the model
itself and the user's words say (``grounding``); then the gate of every write. Each refusal names
its reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adaptive.core.measures import stage
from adaptive.core.model import Draft, Memory, Operation, Outcome, Turn
from adaptive.learn.grounding import UNSPACED, Source, beginnings, grounding_refusal, is_quoted
from adaptive.learn.operations import Extraction
from adaptive.privacy.gate import SECRET_LEFT_OUT, gate_policy, gated_draft, tellable
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.settings.merged import Settings

# A fact of which less is new says no more than another one.
_LEAST_NEW = 0.3
_LIST_SIGNS = re.compile("[,;\uff0c\u3001\uff1b\n]")


@stage("screening")
def screened(
    found: Extraction, turn: Turn, memories: Mapping[str, Memory], settings: Settings
) -> Extraction:
    """What of an extraction may be written, each content as it may be, and the rest refused."""
    source, policy = Source.of(turn), gate_policy(settings)
    secret = secret_reason(find_secrets(turn.words)) or SECRET_LEFT_OUT
    operations: list[Operation] = []
    refused = [replace(one, content=tellable(one.content, policy)) for one in found.refused]
    for operation in found.operations:
        changed, is_deletion = memories.get(operation.id), operation.kind == "DELETE"
        told = operation.draft.content or (changed.content if changed else "")
        reason = refusal(operation, settings)
        reason = reason or grounding_refusal(operation, source, changed, settings)
        if reason:
            status = "kept" if is_deletion else "rejected"
            refused.append(Outcome(status, tellable(told, policy), reason))
            continue
        draft = Draft("")
        if not is_deletion:
            # A wish on answers is an order by nature: the user's own, it may stand.
            own_wish = operation.proof.kind == "STYLE" and is_quoted(operation.proof, source)
            draft = gated_draft(operation.draft, replace(policy, typed=own_wish))
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
    for term in filter(None, map(str.strip, _LIST_SIGNS.split(words))):
        bare = re.escape(term)
        if re.search(bare if UNSPACED.search(term) else rf"(?<!\w){bare}(?!\w)", said):
            return True
    return False
