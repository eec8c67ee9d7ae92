"""Which addresses are the admin's own machines, as far as names and one valve tell."""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit

# Names that are resolved within one network only (RFC 6761, 6762, 8375; ICANN's "internal").
_INNER_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


class LocalAddresses:
    """The addresses that the valve lists, and those of private networks."""

    def __init__(self, listed: str) -> None:
        self._listed = [_parsed(one) for one in listed.split(",")]

    def lists(self, url: str) -> bool:
        """Whether the valve names an address: with its path, or the server as a whole."""
        scheme, host, rest = _parsed(url)
        return bool(host) and any(
            listed[0] in ("", scheme) and listed[1] == host and rest.startswith(listed[2])
            for listed in self._listed
        )

    def holds_ollama(self, url: str) -> bool:
        """Whether an Ollama server stands here: nobody else's does in a private network."""
        return _is_inner(_parsed(url)[1]) or self.lists(url)


def is_cloud_name(model: str) -> bool:
    """Whether an Ollama model's tag names its cloud: ``x:cloud``, ``x:120b-cloud``."""
    tag = model.strip().casefold().rpartition(":")[2]
    return tag == "cloud" or tag.endswith("-cloud")


def _is_inner(host: str) -> bool:
    """Whether a server is this machine or in a private network, as far as its name tells."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_INNER_SUFFIXES))
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_private and not mapped.is_unspecified


def _parsed(url: str) -> tuple[str, str, str]:
    """Scheme, host, then port and path of an address; no host where it is none."""
    text = url.strip()
    with suppress(ValueError):
        parts = urlsplit(text if "://" in text else f"//{text}")
        host, path = (parts.hostname or "").rstrip("."), parts.path.rstrip("/")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.scheme in ("", "http", "https"):
            return parts.scheme, host, f":{port}{path}/"
    return "", "", ""
