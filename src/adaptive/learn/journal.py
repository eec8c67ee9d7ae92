"""What a model has answered, as text that is kept before anything of it is written."""

from __future__ import annotations

import json
from dataclasses import asdict

from pydantic import TypeAdapter, ValidationError

from adaptive.learn.operations import Extraction

# Made while the module is loaded: later the host may know it by no name (host: utils/plugin.py,
# load_function_module_by_id, since 0.12), by which the types of fields are found.
_EXTRACTION: TypeAdapter[Extraction] = TypeAdapter(Extraction)


def journal_of(extraction: Extraction) -> str:
    """An extraction as JSON."""
    return json.dumps(asdict(extraction), ensure_ascii=False, separators=(",", ":"))


def read_journal(text: str) -> Extraction | None:
    """The extraction that a journal holds, ``None`` where it holds none that can be read."""
    try:
        return _EXTRACTION.validate_json(text)
    except ValidationError:
        return None
