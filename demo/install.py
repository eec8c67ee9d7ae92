"""Put the plug-in into an existing Open WebUI over its API: create or update, never switch off.

The API is the same on every supported release: ``list`` tells whether the token is an admin's,
``id/{id}`` the function's state, and the two toggles only ever flip, so the state is read first.
"""

from __future__ import annotations

import ast
import io
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import aiohttp

from demo.translations import LANGUAGES, Translations, translated

FUNCTION_ID = "adaptive_memory"

_FUNCTIONS = "/api/v1/functions"
# The first release whose page shows texts in its language.
_FIRST_TRANSLATED = (0, 11, 4)
# The host imports the new code before it answers.
_PATIENCE = aiohttp.ClientTimeout(total=300, sock_connect=20)

Json = dict[str, Any]


class InstallError(Exception):
    """The plug-in could not be installed; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Host:
    """The API of one Open WebUI, spoken to with one token."""

    http: aiohttp.ClientSession
    url: str
    token: str

    async def call(
        self, method: str, path: str, body: Json | None = None
    ) -> tuple[int, object]:
        """Status and decoded JSON of one request; raises ``InstallError`` where nobody answers."""
        address = self.url.rstrip("/") + path
        headers = {"Authorization": f"Bearer {self.token}"}
        sent = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            sent = io.BytesIO(
                json.dumps(body).encode()
            )  # aiohttp warns of large texts
        try:
            async with self.http.request(
                method,
                address,
                data=sent,
                headers=headers,
                timeout=_PATIENCE,
                # A followed redirect would turn a change into a mere question.
                allow_redirects=False,
            ) as response:
                if "Location" in response.headers:
                    target = response.headers["Location"].removesuffix(path)
                    raise InstallError(
                        f"{self.url} redirects to {target}; give that address"
                    )
                return response.status, cast("object", await response.json())
        except (aiohttp.ContentTypeError, json.JSONDecodeError) as error:
            raise InstallError(
                f"{self.url} answers, but not as an Open WebUI does ({error})"
            ) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            reason = str(error) or type(error).__name__
            raise InstallError(
                f"Open WebUI cannot be reached at {self.url}: {reason}"
            ) from error

    async def changed(self, path: str, body: Json | None = None) -> Json:
        """The function as it is after a change; raises ``InstallError`` with the host's reason."""
        status, reply = await self.call("POST", _FUNCTIONS + path, body)
        if status != 200 or not isinstance(reply, dict):
            raise InstallError(
                f"Open WebUI refused the change ({status}): {_detail(reply)}"
            )
        return cast("Json", reply)

    async def shows_translations(self) -> bool:
        """Whether its page shows a function's texts in its language; elsewhere they only weigh."""
        _, reply = await self.call("GET", "/api/version")
        version = reply.get("version") if isinstance(reply, dict) else None
        numbers = re.findall(r"\d+", f"{version}")
        return tuple(map(int, numbers)) >= _FIRST_TRANSLATED


async def install_plugin(
    http: aiohttp.ClientSession,
    url: str,
    token: str,
    source: str,
    *,
    function_id: str = FUNCTION_ID,
    make_global: bool = False,
    languages: Collection[str] = LANGUAGES,
) -> list[str]:
    """Create or update the function and return what was done, a line each.

    A new function is switched on. An existing one keeps its valves and stays on or off as it is;
    it becomes global only with ``make_global`` and is never taken back. Its valves are named in
    these ``languages`` where the host shows that. Raises ``InstallError``.
    """
    if not function_id.isidentifier():
        raise InstallError(
            f"The id {function_id!r} may hold only letters, digits and underscores"
        )
    function_id = function_id.lower()  # as the host does when it creates
    if not url.startswith(("http://", "https://")):
        raise InstallError(
            f"{url!r} is no address; one looks like https://chat.example.org"
        )
    if not (token.isascii() and token.isprintable()):
        raise InstallError(
            "The token holds characters that no token has; copy it once more"
        )
    host = Host(http, url, token)
    await _require_admin(host)
    # A missing function is answered with 401, as is a missing right; that one is ruled out by now.
    status, reply = await host.call("GET", f"{_FUNCTIONS}/id/{function_id}")
    existing = (
        cast("Json", reply)
        if status == 200 and isinstance(reply, dict)
        else None
    )
    if not await host.shows_translations():
        languages = ()
    stored = (existing["meta"] or {}).get("i18n") if existing else None
    i18n = translated(stored or {}, languages)
    if existing is None:
        done, function = await _create(host, function_id, source, i18n)
    else:
        done, function = await _update(host, existing, source, i18n)
    if i18n:
        done.append(f"Its settings are shown in {', '.join(i18n)}, too.")
    if make_global and not function.get("is_global"):
        function = await host.changed(f"/id/{function_id}/toggle/global")
        done.append("Made it global: for every model and user.")
    elif function.get("is_global"):
        done.append("It is global: for every model and user.")
    else:
        done.append(
            "It is not global: choose it for single models under Admin Panel > Settings > Models,"
            " or run this again with --global."
        )
    return done


