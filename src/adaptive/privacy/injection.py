"""Does a candidate memory read as an instruction to an assistant?

A memory is shown to the assistant in every later chat, so a command in it would stand forever.
What is typed by the user and is a wish about style may stay; everything else that commands, hides
or imitates is refused, with the reason in a person's words.
"""

# ruff: noqa: RUF001 - full stops of several scripts

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from adaptive.privacy.escaping import imitates_structure
from adaptive.privacy.guard_text import guard_text, in_latin
from adaptive.privacy.injection_codes import disguised_texts, hidden_texts, joined_letters
from adaptive.privacy.injection_patterns import COMMAND_REASONS, commands_in
from adaptive.privacy.injection_style import is_style_wish

# No memory is as long; what is longer is refused unread.
LONGEST_CANDIDATE = 8000
InjectionKind = Literal["command", "structure", "markup", "link", "hidden", "encoded", "length"]


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


_ALLOWED_TEXT = InjectionVerdict()


def injection_verdict(text: str) -> InjectionVerdict:
    """Judge a candidate memory; linear in its length, which is bounded."""
    if len(text) > LONGEST_CANDIDATE:
        return InjectionVerdict("it is too long to be one memory", "length")
    # Printed signs of ASCII are all to be seen, and stand for themselves.
    is_plain = text.isascii() and text.isprintable()
    if not is_plain and _hidden_signs().search(_without_known_sequences(text)):
        return InjectionVerdict("it holds characters that cannot be seen", "hidden")
    if imitates_structure(text) or ("&" in text and imitates_structure(html.unescape(text))):
        return InjectionVerdict("it imitates the marks that structure a chat", "structure")
    plain = re.sub(" {2,}", " ", text) if is_plain else _plain_view(text)
    if _markup_openings().search(plain) and _markup_signs().search(plain):
        return InjectionVerdict("it carries markup, an image or a link to be fetched", "markup")
    if "://" in plain and (_filled_address().search(plain) or _fetching().search(plain)):
        return InjectionVerdict("it holds a link that the assistant is to open", "link")
    for view in _readings(plain):
        if reason := _command_reason(view):
            return InjectionVerdict(reason, "command")
    return _of_codes(plain)


def _of_codes(plain: str) -> InjectionVerdict:
    for _ in hidden_texts(plain):
        return InjectionVerdict("it hides words in a code", "encoded")
    for view in disguised_texts(plain):
        if _command_reason(view):
            return InjectionVerdict("it hides an instruction in a code", "encoded")
    joined = joined_letters(plain)
    if joined and _squeezed().search(re.sub(r"\s", "", joined)):
        return InjectionVerdict("it hides an instruction between single letters", "encoded")
    return _ALLOWED_TEXT


def _command_reason(view: str) -> str:
    """Why a text is a command; empty if it is none, or a wish about style sentence by sentence."""
    lower = view.lower()
    remaining: frozenset[str] | None = None
    for kind, start, end in commands_in(lower):
        if kind not in ("standing", "trigger") or not _style_around(lower, start, end):
            return COMMAND_REASONS[kind]
        if remaining is None:
            remaining = frozenset(again for again, _, _ in commands_in(_without_styles(lower)))
        if kind in remaining:
            return COMMAND_REASONS[kind]
    return ""


def _style_around(text: str, start: int, end: int) -> bool:
    first = max(text.rfind(mark, 0, start + 1) for mark in ".!?\n。！？") + 1
    lasts = [at for mark in ".!?\n。！？" if (at := text.find(mark, max(end - 1, start))) >= 0]
    return is_style_wish(text[first : min(lasts, default=len(text))])


def _without_styles(text: str) -> str:
    sentences = re.split(r"(?<=[.!?\n。！？])", text)
    return "".join("\n" if is_style_wish(one) else one for one in sentences)


def _plain_view(text: str) -> str:
    """As it reads: unseen signs and marks left out, compatible signs made plain."""
    plain = unicodedata.normalize("NFKC", guard_text(text, marks=_decorated(text)).text)
    return re.sub(r"\s{2,}", _one_space, plain)


def _one_space(run: re.Match[str]) -> str:
    """One sign for a run of them: a line break if it holds one."""
    return "\n" if "\n" in run.group() else " "


def _decorated(text: str) -> bool:
    """Whether Latin letters carry marks of their own, which no composed letter has."""
    return not text.isascii() and bool(_zalgo().search(unicodedata.normalize("NFC", text)))


def _readings(plain: str) -> Iterator[str]:
    yield plain
    if not plain.isascii() and _mixed_scripts().search(plain):
        yield in_latin(plain)
    if _joined_words().search(plain):
        yield re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"(?<=\w)[_\-.+~*|/](?=\w)|_", " ", plain))


def _without_known_sequences(text: str) -> str:
    """Without the three flags that are spelt with tag characters."""
    return _tag_flags().sub("", text)


