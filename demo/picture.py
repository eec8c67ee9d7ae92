"""``python -m demo.picture`` makes the README's pictures: a real browser in a real demo.

It needs Chromium on the path (``apt-get install chromium``). In ``docs/`` it writes
``learning-and-recalling.gif``, the answer to a command in ``commands.png`` and, as a phone shows
both, ``phone.png`` and ``commands-phone.png``.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from demo.environment import browser_python, say

PROJECT = Path(__file__).resolve().parent.parent
GIF = PROJECT / "docs" / "learning-and-recalling.gif"
PHONE = PROJECT / "docs" / "phone.png"
COMMANDS = PROJECT / "docs" / "commands.png"

TOLD = "I'm learning the cello."
ASKED = "Which instrument am I learning?"

_PORT = int(os.environ.get("PORT") or 8097)
_DESKTOP = {"width": 760, "height": 430}
_PAGE = {"width": 900, "height": 760}
_TELEPHONE = {"width": 390, "height": 620}
_COLOURS = 96

# Frames of a film: a PNG, and how many milliseconds it stays.
Frames = list[tuple[bytes, int]]
_INPUT = "#chat-input"
_SEND = "#send-message-button"
_STATUS = ".status-description"


def main() -> None:
    """Make the pictures; raises ``RuntimeError`` without a browser, or when the demo won't run."""
    python = browser_python()
    if Path(sys.prefix).resolve() != python.parent.parent.resolve():
        os.execve(
            python, [str(python), "-m", "demo.picture"], dict(os.environ)
        )
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        raise RuntimeError(
            "There is no Chromium on the path; `apt-get install chromium`"
        )
    with (
        tempfile.TemporaryDirectory() as data,
        _demo(Path(data) / "demo") as url,
    ):
        _film(browser, url)


@contextmanager
def _demo(data: Path) -> Iterator[str]:
    command = [
        "python3",
        "-m",
        "demo",
        "--port",
        str(_PORT),
        "--data",
        str(data),
    ]
    with subprocess.Popen(
        command, cwd=PROJECT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                say(line.rstrip())
                if "Ctrl-C stops it" in line:
                    break
            else:
                raise RuntimeError("The demo did not start")
            yield f"http://127.0.0.1:{_PORT}"
        finally:
            process.terminate()


def _film(browser: str, url: str) -> None:
    """Tell a fact, ask for it in a new chat, and take pictures on the way."""
    from demo.serve import EMAIL, PASSWORD

    # Only the environment that `browser_python` builds has it.
    driver: Any = importlib.import_module("playwright.sync_api")
    with driver.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox"]
        )
        page = chromium.new_page(viewport=_DESKTOP)
        account = {"email": EMAIL, "password": PASSWORD}
        signed_in = page.request.post(
            f"{url}/api/v1/auths/signin", data=account
        ).json()
        page.add_init_script(f"localStorage.token = {signed_in['token']!r}")
        frames: Frames = []
        _converse(page, url, TOLD, "Saved", frames)
        _converse(page, url, ASKED, "recalled", frames)
        _write_gif(frames)

        phone = chromium.new_page(
            viewport=_TELEPHONE,
            device_scale_factor=2,
            is_mobile=True,
            has_touch=True,
        )
        phone.add_init_script(f"localStorage.token = {signed_in['token']!r}")
        _converse(phone, url, "I've been a nurse for nine years.", "Saved", [])
        phone.screenshot(path=str(PHONE))
        _show_memories(phone, url)
        _write_png(phone.screenshot(), PHONE.with_name("commands-phone.png"))
        page.set_viewport_size(_PAGE)
        _show_memories(page, url)
        _write_png(page.screenshot(), COMMANDS)
        chromium.close()
    say(
        f"{GIF.relative_to(PROJECT)}: {GIF.stat().st_size // 1000} kB, {PHONE.name}"
    )


def _show_memories(page: Any, url: str) -> None:
    """Ask what is known, and wait for the page that shows it."""
    _converse(page, url, "/memory", "", [], selector="iframe[srcdoc]")
    page.wait_for_timeout(1000)


def _converse(
    page: Any,
    url: str,
    words: str,
    status: str,
    frames: Frames,
    selector: str = "",
) -> None:
    """Send words in a new chat and wait for the line that says so; each frame with its time."""

    def shot(milliseconds: int) -> None:
        """One more frame of the film."""
        frames.append((page.screenshot(), milliseconds))

    page.goto(url)
    page.wait_for_selector(_INPUT)
    page.wait_for_timeout(1500)
    shot(700)
    page.click(_INPUT)
    for at in range(0, len(words), 4):
        page.keyboard.type(words[at : at + 4])
        shot(130)
    shot(500)
    page.click(_SEND)  # on a phone the Enter key begins a line
    for _ in range(4):
        page.wait_for_timeout(250)
        shot(250)
    page.wait_for_selector(
        selector or f"{_STATUS}:has-text('{status}')", timeout=60_000
    )
    page.wait_for_timeout(1500)
    shot(3500)


def _write_png(screenshot: bytes, file: Path) -> None:
    """Write a picture with few colours, which is half as large and looks the same."""
    from PIL import Image

    image = Image.open(BytesIO(screenshot)).convert("RGB")
    few = image.quantize(_COLOURS, dither=Image.Dither.NONE)
    few.save(file, optimize=True)


def _write_gif(frames: Frames) -> None:
    from PIL import Image

    images = [Image.open(BytesIO(png)).convert("RGB") for png, _ in frames]
    # One palette for all, or still parts would flicker.
    palette = images[-1].quantize(_COLOURS)
    first, *others = [
        one.quantize(palette=palette, dither=Image.Dither.NONE)
        for one in images
    ]
    times = [milliseconds for _, milliseconds in frames]
    first.save(
        GIF,
        save_all=True,
        append_images=others,
        duration=times,
        loop=0,
        optimize=True,
        disposal=1,
    )


if __name__ == "__main__":
    main()