async def _require_admin(host: Host) -> None:
    status, reply = await host.call("GET", f"{_FUNCTIONS}/list")
    if status in (401, 403):
        raise InstallError(
            f"The token is not valid or not of an admin ({status}: {_detail(reply)})."
            " An admin's token stands in Open WebUI under Settings > Account."
        )
    if status != 200 or not isinstance(reply, list):
        raise InstallError(
            f"{host.url} answers, but not as an Open WebUI does ({status}: {_detail(reply)})"
        )


async def _create(
    host: Host, function_id: str, source: str, i18n: Translations
) -> tuple[list[str], Json]:
    described = frontmatter(source)
    form = {
        "id": function_id,
        "name": described.get("title", function_id),
        "content": source,
        "meta": {
            "description": described.get("description", ""),
            "manifest": {},
            **_translated_meta(i18n),
        },
    }
    function = await host.changed("/create", form)
    done = [f"Created the function {function_id}{_version(described)}."]
    if not function.get("is_active"):
        function = await host.changed(f"/id/{function_id}/toggle")
    done.append("Switched it on.")
    return done, function


async def _update(
    host: Host, existing: Json, source: str, i18n: Translations
) -> tuple[list[str], Json]:
    function_id = existing["id"]
    described = frontmatter(source)
    before = _version(frontmatter(existing.get("content") or ""))
    is_translated = ((existing["meta"] or {}).get("i18n") or {}) == i18n
    if existing.get("content") == source and is_translated:
        function, done = (
            existing,
            [f"The function {function_id}{before} is up to date."],
        )
    else:
        # The host works these two out of the new code.
        meta = {
            k: v
            for k, v in (existing["meta"] or {}).items()
            if k not in ("manifest", "toggle", "i18n")
        }
        description = (
            described.get("description") or meta.get("description") or ""
        )
        form = {
            "id": function_id,
            "name": existing["name"],
            "content": source,
            "meta": {
                **meta,
                **_translated_meta(i18n),
                "description": description,
                "manifest": {},
            },
        }
        function = await host.changed(f"/id/{function_id}/update", form)
        done = [
            f"Updated the function {function_id} from{before or ' a version without number'}"
            f" to{_version(described) or ' one without number'}; its valves are kept."
        ]
    if not function.get("is_active"):
        done.append(
            "It is switched off, and was left so; switch it on under Admin Panel > Functions."
        )
    return done, function


def _translated_meta(i18n: Translations) -> Json:
    """What a function's meta holds of its texts in other languages."""
    return {"i18n": i18n} if i18n else {}


def frontmatter(source: str) -> Mapping[str, str]:
    """The ``key: value`` lines at the top of a function's module docstring."""
    try:
        text = ast.get_docstring(ast.parse(source)) or ""
    except (SyntaxError, ValueError):
        return {}
    pairs = (
        re.fullmatch(r"\s*([a-z_]+):\s*(.*?)\s*", line)
        for line in text.splitlines()
    )
    return {pair[1]: pair[2] for pair in pairs if pair}


def read_plugin(file: Path) -> str:
    """Source of the built plug-in; raises ``InstallError`` naming the remedy where it is absent."""
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InstallError(
            f"{file} does not exist; `make bundle` builds it"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InstallError(f"{file} cannot be read: {error}") from error


def _version(described: Mapping[str, str]) -> str:
    return f" {described['version']}" if described.get("version") else ""


def _detail(reply: object) -> str:
    """The host's own reason, where its answer holds one."""
    detail = (
        cast("Json", reply).get("detail") if isinstance(reply, dict) else None
    )
    return str(detail or reply)[:500]


async def install(
    url: str,
    token: str,
    file: Path,
    function_id: str,
    make_global: bool,
    languages: Collection[str],
) -> list[str]:
    """Install the plug-in from a file; returns what was done, raises ``InstallError``."""
    source = read_plugin(file)
    async with aiohttp.ClientSession(trust_env=True) as http:
        return await install_plugin(
            http,
            url,
            token,
            source,
            function_id=function_id,
            make_global=make_global,
            languages=languages,
        )
