"""``python -m demo`` runs the demo, ``install`` installs into your own Open WebUI.

``erase-user`` erases what is kept there of an account.

Starts under any bare Python, then goes on under one that has the packages it needs.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import importlib.util
import os
import socket
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PLUGIN = PROJECT / "adaptive_memory.py"

if not (3, 11) <= sys.version_info < (3, 13):
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(f"Open WebUI needs Python 3.11 or 3.12; this is {found}")

from demo.environment import (  # noqa: E402 - older versions of Python cannot read it
    NEWEST,
    cache_folder,
    host_environment,
    installer_python,
    say,
)
from demo.translations import LANGUAGES  # noqa: E402


def main(arguments: list[str]) -> int:
    """Run what the command line asks for and return the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        if parsed.command == "install":
            return _install(parsed)
        if parsed.command == "erase-user":
            return _erase_user(parsed)
        return _serve(parsed)
    except KeyboardInterrupt:
        return 130
    except (
        RuntimeError
    ) as error:  # from the environment or the server, with their own words
        return _complain(str(error))


def _parser() -> argparse.ArgumentParser:
    data = cache_folder() / "demo"
    parser = argparse.ArgumentParser(
        prog="python -m demo",
        description=f"Run a real Open WebUI {NEWEST} with Adaptive Memory installed for everybody,"
        " an account whose login is printed, and a model to chat with.",
        epilog="The model is the one at OPENAI_API_BASE_URL (with OPENAI_API_KEY) or at"
        " OLLAMA_BASE_URL if one of them is set, else a small stand-in that needs no key."
        f" The first run installs Open WebUI into {cache_folder()}:"
        " about 3 GB, 3 to 10 minutes.",
    )
    port = os.environ.get("PORT") or "8080"
    parser.add_argument(
        "--port",
        type=_port,
        default=port,
        help="port on 127.0.0.1, or PORT (%(default)s)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=data,
        help="folder for chats and memories (%(default)s)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="wipe that folder first"
    )
    parser.add_argument(
        "--plugin",
        type=Path,
        default=PLUGIN,
        help="the plug-in's file (%(default)s)",
    )
    commands = parser.add_subparsers(
        dest="command", title="instead of the demo", metavar=""
    )
    install = commands.add_parser(
        "install",
        help="put the plug-in into an existing Open WebUI",
        description="Put the plug-in into an existing Open WebUI over its API. A new function is"
        " switched on; an existing one gets the new code, keeps its valves and stays on or off.",
    )
    install.add_argument(
        "--url", required=True, help="address, as https://chat.example.org"
    )
    install.add_argument(
        "--token",
        required=True,
        help="an admin's JWT or API key, from Settings > Account",
    )
    install.add_argument(
        "--global",
        dest="make_global",
        action="store_true",
        help="switch it on for every model and user (without: for none that is not so already)",
    )
    install.add_argument(
        "--id",
        default="adaptive_memory",
        help="the function's id (%(default)s)",
    )
    install.add_argument(
        "--languages",
        type=_languages,
        default=LANGUAGES,
        metavar="de,fr",
        help=f"of the settings' names, beside English: all of {', '.join(LANGUAGES)}, or none",
    )
    install.add_argument(
        "--file",
        type=Path,
        default=PLUGIN,
        help="the plug-in's file (%(default)s)",
    )
    erase = commands.add_parser(
        "erase-user",
        help="erase what is kept of an account in an Open WebUI on this machine",
        description="Erase an account's memories, their vectors, the index of its past chats, and"
        " all that the plug-in keeps beside them. Run it where Open WebUI is installed, with the"
        " environment variables of its server (DATABASE_URL, VECTOR_DB, ...). Deleted accounts"
        " are swept within a day without it.",
    )
    erase.add_argument(
        "user", help="e-mail address, or id, which a deleted account needs"
    )
    erase.add_argument(
        "--python",
        type=Path,
        help="the interpreter that Open WebUI is installed in (this one)",
    )
    erase.add_argument(
        "--data", type=Path, help="the server's data folder, or DATA_DIR"
    )
    erase.add_argument(
        "--file",
        type=Path,
        default=PLUGIN,
        help="the plug-in's file (%(default)s)",
    )
    erase.add_argument(
        "--yes", action="store_true", help="erase without asking"
    )
    return parser


def _languages(text: str) -> list[str]:
    """The languages that are named; ``ValueError`` for one that there is not."""
    named = text.replace(",", " ").split() if text != "none" else []
    if not set(named) <= set(LANGUAGES):
        raise ValueError(text)
    return named


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 65536:
        raise ValueError(text)
    return port


def _install(parsed: argparse.Namespace) -> int:
    if importlib.util.find_spec("aiohttp") is None:
        _go_on_under(installer_python())
    from demo.install import InstallError, install

    try:
        done = asyncio.run(
            install(
                parsed.url,
                parsed.token,
                parsed.file,
                parsed.id,
                parsed.make_global,
                parsed.languages,
            )
        )
    except InstallError as error:
        return _complain(str(error))
    say("\n".join(done))
    return 0


def _erase_user(parsed: argparse.Namespace) -> int:
    if importlib.util.find_spec("open_webui") is None:
        if parsed.python is None or sys.executable == str(parsed.python):
            return _complain(
                "Open WebUI is not installed in this Python; name the one that"
                " it is installed in with --python"
            )
        _go_on_under(parsed.python)
    if parsed.data:
        os.environ["DATA_DIR"] = str(parsed.data.resolve())
    from demo.erase_user import erase_user
    from demo.install import InstallError

    def agreed(question: str) -> bool:
        """Whether the admin says yes."""
        return parsed.yes or input(f"{question} (yes/no) ") == "yes"

    try:
        say(asyncio.run(erase_user(parsed.user, parsed.file, agreed)))
    except InstallError as error:
        return _complain(str(error))
    return 0


def _serve(parsed: argparse.Namespace) -> int:
    # Told at once, not after minutes of installing.
    if not parsed.plugin.is_file():
        return _complain(
            f"{parsed.plugin} does not exist; `make bundle` builds it"
        )
    if not _is_free(parsed.port):
        return _complain(
            f"Port {parsed.port} is in use; choose another with --port or PORT"
        )
    environment = host_environment(NEWEST)
    if Path(sys.prefix).resolve() != environment.folder.resolve():
        _go_on_under(environment.python)
    from demo.install import InstallError
    from demo.serve import DemoError, serve

    data = parsed.data.expanduser().resolve()
    try:
        asyncio.run(
            serve(parsed.port, data, parsed.plugin, fresh=parsed.fresh)
        )
    except asyncio.CancelledError:  # a closed terminal or a polite kill
        return 143
    except (DemoError, InstallError) as error:
        return _complain(str(error))
    return 0


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server does, or connections of a former run that linger would count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise RuntimeError(
                f"Port {port} cannot be used: {error.strerror}"
            ) from error
    return True


def _go_on_under(python: Path) -> None:
    """Replace this process by the same command under another interpreter."""
    paths = [str(PROJECT), os.environ.get("PYTHONPATH", "")]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    command = [str(python), "-m", "demo", *sys.argv[1:]]
    sys.stdout.flush()
    os.execve(python, command, variables)


def _complain(reason: str) -> int:
    say(f"demo: {reason}", to=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
