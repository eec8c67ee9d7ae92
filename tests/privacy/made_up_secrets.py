"""Made-up secrets and the sentences they stand in; none was ever issued.

They are kept compressed, so that no scanner takes the repository for leaking one.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKED = Path(__file__).parent / "labelled" / "made_up_secrets.txt"


@dataclass(frozen=True)
class MadeUp:
    """A text with the secret that it holds."""

    id: str
    text: str
    secret: str


@cache
def made_up_secrets() -> list[MadeUp]:
    """All of them, in a fixed order."""
    packed = "".join(PACKED.read_text(encoding="ascii").split())
    return [
        MadeUp(*one)
        for one in json.loads(zlib.decompress(base64.b85decode(packed)))
    ]
