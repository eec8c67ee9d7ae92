"""The settings in the language of the page, as ``python -m demo install`` puts them into a host."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import aiohttp
import pytest

from demo.install import install_plugin
from demo.translations import LANGUAGES, translations
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.conftest import PLUGIN

ID = "translated"
FUNCTIONS = "/api/v1/functions"
# The languages of the page that have a table, by the names that the page has for them.
PAGES = {
    "ar": "ar",
    "ar-BH": "ar",
    "de-DE": "de",
    "es-ES": "es",
    "fr-CA": "fr",
    "fr-FR": "fr",
    "hi-IN": "hi",
    "it-IT": "it",
    "ja-JP": "ja",
    "ko-KR": "ko",
    "nl-NL": "nl",
    "pl-PL": "pl",
    "pt-BR": "pt",
    "pt-PT": "pt",
    "ru-RU": "ru",
    "tr-TR": "tr",
    "uk-UA": "uk",
    "zh-CN": "zh",
    "zh-TW": "zh-TW",
}


async def install(
    host: RunningHost, source: str, languages: Collection[str] = LANGUAGES
) -> str:
    """Install the function as from a terminal; what was done."""
    async with aiohttp.ClientSession() as http:
        done = await install_plugin(
            http,
            host.url,
            host.admin.token,
            source,
            function_id=ID,
            languages=languages,
        )
    return "\n".join(done)


async def meta(page: Page) -> dict[str, Any]:
    """What the page has of the function: from the list that it asks for before it opens a panel."""
    functions = await page.request("GET", f"{FUNCTIONS}/")
    (found,) = (one for one in functions if one["id"] == ID)
    return found["meta"]


def shown(
    known: dict[str, Any], language: str, name: str, english: str
) -> str:
    """The text that a page shows (0.11.4 and 0.12.4): its own language's, or that of no country."""
    for key in (language, language.split("-")[0]):
        text = known.get("i18n", {}).get(key, {}).get(name)
        if text:
            return text
    return english


async def panel(page: Page, language: str, kind: str) -> dict[str, str]:
    """The titles of a panel, by valve, in a language."""
    path = "valves/user/spec" if kind == "user_valves" else "valves/spec"
    spec = await page.request("GET", f"{FUNCTIONS}/id/{ID}/{path}")
    known = await meta(page)
    return {
        valve: shown(known, language, f"{kind}.{valve}.title", part["title"])
        for valve, part in spec["properties"].items()
    }


@pytest.mark.every_release
async def test_panels_in_the_language_of_the_page(host: RunningHost) -> None:
    """Admin and user read their panels in their language; an update and a save in the page keep it.

    What an admin has written in the page stays, and so does all else that the host keeps with a
    function. Releases that show no translations are not made to carry any.
    """
    source = PLUGIN.read_text(encoding="utf-8")
    plugin = InstalledFilter(host.admin, ID)
    user = await host.user("ann")
    try:
        told = await install(host, source)
        english = await panel(user, "sv-SE", "user_valves")
        assert english["enabled"] == "Enabled"
        german = await panel(user, "de-DE", "user_valves")
        if not host.admin.release.translates_functions:
            assert german == english
            assert "i18n" not in await meta(user)
            return

        ours = translations()
        assert {*PAGES.values()} == {*ours}
        assert ", ".join(ours) in told
        for language, table in PAGES.items():
            for page, kind in ((host.admin, "valves"), (user, "user_valves")):
                titles = await panel(page, language, kind)
                assert titles == {
                    valve: ours[table][f"{kind}.{valve}.title"]
                    for valve in titles
                }
                assert len(titles) >= 8
        assert "is up to date" in await install(host, source)

        # The admin changes a word and saves in the page, which sends back all that it has.
        own = {"user_valves.enabled.title": "An"}
        saved = await host.admin.request("GET", f"{FUNCTIONS}/id/{ID}")
        saved["meta"]["i18n"]["de-DE"] = own
        saved["meta"]["kept"] = "by the host"
        await host.admin.request(
            "POST",
            f"{FUNCTIONS}/id/{ID}/update",
            {name: saved[name] for name in ("id", "name", "content", "meta")},
        )
        assert "Updated" in await install(host, f"{source}\n")
        known = await meta(user)
        assert known["i18n"] == {**ours, "de-DE": own}
        assert known["kept"] == "by the host"
        german = await panel(user, "de-DE", "user_valves")
        assert german["enabled"] == "An"
        assert german["timezone"] == ours["de"]["user_valves.timezone.title"]

        # Languages that nobody needs go; what is not ours does not.
        await install(host, f"{source}\n", ())
        assert (await meta(user))["i18n"] == {"de-DE": own}
    finally:
        await plugin.uninstall()
