"""Check digits: Luhn, Verhoeff, ISO 7064 and weighted sums."""

from __future__ import annotations

from collections.abc import Sequence

_LUHN_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
# The permutation of Verhoeff's scheme (Error Detecting Decimal Codes, 1969), once per place.
_VERHOEFF_STEP = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def luhn_holds(digits: str) -> bool:
    """Whether the last digit fits the Luhn formula (ISO/IEC 7812-1, annex B)."""
    plain = sum(map(int, digits[-1::-2]))
    return (plain + sum(_LUHN_DOUBLED[int(digit)] for digit in digits[-2::-2])) % 10 == 0


def verhoeff_holds(digits: str) -> bool:
    """Whether the last digit fits Verhoeff's scheme over the dihedral group of order ten."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit)
        for _ in range(place % 8):
            value = _VERHOEFF_STEP[value]
        check = _pii_dihedral(check, value)
    return check == 0


def _pii_dihedral(left: int, right: int) -> int:
    """The product of two symmetries of a pentagon: 0 to 4 turn, 5 to 9 reflect."""
    if left < 5:
        turned = (left + right) % 5
        return turned if right < 5 else turned + 5
    turned = (left - right) % 5
    return turned + 5 if right < 5 else turned


def weighted_sum(digits: str, weights: Sequence[int]) -> int:
    """The digits times their weights; digits beyond the weights don't count."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def mod_97(characters: str) -> int:
    """The remainder of ISO 7064 MOD 97-10: letters count as 10 to 35."""
    return int("".join(str(int(character, 36)) for character in characters)) % 97


def mod_11_10_holds(digits: str) -> bool:
    """Whether the last digit fits ISO 7064 MOD 11,10 (the hybrid system of German tax numbers)."""
    product = 10
    for digit in digits[:-1]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def mod_11_2_holds(characters: str) -> bool:
    """Whether the last character, a digit or ``X`` for ten, fits ISO 7064 MOD 11-2."""
    check = 0
    for digit in characters[:-1]:
        check = (check + int(digit)) * 2 % 11
    last = 10 if characters[-1] in "Xx" else int(characters[-1])
    return (check + last) % 11 == 1
