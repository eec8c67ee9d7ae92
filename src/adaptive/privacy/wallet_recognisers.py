"""Recognisers of crypto wallets."""

from __future__ import annotations

import re

from adaptive.privacy.recogniser import Recogniser
from adaptive.privacy.wallet_checksums import (
    base58check_holds,
    bech32_holds,
    cashaddr_holds,
    ethereum_capitals_hold,
)

_BASE58_LETTERS = "1-9A-HJ-NP-Za-km-z"
_BECH32_LETTERS = "02-9ac-hj-np-zAC-HJ-NP-Z"
_WALLET_HEAD = "(?<![0-9A-Za-z])"
_WALLET_TAIL = "(?![0-9A-Za-z])"


def _base58_fits(match: re.Match[str]) -> bool:
    return base58check_holds(match[0])


def _ripple_fits(match: re.Match[str]) -> bool:
    return base58check_holds(match[0], ripple=True)


def _bech32_fits(match: re.Match[str]) -> bool:
    return bech32_holds(match[0])


def _cashaddr_fits(match: re.Match[str]) -> bool:
    return cashaddr_holds(match["payload"])


def _ethereum_fits(match: re.Match[str]) -> bool:
    return ethereum_capitals_hold(match[0]) and len(set(match[0][2:])) > 3


def _telling_fits(match: re.Match[str]) -> bool:
    """Capitals, small letters and digits: no word and no hexadecimal number."""
    word = match[0]
    return (
        any(map(str.isdigit, word))
        and any(map(str.isupper, word))
        and any(map(str.islower, word))
        and len(set(word)) > 15
    )


def _wallet(
    name: str, pattern: str, fits: object, score: float = 0.95, in_context: float = 0.0
) -> Recogniser:
    return Recogniser(
        "crypto_wallet",
        name,
        "long word",
        _WALLET_HEAD + pattern + _WALLET_TAIL,
        score,
        in_context,
        "wallet" if in_context else "",
        fits=fits,  # pyright: ignore[reportArgumentType]
        countered=False,
    )


WALLET_RECOGNISERS = (
    _wallet(
        "Bitcoin, Litecoin, Dogecoin, Tron, Dash, Tezos",
        rf"(?:[13LMDT9AX][{_BASE58_LETTERS}]{{25,34}}|(?:tz[123]|KT1)[{_BASE58_LETTERS}]{{33}})",
        _base58_fits,
    ),
    _wallet("Ripple", rf"r[{_BASE58_LETTERS}]{{24,34}}", _ripple_fits),
    _wallet(
        "Bitcoin, Litecoin, Cardano, Cosmos",
        rf"(?:bc|tb|ltc|addr|stake|cosmos|osmo|BC)1[{_BECH32_LETTERS}]{{20,100}}",
        _bech32_fits,
    ),
    _wallet(
        "Bitcoin Cash",
        rf"(?:bitcoincash:)?(?P<payload>[qp][{_BECH32_LETTERS.lower()}]{{41}})",
        _cashaddr_fits,
    ),
    _wallet("Ethereum", "0x[0-9A-Fa-f]{40}", _ethereum_fits, 0.9),
    _wallet("Monero", rf"[48][{_BASE58_LETTERS}]{{94}}", _telling_fits, 0.9),
    _wallet("Solana, Polkadot", rf"[{_BASE58_LETTERS}]{{43,48}}", _telling_fits, 0.3, 0.8),
)
