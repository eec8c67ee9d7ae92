"""Which addresses a server may call for somebody."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.conversation.public_address import imitates_address, is_public_address
from tests.rates import over

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "2a00:1450:4001:82a::200e",
          "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]  # fmt: skip
NOT_PUBLIC = [
    "127.0.0.1", "127.8.9.1", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255",
    "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.1", "192.0.2.1",
    "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1",
    "255.255.255.255", "192.88.99.1", "192.0.0.192", "168.63.129.16", "::ffff:168.63.129.16",
    "2a00:1450::5efe:7f00:1", "2a00:1450::200:5efe:a00:1",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe",
    "64:ff9b::127.0.0.1", "64:ff9b::10.1.2.3", "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:0:7f00:1::", "2001:db8::1",
    "2001:10::1", "2001:20::1", "3fff::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0",
    "fec0::1", "ff02::1", "100::1", "5f00::1", "::ffff:0:127.0.0.1", "2606:4700::1%1",
    "", "localhost", "127.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.01",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    """Addresses of the internet are public, mapped and translated ones included."""
    assert is_public_address(address)


@over("address", NOT_PUBLIC)
def test_not_public(address: str) -> None:
    """Loopback, private, link-local, reserved ones are not, in whatever IPv6 form they come."""
    assert not is_public_address(address)


@over(
    "host",
    ["127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "017700000001", "0177.0.0.1",
     "127.0.0.1.", "1.2.3.4.5", "example.0x", "999.1.1.1", "v1.fe::1", "::g"],
)  # fmt: skip
def test_disguised(host: str) -> None:
    """A number that a resolver takes for an address is recognised."""
    assert imitates_address(host)


@pytest.mark.parametrize("host", ["example.com", "3com.com", "127.0.0.1", "::1", "[::1]", "x1"])
def test_not_disguised(host: str) -> None:
    """Names, and addresses in the usual form, are none of these."""
    assert not imitates_address(host)


@given(st.ip_addresses(v=4))
def test_carried(address: ipaddress.IPv4Address) -> None:
    """An IPv6 form is exactly as public as the IPv4 address in it."""
    public = is_public_address(str(address))
    assert is_public_address(f"::ffff:{address}") is public
    assert is_public_address(f"64:ff9b::{address}") is public
    assert not is_public_address(f"::{address}")
    if public:
        assert address.is_global and not address.is_multicast
