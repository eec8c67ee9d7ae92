"""A running Open WebUI with a scripted model behind it and its admin signed in."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from demo.environment import HostEnvironment
from demo.server import HostServer, server_variables
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import CHAT_MODEL, ScriptedModel

# On two cores, which the driver and the model share with it, ten users who never pause make the
# host run into its five seconds for a locked database, with no filter installed too.
PATIENT_SQLITE = {"DATABASE_SQLITE_PRAGMA_BUSY_TIMEOUT": "30000"}

# A search engine and an image engine that the page may ask for; what is found stands in for the
# pages, so that nothing leaves the machine. The same names on every supported release.
ENGINES = {
    "ENABLE_WEB_SEARCH": "true",
    "WEB_SEARCH_ENGINE": "external",
    "EXTERNAL_WEB_SEARCH_URL": "{model_url}/search",
    "BYPASS_WEB_SEARCH_WEB_LOADER": "true",
    "ENABLE_IMAGE_GENERATION": "true",
    "IMAGE_GENERATION_ENGINE": "openai",
    "IMAGES_OPENAI_API_BASE_URL": "{model_url}",
    "IMAGES_OPENAI_API_KEY": "none",
}

# A test that is not about waiting for further messages waits for none, and none that is not about
# time limits fails because the machine is busy.
HASTY: dict[str, Any] = {
    "extraction_debounce_seconds": 0,
    "inlet_timeout_seconds": 15,
}

_accounts = itertools.count(1)

_OUR_TABLE = "adaptive_memory_entries"
# How long the work behind a test's last turn may still take before it is cut off.
_FAREWELL_SECONDS = 1.0
_WATCHER = Path(__file__).parents[1] / "watcher_action.py"


@dataclass(slots=True)
class InstalledFilter:
    """A filter function on a host, handled as its admin does in the panel.

    It knows of itself whether it is ``installed`` and ``on``, and whether its code was ``changed``.
    """

    admin: Page
    id: str
    installed: bool = True
    on: bool = False
    changed: bool = False

    async def update(self, source: Path | str) -> None:
        """Save new code; the host loads it for the next request."""
        self.changed = True
        await self.admin.request(
            "POST",
            f"/api/v1/functions/id/{self.id}/update",
            _function(self.id, source),
        )

    async def set_valves(self, valves: Mapping[str, Any]) -> None:
        """Save the admin's valves; those not named go back to what tests begin with."""
        await self.admin.request(
            "POST",
            f"/api/v1/functions/id/{self.id}/valves/update",
            {**HASTY, **valves},
        )

    async def set_user_valves(
        self, page: Page, valves: Mapping[str, Any]
    ) -> None:
        """Save a user's own valves, as the user does."""
        await page.request(
            "POST",
            f"/api/v1/functions/id/{self.id}/valves/user/update",
            dict(valves),
        )

    async def switch(self, on: bool) -> None:
        """Switch the function on or off."""
        if on != self.on:
            await self.admin.request(
                "POST", f"/api/v1/functions/id/{self.id}/toggle"
            )
            self.on = on

    async def uninstall(self) -> None:
        """Delete the function."""
        self.installed = False
        await self.admin.request(
            "DELETE", f"/api/v1/functions/id/{self.id}/delete"
        )


