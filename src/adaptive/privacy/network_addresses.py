"""E-mail, internet and hardware addresses, and URLs that carry a password."""

from __future__ import annotations

import ipaddress
import re
from functools import cache

from adaptive.privacy.recogniser import Recogniser

# Latin, Greek and Cyrillic; scripts without spaces would draw in the words around.
_NETWORK_LETTER = "0-9A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_NETWORK_LABEL = rf"[{_NETWORK_LETTER}](?:[{_NETWORK_LETTER}-]{{0,62}})"
_NETWORK_HOST = rf"{_NETWORK_LABEL}(?:\.{_NETWORK_LABEL}){{1,8}}"
# Names of files and of things that carry an ``@``.
_NO_DOMAIN = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "ico",
        "bmp",
        "css",
        "scss",
        "js",
        "mjs",
        "ts",
        "tsx",
        "jsx",
        "json",
        "html",
        "htm",
        "php",
        "py",
        "rb",
        "java",
        "cpp",
        "txt",
        "md",
        "pdf",
        "zip",
        "gz",
        "tar",
        "exe",
        "dll",
        "so",
        "yml",
        "yaml",
        "toml",
        "xml",
        "csv",
        "local",
        "localhost",
        "localdomain",
        "internal",
        "lock",
        "map",
        "woff",
        "woff2",
    ]
)


def _email_fits(match: re.Match[str]) -> bool:
    """No image name, repository, handle or decorator."""
    local, domain = match["local"], match["domain"]
    last = domain.rpartition(".")[2]
    if local.endswith(".") or ".." in local or last.lower() in _NO_DOMAIN:
        return False
    if not last.replace("-", "").isalpha() and not last.startswith("xn--"):
        return False
    text = match.string
    before = text[match.start() - 1 : match.start()]
    # What is left of a URL whose account and password are a manual's.
    if before == ":" and _url_account().search(text, max(match.start() - 80, 0), match.start()):
        return False
    # ``git@host:path`` is a repository, ``@name@host`` a name in a social network.
    return before != "@" and not (local == "git" and text[match.end() : match.end() + 1] in ":/")


@cache
def _url_account() -> re.Pattern[str]:
    return re.compile(r"://[^\s/@:]{0,64}:$")


def _low_ipv4_fits(match: re.Match[str]) -> bool:
    return _ipv4_holds(match)


def _ipv4_fits(match: re.Match[str]) -> bool:
    """An address whose numbers are too high for a version's, or that stands where one does."""
    octets = [int(octet) for octet in match["value"].split(".")]
    low = octets[0] <= _HIGHEST_OF_VERSION and octets[0] != 10
    if low and max(octets) < _LEAST_OF_ADDRESS:
        text = match.string
        behind = text[match.end() : match.end() + 2]
        before = text[max(match.start() - 2, 0) : match.start()]
        if before[-1:] not in {"/", "["} and not (behind[:1] == ":" and behind[1:].isdigit()):
            return False
    return _ipv4_holds(match)


def _ipv4_holds(match: re.Match[str]) -> bool:
    """An address of somebody: no mask, no loopback, no network, no version."""
    octets = [int(octet) for octet in match["value"].split(".")]
    if max(octets) > 255 or any(len(o) > 1 and o[0] == "0" for o in match["value"].split(".")):
        return False
    if octets[0] in {0, 127, 255} or octets[0] >= 224:
        return False
    text = match.string
    # The number of a section or a version.
    if text[match.start() - 1 : match.start()] in {"第", "§", "^", "~"}:
        return False
    if text[max(match.start() - 2, 0) : match.start()] in {"==", ">=", "<=", "~=", "§ "}:
        return False
    bits = match["bits"]
    if bits and int(bits) < 32:
        number = int.from_bytes(bytes(octets), "big")
        return number % (1 << (32 - int(bits))) != 0
    return True


def _ipv6_fits(match: re.Match[str]) -> bool:
    try:
        address = ipaddress.IPv6Address(match["value"].partition("%")[0])
    except ValueError:
        return False
    # ``a::b`` is an address, and more often a name in a program.
    # Pairs all along are a longer hardware address or a fingerprint.
    if all(len(group) == 2 for group in match["value"].split(":")):
        return False
    telling = match["value"].count(":") >= 3 or any(map(str.isdigit, match["value"]))
    network = match["bits"] and int(match["bits"]) < 128 and match["value"].endswith("::")
    return telling and not network and not (address.is_loopback or address.is_unspecified)


