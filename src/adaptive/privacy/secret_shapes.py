"""Secrets that tell themselves by their form, whoever issued them, as data.

Private keys, web tokens, addresses with a password, cookies, headers and command lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


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
# A letter, and a figure or sign, within what follows: no word of a sentence.
_MARKED = r"(?=[^\s\"'<>]{0,60}[0-9!@#$%^&*])(?=[^\s\"'<>]{0,60}[A-Za-z])"
_ARGUMENT = r"[\"']?(?P<value>[^\s\"'\-][^\s\"']{2,100})"
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
    SecretShape(
        "password",
        (
            *("pass:", "pass :", "pass=", "pass =", "pass is ", "pass'", 'pass"'),
            *("pass es ", "pass ist ", "pass est "),
        ),
        r"(?i:(?<![a-z_\-])pass[\"']?\s?(?:[:=]|(?:is|es|ist|est)\s)\s{0,2}[\"'`]?)"
        rf"(?P<value>{_MARKED}[^\s\"'`]{{4,100}})",
        told=True,
    ),
    SecretShape(
        "password",
        ("pass:", "pass :", "pass=", "pass =", "pass'", 'pass"'),
        r"(?i:(?<![a-z_\-])pass[\"']?\s?[:=]\s{0,2})[\"'`](?P<value>[^\s\"'`]{4,100})[\"'`]",
        told=True,
    ),
    # The name of an account and its password: "login: sam / secret1".
    SecretShape(
        "password",
        (
            "login",
            "log-in",
            "creds",
            "credential",
            "daten",
            "identifiant",
            "creden",
            "acces",
            "user",
        ),
        r"(?i:(?<![a-z])(?:login|log-in|creds|credentials|zugangsdaten|logindaten|anmeldedaten"
        r"|identifiants?|credenciales|credenziali|credenciais|accesso|acceso|acesso"
        r"|user(?:name)?[/:]?pass(?:word)?)"
        r"(?:\s(?:is|are|ist|sind|sont|son|sono|são)\b|[^\n:=]{0,24}[:=])\s{0,2})"
        rf"[^\s/|,:]{{1,64}}\s?[/|:]\s?(?P<value>(?!/){_MARKED}[^\s\"',]{{4,100}})",
        told=True,
    ),
    SecretShape(
        "password",
        ("passcode",),
        r"(?i:(?<![a-z])passcode)[ \t]{1,2}(?P<value>\d{4,10})(?![\w%])(?![.,]\d)",
    ),
    SecretShape(
        "password",
        ("app password", "app-password", "app passwor", "application passwor", "app-specific"),
        r"(?i:app(?:lication)?[ \-](?:specific[ \-])?pass(?:word|wort)[^\n:=]{0,40}[:=]"
        r"\s{0,3}[\"']?)(?P<value>[a-z]{4}(?:[ \-][a-z]{4}){3})(?![ \-]?[a-z])",
    ),
    SecretShape(
        "password",
        ("identified",),
        r"(?i:identified\s{1,4}(?:with\s{1,4}[\w'\"]{1,40}\s{1,4})?(?:by|as)\s{1,4}"
        r"(?:password\s{1,4})?)['\"]?"
        rf"(?P<value>(?<=['\"])[^'\"\n]{{3,200}}|{_MARKED}[^\s'\";]{{4,100}})",
        told=True,
    ),
    SecretShape(
        "password",
        (" login",),
        r"(?:docker|podman|nerdctl|skopeo|buildah|helm|crane|az|oc)(?: registry| acr)? login"
        rf"[^\n]{{0,160}}?\s-p[ =]?{_ARGUMENT}",
        told=True,
    ),
    SecretShape(
        "password",
        ("mongo",),
        rf"mongo[a-z]{{0,8}}\s[^\n]{{0,160}}?\s-p[ =]?(?=[\"']?{_MARKED}){_ARGUMENT}",
        told=True,
    ),
    SecretShape(
        "password",
        ("smbclient", "rpcclient", "smbmap", "wmic"),
        r"(?<!\S)(?:-U|--user)[ =]?[\"']?[\w.\-\\/]{1,40}%(?P<value>[^\s\"']{3,100})",
        told=True,
    ),
    SecretShape(
        "password",
        (" p:", " p=", " pw:", " p :", "/p:"),
        r"(?i:(?<!\w)(?:u|user|usr|login)\s?[:=]\s?[^\s,;/]{1,60}[\s,;/]{1,3}p(?:w|wd)?\s?[:=]\s?)"
        rf"(?P<value>{_MARKED}[^\s,;]{{4,100}})",
        told=True,
    ),
    SecretShape(
        "password",
        ('password "', "password '", "password “", 'passphrase "', 'passcode "', "password `"),
        r"(?i:(?:use|using|with|enter|type|set|try)\s(?:the\s|this\s|my\s)?(?:new\s)?"
        r"pass(?:word|phrase|code)\s)[\"'`“](?P<value>[^\"'`“”\n]{4,60})[\"'`”]",
    ),
    SecretShape(
        "password",
        ("insert into",),
        r"(?i:insert\s{1,3}into\s{1,3}[\w.`\"]{1,60}\s{0,3}\([^()\n]{0,200}?"
        r"(?:pass|pwd|secret|token)[^()\n]{0,100}\)\s{0,3}values\s{0,3}\()"
        r"(?=[^()\n]{0,200}['\"])(?P<value>[^()\n]{3,300})\)",
    ),
    SecretShape(
        "password",
        ("-storepass", "-keypass", "-srcstorepass", "-deststorepass"),
        rf"-(?:src|dest)?(?:store|key)pass[ =]{_ARGUMENT}",
        told=True,
    ),
    SecretShape(
        "password",
        ("htpasswd",),
        r"htpasswd\s{1,3}-\w{0,4}b\w{0,4}\s(?:[^\s]{1,80}\s)?[^\s]{1,40}\s(?P<value>[^\s]{4,100})",
        told=True,
    ),
    SecretShape(
        "password",
        ("useradd", "usermod", "rootpw"),
        r"(?:user(?:add|mod)\s[^\n]{0,80}?(?:-p|--password)[ =]|rootpw\s(?:--\w{4,12}\s){0,2})"
        rf"(?=[\"']?{_MARKED}){_ARGUMENT}",
        told=True,
    ),
    SecretShape(
        "password", ("redis-cli",), rf"redis-cli\s[^\n]{{0,120}}?-a\s{{1,2}}{_ARGUMENT}", told=True
    ),
    SecretShape(
        "password",
        ("zip ", "7z "),
        rf"(?<!\w)(?:(?:un)?zip\s[^\n]{{0,80}}?-P\s?|7za?\s[^\n]{{0,80}}?\s-p){_ARGUMENT}",
        told=True,
    ),
    SecretShape(
        "password",
        ("openssl",),
        rf"openssl\s[^\n]{{0,160}}?\s(?:-k\s{{1,2}}|-pass(?:in|out)?\s{{1,2}}pass:){_ARGUMENT}",
        told=True,
    ),
    # A password that is piped into a command: "echo secret1 | sudo -S ...".
    SecretShape(
        "password",
        ("sudo -s", "chpasswd", "--stdin", "--password-stdin"),
        r"echo\s{1,3}(?:-\w{1,2}\s)?[\"']?(?P<value>[^\s\"'|]{3,100})[\"']?\s{0,3}\|\s{0,3}"
        r"(?:sudo\s{1,3}-S|(?:sudo\s{1,3})?chpasswd|[^\n|]{0,80}?--(?:password-)?stdin)",
        told=True,
    ),
    SecretShape(
        "password",
        ("net user",),
        rf"(?i:net\s{{1,2}}user)\s{{1,3}}[\w.\-\\]{{1,40}}\s{{1,3}}(?P<value>{_MARKED}[^\s/*]\S{{2,100}})",
        told=True,
    ),
    SecretShape(
        "password",
        ("requirepass", "masterauth"),
        rf"(?:requirepass|masterauth)\s{{1,3}}[\"']?(?P<value>{_MARKED}[^\s\"']{{3,100}})",
        told=True,
    ),
    SecretShape(
        "Wi-Fi password",
        ("psk",),
        r"(?i:psk[\"']?\s?[=:]\s?[\"']?)(?P<value>[^\s\"']{8,64})",
        told=True,
    ),
    SecretShape(
        "password",
        ("securestring",),
        r"(?i:securestring\s{1,3}(?:-string\s{1,3})?)[\"'](?P<value>[^\"'\n]{3,100})[\"']",
        told=True,
    ),
    # An account and its password as two texts: ``auth=("sam", "secret1")``.
    SecretShape(
        "password",
        ("credential(", "basicauth(", "basic_auth(", "auth=(", ".login("),
        r"(?i:(?:credential|basic_?auth|auth=|\.login)\()\s{0,2}[\"'][^\"'\n]{1,60}[\"']\s{0,2},"
        r"\s{0,2}[\"'](?P<value>[^\"'\n]{3,100})[\"']",
        told=True,
    ),
    # A variable of a container: its name and its value in two lines.
    SecretShape(
        "password",
        ("value:",),
        r"(?i:name:\s{0,3}[\"']?[\w\-]{0,40}?(?:pass|pwd|secret|token|api_?key|credential)"
        r"[\w\-]{0,20}[\"']?\s{1,30}value:\s{0,3}[\"']?)(?P<value>[^\s\"']{3,200})",
        told=True,
    ),
    SecretShape(
        "password",
        ("password>", "passwd>", "pwd>", "secret>", "token>", "key>", "passphrase>"),
        r"<[\w:.\-]{0,30}(?i:password|passwd|pwd|secret|token|key|passphrase)>"
        rf"(?P<value>{_MARKED}[^\s<>]{{3,200}})</",
        told=True,
    ),
    SecretShape(
        "password in an address",
        ("jdbc:oracle", "sqlplus "),
        r"(?i:jdbc:oracle:\w{2,5}:|sqlplus\s(?:-\w\s)?)[^\s/@:]{1,40}/(?P<value>[^\s@/]{2,60})@",
        told=True,
    ),
    SecretShape(
        "token",
        ("digest ",),
        r"(?i:authorization[\"']?\s?:\s{0,3}digest\s)[^\n]{0,300}?response=\"?"
        r"(?P<value>[0-9a-fA-F]{32})",
    ),
    SecretShape(
        "token", ("signature=",), r"(?i:signature=)(?P<value>[0-9a-fA-F]{64})(?![0-9a-fA-F])"
    ),
    SecretShape("private key", ("nsec1",), r"(?<![A-Za-z0-9])(?P<value>nsec1[02-9ac-hj-np-z]{58})"),
)


@cache
def _shape_pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
