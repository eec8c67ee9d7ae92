"""Installed Open WebUI releases as the tests see them: chosen, read without import, driven."""

from __future__ import annotations

import ast
import json
import logging
import re
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from demo.environment import INSTALLABLE, HostEnvironment, cache_folder
from demo.server import server_variables

DEFAULT_RELEASES = "0.12.4,0.9.6"
# Module names of the two packages that the plug-in imports softly.
SOFT_MODULES = ("rapidfuzz", "cachetools")


def chosen_releases(option: str) -> tuple[str, ...]:
    """Releases named by ``--hosts``; raises ``ValueError`` for one that is not supported."""
    if option == "all":
        return INSTALLABLE
    releases = tuple(
        name.strip() for name in option.split(",") if name.strip()
    )
    if unknown := [name for name in releases if name not in INSTALLABLE]:
        message = f"--hosts {option!r}: {unknown} not among {', '.join(INSTALLABLE)} (or all)"
        raise ValueError(message)
    return releases


def release_number(release: str) -> tuple[int, ...]:
    """A release as something to compare: 0.9.6 is before 0.12.4, whatever Python it has."""
    return tuple(int(part) for part in release.partition("-")[0].split("."))


def installed_sources() -> list[Path]:
    """Folders with the ``open_webui`` package of every release that is built on this machine."""
    markers = (cache_folder() / "hosts").glob("open-webui-*-py3.*/.complete")
    return [
        package
        for marker in markers
        for package in marker.parent.glob(
            "lib/python3.*/site-packages/open_webui"
        )
    ]


@cache
def plugin_function(site_packages: Path, name: str) -> Callable[[str], Any]:
    """A function of the host's plug-in loader, taken out of its file without importing the host."""
    file = site_packages / "open_webui" / "utils" / "plugin.py"
    tree = ast.parse(file.read_text(encoding="utf-8"))
    wanted = [
        n
        for n in tree.body
        if isinstance(n, ast.FunctionDef) and n.name == name
    ]
    assert len(wanted) == 1, f"{file} has {len(wanted)} functions {name!r}"
    module = ast.Module(body=[*wanted], type_ignores=[])
    namespace: dict[str, Any] = {"re": re, "log": logging.getLogger("host")}
    exec(compile(module, str(file), "exec", dont_inherit=True), namespace)
    return namespace[name]


def run_in_host(
    host: HostEnvironment,
    script: Path,
    arguments: Mapping[str, object],
    folder: Path,
    *,
    soft_dependencies: bool,
) -> dict[str, Any]:
    """Run a script with the host's interpreter and return the JSON object that it prints last.

    The script gets ``arguments`` as JSON in its first argument. The host keeps its data in
    ``folder``, calls out to nobody, and does not migrate a database that the script never uses.
    """
    variables = server_variables(
        host, folder, "http://127.0.0.1:9", soft_dependencies=soft_dependencies
    )
    variables |= {"ENABLE_DB_MIGRATIONS": "false", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [str(host.python), str(script), json.dumps(arguments)],
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, (
        f"Open WebUI {host.version}:\n{done.stderr[-4000:]}"
    )
    return json.loads(done.stdout.splitlines()[-1])
