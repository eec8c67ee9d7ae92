"""The one gate of every write, with the rules that an admin sets, and the store behind it."""

import asyncio
import re
from dataclasses import replace
from typing import Literal

from adaptive.core import (
    CATEGORIES,
    Draft,
    JsonMapping,
    JsonObject,
    Memory,
    NewMemory,
    Phrase,
    WriteRefused,
    frozen,
    has_words,
    is_mark,
    listing,
    mapping,
    text_cache,
    text_field,
)
from adaptive.privacy import (
    SECRET_MARK,
    find_personal_data,
    find_secrets,
    injection_reason,
    passed_mark,
    spliced,
)
from adaptive.search import folded_text, stem
from adaptive.settings import Settings

# Ours, and what models make of it.
_SECRET_MARKS = (SECRET_MARK, "[secret]")
_LONGEST = 4000
_LONGEST_LABEL = 100
_LONGEST_TOLD_REFUSAL = 200
# What stands for personal data; it is none itself.
_MASK = "\u2026"

_SEPARATORS = re.compile("[,;\u060c\u061b\uff0c\u3001\uff64\uff1b\n]")
# Soft hyphens, joiners and marks of direction, which pages put into words and nobody sees.
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
# Vowel signs of Indian scripts are no letters to `\w`, but a word can't do without them.
_WORDS = re.compile("(?:[^\\W_]|[\u0900-\u0963\u0966-\u0dff])+")
# From Hebrew on scripts write few vowels or none; from Thai on most put no spaces between words.
_CONSONANTS_FROM = "\u0590"
_UNSPACED_FROM = "\u0e00"
_SHORTEST_ROOT = 3
# What is shorter stands within other words by chance: it is looked for at their beginning alone.
_SHORTEST_PART = 4
# Before a short part of a compound stands a word as well; "rent" is no part of "parents".
_LONGEST_SHORT_PART = 5
_AT_BEGINNING = r"(?<!\S)"
_BEHIND_A_WORD = rf"(?:{_AT_BEGINNING}|(?<=\S\S\S))"
# A final consonant that is voiced before an ending, as in Turkish: "kitap", "kitabim".
_VOICED = {"p": "b", "t": "d", "k": "g"}


@text_cache(100)
def listed_words(listed: str) -> re.Pattern[str] | None:
    """What finds the terms of a list with commas, semicolons or line ends between them."""
    terms = map(_folded_words, _SEPARATORS.split(listed))
    patterns: list[str] = []
    for words in filter(None, terms):
        side_by_side = " ".join(map(_forms, words))
        patterns += [side_by_side, _forms("".join(words))]
    return re.compile("|".join(patterns)) if patterns else None


def holds_listed_word(text: str, listed: re.Pattern[str]) -> bool:
    """Whether a text holds a listed term, its words side by side or written as one.

    A word is found where a text has an inflected form of it, or a compound that it is a part of, in
    whatever case and with whatever accents; the dotless i of Turkish counts as the other one. Of
    words that only look alike some are found as well: too much is refused rather than too little.
    """
    words = _folded_words(text)
    lines = [" ".join(words), " ".join(map(stem, words))]
    return listed.search("\n".join(lines)) is not None


def _forms(word: str) -> str:
    """A pattern of the forms of a folded word among folded words and stems, up to their end."""
    root = stem(word)
    form = rf"{_AT_BEGINNING}{root}(?!\S)"
    if root >= _CONSONANTS_FROM:
        if root >= _UNSPACED_FROM or len(root) >= _SHORTEST_ROOT:
            form = root
    elif len(root) >= _SHORTEST_PART:
        is_short = len(root) <= _LONGEST_SHORT_PART
        before = _BEHIND_A_WORD if is_short else ""
        last = root[-1] + _VOICED.get(root[-1], "")
        form = rf"{before}{root[:-1]}[{last}]"
    elif len(word) >= _SHORTEST_ROOT:
        form = rf"{form}|{_AT_BEGINNING}{word}"
    return rf"(?:{form})\S{{0,40}}"


def _folded_words(text: str) -> list[str]:
    plain = folded_text(_INVISIBLE.sub("", text))
    return _WORDS.findall(plain.replace("\u0131", "i"))


@frozen
class Refused:
    """Why a text may not be written: completes "Not saved: ...", and repeats nothing of it."""

    reason: str
    rule: Literal["length", "secret", "injection", "personal data", "admin"]


