"""A memory's text as one line of the system prompt that can neither end the block nor play a role.

Rows of any age and origin pass here, those of other tools included. Ordinary text stays as it is,
byte for byte; where a sign imitates structure, that sign alone is changed, so that a person can
still read what was said.
"""

# ruff: noqa: RUF001 - signs and words of several scripts

from __future__ import annotations

import re
from functools import cache

from adaptive.privacy.guard_text import GuardText, guard_text, in_latin

_LINE_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
# Never shown: controls, marks of direction, tags, fillers, and halves of characters.
_NEVER_SHOWN = (
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u115f\u1160\u17b4\u17b5\u200b\u202a-"
    "\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
# Scripts and emoji need these between their own signs: joiners, and weak marks of direction.
_JOINERS = "\u061c\u200c-\u200f\u180b-\u180f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
# The three flags that are spelt with tags (Unicode: RGI emoji tag sequences).
_TAG_FLAGS = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(sign)) for sign in name) + "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
)
_ANGLES = {
    **{ord(sign): "<" for sign in "\u2039\u276e\u27e8\u3008\u02c2\u1438\u2329\u276c\u2770"},
    **{ord(sign): ">" for sign in "\u203a\u276f\u27e9\u3009\u02c3\u1433\u232a\u276d\u2771"},
}
# Signs with which a line begins as a heading, a rule or a turn, so far as they are no letters.
_LINE_OPENERS = tuple("#-=_*~>\"'`([|.")
# A role's colon stands within so many characters: 12 before its name, 20 of it, 6 after it.
_ROLE_REACH = 64
# What is left out gives its neighbours new ones; a text that needs more passes is no text.
_MOST_PASSES = 4
_ENTITIES = {"<": "&lt;", "[": "&#91;", "{": "&#123;"}

# Names in angle brackets that are structure somewhere: our block, the host's, chat templates of
# Llama, Mistral, ChatML, Gemma, DeepSeek, Harmony and Claude, and tags that models are taught.
_TAG_NAMES = (
    r"s|sys|bos|eos|sep|inst|im[\s_\-]{0,3}(?:start|end|sep)|(?:start|end)_of_(?:turn|role|text)"
    r"|(?:begin|end)_of_\w{2,12}|endof\w{2,12}|eo[tm]_id|(?:start|end)_header_id|turn|channel"
    r"|message"
    r"|call|return|think(?:ing)?|reasoning|analysis|answer|result|results|output|document|documents"
    r"|source|sources|example|examples|data|input|query|important|admin|root|override|policy|rules?"
    r"|script|iframe|style|html|body|head|details|fact|facts|entry|entries|note|notes"
    r"|[\w:.\-]{0,20}(?:memor(?:y|ies)|system|instructions?|context|prompt|assistant|developer|user"
    r"|human|chatbot|model|tools?|function|function_calls|tool_calls?|invoke"
    r"|parameter)[\w:.\-]{0,20}"
)
_BRACKET_NAMES = (
    r"inst|sys|system|system[\s_\-]{0,2}(?:prompt|message|note|instructions?)|assistant|user|human"
    r"|developer|tool|available_tools|tool_calls|tool_results|tool_content|prefix|suffix|middle"
    r"|img|end|start|eos|bos|gmask|end of [a-z ]{3,30}|begin[a-z ]{0,30}|admin|instructions?"
)
# Whose turn a colon may begin: those who command the assistant or are it, and the user.
_COMMANDING_ROLES = (
    r"system|system[ _\-](?:prompt|message|note|instructions?|override|update)|developer"
    r"|assistant|ai"
    r"|chatgpt|gpt|claude|instructions?|assistent|anweisung(?:en)?|système|sistema|asistente"
    r"|assistente"
    r"|systeem|asystent|система|системное сообщение|ассистент|помощник|системные инструкции"
    r"|系统|系統|系统提示|助手|システム|アシスタント|시스템|어시스턴트|النظام|المساعد|सिस्टम"
    r"|सहायक|hệ thống|asisten|sistem"
)
_TURN_ROLES = (
    rf"{_COMMANDING_ROLES}|user|human|tool|nutzer|benutzer|utilisateur|usuario|usuário|utente"
    rf"|gebruiker"
    r"|użytkownik|пользователь|用户|用戶|ユーザー|사용자|المستخدم|उपयोगकर्ता"
)


def escaped_entry(text: str) -> str:
    """A text as one line that imitates no structure; the same for what was escaped before."""
    if _is_plain_entry(text):
        return text
    shown = _without_unseen(text)
    shown = _without_line_marks(shown)
    lines = (line.strip(" \t") for line in shown.split("\n"))
    shown = re.sub("\t+", " ", " ".join(line for line in lines if line)).strip()
    shown = _backticks().sub(lambda run: "'" * len(run.group()), shown)
    shown = _without_opening(shown)
    return _image().sub("&#91;", _without_imitations(shown))


def imitates_structure(text: str) -> bool:
    """Whether a text imitates a mark of a block, a token of a chat template, or a commanding turn.

    A turn counts at the beginning of a line, of a quotation or of a bracket.
    """
    seen = _seen_entry(text).text
    if not _imitation_openings().search(seen):
        return False
    return bool(_imitation().search(seen) or _commanding_turn().search(seen))


def _without_unseen(text: str) -> str:
    """Without what nobody sees, but for what scripts and emoji are written with."""
    text = _never().sub(lambda run: run.group() if run.group() in _TAG_FLAGS else "", text)
    text = text.encode("utf-8", "replace").decode("utf-8")
    for _ in range(_MOST_PASSES):
        shown = _selectors().sub("", _joiners().sub("", text))
        if shown == text:
            return text
        text = shown
    return re.sub(f"[{_JOINERS}{_SELECTORS}]+", "", text)


