"""What happens where the host's modules are not to be had, or are not those we know."""

from __future__ import annotations

import importlib.util

import pytest

from adaptive.errors import TablesUnavailable
from adaptive.host.chat_table import HostChatTable
from adaptive.host.release import host_is_supported
from adaptive.host.vector_table import HostVectorTable


def test_there_is_no_host_here() -> None:
    """These tests run without Open WebUI; with it they would prove nothing."""
    assert importlib.util.find_spec("open_webui") is None


def test_no_supported_host() -> None:
    """A host whose modules can't be imported is not supported, and nothing is raised."""
    assert host_is_supported() is False


async def test_no_vector_table() -> None:
    """The same holds for vectors, which are then kept in the process."""
    table = HostVectorTable()
    with pytest.raises(TablesUnavailable, match="reading vectors"):
        await table.read("ada", "e")
    with pytest.raises(TablesUnavailable, match="writing vectors"):
        await table.write("ada", "e", {})
    with pytest.raises(TablesUnavailable, match="dropping vectors"):
        await table.keep_only("ada", "e", [])


async def test_no_chat_table() -> None:
    """The same holds for what was injected into each chat."""
    table = HostChatTable()
    with pytest.raises(TablesUnavailable, match="reading the chat's state"):
        await table.read("ada", "c")
    with pytest.raises(TablesUnavailable, match="writing the chat's state"):
        await table.write("ada", "c", "", 0)
