"""Secrets that tell themselves by their form: issued keys, private keys, addresses, commands.

Every form bounds what it repeats, so that a search is linear in the text.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator

from adaptive.core.texts import word_table
from adaptive.privacy.scanning import any_of

# Keys that their shape tells as well; public halves (``pk_live_``) are no secrets.
_SHAPES = (
    r"(?:AccountKey|SharedAccess\w+)=[^\s;\"'&]{20,500}",
    r"(?:X-Amz-S|S|s)ig(?:nature)?=[\w%+/\-]{30,500}=*",
    r"pat(?:[A-Za-z0-9]{14}\.|-[a-z]{2,3}\d-)[0-9a-f\-]{36,64}",
    r"(?:[xyz]prv|nsec1)[0-9A-Za-z]{58,120}",
    r"eyJ(?<![\w\-].{3})[\w\-]{10,4000}\.[\w\-]{0,8000}\.[\w\-.]{4,9000}",  # web tokens
    r"[\w.~\-]{3}\dQ~[\w.~\-]{31,36}",  # Azure
    r"[A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{50,80}",  # Terraform
    r"(?:bot)?\d{8,10}:AA[\w\-]{30,40}",  # Telegram
    r"[MNO][\w\-]{22,28}\.[\w\-]{6}\.[\w\-]{27,45}",  # Discord
    r"(?:5[HJK]|[KL][1-9A-Z])[1-9A-HJ-NP-Za-km-z]{49,50}(?![\w+/=\-])",  # Bitcoin
    # The second half of a key pair: 40 signs of base64, capitals among them, as a hash has none.
    r"(?<![\w+/=\-])(?=[a-z0-9+/]{0,20}[A-Z])(?=[A-Z0-9+/]{0,20}[a-z])[A-Za-z0-9+/]{40}(?![\w+/=\-])",
    # Issuers that are not known: a short prefix before a long run of chance signs.
    r"(?<![\w\-/.])(?!pk_|pub|sha\d)[A-Za-z]\w{1,9}[_\-](?:[a-z0-9]{2,8}[_\-]){0,2}"
    r"(?:(?<=_)|(?![0-9a-f]{40,64}\b))[A-Za-z0-9]{24,200}(?:[_\-][A-Za-z0-9]{6,64}){0,3}",
)
# What issuers begin their keys with, but for those that the last shape has, as ``ghp_``.
_BEGINNINGS = any_of(sorted(map(re.escape, word_table("secrets")["issuers"]), reverse=True))
_ISSUED = rf"(?:{_BEGINNINGS})[\w\-.+/]{{13,2000}}[\w=]=?"
_KEY = re.compile(rf"(?<![A-Za-z0-9])(?=[A-Za-z0-9][!-~]{{17}})(?:{'|'.join((_ISSUED, *_SHAPES))})")
_SMALL = (
    r"(?!(?:the|and|for|with|from|are|was|were|his|her|our|your|their|has|had|have|not|but|been|who"
    r"|them|which|its|how|did|got|two|four|nine|every|must)\b)"
)
_LISTED = rf"{_SMALL}(?![a-z]+(?:ed|[^su]s|ly)\b)[a-z]{{3,8}}"
_OF_ANY = rf"{_SMALL}(?![A-Za-z]{{1,2}}\b)[^\W\d_]{{1,12}}"
_GAP = r"[\s,;|>\-\"'\[\]]{1,12}(?:\(?\d{1,2}[.):]?[\s\-]{0,4})?"
_ARGUMENT = r"[\"']?(?P<value>[^\s\"'\-<$][^\s\"']{2,100})"
# A form's group is the secret; most begin with a plain sign, from which a search goes to the next.
_SEARCHED = {
    "private key": (
        r"-{2,8} ?(?P<value>BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,8}"
        r"(?=[\s\\rn\"'|>*]{0,16}(?:[A-Z][\w\-]{2,20}: [^\n]{0,80}\s{1,4}){0,4}[A-Za-z0-9+/]{16})"
        r"(?:(?!-{2,8} ?END)[\w+/=:,.;()<>@\-\s\\\"'|*]){16,20000}+"
        r"(?:-{2,8} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,8})?)",
        r"(?P<value>b3BlbnNzaC1rZXkt[\w+/=\s]{40,20000}|LS0tLS1CRUdJTi[\w+/=\s]{40,20000}"
        r"|PuTTY-User-Key-File[\w+/=:.\s\-]{40,20000})",
    ),
    "password in an address": (
        r"://[^\s/:@\"'<>]{0,100}:(?!\d{2,5}/)(?P<value>[^\s\"'<>/]{1,200})@(?=[\w.\-\[])",
        r"oracle:\w+:[^\s/@:]{1,40}/(?P<value>[^\s@/]{2,60})@",
    ),
    "PIN or one-time code": (
        r"(?i:cv[vc]2?|security code)\b[^\w\n]{1,4}(?:[a-z]{1,8} ){0,4}(?P<value>\d{3})(?![\w%])",
    ),
    "token": (
        r"(?P<value>A[KS]IA[A-Z0-9]{16})(?![A-Za-z0-9])",
        r"(?<!\d[ -])(?P<value>\d{6}(?:-\d{6}){7})(?![ -]?\d)",  # BitLocker
        r"(?:[Cc]lient|[Aa]pi|API|[Aa]uth)\(\s?[\"'](?P<value>(?=\D{0,20}\d)[\w\-]{24,200})[\"']",
        r"://(?P<value>[A-Za-z0-9_\-]{20,200})(?::x-oauth-basic)?@[\w.\-]",
    ),
    "password hash": (r"(?P<value>\$(?:[156y]|apr1|2[abxy]|argon2\w+)\$[\w./$=,+]{20,200})",),
    "Wi-Fi password": (r"WIFI:[^\n]{0,100}?[;:]P:(?P<value>[^;\s][^;\n]{0,100})",),
    "password": (
        r"-(?<!\S.)(?:u|-user)[ =][\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"']{3,100})",
        r"(?:sshpass|mysql(?:dump)?(?=[^\n]{0,160}\s-p\S)|mariadb|zip|unzip|login|sqlcmd|mongo\w*"
        r"|redis-cli|openssl|user(?:add|mod)|ldap\w+)\s[^\n]{0,160}?(?<=\s)-[pPakw] ?"
        rf"{_ARGUMENT}",
        r"echo\s[\"']?(?P<value>[^\s\"'|]{3,100})[\"']?\s{0,3}\|[^\n]{0,60}?"
        r"(?:sudo -S|chpasswd|stdin)",
        r"(?:(?:IDENTIFIED|[Ii]dentified) (?:BY|by)|SecureString|requirepass|masterauth|rootpw"
        r"|-(?:store|key)pass|--(?:pass(?:word)?|token|api-key|secret))(?: --?\w+)?[ =(]{1,3}"
        rf"{_ARGUMENT}",
        r"(?:[Cc]redential|[Bb]asic_?[Aa]uth|auth=|\.login)\(\s{0,2}[\"'][^\"'\n]{1,60}[\"'],"
        r"\s{0,2}[\"'](?P<value>[^\"'\n]{3,100})[\"']",
        # A password made for one program, and a phrase of plain words.
        r"[Aa]pp(?:lication)?[ \-](?:specific )?pass\w+[^\n:=]{0,40}[:=] ?"
        r"(?P<value>[a-z]{4}(?:[ \-][a-z]{4}){3})",
        rf"ass ?phrase(?: ?[:=]| is) (?P<value>{_OF_ANY}(?:[ \-]{_OF_ANY}){{2,9}})(?=\W*$)",
    ),
    "recovery phrase": (
        # Words of a phrase that could stand in any sentence ("in other words, ...") lead to none.
        r"(?:[Ss]eed|[Mm]nemonic|[Ww]allet|[Rr]ecovery|мнемони|助记词|助記詞|ニーモニック|니모닉)"
        r"\W{0,12}(?:\w{1,20}\W{1,4}){0,3}?"
        rf"(?P<value>{_OF_ANY}(?:{_GAP}{_OF_ANY}){{11,23}})(?!\w)",
        # Twelve words or more in a row without one that sentences cannot do without.
        r"(?<![\w'])(?!([a-z]+)\s\1\b)"
        rf"(?P<value>(?:{_LISTED}\s{{1,4}}(?:\d{{1,2}}[.):]?\s{{1,4}})?){{11,23}}{_LISTED})(?![\w'])",
    ),
}
_FORMS = [(kind, re.compile(form)) for kind, forms in _SEARCHED.items() for form in forms]
# Stands for a secret that is not told: ``<key>``, ``$KEY``, ``****``, ``your-key``, ``env.get(``.
_PLACEHOLDER = re.compile(
    r"(?i)(?:<[^>]{0,60}>?|[$%][({A-Za-z_].*|\{\{?.*|\[[A-Za-z_ .\-0-9]{0,60}\]?|!\w+\b.*"
    r"|[?*•●xX.\-_#]+|.{0,12}?(?:\*{3}|x{5}|X{5}|•{3}|\.{3}|…).{0,12}|your\w*|[a-z_.]+[(\[].*"
    r"|(?:your|my|insert|enter|put|some|dein|votre|tu|sua)[_\-].*|(?:insert|enter|type|choose) .*"
    r"|pass(?:word|wd)?|pwd|passwort|secret|token|api[_\-]?key|key|user(?:name)?|none|null|true"
    r"|false|nil|undefined|change_?me|redacted|example|placeholder|string)[\"'),;.]*"
)


def formed_secrets(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each secret that its form tells, in no order."""
    for match in _KEY.finditer(text):
        if looks_random(match.group(), 14):
            yield "token", *match.span()
    for kind, form in _FORMS:
        for match in form.finditer(text):
            if not is_placeholder(match["value"]):
                yield kind, *match.span("value")


def is_placeholder(value: str) -> bool:
    """Whether it stands in the place of a secret that is not told."""
    return not value or _PLACEHOLDER.fullmatch(value) is not None


def looks_random(value: str, least: int = 16) -> bool:
    """Whether it was made by chance: ``least`` letters and figures, mixed, of high entropy.

    Capitals, small letters and figures follow one another at every second place of chance signs,
    at every eighth of joined words.
    """
    core = re.sub(r"[^A-Za-z0-9]", "", value)
    figures = sum(map(str.isdigit, core))
    if len(core) < least or figures == len(core) or (not figures and len(core) < 20):
        return False
    sorts = ["0" if one.isdigit() else "A" if one.isupper() else "a" for one in core]
    changes = sum(one != other for one, other in itertools.pairwise(sorts))
    if (changes * 5 < len(core) and figures * 2 < len(core)) or is_placeholder(value):
        return False
    shares = [count / len(core) for count in Counter(core).values()]
    entropy = -sum(share * math.log2(share) for share in shares)
    # Bits per sign: joined words have 2.5 to 3.6, hexadecimal chance 3.4.
    return entropy >= min(2.9, math.log2(len(core)) * 0.72)