@frozen
class Gate:
    """What every write has to pass under an admin's valves.

    ``typed`` and ``quoted`` say what of a text is the user's own (see ``injection_reason``). What
    has passed is written as it came out, so a row may say less than its draft. Nothing passes where
    nothing is to be saved at all.
    """

    settings: Settings
    typed: bool = False
    quoted: bool = False

    def judged(self, text: str) -> str | Refused:
        """The text as it may be written, or why it may not be."""
        bare = text.strip()
        if not 0 < len(bare) <= _LONGEST:
            return Refused(Phrase("bad_length"), "length")
        if _holds_secret(bare):
            return Refused(Phrase("holds_secret"), "secret")
        ruled_out = listed_words(self.settings.blacklist_topics)
        if ruled_out and holds_listed_word(bare, ruled_out):
            return Refused(Phrase("ruled_out"), "admin")
        if reason := injection_reason(
            bare, typed=self.typed, quoted=self.quoted
        ):
            return Refused(reason, "injection")
        return self._without_personal_data(bare)

    def _without_personal_data(self, text: str) -> str | Refused:
        """The text with personal data masked as far as it is to be, or why it may not be stored."""
        if self.settings.pii_redaction == "off":
            return text
        spans = find_personal_data(text)
        refused = self.settings.refused_kinds
        masked = self.settings.masked_kinds
        masks = [
            (one.start, one.end, _MASK) for one in spans if one.kind in masked
        ]
        stored = spliced(text, masks)
        kinds = dict.fromkeys(one.kind for one in spans)
        unwanted = [kind for kind in kinds if kind in refused]
        if has_words(text) and not has_words(stored):
            unwanted = unwanted or [*kinds]
        if not unwanted:
            return stored
        named = ", ".join(unwanted).replace("_", " ")
        return Refused(Phrase("personal_data", kinds=named), "personal data")

    def tellable(self, text: str) -> str:
        """What may be told of a text that is not stored, on one line: masked, or nothing."""
        if _holds_secret(text):
            return ""
        shown = "".join(
            sign if sign.isprintable() else " "
            for sign in text[:_LONGEST_TOLD_REFUSAL]
        )
        verdict = self._without_personal_data(" ".join(shown.split()))
        return "" if isinstance(verdict, Refused) else verdict

    def allows_label(self, label: str) -> bool:
        """Whether a tag or the name of a bank may be written as it is: one short line, nothing else."""
        if label in CATEGORIES or is_mark(label) or not label:
            return True
        fits = len(label) <= _LONGEST_LABEL and label.isprintable()
        return fits and self.judged(label) == label

    def judged_draft(self, draft: Draft) -> Draft | Refused:
        """A draft as it may be written, or why it may not; tags and a bank that may not are dropped.

        It is marked with what has passed. Of a content that bears its own mark it was judged before
        whether it is an order, by whose words it is, which is not known any more; all else is
        judged by the rules of today.
        """
        gate = self
        if draft.passed == passed_mark(draft.content):
            gate = replace(self, typed=True)
        verdict = gate.judged(draft.content)
        if isinstance(verdict, Refused):
            return verdict
        if draft.confidence < self.settings.min_confidence_threshold:
            return Refused(
                Phrase("not_sure", confidence=f"{draft.confidence:.2f}"),
                "admin",
            )
        named = {tag.casefold() for tag in draft.tags}
        categories = [name for name in CATEGORIES if name in named]
        if categories and not set(categories) & set(self.settings.categories):
            return Refused(
                Phrase("unwanted_kind", kinds=tuple(categories)), "admin"
            )
        return replace(
            draft,
            content=verdict,
            tags=tuple(filter(gate.allows_label, draft.tags)),
            bank=draft.bank if gate.allows_label(draft.bank) else "",
            passed=passed_mark(verdict),
        )

    async def passed(self, memory: NewMemory) -> NewMemory:
        """What may be written of a memory, and of what it takes the place of.

        Raises:
            WriteRefused: it may not be written.
        """
        former = memory.former
        if former:
            content = await self._passed_text(former.content)
            former = replace(former, content=content)
        return replace(
            memory,
            draft=await self._passed_draft(memory.draft),
            extra=await self._passed_meta(memory.extra),
            former=former,
        )

    async def allowed(self, *memories: Memory) -> list[Memory]:
        """Rows as they may be put back; ``WriteRefused`` if one may not be as it once stood."""
        rows: list[Memory] = []
        for memory in memories:
            draft = replace(
                draft_of(memory), passed=passed_mark(memory.content)
            )
            if await self._passed_draft(draft) != draft:
                raise WriteRefused(Phrase("not_as_it_was"))
            meta = await self._passed_meta(memory.meta)
            rows.append(replace(memory, meta=meta))
        return rows

    async def _passed_draft(self, draft: Draft) -> Draft:
        """A draft as it may be written, else ``WriteRefused``."""
        if self.settings.save_mode == "off":
            raise WriteRefused(Phrase("saving_off"))
        # In a thread: the first text has the patterns compiled, which takes a while.
        verdict = await asyncio.to_thread(self.judged_draft, draft)
        if isinstance(verdict, Refused):
            raise WriteRefused(verdict.reason)
        return verdict

    async def _passed_text(self, text: str) -> str:
        """A former content as it may be written, or nothing."""
        verdict = await asyncio.to_thread(self.judged, text)
        return "" if isinstance(verdict, Refused) else verdict

    async def _passed_meta(self, meta: JsonMapping) -> JsonObject:
        """Meta whose former contents are those that pass, as they come out of the gate."""
        passed: list[JsonObject] = []
        for former in map(mapping, listing(meta.get("history"))):
            text = await self._passed_text(text_field(former, "content"))
            if text:
                passed.append({**former, "content": text})
        return {**meta, "history": passed} if "history" in meta else dict(meta)


def _holds_secret(text: str) -> bool:
    """Whether a text holds a secret, or a mark where one stood: it says nothing without it."""
    said = text.lower().replace("\\", "")
    is_marked = any(mark in said for mark in _SECRET_MARKS)
    return is_marked or bool(find_secrets(text))


def draft_of(memory: Memory) -> Draft:
    """What a row says, as it would be written anew, with the mark that it bears."""
    return Draft(
        content=memory.content,
        tags=memory.tags,
        bank=memory.bank,
        confidence=memory.confidence,
        importance=memory.importance,
        until=memory.until,
        passed=text_field(memory.meta, "passed"),
    )