def _mac_holds(digits: str) -> bool:
    """Neither broadcast nor empty."""
    return len(set(digits)) > 1


def _dotted_mac_holds(digits: str) -> bool:
    """Figures and letters both: otherwise it is a word or a number with dots."""
    return any(map(str.isdigit, digits)) and any(map(str.isalpha, digits))


def _plain_mac_fits(match: re.Match[str]) -> bool:
    return _mac_holds(match["value"])


# What manuals write for an account and its password.
_SAMPLE_USERS = frozenset({"user", "username", "usr", "login", "name", "your_user"})
_SAMPLE_PASSWORDS = frozenset({"password", "pass", "passwd", "pwd", "pw", "your_password"})


def _credentials_fit(match: re.Match[str]) -> bool:
    """A password that is not a placeholder of a manual."""
    secret = match["secret"]
    user = match[0].partition("://")[2].partition(":")[0]
    if user.lower() in _SAMPLE_USERS and secret.lower() in _SAMPLE_PASSWORDS:
        return False
    if secret[0] == "$" and secret[1:].replace("_", "").isalpha() and secret.isupper():
        return False
    return not (secret[0] in "<{$[*%" and secret[-1] in ">}])*%") and set(secret) > {secret[0]}


# The numbers of most versions: "5.15.0.91".
_HIGHEST_OF_VERSION = 25
_LEAST_OF_ADDRESS = 100
_IPV4 = (
    r"(?P<value>[0-9]{1,3}(?:\.[0-9]{1,3}){3})(?:/(?P<bits>[0-9]{1,2}))?"
    r"(?![0-9A-Za-z])(?!\.[0-9])(?![-+][0-9A-Za-z])"
)
_IP_HEAD = r"(?<![0-9A-Za-z.])(?<![0-9A-Za-z][-+_/])"
_NETWORK_SCHEME = r"(?<![0-9A-Za-z])[A-Za-z][0-9A-Za-z+.\-]{1,15}://"
_NETWORK_PARAMETER = (
    r"(?i:password|passwd|pwd|pass|passphrase|secret|token|access_token|auth_token|api_?key|apikey"
    r"|client_secret|sig|signature)"
)

# How the two signs of an address are said; ``at`` is a word of its own, so a said dot must follow.
_NETWORK_AT = "at|arroba|arobase|chiocciola|собака"
_NETWORK_DOT = "dot|punto|ponto|point|punkt|точка"

