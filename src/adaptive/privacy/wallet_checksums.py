"""Checksums of crypto wallets: Base58Check, Bech32, CashAddr and the capitals of Ethereum."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from adaptive.text_cache import text_cache

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
# Ripple orders the same characters by an alphabet of its own (xrpl.org, Base58 Encodings).
_BASE58_RIPPLE = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_BECH32_CONSTANTS = (1, 0x2BC830A3)
_CASHADDR_GENERATOR = (0x98F2BC8E61, 0x79B76D99E2, 0xF33E5FB3C4, 0xAE2EABE2A8, 0x1E4F43E470)


def base58check_holds(address: str, ripple: bool = False) -> bool:
    """Whether the last four bytes are the head of the double SHA-256 of the rest.

    21 bytes of content (version and hash), 23 for Tezos, as Bitcoin introduced it.
    """
    alphabet = _BASE58_RIPPLE if ripple else _BASE58
    value = 0
    for character in address:
        place = alphabet.find(character)
        if place < 0:
            return False
        value = value * 58 + place
    size = 27 if address.startswith(("tz", "KT")) else 25
    if value.bit_length() > size * 8:
        return False
    content = value.to_bytes(size, "big")
    twice = hashlib.sha256(hashlib.sha256(content[:-4]).digest()).digest()
    return twice[:4] == content[-4:]


def bech32_holds(address: str) -> bool:
    """Whether an address fits Bech32 or Bech32m (BIP 173, BIP 350); one case only."""
    if address != address.lower() and address != address.upper():
        return False
    prefix, _, data = address.lower().rpartition("1")
    values = [_BECH32.find(character) for character in data]
    if not prefix or len(values) < 6 or min(values) < 0:
        return False
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    return _pii_polymod(expanded + values, _BECH32_GENERATOR, 25) in _BECH32_CONSTANTS


def cashaddr_holds(address: str) -> bool:
    """Whether a Bitcoin Cash address, its ``bitcoincash:`` left out, fits the CashAddr checksum."""
    values = [_BECH32.find(character) for character in address.lower()]
    if min(values) < 0:
        return False
    prefix = [ord(character) & 31 for character in "bitcoincash"]
    return _pii_polymod([*prefix, 0, *values], _CASHADDR_GENERATOR, 35) == 1


def _pii_polymod(values: Iterable[int], generator: tuple[int, ...], shift: int) -> int:
    """The remainder of the BCH codes that both formats use; CashAddr's is 40 bits wide."""
    check = 1
    mask = (1 << shift) - 1
    for value in values:
        top = check >> shift
        check = (check & mask) << 5 ^ value
        for place, term in enumerate(generator):
            if top >> place & 1:
                check ^= term
    return check


def ethereum_capitals_hold(address: str) -> bool:
    """Whether the capitals of ``0x`` and 40 hexadecimal digits are those of EIP-55.

    An address in small letters or in capitals alone carries no checksum and holds.
    """
    digits = address[2:]
    if digits in (digits.lower(), digits.upper()):
        return True
    return digits == _pii_capitals(digits.lower())


@text_cache(256)
def _pii_capitals(small: str) -> str:
    pattern = keccak_256(small.encode()).hex()
    return "".join(
        letter.upper() if level >= "8" else letter
        for letter, level in zip(small, pattern, strict=False)
    )


def keccak_256(content: bytes) -> bytes:
    """Keccak as Ethereum uses it: padding byte 0x01 where SHA-3 has 0x06; content below 136 B."""
    block = bytearray(content.ljust(136, b"\0"))
    block[len(content)] ^= 0x01
    block[135] ^= 0x80
    lanes = [int.from_bytes(block[at : at + 8], "little") for at in range(0, 136, 8)] + [0] * 8
    register = 1
    for _ in range(24):
        register = _pii_keccak_round(lanes, register)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def _pii_keccak_round(lanes: list[int], register: int) -> int:
    """One round of Keccak-f[1600] (FIPS 202, section 3.2) in place; the next constants' state."""
    columns = [
        lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)
    ]
    for x in range(5):
        mixed = columns[(x + 4) % 5] ^ _pii_rotated(columns[(x + 1) % 5], 1)
        for y in range(0, 25, 5):
            lanes[x + y] ^= mixed
    x, y = 1, 0
    current = lanes[1]
    for step in range(24):
        x, y = y, (2 * x + 3 * y) % 5
        place = x + 5 * y
        current, lanes[place] = lanes[place], _pii_rotated(current, (step + 1) * (step + 2) // 2)
    for y in range(0, 25, 5):
        row = lanes[y : y + 5]
        for x in range(5):
            lanes[x + y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5])
    for bit in range(7):
        if register & 1:
            lanes[0] ^= 1 << ((1 << bit) - 1)
        register = register << 1 ^ (0x171 if register & 0x80 else 0)
    return register


def _pii_rotated(lane: int, by: int) -> int:
    by %= 64
    return (lane << by | lane >> (64 - by)) & 0xFFFFFFFFFFFFFFFF
