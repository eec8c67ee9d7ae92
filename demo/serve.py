"""Open WebUI with the plug-in installed, an account and a model, until Ctrl-C.

Runs under the Python of the host environment, which ``demo.__main__`` builds and changes to.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import aiohttp

from demo.environment import (
    NEWEST,
    HostEnvironment,
    host_environment,
    say,
    showing_progress,
)
from demo.install import install_plugin, read_plugin
from demo.server import HostServer, server_variables
from demo.standin.service import MODEL, serving_stand_in

EMAIL = "demo@adaptive-memory.local"
PASSWORD = "remember-me"  # noqa: S105 - printed on purpose: it opens a server on loopback only

# Only a folder that holds this file is ever wiped.
_MARKER = ".adaptive-memory-demo"
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class DemoError(Exception):
    """The demo cannot run; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Model:
    """Where answers come from: what a person is told, and what the server is told."""

    described: str
    url: str
    variables: Mapping[str, str]


async def serve(port: int, data: Path, plugin: Path, *, fresh: bool) -> None:
    """Start everything, say how to use it, and stop everything when this task is cancelled.

    Raises ``DemoError``, ``InstallError`` or ``RuntimeError`` when it cannot be started.
    """
    _cancel_on_signals()
    source = read_plugin(plugin)
    prepare_data(data, fresh=fresh)
    environment = host_environment(NEWEST)
    async with offered_model() as model:
        variables = {
            **server_variables(environment, data, model.url),
            "WEBUI_NAME": "Adaptive Memory demo",
            "DEFAULT_INTERFACE_SETTINGS": json.dumps({"showChangelog": False}),
            **model.variables,
        }
        server = HostServer(environment, data, variables, port)
        try:
            await _start(server)
            done = await _set_up(server.url, source)
            say(_welcome(server, environment, model, done))
            code = await asyncio.to_thread(server.wait)
            raise DemoError(
                f"Open WebUI ended by itself ({code}):\n{server.log_tail()}"
            )
        finally:
            with suppress(OSError):  # a closed terminal has nobody to tell
                say("\nStopping Open WebUI ...")
            _stop(server)


def _cancel_on_signals() -> None:
    """Treat a closed terminal and a polite kill as Ctrl-C, which asyncio turns into cancelling."""
    task = asyncio.current_task()
    assert task is not None
    for number in _SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def _stop(server: HostServer) -> None:
    try:
        server.stop()
    except BaseException:  # a second Ctrl-C: nothing may be left running
        server.kill()
        raise


def prepare_data(data: Path, *, fresh: bool) -> None:
    """Make the data folder, wiping a former one of this demo, and no other folder, if asked."""
    if fresh and data.exists():
        if any(data.iterdir()) and not (data / _MARKER).exists():
            raise DemoError(
                f"{data} is not a data folder of this demo, so it is not wiped"
            )
        shutil.rmtree(data)
    data.mkdir(parents=True, exist_ok=True)
    (data / _MARKER).touch()


@asynccontextmanager
async def offered_model() -> AsyncIterator[Model]:
    """The model that the environment names, else the stand-in, running while the context lasts."""
    openai, ollama = (
        os.environ.get("OPENAI_API_BASE_URL"),
        os.environ.get("OLLAMA_BASE_URL"),
    )
    if openai:
        key = os.environ.get("OPENAI_API_KEY") or "none"
        yield Model(
            f"those of {openai} (OPENAI_API_BASE_URL)",
            openai,
            {"OPENAI_API_KEY": key},
        )
    elif ollama:
        variables = {
            "ENABLE_OLLAMA_API": "true",
            "OLLAMA_BASE_URL": ollama,
            "ENABLE_OPENAI_API": "false",
        }
        yield Model(f"those of {ollama} (OLLAMA_BASE_URL)", "", variables)
    else:
        async with serving_stand_in() as url:
            yield Model(
                f"{MODEL}, a small built-in imitation that needs no key; set OPENAI_API_BASE_URL"
                "\n            and OPENAI_API_KEY, or OLLAMA_BASE_URL, for a real one",
                url,
                {"DEFAULT_MODELS": MODEL},
            )


async def _start(server: HostServer) -> None:
    say(
        f"Starting Open WebUI {server.environment.version} (15 to 60 seconds; log: {server.log})"
    )
    with showing_progress("starting", lambda: ""):
        server.spawn()
        await server.wait_until_healthy()


async def _set_up(url: str, source: str) -> list[str]:
    """Make the account where it is missing and install the plug-in for everybody."""
    async with aiohttp.ClientSession() as http:
        token = await _signed_in(http, url)
        return await install_plugin(http, url, token, source, make_global=True)


async def _signed_in(http: aiohttp.ClientSession, url: str) -> str:
    account = {"email": EMAIL, "password": PASSWORD}
    reply: object = None
    # The first account that signs up becomes the admin; from the second start on it exists.
    for way, form in (
        ("signin", account),
        ("signup", {**account, "name": "Demo"}),
    ):
        async with http.post(
            f"{url}/api/v1/auths/{way}", json=form
        ) as response:
            reply = await response.json()
            if response.status == 200:
                return cast("dict[str, Any]", reply)["token"]
    raise DemoError(
        f"The account {EMAIL} can neither sign in nor be made ({reply}); its password may have"
        " been changed. --fresh starts over with an empty data folder."
    )


def _welcome(
    server: HostServer,
    environment: HostEnvironment,
    model: Model,
    done: list[str],
) -> str:
    steps = "\n".join(f"  {line}" for line in done)
    return f"""\
{steps}

Open WebUI {environment.version} with Adaptive Memory is running.

  Address   {server.url}
  Login     {EMAIL}
  Password  {PASSWORD}
  Model     {model.described}
  Data      {server.data}

Try this:

  1. Send "I'm learning the cello." and read the line above the answer: it says what was saved.
  2. Start a new chat and ask "Which instrument am I learning?".
  3. Send "Forget that I am learning the cello.", and look at what is left under
     Settings > Personalization.

Ctrl-C stops it."""
