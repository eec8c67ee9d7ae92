"""What a model has answered, as text that is kept before anything of it is written."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache

from pydantic import TypeAdapter, ValidationError

from adaptive.learn.operations import Extraction


@cache
def _extraction_reader() -> TypeAdapter[Extraction]:
    return TypeAdapter(Extraction)


def journal_of(extraction: Extraction) -> str:
    """An extraction as JSON."""
    return json.dumps(asdict(extraction), ensure_ascii=False, separators=(",", ":"))


def read_journal(text: str) -> Extraction | None:
    """The extraction that a journal holds, ``None`` where it holds none that can be read."""
    try:
        return _extraction_reader().validate_json(text)
    except ValidationError:
        return None