@cache
def _hidden_signs() -> re.Pattern[str]:
    """Overrides of direction, tags, hidden operators, joiners in Latin words, selectors in rows."""
    selectors = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
    return re.compile(
        "[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\u2061-\u2064\u206a-\u206f\ufff0-"
        "\ufffb\u3164\uffa0"
        "\u115f\u1160\x00-\x08\x0e-\x1f\x7f]"
        "|(?<=[A-Za-z0-9<>/|_])[\u200b-\u200f\u2060\ufeff\u00ad\u034f\u180e]+(?=[A-Za-z0-9<>/|_])"
        f"|[\u200b-\u200d\u2060\ufeff]{{3,}}|[{selectors}]{{2,}}|(?<=[A-Za-z])[{selectors}]"
    )


@cache
def _tag_flags() -> re.Pattern[str]:
    tags = {sign: chr(0xE0000 + ord(sign)) for sign in "gbengsctwl"}
    flags = ("".join(tags[sign] for sign in name) for name in ("gbeng", "gbsct", "gbwls"))
    return re.compile("\U0001f3f4(?:" + "|".join(flags) + ")\U000e007f")


@cache
def _markup_openings() -> re.Pattern[str]:
    """Signs one of which stands in all that ``_markup_signs`` fits."""
    return re.compile(r"[\[<:`~{]")


@cache
def _markup_signs() -> re.Pattern[str]:
    return re.compile(
        r"!?\[[^\]\n]{0,200}\]\s?\(\s?[^)\s]{1,2000}|!?\[[^\]\n]{0,100}\]:\s?(?:https?:|//|data:)"
        r"|<\s?/?\s?(?i:a|b|i|u|p|br|hr|div|span|img|svg|script|style|iframe|form|input|button"
        r"|link|meta|object"
        r"|embed|video|audio|table|details|marquee|body|html|head)(?:\s[^<>\n]{0,300})?(?<!\s)/?>"
        r"|(?:(?<!\w)<|</)[A-Za-z][\w\-]{0,20}(?:\s{1,3}[\w:\-]{1,30}\s?=[^<>\n]{0,300})?\s?/?>|<!--|<!\[CDATA"
        r"|(?i:javascript|vbscript|data|file|blob):(?:[a-z]{1,20}/|//|\s?[a-z]{1,20}\()|```|~~~"
        r"|\{\{[^}\n]{1,100}\}\}|\{%"
    )


@cache
def _fetching() -> re.Pattern[str]:
    """An address with a word for going there in the imperative, in either order."""
    go = (
        r"(?:visit|open|fetch|load|click|go to|navigate to|download|curl|wget|get|post|browse"
        r"|call|request|read|see|check|follow|include|use"
        r"|embed|render|show|display|link|point|redirect|insert|add|append|attach|put|place|besuche|öffne|lade|klicke?|rufe?"
        r"|visite[zr]?|ouvre[zr]?|clique[zr]?|télécharge[zr]?|abre|abra|visita|haz clic"
        r"|descarga|acesse|clique|baixe|apri|clicca|scarica|bezoek|открой\w*|перейди\w*"
        r"|загрузи\w*|скачай\w*|otwórz|kliknij)"
    )
    return re.compile(
        rf"(?:^|[.;:!?,\n\u2014-]\s{{0,3}}|\b(?:please|must|should|and|then|always|never"
        rf"|assistant to|you to|bitte|und|dann|et|y|e)\s)(?i:{go})\b"
        r"[^.!?\n]{0,60}?(?:https?://|www\.|hxxps?:)|(?:打开|访问|訪問|点击|點擊|下载|开启"
        r"|開いて|アクセスし|クリックし|열어|방문|클릭|افتح|انقر|زر )[^.!?\n]{0,40}https?://"
        r"|https?://[^\s\u3000-\uffff]{1,300}+[^.!?\n]{0,20}"
        r"(?:を(?:開い|読み込)|にアクセス|를 열어)"
    )


@cache
def _filled_address() -> re.Pattern[str]:
    """A place in an address where the assistant is to put what it knows."""
    return re.compile(r"[?&=/](?:\{|\[[A-Za-z]|<[A-Za-z]|\$\{|%7[bB])")


@cache
def _mixed_scripts() -> re.Pattern[str]:
    return re.compile("[A-Za-z][\u0370-\u052f]|[\u0370-\u052f][A-Za-z]")


@cache
def _joined_words() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z]{2}[_\-.+~*|/][A-Za-z]{2}|[a-z][A-Z][a-z]")


@cache
def _zalgo() -> re.Pattern[str]:
    return re.compile("[A-Za-z][\u0300-\u036f\u20d0-\u20f0]")


@cache
def _squeezed() -> re.Pattern[str]:
    return re.compile(
        r"ignore(?:all|any|previous|prior|your|the)|previousinstruction|systemprompt"
        r"|alwaysrecommend|alwayssay|disregard"
        r"|fromnowon|youarenow|reveal|whenasked|donottell|neverreveal|instructions|recommend"
        r"|assistant|jailbreak|override"
    )
