"""Which internet addresses are public: what a server may be made to call by a text."""

from __future__ import annotations

import ipaddress
from functools import cache

# Public by the registry, but relays and anycast of a transition that is over (RFC 7526); protocol
# assignments, of which Python knows a part, and clouds one for their machines' data; and what
# Azure's machines reach their platform by (Azure, "What is IP address 168.63.129.16?").
_NO_IPV4_SITE = ("192.88.99.0/24", "192.0.0.0/24", "168.63.129.16/32")
# Global unicast is 2000::/3; of it are not: protocol assignments with Teredo and ORCHID, the two
# documentation ranges, and 6to4, which leads on to any IPv4 address (IANA special-purpose
# registry; RFC 4380, 3849, 9637, 3056).
_IPV6_SITES = "2000::/3"
_NO_IPV6_SITE = ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
# IPv6 addresses that stand for an IPv4 one: mapped, and what DNS64 answers (RFC 4291, 6052).
_MAPPED = "::ffff:0:0/96"
_NAT64 = "64:ff9b::/96"
# The half of an address by which a tunnel of ISATAP tells the IPv4 one, less the bit that says
# whether that is unique (RFC 5214, 6.1).
_ISATAP, _ISATAP_UNIQUE = 0x00005EFE, 0x02000000


def is_public_address(address: str) -> bool:
    """Whether an IP address, as a resolver gives it, belongs to the public internet.

    An address that stands for an IPv4 one is as public as that. What is no address in the usual
    form, and what has a zone, is not public.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv4Address):
        return _is_public_ipv4(found)
    for carrier in _carriers():
        if found in carrier:
            return _is_public_ipv4(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF))
    if (int(found) >> 32) & 0xFFFFFFFF & ~_ISATAP_UNIQUE == _ISATAP:
        return False
    sites, exceptions = _ipv6_sites()
    return found.scope_id is None and found in sites and not any(found in net for net in exceptions)


def imitates_address(host: str) -> bool:
    """Whether a host is written as an address, or ends in a number, without the usual form of one.

    Resolvers and browsers take ``127.1``, ``2130706433``, ``0x7f000001`` and ``017700000001`` for
    addresses (WHATWG URL, "ends in a number").
    """
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        last = host.rstrip(".").rpartition(".")[2].lower()
        return ":" in host or last.isdigit() or _is_hexadecimal(last)
    return False


def _is_hexadecimal(label: str) -> bool:
    return label.startswith("0x") and all(sign in "0123456789abcdef" for sign in label[2:])


def _is_public_ipv4(address: ipaddress.IPv4Address) -> bool:
    unusual = address.is_multicast or address.is_reserved
    return address.is_global and not unusual and not any(address in net for net in _no_ipv4_sites())


@cache
def _no_ipv4_sites() -> tuple[ipaddress.IPv4Network, ...]:
    return tuple(map(ipaddress.IPv4Network, _NO_IPV4_SITE))


@cache
def _ipv6_sites() -> tuple[ipaddress.IPv6Network, tuple[ipaddress.IPv6Network, ...]]:
    exceptions = tuple(ipaddress.IPv6Network(one) for one in _NO_IPV6_SITE)
    return ipaddress.IPv6Network(_IPV6_SITES), exceptions


@cache
def _carriers() -> tuple[ipaddress.IPv6Network, ...]:
    return tuple(map(ipaddress.IPv6Network, (_MAPPED, _NAT64)))
