"""Put the prefilter's examples into its module: ``python -m tools.pack_prefilter_examples``."""

from __future__ import annotations

import base64
import lzma
import re
from pathlib import Path

EXAMPLES = Path(__file__).parent / "prefilter_examples.txt"
MODULE = Path(__file__).resolve().parent.parent / "src/adaptive/learn/prefilter.py"


def packed_examples() -> str:
    """The messages and passages as the module keeps them."""
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).encode()
    return base64.b85encode(lzma.compress(text, lzma.FORMAT_ALONE, preset=9)).decode()


def main() -> None:
    """Write them."""
    module = MODULE.read_text(encoding="utf-8")
    line = f'_PACKED_EXAMPLES = "{packed_examples()}"  # noqa: E501'
    module = re.sub(r"^_PACKED_EXAMPLES = .*$", lambda _: line, module, flags=re.MULTILINE)
    MODULE.write_text(module, encoding="utf-8")


if __name__ == "__main__":
    main()
