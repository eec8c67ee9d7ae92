"""What a model deletes: what the user asked to forget or took back, what is replaced, or neither.

A deletion that nobody asked for loses a fact, and a fact that is deleted and told anew loses its
history; small models do both. What cannot be read leaves doubt, and the deletion is left as it is.
"""

# ruff: noqa: RUF001 - the words are in several scripts

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from adaptive.learn.relation import believable, relation
from adaptive.learn.statement import meanings_said
from adaptive.model import Memory, Operation, Outcome
from adaptive.search.tokens import tokens

NOT_ASKED_FOR = "it was to be deleted, but you did not ask to forget it"

_RETRACTING_TEXT = 6000
_READABLE = re.compile("[a-zà-ÿа-яё\u3041-\u30ff\u4e00-\u9fff]", re.IGNORECASE)
_FORGETTING = (
    r"(?<!n't )(?<!not )(?<!never )(?<!always )\bforget(?! it\b| about it\b| to\b)",
    r"\b(?:delete|erase|remove|wipe|scrap|discard|get rid of|stop remembering|no longer remember"
    r"|(?:clear|drop|strike) (?:that|it|this|my|the|all|everything))\b"
    r"|\b(?:don't|do not|never|shouldn't) (?:keep|store|save|remember)\b",
    r"\bvergiss(?! (?:bitte )?nicht| es\b| nie)|\bvergessen\b|\b(?:lösch|entfern|streich)\w*",
    r"(?<!n')\boubli(?:e|ez|er)\b(?! pas)|\b(?:efface|supprime|retire|enlève)\w*",
    r"(?<!no )(?<!no te )(?<!no se )\bolvid(?:a|ar|e|es)(?:te|lo|la)?\b",
    r"\b(?:borra|elimina|quita)\w*",
    r"(?<!não )(?<!não te )(?<!não se )\besque(?:ce|ça|cer)\b|\b(?:apag|elimin|remov)[aeo]\w*",
    r"(?<!non )(?<!non ti )\bdimentic\w+|\b(?:cancell|elimin)[aio]\w*|\brimuov\w+|\btogli\b",
    r"(?<!не )\b(?:забудь|забыть)\w*|\b(?:удали|сотри|убери)\w*",
    "(?<![别別])(?<!不要)(?<!不)忘[记記掉]|[删刪]|去掉|忘れて|削除|消し",
)
_NOT_FORGETTING = (
    r"\b(?:don't|do not|never|not) forget\b|\bforget (?:about )?it\b"
    r"|\bvergiss (?:bitte )?(?:nicht|es)\b"
    r"|\bn'oubli\w+ (?:pas|jamais)\b|\bno (?:te |se )?olvid\w+|\bnão (?:te |se )?esque\w+"
    r"|\bnon (?:ti )?dimentic\w+|\bне заб[ыу]\w+|[别別不]要?忘|忘れないで",
)
# What was is over, or never was.
_TAKING_BACK = (
    r"\b(?:not|no|never|none|longer|any ?more|ain't|cannot|sold|gave|given|rid|lost|died|dead"
    r"|passed|quit|quitting|stopped|stopping|left|leaving|broke|split|separated|divorced|ended|over"
    r"|cancel\w*|finished|done|did it|wrong|mistake\w*|incorrect|false|untrue|used to|formerly"
    r"|former|ex|moved|changed|replaced|switched|retired|fired|resigned|dropped|recovered|cured"
    r"|expired|outdated|instead|actually|correction|was|were|had)\b|n't\b",
    r"\b(?:nicht|kein\w*|nie(?:mals)?|verkauft|verschenkt|gestorben|tot|aufgehört|gekündigt|getrennt"
    r"|vorbei|abgesagt|falsch|verloren|beendet|umgezogen|gewechselt|früher|war|hatte|weg)\b",
    r"\b(?:ne|pas|plus|jamais|vendu\w*|donné|morte?|arrêté|quitté|fini|terminé|annulé|faux|perdu"
    r"|séparée?s?|déménagé|avant|étais?|avais?)\b|\bn'",
    r"\b(?:ya|nunca|vend[íi]\w*|murió|muerto|dejé|dejado|terminé|terminado|cancel\w+|falso|perdí"
    r"|rompí|antes|era|tenía|mudé)\b",
    r"\b(?:não|nunca|morreu|deixei|parei|terminei|acabou|falso|perdi|mudei|tinha)\b",
    r"\b(?:non|mai|più|venduto|mort[oa]|smesso|lasciato|finit[oa]|annullat[oa]|falso|pers[oa]|avevo"
    r"|ero|prima)\b",
    r"\b(?:не|нет|больше|никогда|продал\w*|умер\w*|бросил\w*|перестал\w*|закончил\w*|отмен\w+"
    r"|неправда|потерял\w*|уш[её]л|ушла|уволил\w*|переехал\w*|раньше|был[аои]?)\b",
    "[不没沒无無]|[卖賣]了|死|去世|停|戒|辞|離|离|[结結]束|取消|[错錯]|丢|换|換|以前"
    "|ない|ません|売っ|亡くな|やめ|辞め|終わ|キャンセル|間違|でした|だった",
)


