"""Passwords in commands, statements and pairs of an account and its password, as data.

A pattern begins with a letter in both its cases, not with a look behind or with signs of any case:
so a text of 100 kB that holds its anchor is scanned for it in a fraction of a millisecond.
"""

from __future__ import annotations

from typing import NamedTuple


class CommandShape(NamedTuple):
    """One form of a command; its parts are those of a ``SecretShape``."""

    kind: str
    anchors: tuple[str, ...]
    shape: str
    told: bool = False


# A letter, and a figure or sign, within what follows: no word of a sentence.
_MARKED = r"(?=[^\s\"'<>]{0,60}[0-9!@#$%^&*])(?=[^\s\"'<>]{0,60}[A-Za-z])"
_ARGUMENT = r"[\"']?(?P<value>[^\s\"'\-][^\s\"']{2,100})"
COMMAND_SHAPES: tuple[CommandShape, ...] = (
    CommandShape(
        "password",
        ("pass:", "pass :", "pass=", "pass =", "pass is", "pass'", 'pass"', "pass es", "pass ist"),
        r"[Pp](?<![A-Za-z_\-].)[Aa][Ss][Ss][\"']?\s?(?:[:=]|(?:is|es|ist|est)\s)\s{0,2}"
        r"(?P<quote>[\"'`])?"
        rf"(?P<value>{_MARKED}[^\s\"'`]{{4,100}}|(?(quote)[^\s\"'`]{{4,100}}(?=[\"'`])|(?!)))",
        told=True,
    ),
    # The name of an account and its password: "login: sam / secret1".
    CommandShape(
        "password",
        ("login:", "login =", "log-in:", "login is", "login "),
        r"[Ll](?<![A-Za-z].)(?i:og-?in)(?:\s(?:is|ist|est|es)\b|[^\n:=]{0,24}[:=])\s{0,2}"
        rf"[^\s/|,:]{{1,64}}\s?[/|:]\s?(?P<value>(?!/){_MARKED}[^\s\"',]{{4,100}})",
        told=True,
    ),
    CommandShape(
        "password",
        (
            *("creds", "credentials", "zugangsdaten", "logindaten", "anmeldedaten", "identifiant"),
            *("credenciales", "credenziali", "credenciais", "user:pass", "userpass", "user/pass"),
            *("username:pass", "username/pass"),
        ),
        r"[CcZzLlAaIiUu](?<![A-Za-z].)(?i:redentials|reds|ugangsdaten|ogindaten|nmeldedaten"
        r"|dentifiants?|redenciales|redenziali|redenciais|ser(?:name)?[/:]?pass(?:word)?)"
        r"(?:\s(?:is|are|ist|sind|sont|son|sono|são)\b|[^\n:=]{0,24}[:=])\s{0,2}"
        rf"[^\s/|,:]{{1,64}}\s?[/|:]\s?(?P<value>(?!/){_MARKED}[^\s\"',]{{4,100}})",
        told=True,
    ),
    CommandShape(
        "password",
        ("passcode",),
        r"[Pp](?<![A-Za-z].)(?i:asscode)[ \t]{1,2}(?P<value>\d{4,10})(?![\w%])(?![.,]\d)",
    ),
    CommandShape(
        "password",
        ("app-password", "app password", "app-specific", "application password"),
        r"pp(?<=[Aa]pp)(?:lication)?[ \-](?i:specific[ \-])?[Pp]ass(?:word|wort)[^\n:=]{0,40}[:=]"
        r"\s{0,3}[\"']?(?P<value>[a-z]{4}(?:[ \-][a-z]{4}){3})(?![ \-]?[a-z])",
    ),
    CommandShape(
        "password",
        ("identified",),
        r"[Ii](?i:dentified\s{1,4}(?:with\s{1,4}[\w'\"]{1,40}\s{1,4})?(?:by|as)\s{1,4}"
        r"(?:password\s{1,4})?)['\"]?"
        rf"(?P<value>(?<=['\"])[^'\"\n]{{3,200}}|{_MARKED}[^\s'\";]{{4,100}})",
        told=True,
    ),
    CommandShape(
        "password",
        ("login -u", "login --username", "login -p"),
        # After docker, podman, helm, oc, az acr ...
        rf" login\s[^\n]{{0,160}}?\s-p[ =]?{_ARGUMENT}",
        told=True,
    ),
    CommandShape(
        "password",
        ("mongo",),
        rf"mongo[a-z]{{0,8}}\s[^\n]{{0,160}}?\s-p[ =]?(?=[\"']?{_MARKED}){_ARGUMENT}",
        told=True,
    ),
    CommandShape(
        "password",
        ("smbclient", "rpcclient", "smbmap", "wmic"),
        r"-(?<!\S.)(?:U|-user)[ =]?[\"']?[\w.\-\\/]{1,40}%(?P<value>[^\s\"']{3,100})",
        told=True,
    ),
    CommandShape(
        "password",
        ("u: p:", "u= p=", "u: pw:", "user: p:", "user= p=", "user: pw:", "usr: p:"),
        r"[Uu](?<!\w.)(?i:ser|sr)?\s?[:=]\s?[^\s,;/]{1,60}[\s,;/]{1,3}[Pp][Ww]?\s?[:=]\s?"
        rf"(?P<value>{_MARKED}[^\s,;]{{4,100}})",
        told=True,
    ),
    CommandShape(
        "password",
        ('password "', "password '", "password “", 'passphrase "', 'passcode "', "password `"),
        r"[Pp]ass(?:(?<=(?i:use the ).{4})|(?<=(?i:with the ).{4})|(?<=(?i:using the ).{4})"
        r"|(?<=(?i:enter the ).{4})|(?<=(?i:type the ).{4})|(?<=(?i:use ).{4})|(?<=(?i:with ).{4})"
        r"|(?<=(?i:using ).{4})|(?<=(?i:enter ).{4})|(?<=(?i:try ).{4}))(?:word|phrase"
        r"|code)\s[\"'`“](?P<value>[^\"'`“”\n]{4,60})[\"'`”]",
    ),
    CommandShape(
        "password",
        ("insert into",),
        r"[Ii](?i:nsert\s{1,3}into\s{1,3}[\w.`\"]{1,60}\s{0,3}\([^()\n]{0,200}?"
        r"(?:pass|pwd|secret|token)[^()\n]{0,100}\)\s{0,3}values\s{0,3}\()"
        r"(?=[^()\n]{0,200}['\"])(?P<value>[^()\n]{3,300})\)",
    ),
    CommandShape(
        "password",
        ("-storepass", "-keypass", "-srcstorepass", "-deststorepass"),
        rf"-(?:src|dest)?(?:store|key)pass[ =]{_ARGUMENT}",
        told=True,
    ),
    CommandShape(
        "password",
        ("htpasswd",),
        r"htpasswd\s{1,3}-\w{0,4}b\w{0,4}\s(?:[^\s]{1,80}\s)?[^\s]{1,40}\s(?P<value>[^\s]{4,100})",
        told=True,
    ),
    CommandShape(
        "password",
        ("useradd", "usermod", "rootpw"),
        r"(?:user(?:add|mod)\s[^\n]{0,80}?(?:-p|--password)[ =]|rootpw\s(?:--\w{4,12}\s){0,2})"
        rf"(?=[\"']?{_MARKED}){_ARGUMENT}",
        told=True,
    ),
    CommandShape(
        "password", ("redis-cli",), rf"redis-cli\s[^\n]{{0,120}}?-a\s{{1,2}}{_ARGUMENT}", told=True
    ),
    CommandShape(
        "password",
        ("zip -p", "zip -e -p", "zip -r -p", "zip -er -p", "unzip -p"),
        rf"zip\s[^\n]{{0,80}}?-P\s?{_ARGUMENT}",
        told=True,
    ),
    CommandShape(
        "password",
        ("openssl",),
        rf"openssl\s[^\n]{{0,160}}?\s(?:-k\s{{1,2}}|-pass(?:in|out)?\s{{1,2}}pass:){_ARGUMENT}",
        told=True,
    ),
    # A password that is piped into a command: "echo secret1 | sudo -S ...".
    CommandShape(
        "password",
        ("sudo -s", "chpasswd", "--stdin", "--password-stdin"),
        r"echo\s{1,3}(?:-\w{1,2}\s)?[\"']?(?P<value>[^\s\"'|]{3,100})[\"']?\s{0,3}\|\s{0,3}"
        r"(?:sudo\s{1,3}-S|(?:sudo\s{1,3})?chpasswd|[^\n|]{0,80}?--(?:password-)?stdin)",
        told=True,
    ),
    CommandShape(
        "password",
        ("net user",),
        rf"net user\s{{1,3}}[\w.\-\\]{{1,40}}\s{{1,3}}(?P<value>{_MARKED}[^\s/*]\S{{2,100}})",
        told=True,
    ),
    CommandShape(
        "password",
        ("requirepass", "masterauth"),
        rf"(?:requirepass|masterauth)\s{{1,3}}[\"']?(?P<value>{_MARKED}[^\s\"']{{3,100}})",
        told=True,
    ),
    CommandShape(
        "Wi-Fi password",
        ("psk",),
        r"[Pp](?i:sk[\"']?\s?[=:]\s?[\"']?)(?P<value>[^\s\"']{8,64})",
        told=True,
    ),
    CommandShape(
        "password",
        ("securestring",),
        r"(?i:securestring\s{1,3}(?:-string\s{1,3})?)[\"'](?P<value>[^\"'\n]{3,100})[\"']",
        told=True,
    ),
    # An account and its password as two texts: ``auth=("sam", "secret1")``.
    CommandShape(
        "password",
        ("credential(", "basicauth(", "basic_auth(", "auth=(", ".login("),
        r"(?i:(?:credential|basic_?auth|auth=|\.login)\()\s{0,2}[\"'][^\"'\n]{1,60}[\"']\s{0,2},"
        r"\s{0,2}[\"'](?P<value>[^\"'\n]{3,100})[\"']",
        told=True,
    ),
    # A variable of a container: its name and its value in two lines.
    CommandShape(
        "password",
        ("value:",),
        r"[Nn](?i:ame:\s{0,3}[\"']?[\w\-]{0,40}?(?:pass|pwd|secret|token|api_?key|credential)"
        r"[\w\-]{0,20}[\"']?\s{1,30}value:\s{0,3}[\"']?)(?P<value>[^\s\"']{3,200})",
        told=True,
    ),
    CommandShape(
        "password",
        ("password>", "passwd>", "pwd>", "secret>", "token>", "key>", "passphrase>"),
        r"<[\w:.\-]{0,30}(?i:password|passwd|pwd|secret|token|key|passphrase)>"
        rf"(?P<value>{_MARKED}[^\s<>]{{3,200}})</",
        told=True,
    ),
    CommandShape(
        "password in an address",
        ("jdbc:oracle", "sqlplus "),
        r"(?i:jdbc:oracle:\w{2,5}:|sqlplus\s(?:-\w\s)?)[^\s/@:]{1,40}/(?P<value>[^\s@/]{2,60})@",
        told=True,
    ),
    CommandShape(
        "token",
        ("digest ",),
        r"(?i:authorization[\"']?\s?:\s{0,3}digest\s)[^\n]{0,300}?response=\"?"
        r"(?P<value>[0-9a-fA-F]{32})",
    ),
    CommandShape(
        "token", ("signature=",), r"(?i:signature=)(?P<value>[0-9a-fA-F]{64})(?![0-9a-fA-F])"
    ),
)
