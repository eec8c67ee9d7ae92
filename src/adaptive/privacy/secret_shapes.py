"""Secrets that tell themselves by their form, whoever issued them, as data.

Private keys, web tokens, addresses with a password, cookies, headers and some command lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from adaptive.privacy.secret_commands import COMMAND_SHAPES


@dataclass(frozen=True, slots=True)
class SecretShape:
    """One form: it is looked for where one of its anchors (in lower case) stands in the text.

    The group ``value`` is the secret. Where ``told`` is set, it must not be a placeholder or a
    plain word. With
    ``assigned`` an equals sign or colon stands soon behind an anchor; with ``least_word`` it
    stands within one run of so many signs without white space.
    """

    kind: str
    anchors: tuple[str, ...]
    shape: str
    told: bool = False
    least_word: int = 0
    assigned: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """The form, compiled when it is first looked for."""
        return _shape_pattern(self.shape)


_BASE64 = r"[A-Za-z0-9+/]"
# Repeats of a million are bounded by the text: whatever is open at its end is secret up to there.
SECRET_SHAPES: tuple[SecretShape, ...] = (
    SecretShape(
        "private key",
        ("private key",),
        r"(?P<value>-{2,8} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,8}+"
        r"(?=[\s\\\"'|>*]{0,12}+[rn\\]{0,4}(?:[A-Z][A-Za-z\-]{2,20}: [^\n]{0,80}\s{1,4}){0,4}"
        rf"[\s\\\"'|>*]{{0,12}}{_BASE64}{{16}})"
        r"(?:(?!-{2,8} ?END)[\w+/=:,.;()<>@\-\s\\\"'|*]){0,20000}+"
        r"(?:-{2,8} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,8})?)",
    ),
    SecretShape(
        "private key", ("putty-user-key",), r"(?P<value>PuTTY-User-Key-File-[\s\S]{40,20000}+)"
    ),
    SecretShape(
        "private key", ("b3blbnnzac1rzxktdje",), rf"(?P<value>b3BlbnNzaC1rZXktdjE{_BASE64}*+=*)"
    ),
    SecretShape(
        "private key",
        ("ls0tls1crudjti",),
        rf"(?P<value>LS0tLS1CRUdJTi{_BASE64}{{0,60}}UFJJVkFURSBLRVk{_BASE64}*+=*)",
    ),
    SecretShape(
        "private key",
        ("ls0tls1crudjti",),
        rf"(?P<value>LS0tLS1CRUdJTi{_BASE64}{{0,60}}(?:BSSVZBVEUgS0VZ"
        rf"|QUklWQVRFIEtFW){_BASE64}*+=*)",
    ),
    SecretShape(
        "web token",
        ("eyj",),
        r"(?<![\w\-])(?P<value>eyJ[\w\-]{10,4000}+\.[\w\-]{0,8000}+\.[\w\-]{4,2000}+(?:\.[\w\-]"
        r"{1,4000}+){0,2})",
    ),
    SecretShape(
        "password in an address",
        ("://",),
        # A port with a path behind it is no password.
        r":(?<=\w[\w+.\-]:)//(?:[^\s/:@\"'<>]{0,100}):(?!\d{2,5}/)(?P<value>[^\s\"'<>]{1"
        r",200}?)@(?=[\w.\-\[])(?![^\s/]{0,100}@)",
        told=True,
    ),
    SecretShape(
        "token",
        ("://",),
        r"://(?P<value>[A-Za-z0-9_\-]{20,200}+)(?::x-oauth-basic)?@[\w.\-]",
        told=True,
    ),
    SecretShape(
        "cookie",
        ("cookie",),
        r"(?i:(?:set-)?cookie2?[\"']?\s{0,3}[:=]\s{0,3}[\"']?)(?P<value>[^\s=;,\"']{1,60}=[^\s;"
        r"\"']{6,4000}(?:;\s{0,3}[^\s=;\"']{1,60}=[^\s;\"']{0,4000}){0,40})",
        told=True,
    ),
    SecretShape(
        "cookie",
        (
            "sess",
            "sid",
            "csrf",
            "xsrf",
            "auth_token",
            "remember_",
            "aspxauth",
            "aspnetcore.",
            "li_at",
        ),
        r"(?i:(?<![A-Za-z0-9])(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid"
        r"|_?session(?:_?(?:id|token|key))?|sessid|sid|csrf-?token|xsrf-token|auth_token"
        r"|\.?ASPXAUTH|\.?AspNetCore\.\w{1,20}|li_at|remember_(?:token|me)"
        r"|[a-z_\-]{1,20}_session)[\"']?\s?[=:]\s?[\"']?)(?P<value>[\w%.+"
        r"/\-]{8,4000}=*)",
        told=True,
        assigned=True,
    ),
    SecretShape(
        "token",
        ("authorization",),
        r"(?i:authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token|apikey|digest"
        r"|negotiate|aws4-hmac-sha256)?\s{0,3})(?P<value>[\w.~+/=\-]{8,4000}+)",
        told=True,
    ),
    SecretShape(
        "token",
        ("bearer",),
        r"(?i:bearer\s{1,3}[\"']?)(?P<value>[\w.~+/\-]{16,4000}+=*)",
        told=True,
    ),
    SecretShape(
        "token",
        ("-key", "-token", "-auth"),
        r"(?i:(?<![a-z])x-[a-z\-]{0,30}(?:key|token|auth"
        r"|secret)[\"']?\s?:\s{0,3}[\"']?)(?P<value>[\w.~+/\-]{8,4000}+=*)",
        told=True,
    ),
    SecretShape(
        "Wi-Fi password",
        ("wifi:",),
        r"(?i:WIFI:(?=[^\n]{0,200}?[;:]P:))[^\n]{0,200}?[;:]P:(?P<value>[^;\s][^;\n]{0,100})",
    ),
    SecretShape(
        "password",
        ("curl", "-u ", "--user", "wget"),
        r"(?<!\S)(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"']{3,100})",
        told=True,
    ),
    SecretShape(
        "password",
        ("sshpass",),
        r"sshpass\s{1,3}-p\s{0,3}[\"']?(?P<value>[^\s\"']{3,100})",
        told=True,
    ),
    SecretShape(
        "password",
        ("mysql", "mariadb", "mysqldump"),
        r"(?<![A-Za-z])(?:mysql|mysqldump|mariadb)[^\n]{0,120}?\s-p[\"']?(?P<value>[^\s\"']{3,1"
        r"00})",
        told=True,
    ),
    SecretShape(
        "password",
        ("--pass", "--pw", "--api-key", "--token", "--secret", "--apikey"),
        r"--(?:pass(?:word|wd|phrase)?|pwd?|api-?key|(?:access-|auth-)?token"
        r"|(?:client-)?secret)[ =][\"']?(?P<value>[^\s\"'\-][^\s\"']{2,200})",
        told=True,
    ),
    SecretShape(
        "private key",
        ("0x",),
        r"(?i:priv(?:ate)?[ _\-]?key[^\n]{0,30}?)(?P<value>0x[0-9a-fA-F]{64})(?![0-9a-fA-F])",
        least_word=66,
    ),
    SecretShape(
        "private key",
        ("xprv", "yprv", "zprv"),
        r"(?<![A-Za-z0-9])(?P<value>[xyz]prv[1-9A-HJ-NP-Za-km-z]{80,120})",
    ),
    SecretShape(
        "private key",
        ("5", "k", "l"),
        r"(?<![A-Za-z0-9+/=_\-])(?P<value>5[HJK][1-9A-HJ-NP-Za-km-z]{49}"
        r"|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![A-Za-z0-9+/=_\-])",
        least_word=51,
    ),
    SecretShape(
        "password hash",
        ("$1$", "$5$", "$6$", "$y$", "$2", "$apr1$", "$argon2"),
        r"(?P<value>\$(?:1|5|6|y|apr1|2[abxy]|argon2(?:id|[id]))\$[\w./$=,+]{20,200})",
    ),
    SecretShape("token", ("sig=",), r"[?&;]sig=(?P<value>[A-Za-z0-9%+/\-_]{30,120}=*)", told=True),
    SecretShape("token", ("otpauth://",), r"(?P<value>otpauth://[^\s\"'<>]{10,400})"),
    SecretShape("private key", ("nsec1",), r"(?<![A-Za-z0-9])(?P<value>nsec1[02-9ac-hj-np-z]{58})"),
    *(SecretShape(one.kind, one.anchors, one.shape, one.told) for one in COMMAND_SHAPES),
)


@cache
def _shape_pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
