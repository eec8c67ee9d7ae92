"""Secrets in a text: found by who issued them, by their form and by the word that names them.

They are never a memory, and no status, log, table or request of ours carries them. A finding knows
where a secret stands and of what kind it is; it does not hold it, so no reason can repeat it.
"""

from __future__ import annotations

from dataclasses import dataclass

from adaptive.privacy.scanning import plain_text
from adaptive.privacy.secret_forms import formed_secrets
from adaptive.privacy.secret_names import named_secrets

SECRET_MARK = "[secret removed]"  # noqa: S105 - the mark in its place


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """A span of the text as it was given, and what kind of secret stands there."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[SecretFinding, ...]:
    """All secrets in a text, in its order, none within or over another; linear in the text."""
    seen, places = plain_text(text)
    spans = [*formed_secrets(seen), *named_secrets(seen)]
    found: list[SecretFinding] = []
    for kind, start, end in sorted(spans, key=lambda span: (span[1], -span[2])):
        first, last = places[start], places[end - 1] + 1
        if found and first < found[-1].end:
            former = found.pop()
            kind, first, last = former.kind, former.start, max(former.end, last)
        found.append(SecretFinding(kind, first, last))
    return tuple(found)


def without_secrets(text: str) -> str:
    """The text with a fixed mark in the place of each secret; itself where there is none."""
    found = find_secrets(text)
    starts, ends = [one.start for one in found], [one.end for one in found]
    kept = zip([0, *ends], [*starts, len(text)], strict=True)
    return SECRET_MARK.join(text[start:end] for start, end in kept)


def secret_reason(findings: tuple[SecretFinding, ...]) -> str:
    """Why a text with these secrets is not kept, in words for its user, without the secrets."""
    kinds = list(dict.fromkeys(finding.kind for finding in findings))[:2]
    if not kinds:
        return ""
    article = "an" if kinds[0][0] in "aeioAEIO" else "a"
    told = " and ".join(kinds)
    return f"it holds what looks like {article} {told}; secrets are never remembered"
