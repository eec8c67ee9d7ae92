"""What the installer decides before it speaks to a host."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

from demo.install import InstallError, frontmatter, install_plugin, read_plugin
from demo.server import free_port
from demo.standin.service import serving_stand_in


def test_the_frontmatter_names_and_describes_the_function() -> None:
    """They come from the docstring at the top; code without one is left for the host to refuse."""
    source = '"""\ntitle: Adaptive Memory\nversion: 1.2.3\ndescription: It remembers: you.\n"""\n'
    assert frontmatter(source) == {
        "title": "Adaptive Memory",
        "version": "1.2.3",
        "description": "It remembers: you.",
    }
    assert frontmatter("import") == {}


def test_a_missing_file_names_the_remedy(tmp_path: Path) -> None:
    """Who has not built the plug-in is told how."""
    with pytest.raises(InstallError, match="make bundle"):
        read_plugin(tmp_path / "adaptive_memory.py")


@pytest.mark.parametrize(
    ("url", "token", "function_id", "reason"),
    [
        ("chat.example.org", "token", "adaptive_memory", "is no address"),
        (
            "http://127.0.0.1",
            "to\nken",
            "adaptive_memory",
            "token holds characters",
        ),
        (
            "http://127.0.0.1",
            "token",
            "adaptive-memory",
            "letters, digits and underscores",
        ),
        (
            f"http://127.0.0.1:{free_port()}",
            "token",
            "adaptive_memory",
            "cannot be reached",
        ),
    ],
    ids=["address", "token", "id", "nobody there"],
)
async def test_what_cannot_work_is_told_plainly(
    url: str, token: str, function_id: str, reason: str
) -> None:
    """A mistake on the command line becomes a sentence, not a traceback."""
    async with aiohttp.ClientSession() as http:
        with pytest.raises(InstallError, match=reason):
            await install_plugin(http, url, token, "", function_id=function_id)


async def test_another_server_is_not_taken_for_open_webui() -> None:
    """An address where something else answers is named as that."""
    async with serving_stand_in() as url, aiohttp.ClientSession() as http:
        with pytest.raises(InstallError, match="not as an Open WebUI does"):
            await install_plugin(http, url, "token", "")