NETWORK_RECOGNISERS = (
    Recogniser(
        "email",
        "address",
        "at",
        rf"(?<![{_NETWORK_LETTER}._%+\-])(?P<local>[{_NETWORK_LETTER}_](?:[{_NETWORK_LETTER}._%+'\-]{{0,63}}))"
        rf"@(?P<domain>{_NETWORK_HOST})",
        0.95,
        fits=_email_fits,
        countered=False,
    ),
    Recogniser(
        "email",
        "quoted local part",
        "at",
        rf"\"[^\"@\n]{{1,62}}\"@{_NETWORK_HOST}",
        0.7,
        countered=False,
    ),
    Recogniser(
        "email",
        "bracketed at",
        "bracketed at",
        rf"(?<![{_NETWORK_LETTER}._%+\-])[{_NETWORK_LETTER}][{_NETWORK_LETTER}._+\-]{{0,63}} ?"
        r"[(\[](?i:at)[)\]] ?"
        rf"{_NETWORK_LABEL}(?: ?[(\[](?i:dot|punkt|point|punto|ponto)[)\]] ?"
        rf"{_NETWORK_LABEL}|\.{_NETWORK_LABEL}){{1,5}}",
        0.85,
        countered=False,
    ),
    Recogniser(
        "email",
        "at as a word",
        "at word",
        rf"(?<![{_NETWORK_LETTER}._%+\-])[{_NETWORK_LETTER}][{_NETWORK_LETTER}._+\-]{{0,63}}"
        rf"(?: (?i:{_NETWORK_DOT}) [{_NETWORK_LETTER}]{{1,30}}){{0,3}} (?i:{_NETWORK_AT}) "
        rf"[0-9A-Za-z\-]{{2,40}}(?: (?i:{_NETWORK_DOT}) [0-9A-Za-z\-]{{2,40}}){{0,2}}?"
        rf"(?: (?i:{_NETWORK_DOT}) |\.)"
        r"(?i:com|org|net|edu|gov|info|de|fr|es|it|nl|uk|io|co|br|mx|pl|ru|tr|jp|cn|ch|eu|ca|au"
        r"|us|dev|app|ai|example|test)\b",
        0.8,
        clues=(" dot ", " arroba ", " arobase ", " chiocciola ", " собака "),
        countered=False,
    ),
    Recogniser(
        "url_credentials",
        "user and password",
        "scheme",
        _NETWORK_SCHEME + r"[^\s/@:\"'<>?#]{0,64}:(?P<secret>[^\s/@\"'<>]{1,128})"
        r"@[^\s/@\"'<>,;]{1,253}(?:/[^\s\"'<>]{0,200})?",
        0.98,
        signs="@",
        fits=_credentials_fit,
        countered=False,
    ),
    Recogniser(
        "url_credentials",
        "password as a parameter",
        "scheme",
        _NETWORK_SCHEME + r"[^\s\"'<>?#]{1,200}[?#](?:[^\s\"'<>&#=]{1,40}=[^\s\"'<>&#]{0,80}&){0,8}"
        rf"{_NETWORK_PARAMETER}=(?P<secret>[^\s\"'<>&#]{{4,200}})(?:&[^\s\"'<>]{{0,200}})?",
        0.96,
        signs="=",
        fits=_credentials_fit,
        countered=False,
    ),
    Recogniser(
        "url_credentials",
        "token as the user",
        "scheme",
        _NETWORK_SCHEME + r"(?P<secret>[0-9A-Za-z_\-]{20,128})@[^\s/@\"'<>,;]{1,253}"
        r"(?:/[^\s\"'<>]{0,200})?",
        0.96,
        signs="@",
        countered=False,
    ),
    Recogniser(
        "ip",
        "version 4",
        "dotted",
        _IP_HEAD + _IPV4,
        0.7,
        0.9,
        "ip",
        fits=_ipv4_fits,
        against="version",
    ),
    Recogniser(
        "ip",
        "version 4, of low numbers",
        "dotted",
        _IP_HEAD + _IPV4,
        0.4,
        0.9,
        "ip",
        reach=(40, 20),
        fits=_low_ipv4_fits,
        against="version",
    ),
    Recogniser(
        "ip",
        "version 6",
        "colons",
        r"(?<![0-9A-Za-z:.])(?P<value>[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,8}"
        r"(?:\.[0-9]{1,3}){0,3}(?:%[0-9A-Za-z]{1,16})?)(?:/(?P<bits>[0-9]{1,3}))?"
        r"(?![0-9A-Za-z:])",
        0.85,
        fits=_ipv6_fits,
        countered=False,
    ),
    Recogniser(
        "mac",
        "colons",
        "colons",
        r"(?<![0-9A-Za-z:\-])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}(?![0-9A-Za-z:])",
        0.9,
        holds=_mac_holds,
        countered=False,
    ),
    Recogniser(
        "mac",
        "plain",
        "mac word",
        r"(?<![0-9A-Za-z])(?i:mac)(?![0-9A-Za-z])[^0-9\n.!?]{0,30}?(?<![0-9A-Za-z])"
        r"(?P<value>(?=[0-9A-Fa-f]{0,10}[0-9])[0-9A-Fa-f]{12})(?![0-9A-Za-z])",
        0.85,
        fits=_plain_mac_fits,
        clues=(" mac ",),
    ),
    Recogniser(
        "mac",
        "hyphens",
        "hyphens",
        r"(?<![0-9A-Za-z:\-])[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5}(?![0-9A-Za-z\-])",
        0.85,
        holds=_mac_holds,
    ),
    Recogniser(
        "mac",
        "dots",
        "dotted",
        r"(?<![0-9A-Za-z.])[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?![0-9A-Za-z.])",
        0.6,
        0.9,
        "mac",
        holds=_dotted_mac_holds,
        countered=False,
    ),
)
