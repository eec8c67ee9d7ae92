"""Which of the proposed changes may be written, and what is told of the others.

First what the model itself and the user's words say (``grounding``), then the rules that an admin
sets: excluded words, length, confidence, categories. Each refusal names its reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adaptive.learn.grounding import UNSPACED, Source, beginnings, grounding_refusal, is_quoted
from adaptive.learn.operations import Extraction
from adaptive.measures import staged
from adaptive.model import Draft, Memory, Operation, Outcome, Turn
from adaptive.privacy.gate import (
    SECRET_LEFT_OUT,
    GatePolicy,
    Refused,
    gate_policy,
    gated_draft,
    holds_secret_mark,
    without_personal_data,
)
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.settings import Settings

_LONGEST_TOLD_REFUSAL = 200
# A fact of which less is new says no more than another one.
_LEAST_NEW = 0.3
_LIST_SIGNS = re.compile("[,;\uff0c\u3001\uff1b\n]")


@staged("screening")
def screened(
    found: Extraction, turn: Turn, memories: Mapping[str, Memory], settings: Settings
) -> Extraction:
    """What of an extraction may be written, each content as it may be, and the rest refused.

    ``memories`` are those that the model was shown, by id.
    """
    source, policy = Source.of(turn), gate_policy(settings)
    secret = secret_reason(find_secrets(turn.words)) or SECRET_LEFT_OUT
    off = {"filter_trivia": False, "filter_transient_states": False}
    unfiltered = settings.model_copy(update=off)
    operations: list[Operation] = []
    refused = [replace(one, content=tellable(one.content, policy)) for one in found.refused]
    for operation in found.operations:
        changed, is_deletion = memories.get(operation.id), operation.kind == "DELETE"
        told = operation.draft.content or (changed.content if changed else "")
        wanted = holds_listed_word(operation.draft.content, settings.whitelist_keywords)
        reason = refusal(operation, settings) or grounding_refusal(
            operation, source, changed, unfiltered if wanted else settings
        )
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


def screened_findings(findings: Sequence[Operation], turn: Turn, settings: Settings) -> Extraction:
    """New facts that the newest message alone bears out: whoever found them saw the answer, too."""
    new = tuple(one for one in findings if one.kind == "NEW")
    return screened(Extraction(new, ()), replace(turn, earlier=()), {}, settings)


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
    # A sign of a script without spaces says about what two letters do.
    if len(draft.content) + len(UNSPACED.findall(draft.content)) < settings.min_memory_length:
        return f"shorter than {settings.min_memory_length} characters"
    if holds_listed_word(draft.content, settings.whitelist_keywords):
        return ""
    if draft.confidence < settings.min_confidence_threshold:
        return f"the model is not sure ({draft.confidence:.2f})"
    if draft.tags and not set(draft.tags) & set(settings.categories):
        return f"{', '.join(draft.tags)} is not to be remembered"
    return ""


def tellable(text: str, policy: GatePolicy) -> str:
    """What may be told of a text that is not stored, on one line: masked, or nothing."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text[:_LONGEST_TOLD_REFUSAL])
    shown = " ".join(shown.split())
    if find_secrets(text) or holds_secret_mark(text):
        return ""
    verdict = without_personal_data(shown, policy)
    return "" if isinstance(verdict, Refused) else verdict.text


def holds_listed_word(text: str, listed: str) -> bool:
    """Whether a text holds one of the words that are listed with commas between them.

    Letter case does not count. In scripts with spaces a word must stand alone; in others it may
    stand within a longer one.
    """
    said = _folded_width(text)
    terms = (_folded_width(term).strip() for term in _LIST_SIGNS.split(listed))
    return any(_stands_in(term, said) for term in terms if term)


def _stands_in(term: str, said: str) -> bool:
    around = "" if UNSPACED.search(term) else r"\b"
    start = around if term[0].isalnum() else ""
    end = around if term[-1].isalnum() else ""
    return re.search(f"{start}{re.escape(term)}{end}", said) is not None


def _folded_width(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
