"""Every symbol of the host that our source names is there in the releases we support."""

from __future__ import annotations

from demo.environment import SUPPORTED, HostEnvironment
from tests.bundle.host_symbols import HOST, Symbol, is_there, symbols_of
from tests.bundle.small_project import PROJECT
from tests.hosts import installed_sources

SOURCE = PROJECT / "src" / "adaptive"

# First release with a symbol that our source takes only after telling the release by other means.
SINCE = {
    # Settings stood in app.state.config before; the import follows once that is not there.
    "open_webui.models.config.Config": "0.10.2",
    # Imported where an admin has set parameters of tasks, which is possible from there on.
    "open_webui.utils.payload.apply_params_to_form_data": "0.11.4",
}


def product_symbols() -> list[Symbol]:
    """What the host room of our source takes."""
    return [
        symbol
        for file in sorted((SOURCE / "host").rglob("*.py"))
        for symbol in symbols_of(
            file.relative_to(PROJECT).as_posix(),
            file.read_text(encoding="utf-8"),
        )
    ]


def is_due(release: str, since: str | None) -> bool:
    """Whether a release must have a symbol that came with another one."""
    return since is None or SUPPORTED.index(release) >= SUPPORTED.index(since)


def test_required_symbols(installed_host: HostEnvironment) -> None:
    """What is imported or used unguarded exists in every release, or from its first one on."""
    package = installed_host.site_packages / HOST
    symbols = [
        symbol
        for symbol in product_symbols()
        if not symbol.optional
        and is_due(
            installed_host.version, SINCE.get(f"{symbol.module}.{symbol.name}")
        )
    ]
    assert symbols
    assert [
        str(symbol) for symbol in symbols if not is_there(symbol, package)
    ] == []


def test_optional_symbols(installed_host: HostEnvironment) -> None:
    """What is guarded exists in one of the releases installed here at least."""
    packages = installed_sources()
    assert installed_host.site_packages / HOST in packages
    absent = [
        str(symbol)
        for symbol in product_symbols()
        if not any(is_there(symbol, package) for package in packages)
    ]
    assert absent == []