@dataclass(frozen=True, slots=True)
class Retracted:
    """The operations of a reply, and the outcomes of the deletions that are not carried out."""

    operations: tuple[Operation, ...]
    outcomes: tuple[Outcome, ...]


def retracted(operations: Sequence[Operation], memories: Sequence[Memory], words: str) -> Retracted:
    """Keep the deletions that the user's words bear out.

    A deletion beside the new fact that replaces what it deletes becomes the update of its row,
    unless the user asked to forget: then nothing is to be left of it. ``words`` is what the user
    sent; empty: unknown, and nothing is changed.
    """
    known = {memory.id: memory for memory in memories}
    kept = list(operations)
    outcomes: list[Outcome] = []
    sent = words[:_RETRACTING_TEXT].replace("’", "'")
    if not sent or not _READABLE.search(sent) or _retracting("forget").search(sent):
        return Retracted(tuple(kept), ())
    for deletion in operations:
        memory = known.get(deletion.id)
        if deletion.kind != "DELETE" or memory is None:
            continue
        taken_back = _is_taken_back(memory.content, sent)
        place = _replacement(memory, kept, taken_back)
        if place is not None:
            kept[place] = _as_update(kept[place], memory)
            kept.remove(deletion)
        elif not taken_back and not _stands_elsewhere(memory, kept):
            kept.remove(deletion)
            outcomes.append(Outcome("kept", memory.content, NOT_ASKED_FOR))
    return Retracted(tuple(kept), tuple(outcomes))


def _replacement(memory: Memory, operations: Sequence[Operation], loosely: bool) -> int | None:
    """The place of the new fact that replaces a memory; ``loosely``: that is about it at all."""
    new = [place for place, one in enumerate(operations) if one.kind == "NEW"]
    for place in new:
        content = operations[place].draft.content
        if relation(memory.content, content) in ("contradicts", "refines"):
            return place
    near = (place for place in new if believable(memory.content, operations[place].draft.content))
    return next(near, None) if loosely else None


def _as_update(new: Operation, memory: Memory) -> Operation:
    """A new fact as the content of a row, which keeps its bank and what it counts."""
    draft = replace(
        new.draft,
        tags=new.draft.tags or memory.tags,
        bank=memory.bank or new.draft.bank,
        importance=max(new.draft.importance, memory.importance),
    )
    return Operation("UPDATE", memory.id, draft)


def _stands_elsewhere(memory: Memory, operations: Sequence[Operation]) -> bool:
    """Whether another operation writes all that a memory says."""
    return any(
        relation(one.draft.content, memory.content) == "same"
        for one in operations
        if one.kind != "DELETE" and one.id != memory.id
    )


def _is_taken_back(content: str, sent: str) -> bool:
    """Whether a message speaks of a memory and of something that is over or was never so."""
    if not _retracting("back").search(_retracting("mind").sub(" ", sent)):
        return False
    telling, said = set(tokens(content)), set(tokens(sent))
    return bool(telling & said) or bool(meanings_said(content) & meanings_said(sent))


@cache
def _retracting(kind: str) -> re.Pattern[str]:
    """The pattern of one kind, compiled when a reply first deletes something."""
    kinds = {"forget": _FORGETTING, "mind": _NOT_FORGETTING, "back": _TAKING_BACK}
    return re.compile("|".join(kinds[kind]), re.IGNORECASE)
