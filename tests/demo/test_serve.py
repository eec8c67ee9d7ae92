"""What the demo decides before it starts a server."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from demo.__main__ import main
from demo.serve import DemoError, offered_model, prepare_data

VARIABLES = ("OPENAI_API_BASE_URL", "OPENAI_API_KEY", "OLLAMA_BASE_URL")


@pytest.fixture(autouse=True)
def no_model_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


async def test_without_a_model_the_stand_in_is_offered() -> None:
    """A newcomer without any key gets the stand-in, selected."""
    async with offered_model() as model:
        assert model.variables == {"DEFAULT_MODELS": "stand-in"}
        assert model.url.startswith("http://127.0.0.1:")


async def test_an_openai_compatible_endpoint_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The endpoint of the environment is used with its key, which is not printed."""
    monkeypatch.setenv("OPENAI_API_BASE_URL", "https://models.example.org/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:11434")
    async with offered_model() as model:
        assert model.url == "https://models.example.org/v1"
        assert model.variables == {"OPENAI_API_KEY": "secret"}
        assert "https://models.example.org/v1" in model.described
        assert "secret" not in model.described


async def test_ollama_replaces_the_openai_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With Ollama alone, no other provider is asked."""
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:11434")
    async with offered_model() as model:
        assert model.variables == {
            "ENABLE_OLLAMA_API": "true",
            "OLLAMA_BASE_URL": "http://127.0.0.1:11434",
            "ENABLE_OPENAI_API": "false",
        }


def test_fresh_wipes_the_demos_own_data(tmp_path: Path) -> None:
    """A folder that an earlier run made is emptied on request only."""
    data = tmp_path / "demo"
    prepare_data(data, fresh=True)
    (data / "webui.db").touch()
    prepare_data(data, fresh=False)
    assert (data / "webui.db").exists()
    prepare_data(data, fresh=True)
    assert not (data / "webui.db").exists()


def test_fresh_spares_other_folders(tmp_path: Path) -> None:
    """A folder that the demo has not made is never wiped."""
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(DemoError, match="not wiped"):
        prepare_data(tmp_path, fresh=True)
    assert (tmp_path / "thesis.txt").exists()


def test_a_port_in_use_is_told_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The message names the port and the option."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["--plugin", __file__, "--port", port]) == 1
    assert (
        f"Port {port} is in use; choose another with --port"
        in capsys.readouterr().err
    )
