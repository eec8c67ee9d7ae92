"""Tags, bank and end date inside a memory's text, where a release has no columns for them."""

import re
from datetime import date

from adaptive.core.model import Draft

# No two neighbouring parts may take the same character, and a run of spaces is entered at its
# start only: a text of the user may be long, and is read in linear time.
_TAGS = re.compile(r"^\s*\[Tags:([^\[\]]*)\]\s*", re.IGNORECASE)
_BANK = re.compile(r"(?<!\s)\s*\[Memory Bank:([^\[\]]*)\]\s*", re.IGNORECASE)
_UNTIL = re.compile(r"(?<!\s)\s*\[Until:\s*([\d-]{10})\]\s*", re.IGNORECASE)
_CONFIDENCE = re.compile(
    r"(?<!\s)\s*\[Confidence:\s*[\d.]+\]\s*", re.IGNORECASE
)


def read_notation(text: str) -> Draft:
    """Take tags, bank, end date and the former confidence mark out of a stored text."""
    listed_tags, text = _without_mark(_TAGS, text)
    bank, text = _without_mark(_BANK, text)
    until, shorter = _without_mark(_UNTIL, text)
    if iso_day(until):
        text = shorter
    tags = (tag.strip() for tag in listed_tags.split(","))
    return Draft(
        content=_CONFIDENCE.sub(" ", text).strip(),
        tags=tuple(filter(None, tags)),
        bank=bank,
        until=iso_day(until),
    )


def _without_mark(mark: re.Pattern[str], text: str) -> tuple[str, str]:
    """What the first mark of a kind holds, and the text without that mark."""
    match = mark.search(text)
    if match is None:
        return "", text
    return match.group(
        1
    ).strip(), f"{text[: match.start()]} {text[match.end() :]}"


def iso_day(value: object) -> str:
    """The value if it is a day of the calendar as "YYYY-MM-DD", else nothing."""
    try:
        return (
            value
            if isinstance(value, str)
            and str(date.fromisoformat(value)) == value
            else ""
        )
    except ValueError:
        return ""
