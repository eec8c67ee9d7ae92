"""Plays the model's part in extraction: a request in, a JSON object of operations out."""

from __future__ import annotations

import re

from demo.standin.statements import forgotten_in, frame_of, statements_in
from demo.standin.words import best_fitting, content_words

Operation = dict[str, object]

_EXISTING = "Known:\n"
_NEWEST = "Newest message, "
_ENTRY = re.compile(r"^#(\d+) (.+)$", re.MULTILINE)
_LINE = re.compile(r"^\d+ (.+)$", re.MULTILINE)
# Releases of Open WebUI before 0.10 keep tags in front of the sentence.
_TAGS_IN_FRONT = re.compile(r"\[[^\]]*\]\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LONGEST_READ = 20_000
_LIKING = re.compile(
    r"^User\S*(?: really)? (?:likes|loves|prefers|hates|enjoys|favou?rite)\b"
)
_SURE = 0.95


def operations(request: str) -> list[Operation]:
    """What the user's newest message changes about the memories that the request lists."""
    # The first heading counts: what the user typed may repeat it.
    before, _, newest = request.partition(_NEWEST)
    existing = _listed(before)
    newest = "\n".join(_LINE.findall(newest[:_LONGEST_READ]))
    said = {one: content_words(one) for one in _SENTENCE_END.split(newest)}

    def described(kind: str, content: str, of: str | None) -> Operation:
        """An operation, with the sentence that shares most words with it as it was typed."""
        wanted = content_words(content)
        return {
            "operation": kind,
            **({"id": of} if of else {}),
            "content": content,
            "evidence": max(said, key=lambda one: len(said[one] & wanted)),
            "confidence": _SURE,
        }

    ids, texts = list(existing), list(existing.values())
    deleted = [
        described("DELETE", texts[position], ids[position])
        for wish in forgotten_in(newest)
        for position in best_fitting(content_words(wish), texts)[:1]
    ]
    known = {text.casefold() for text in texts}
    changed = list[Operation]()
    for content in statements_in(newest):
        if content.casefold() not in known:
            corrected = next(
                (
                    id
                    for id, text in existing.items()
                    if _corrects(content, text)
                ),
                None,
            )
            kind = "UPDATE" if corrected else "NEW"
            changed.append(
                described(kind, content, corrected) | _filed(content)
            )
    return [*deleted, *changed]


def _listed(before: str) -> dict[str, str]:
    """The texts of the memories that the request lists, by their ids."""
    listed = _ENTRY.findall(before.partition(_EXISTING)[2])
    return {
        one: _TAGS_IN_FRONT.sub("", text, count=1).strip()
        for one, text in listed
    }


def _corrects(content: str, text: str) -> bool:
    """Both say something else in the same sentence frame."""
    frame, text = f"{frame_of(content)} ".casefold(), text.casefold()
    return frame != " " and text.startswith(frame)


def _filed(content: str) -> Operation:
    likes = _LIKING.search(content)
    return {
        "about": "user",
        "kind": "FACT",
        "until": None,
        "tags": ["preference" if likes else "identity"],
        "memory_bank": "Work"
        if content.startswith("User works ")
        else "Personal",
        "importance": 6 if likes else 8,
    }
