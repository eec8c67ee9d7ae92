"""How well and how fast secrets and injected instructions are told from ordinary texts.

The labelled sets are those of ``tests/privacy``. A third of each (every third sample) was kept
aside while the rules were written.
"""

from __future__ import annotations

import json
import random
import statistics
import string
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from adaptive.memory.gate import Gate
from adaptive.privacy.injection import (
    LONGEST_CANDIDATE,
    escaped_entry,
    injection_reason,
)
from adaptive.privacy.secrets import find_secrets
from adaptive.settings.merged import Settings
from adaptive.settings.valves import Valves
from benchmarks.figures import say, write_results
from tests.privacy.made_up_secrets import made_up_secrets

SETS = Path(__file__).resolve().parent.parent / "tests" / "privacy"
SIZE = 100_000
ROUNDS = 5
ASIDE = 3
REPEATED = (
    *(
        "a",
        "A1",
        "aB3_",
        "sk-",
        "sk-a",
        "ghp_",
        "eyJ",
        "eyJaaaaaaaaaaaaa.",
        "://",
        "http://a:b@",
    ),
    *(
        "password ",
        "password: ",
        "password is ",
        "token ",
        "token: ",
        "the key is a ",
        "PIN 12 ",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "- BEGIN ",
        "cookie: a=b;",
        "session=",
        "x-a-key:",
        "0x",
    ),
    *(
        "authorization: bearer ",
        "seed phrase: ",
        "abandon ",
        "abc\n",
        "=\n> ",
        "\u200b",
        "\uff41",
    ),
    *(
        "\u0430",
        "\u043a\u043b\u044e\u0447 ",
        "--password ",
        "mysql -p",
        " ",
        "\n",
        "<",
        "[",
        "EAA",
    ),
    *("M", "12345678:AA", "word word word the "),
)


def main() -> None:
    """Write ``results/guard.json``."""
    figures: dict[str, Any] = {
        "secrets": _secrets(),
        "injection": _injection(),
        "speed": _speed(),
    }
    say(json.dumps(figures, indent=2))
    write_results("guard", figures)


def _near_secrets() -> list[str]:
    return json.loads(
        (SETS.parent / "labelled" / "near_secrets.json").read_text(
            encoding="utf-8"
        )
    )


def _secrets() -> dict[str, Any]:
    positives = [sample.text for sample in made_up_secrets()]
    negatives = _near_secrets()
    return {
        name: _quality(
            part(positives),
            part(negatives),
            lambda text: bool(find_secrets(text)),
        )
        for name, part in (("all", _all), ("kept_aside", _aside))
    }


def _injection() -> dict[str, Any]:
    attacks = _read("red_team.json")
    harmless = [one["text"] for one in _read("look_alikes.json")]

    def refused(text: Any) -> bool:
        parts = [text] if isinstance(text, str) else text["parts"]
        return any(map(injection_reason, parts))

    return {
        name: _quality(part(attacks), part(harmless), refused)
        for name, part in (("all", _all), ("kept_aside", _aside))
    }


def _quality(
    positives: Sequence[Any],
    negatives: Sequence[Any],
    taken: Callable[[Any], bool],
) -> dict[str, Any]:
    found = sum(taken(one) for one in positives)
    wrong = sum(taken(one) for one in negatives)
    return {
        "positives": len(positives),
        "near_misses": len(negatives),
        "recall": round(found / len(positives), 4),
        "precision": round(found / (found + wrong), 4),
        "near_misses_taken": wrong,
    }


def _speed() -> dict[str, Any]:
    """Milliseconds of processor time; the worst of odd texts against ordinary ones."""
    chance = random.Random(5)
    lines = [one["text"] for one in _read("look_alikes.json")]
    ordinary = [
        "\n".join(chance.choices(lines, k=4000))[:SIZE] for _ in range(ROUNDS)
    ]
    worst = {
        text: (text * (SIZE // len(text) + 1))[:SIZE] for text in REPEATED
    }
    worst["near misses"] = "\n".join(chance.choices(_near_secrets(), k=2500))[
        :SIZE
    ]
    allowed = [line for line in lines if not injection_reason(line)]
    worst["harmless look-alikes"] = "\n".join(chance.choices(allowed, k=4000))[
        :SIZE
    ]
    worst["chance"] = "".join(chance.choices(string.printable, k=SIZE))
    figures: dict[str, Any] = {}
    for name, work, size in (
        ("find_secrets", find_secrets, SIZE),
        ("escaped_entry", escaped_entry, SIZE),
        ("injection_reason", injection_reason, LONGEST_CANDIDATE),
    ):
        work(ordinary[0][:size])
        median = statistics.median(
            _milliseconds(work, text[:size]) for text in ordinary
        )
        times = {
            label: _milliseconds(work, text[:size])
            for label, text in worst.items()
        }
        slowest = max(times, key=lambda label: times[label])
        figures[name] = {
            "characters": size,
            "median_ms": round(median, 2),
            "worst_ms": round(times[slowest], 2),
            "worst_input": f"{slowest!r} repeated",
            "ratio": round(times[slowest] / median, 1),
        }
    memories = [one["text"] for one in _read("look_alikes.json")]
    policy = Gate(Settings.merge(Valves(pii_redaction="off"), None))
    spent = [
        _milliseconds(lambda text: policy.judged(text), text)
        for text in memories * ROUNDS
    ]
    figures["gate_of_one_memory_ms"] = round(statistics.median(spent), 3)
    return figures


def _milliseconds(work: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    work(text)
    return (time.process_time() - begun) * 1000


def _read(name: str) -> list[dict[str, Any]]:
    return json.loads((SETS / name).read_text(encoding="utf-8"))


def _all(samples: Sequence[Any]) -> Sequence[Any]:
    return samples


def _aside(samples: Sequence[Any]) -> Sequence[Any]:
    return samples[ASIDE - 1 :: ASIDE]