def _without_line_marks(text: str) -> str:
    """Without headings, rules and roles at the beginnings of its lines."""
    return "\n".join(_without_opening(line) for line in re.split(f"[{_LINE_BREAKS}]+", text))


def _without_opening(line: str) -> str:
    """A line that begins neither as a heading or a rule nor as somebody's turn."""
    while True:
        bare = _line_opening().sub("", line)
        seen = _seen_entry(bare)
        role = _role_opening().match(seen.text)
        if role:
            start, end = seen.span(*role.span("colon"))
            bare = f"{bare[:start].rstrip()} -{bare[end:]}"
        if bare == line:
            return line
        line = bare


def _without_imitations(text: str) -> str:
    seen = _seen_entry(text)
    kept: list[str] = []
    position = 0
    for match in _imitation().finditer(seen.text):
        start, end = seen.span(match.start(), match.start() + 1)
        kept += [text[position:start], _ENTITIES[match.group()[0]]]
        position = end
    return "".join([*kept, text[position:]])


def _seen_entry(text: str) -> GuardText:
    folded = guard_text(text, marks=True)
    latin = in_latin(folded.text.translate(_ANGLES)) if not text.isascii() else folded.text
    return GuardText(latin, folded.cuts, folded.skipped)


def _is_plain_entry(text: str) -> bool:
    """Whether a text needs no look: no sign that opens anything, no colon near its beginning."""
    if text != text.strip() or text[:1] in _LINE_OPENERS or _opening_signs().search(text):
        return False
    return not _colons().search(text, 0, _ROLE_REACH)


@cache
def _opening_signs() -> re.Pattern[str]:
    """What escaping may change, and combining marks, which may hide it."""
    angles = "".join(map(chr, _ANGLES))
    return re.compile(
        f"[<\\[{{`\t{angles}\ufe64\uff1c\uff3b\ufe5b\uff5b{_LINE_BREAKS}{_NEVER_SHOWN}{_JOINERS}"
        f"{_SELECTORS}\ud800-\udfff\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20f0\ufe20-\ufe2f]"
    )


@cache
def _colons() -> re.Pattern[str]:
    return re.compile("[:\ufe55\uff1a]")


@cache
def _imitation_openings() -> re.Pattern[str]:
    """Signs one of which stands in all that ``imitates_structure`` looks for."""
    return re.compile(r"[<\[{:：#]")


@cache
def _never() -> re.Pattern[str]:
    return re.compile(f"{'|'.join(_TAG_FLAGS)}|[{_NEVER_SHOWN}]+")


@cache
def _joiners() -> re.Pattern[str]:
    """Runs of joiners that have a plain sign, or nothing, on one side; and long ones."""
    return re.compile(
        f"(?:(?<![{_JOINERS}])(?<=[\x00-\x7f])|^)[{_JOINERS}]+"
        f"|(?<![{_JOINERS}])[{_JOINERS}]+(?=[\x00-\x7f]|$)|(?<![{_JOINERS}])[{_JOINERS}]{{3,}}"
    )


@cache
def _selectors() -> re.Pattern[str]:
    """Variation selectors that choose no variant: more than one, or after a plain sign."""
    return re.compile(
        f"(?<![{_SELECTORS}])[{_SELECTORS}]{{2,}}|(?:(?<=[\x00-\x7f])|^)[{_SELECTORS}](?!\u20e3)"
    )


@cache
def _backticks() -> re.Pattern[str]:
    return re.compile("`{3,}")


@cache
def _line_opening() -> re.Pattern[str]:
    return re.compile(r"^(?:[ \t]*(?:#{1,6}(?=[ \t#]|$)|[-=_*~]{3,}))+[ \t]*")


@cache
def _role_opening() -> re.Pattern[str]:
    return re.compile(
        rf"[\s\-*#>\"'`(\[_|.\d]{{0,12}}(?:{_TURN_ROLES})[\s*_)\]\"'`]{{0,6}}(?P<colon>[:：])",
        re.IGNORECASE,
    )


@cache
def _commanding_turn() -> re.Pattern[str]:
    return re.compile(
        rf"(?:^|[\n\"'`(\[{{|])[\s\-*#>_]{{0,8}}(?:{_COMMANDING_ROLES})[\s*_)\]\"'`]{{0,6}}[:：]"
        rf"|(?:^|\n)[ \t]{{0,3}}#{{1,6}}[ \t]{{1,3}}(?:{_COMMANDING_ROLES})[ \t#]{{0,4}}(?:\n|$)",
        re.IGNORECASE,
    )


@cache
def _image() -> re.Pattern[str]:
    """The bracket of a Markdown image, which whoever shows an answer would fetch."""
    return re.compile(r"(?<=!)\[(?=[^\]\n]{0,200}\]\s?[(\[])")


@cache
def _imitation() -> re.Pattern[str]:
    """The sign with which an imitation opens."""
    own = r"[\s_.\-]{0,3}".join("adaptivememory")
    return re.compile(
        rf"<(?=[\s/|!?\\<]{{0,8}}+(?:{own}|(?:{_TAG_NAMES})[\s/|]{{0,8}}(?:>|$|[a-z_]{{1,20}}=)))"
        rf"|<(?=\s{{0,3}}\||!--|\s{{0,3}}/?\s{{0,3}}(?:script|iframe|img|svg|style|object|embed)\b)"
        rf"|\[(?=\s{{0,3}}[/#|]?\s{{0,3}}(?:{_BRACKET_NAMES})\s{{0,3}}[\]:])"
        r"|\{(?=\{?[#/~]?\s{0,3}(?:system|user|assistant|geneach|block)\b[~\s]{0,3}\})",
        re.IGNORECASE,
    )
