"""How tables and weights are packed into prompts and the bundle: LZMA, written in base 85."""

from __future__ import annotations

import base64
import lzma

# Bits of the byte before that tell what comes (LZMA's "lc"): words need more of them than weights.
LITERAL_CONTEXTS = (0, 2, 3)


def packed(data: bytes) -> str:
    """Pack bytes as short as it goes, for ``unpacked`` in ``core/texts.py``."""
    candidates = (
        lzma.compress(data, lzma.FORMAT_ALONE, filters=[_filter(bits)])
        for bits in LITERAL_CONTEXTS
    )
    return base64.b85encode(min(candidates, key=len)).decode()


def _filter(literal_context: int) -> dict[str, int]:
    return {
        "id": lzma.FILTER_LZMA1,
        "nice_len": 64,
        "preset": 9 | lzma.PRESET_EXTREME,
        "lc": literal_context,
        "lp": 0,
        "pb": 0,
    }
