"""May a text be a memory, or does it imitate structure, hide words, or give the assistant orders?

A memory is shown to the assistant in every later chat, so an order in it would stand forever. What
the user typed as it stands is judged by its structure alone; what a model proposed or another tool
wrote is held against the classifier as well. The reason is in a person's words.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import re
from dataclasses import dataclass
from typing import Literal

from adaptive.privacy.classifier import order_score
from adaptive.privacy.escaping import TAG_FLAG, TAG_OPENING, imitates_structure, seen_text

# No memory is as long; what is longer is refused unread.
LONGEST_CANDIDATE = 8000
InjectionKind = Literal["order", "structure", "markup", "link", "hidden", "encoded", "length"]
# Of what a code hides, so much must be letters and spaces to be words.
_LEAST_READABLE = 0.85

_TAG_FLAGS = re.compile(TAG_FLAG)
# Overrides of direction, tags, hidden operators, joiners in Latin words, selectors in rows.
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HIDDEN = re.compile(
    "[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\u2061-\u2064\u206a-\u206f\ufff0-\ufffb"
    "\u3164\uffa0\u115f\u1160\x00-\x08\x0e-\x1f\x7f]"
    "|(?<=[A-Za-z0-9<>/|_])[\u200b-\u200f\u2060\ufeff\u00ad\u034f\u180e]+(?=[A-Za-z0-9<>/|_])"
    "|[\u200b-\u200d\u2060\ufeff]{3,}|(?<![A-Za-z0-9])[\u200b\u2060\ufeff](?=[A-Za-z])"
    f"|[{_SELECTORS}]{{2,}}|(?<=[A-Za-z])[{_SELECTORS}]|[A-Za-z][\u0334-\u0338\u20d0-\u20f0]"
)
_MARKUP = re.compile(
    r"!?\[[^\]\n]{0,200}\]\s?(?:\(\s?[^)\s]|:\s?(?:https?:|//|data:))"
    r"|<!(?:--|\[cdata)|```|~~~|\{\{[^}\n]{1,100}\}\}|\{%"
    r"|\b(?:javascript|vbscript|data|file|blob):(?:[a-z]{1,20}/|//|\s?[a-z]{1,20}\()"
)
# A place in an address where the assistant is to put what it knows.
_FILLED_ADDRESS = re.compile(r"://\S{0,300}[?&=/](?:\{|\[[a-z]|<[a-z]|\$\{|%7b)")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_\-.])[A-Za-z0-9+/_\-]{12,4000}={0,2}")
_HEXADECIMAL = re.compile(r"(?<![0-9A-Za-z])(?:(?:0x)?[0-9a-fA-F]{2}[\s:,\-]{0,2}){10,2000}")
_ESCAPED = re.compile(
    r"(?:%[2-7][0-9a-f]){4}|(?:&#x?[0-9a-f]{2,6};\s?){4}|(?:\\x[0-9a-f]{2}|\\u00[0-9a-f]{2}){4}"
    r"|(?<!\d)(?:[01]{7,8}[\s,]{1,2}){4}"
)
_SPACED_LETTERS = re.compile(r"(?<![^\W_])(?:[^\W\d_][ .\-_*/|]{1,3}){11}[^\W\d_](?![^\W_])")


@dataclass(frozen=True, slots=True)
class InjectionVerdict:
    """What was decided; ``reason`` and ``kind`` are empty where a text is allowed.

    The reason completes "Not saved: ..." and repeats nothing of the text.
    """

    reason: str = ""
    kind: InjectionKind | Literal[""] = ""

    @property
    def allowed(self) -> bool:
        """Whether the text may be a memory."""
        return not self.reason


def injection_verdict(text: str, *, typed: bool = False) -> InjectionVerdict:
    """Judge a candidate memory; by its structure alone where the user ``typed`` it as it stands."""
    if len(text) > LONGEST_CANDIDATE:
        return InjectionVerdict("it is too long to be one memory", "length")
    if _HIDDEN.search(_TAG_FLAGS.sub("", text)):
        return InjectionVerdict("it holds characters that cannot be seen", "hidden")
    if imitates_structure(text) or ("&" in text and imitates_structure(html.unescape(text))):
        return InjectionVerdict("it imitates the marks that structure a chat", "structure")
    seen = seen_text(text).text
    if _MARKUP.search(seen) or TAG_OPENING.search(seen):
        return InjectionVerdict("it carries markup, an image or a link to be fetched", "markup")
    if _FILLED_ADDRESS.search(seen):
        return InjectionVerdict("it holds a link that the assistant is to fill in", "link")
    if _ESCAPED.search(seen) or _SPACED_LETTERS.search(seen) or _hides_words(text):
        return InjectionVerdict("it hides words in a code", "encoded")
    if not typed and order_score(text) > 0:
        return InjectionVerdict("it reads as an order to the assistant, not as a fact", "order")
    return InjectionVerdict()


def passed_mark(text: str) -> str:
    """What a row keeps of the text that the gate let pass, by which recall knows it unchanged."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


def _hides_words(text: str) -> bool:
    """Whether base64 or hexadecimal in a text stands for words; hashes and identifiers do not."""
    return any(_reads(_of_base64(run)) for run in _BASE64.findall(text)) or any(
        _reads(_of_hexadecimal(run))
        for run in _HEXADECIMAL.findall(text)
        if re.search("[A-Fa-f]", run)  # card numbers hold none
    )


def _reads(decoded: bytes) -> bool:
    try:
        words = decoded.decode()
    except UnicodeDecodeError:
        return False
    letters = sum(sign.isalpha() or sign in " .,:;!?'\"=\n" for sign in words)
    return len(words) >= 6 and letters >= _LEAST_READABLE * len(words)


def _of_base64(run: str) -> bytes:
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        return b""


def _of_hexadecimal(run: str) -> bytes:
    figures = re.sub(r"0x|[^0-9a-fA-F]", "", run)
    return bytes.fromhex(figures[: len(figures) // 2 * 2])
