"""What users read comes in the language of their page: lines, answers of commands, questions."""

from __future__ import annotations

import pytest

from tests.e2e.driver.extraction import learns, new, operations
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.scenarios.test_commands import answered

PORTO = "User lives in Porto."
# Of each page: its language, a status line, the beginning of an answer, and the title of a question.
READERS = {
    "de-DE": (
        "Gespeichert",
        "1 Erinnerung",
        "Löschen: alles, was über Sie gespeichert ist?",
    ),
    "ja-JP": (
        "保存しました",
        "メモリ 1 件",
        "あなたについての記憶すべてを消去しますか？",
    ),
}


@pytest.mark.every_release
async def test_pages_of_two_languages(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """Two users at one server each read their own language, whoever of them is served first."""
    learns(host.model, "Porto", operations(new(PORTO, tags=["identity"])))
    for language, (line, found, question) in READERS.items():
        page = await host.user(language[:2])
        page.language = language
        await page.say("I live in Porto.", f"{line}: {PORTO}")
        answer = await answered(page.new_chat(), "/memory find Porto")
        assert answer.startswith(found)
        page.answers["input"] = "erase"
        await answered(page.new_chat(), "/forget everything")
        (asked,) = page.questions("input")
        assert asked["title"] == question
        assert await page.memories() == []