@dataclass(slots=True, eq=False)
class RunningHost:
    """The server, the model behind it, and everything a test may ask of both."""

    # Those that run right now, and how long each one's log was when the test began.
    running: ClassVar[dict[RunningHost, int]] = {}

    server: HostServer
    model: ScriptedModel
    admin: Page
    _pages: list[Page] = field(default_factory=list[Page])
    _filters: list[InstalledFilter] = field(
        default_factory=list[InstalledFilter]
    )
    _kept: InstalledFilter | None = None
    _watched: bool = False

    @classmethod
    async def start(
        cls,
        environment: HostEnvironment,
        data: Path,
        variables: Mapping[str, str] | None = None,
        *,
        model: ScriptedModel | None = None,
    ) -> RunningHost:
        """Start a model and a host on an empty folder and sign up the host's admin.

        ``variables`` are environment variables of the server on top of the usual ones; in their
        values ``{model_url}`` stands for the scripted model's address. A ``model`` that is given
        has been started already; it stops with the host.
        """
        if model is None:
            model = ScriptedModel()
            await model.start()
        usual = server_variables(environment, data, model.url)
        extra = {**PATIENT_SQLITE, **ENGINES, **(variables or {})}
        extra = {
            name: value.replace("{model_url}", model.url)
            for name, value in extra.items()
        }
        server = HostServer(environment, data, {**usual, **extra})
        try:
            server.spawn()
            await server.wait_until_healthy()
            admin = await Page.sign_up(
                server.url, "Admin", "admin@example.com"
            )
        except BaseException:
            await asyncio.to_thread(server.kill)
            await model.stop()
            raise
        host = cls(server, model, admin)
        cls.running[host] = 0
        return host

    @classmethod
    @asynccontextmanager
    async def running_on(
        cls,
        environment: HostEnvironment,
        data: Path,
        *variables: Mapping[str, str],
        **how: Any,
    ) -> AsyncIterator[RunningHost]:
        """What ``start`` gives, stopped in the end."""
        host = await cls.start(environment, data, *variables, **how)
        try:
            yield host
        finally:
            await host.stop()

    async def stop(self) -> None:
        """Sign everybody off and stop the server and the model."""
        del self.running[self]
        for page in [*self._pages, self.admin]:
            await page.close()
        # The model first lets go of what hangs, or the server would wait for it.
        self.model.reset()
        await asyncio.to_thread(self.server.stop)
        await self.model.stop()

    @property
    def version(self) -> str:
        return self.server.environment.version

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def database(self) -> Path:
        """The host's SQLite database."""
        return self.server.data / "webui.db"

    def query(
        self, statement: str, *parameters: Any, database: Path | None = None
    ) -> list[dict[str, Any]]:
        """Read rows straight from the host's database."""
        address = f"file:{database or self.database}?mode=ro"
        with contextlib.closing(
            sqlite3.connect(address, uri=True, timeout=30)
        ) as connection:
            connection.row_factory = sqlite3.Row
            return [
                dict(row) for row in connection.execute(statement, parameters)
            ]

    def change(self, statement: str, *parameters: Any) -> None:
        """Change the host's database behind its back."""
        with contextlib.closing(
            sqlite3.connect(self.database, timeout=30)
        ) as connection:
            connection.execute(statement, parameters)
            connection.commit()

    def vectors(self, name: str) -> int:
        """How many vectors a collection has in the host's database of them (package chromadb)."""
        return self.count_vectors(
            "SELECT count(*) AS found FROM embeddings"
            " JOIN segments ON embeddings.segment_id = segments.id"
            " JOIN collections ON segments.collection = collections.id WHERE collections.name = ?",
            name,
        )

    def count_vectors(self, statement: str, *parameters: Any) -> int:
        """What is ``found`` by a count in that database."""
        path = self.server.data / "vector_db" / "chroma.sqlite3"
        if not path.exists():
            return 0
        return self.query(statement, *parameters, database=path)[0]["found"]

    def log_text(self, since: int = 0) -> str:
        """What the server has written to its log so far, from a byte that ``log_length`` gave."""
        with self.server.log.open("rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace")

    def log_length(self) -> int:
        """How many bytes the server has written to its log so far."""
        return self.server.log.stat().st_size

    async def user(self, name: str = "user", url: str = "") -> Page:
        """A page signed in to a new account, at another worker if that is named."""
        email = f"{name.lower()}-{next(_accounts)}@example.com"
        page = await self.admin.new_user(name, email, url or self.url)
        self._pages.append(page)
        if url:
            await page.request(
                "GET", "/api/models"
            )  # a worker has read none before it is asked
        return page

    async def install_filter(
        self,
        source: Path | str,
        *,
        function_id: str = "adaptive_memory",
        valves: Mapping[str, Any] | None = None,
        make_global: bool = True,
    ) -> InstalledFilter:
        """Install a filter from a file or from source text and switch it on, for all if wanted."""
        await self.admin.request(
            "POST", "/api/v1/functions/create", _function(function_id, source)
        )
        installed = InstalledFilter(self.admin, function_id)
        self._filters.append(installed)
        if valves:
            await installed.set_valves(valves)
        await installed.switch(on=True)
        if make_global:
            await self.admin.request(
                "POST", f"/api/v1/functions/id/{function_id}/toggle/global"
            )
        return installed

    async def set_valves(self, valves: Mapping[str, Any]) -> None:
        """Save the admin's valves of the filter that stays installed."""
        assert self._kept, "no filter is installed"
        await self._kept.set_valves(valves)

    @asynccontextmanager
    async def admin_settings(
        self, path: str, changes: Mapping[str, Any], *, save_at: str = ""
    ) -> AsyncIterator[None]:
        """Have some settings of a page of the admin panel changed for as long as this lasts.

        Settings in groups are changed one by one: ``{"features": {"memories": False}}``.
        """
        usual = await self.admin.request("GET", path)
        changed = {
            name: {**usual[name], **change}
            if isinstance(change, Mapping)
            else change
            for name, change in changes.items()
        }
        await self.admin.request("POST", save_at or path, {**usual, **changed})
        try:
            yield
        finally:
            await self.admin.request("POST", save_at or path, usual)

    def task_settings(
        self, **changes: Any
    ) -> AbstractAsyncContextManager[None]:
        """Have some settings of the host's own tasks changed for as long as this lasts."""
        path = "/api/v1/tasks/config"
        return self.admin_settings(path, changes, save_at=f"{path}/update")

    async def kept_filter(self, source: Path) -> InstalledFilter:
        """A filter that stays installed from test to test, as new: its own code, usual valves."""
        kept = self._kept
        if kept and kept.installed and kept.changed:
            await kept.uninstall()
        if not kept or not kept.installed:
            kept = self._kept = await self.install_filter(source)
            self._filters.remove(kept)
        await kept.set_valves({})
        await kept.switch(on=True)
        return kept

    @asynccontextmanager
    async def borrowed(self) -> AsyncIterator[RunningHost]:
        """Give the host to one test: what the test opens and installs is gone afterwards.

        So is what the filter still does: it would ask the next test's model.
        """
        pages, filters = len(self._pages), len(self._filters)
        try:
            yield self
        finally:
            self.model.reset()
            while len(self._pages) > pages:
                await self._pages.pop().close()
            while len(self._filters) > filters:
                last = self._filters.pop()
                if last.installed:
                    await last.uninstall()
            if self.query(
                "SELECT 1 FROM sqlite_master WHERE name = ?", _OUR_TABLE
            ):
                self.change(
                    f"DELETE FROM {_OUR_TABLE} WHERE kind = 'waiting'"
                )  # nobody comes back for them
            if self._kept:
                await self._end_work()
            self.model.reset()

    async def switch_kept_filter_off(self) -> None:
        """Let a test have the host alone."""
        if self._kept and self._kept.installed:
            await self._kept.switch(on=False)

    # What a filter does behind the turns

    async def work(self, *, cancel: bool = False) -> list[str]:
        """What the plug-in does behind turns right now: the names of its coroutines."""
        if not self._watched:
            await self.admin.request(
                "POST",
                "/api/v1/functions/create",
                _function("watcher", _WATCHER),
            )
            await self.admin.request(
                "POST", "/api/v1/functions/id/watcher/toggle"
            )
            self._watched = True
        question = {
            "model": CHAT_MODEL,
            "chat_id": "",
            "id": "",
            "session_id": "",
            "module": "function_adaptive_memory",
            "cancel": cancel,
        }
        found = await self.admin.request(
            "POST", "/api/chat/actions/watcher", question
        )
        return found["running"]

    async def rest(self, timeout: float = 20) -> None:
        """Wait until the plug-in does nothing any more: what has not come by then never comes."""
        deadline = time.monotonic() + timeout
        while running := await self.work():
            if time.monotonic() > deadline:
                message = (
                    f"waited {timeout:g} s in vain for the end of {running}"
                )
                raise TimeoutError(message)
            await asyncio.sleep(0.02)

    async def _end_work(self) -> None:
        """Let what is near its end come to it, and cut off what waits for a time."""
        try:
            await self.rest(_FAREWELL_SECONDS)
        except TimeoutError:
            await self.work(cancel=True)
            await self.rest()


def _function(function_id: str, source: Path | str) -> dict[str, Any]:
    content = (
        source.read_text(encoding="utf-8")
        if isinstance(source, Path)
        else source
    )
    return {
        "id": function_id,
        "name": function_id.replace("_", " ").title(),
        "content": content,
        "meta": {"description": function_id, "manifest": {}},
    }
