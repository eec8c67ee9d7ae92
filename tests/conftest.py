"""Options and fixtures of every test: which hosts, and whether `src` or the bundle is tested."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import HealthCheck, settings

from demo.environment import HostEnvironment, host_environment
from tests.hosts import DEFAULT_RELEASES, chosen_releases, release_number
from tools.bundle import BUNDLE, reached
from tools.bundle_source import PACKAGE, Module, bindings, internal_imports, parse_modules

PROJECT = Path(__file__).resolve().parent.parent
SOURCE = PROJECT / "src"

# No test fails because the machine is busy: pytest-timeout alone guards against what never ends.
# The gate tries the same examples each time; `--hypothesis-profile explore` looks for new ones.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", settings.get_profile("explore"), derandomize=True)
settings.load_profile("gate")

# Where product code may block the event loop in a unit test: (end of the file's path, function).
MAY_BLOCK: list[tuple[str, str]] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare what a run can choose."""
    parser.addoption(
        "--bundle",
        action="store_true",
        help=f"test {BUNDLE}, loaded as the hosts load it, in place of src/",
    )
    parser.addoption(
        "--hosts",
        default=DEFAULT_RELEASES,
        help="Open WebUI releases to test with, separated by commas, or `all`; "
        f"default {DEFAULT_RELEASES}",
    )
    parser.addoption(
        "--soak",
        action="store_true",
        help="run the long runs too, and the long form of tests that have one",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse unknown releases, and put the bundle in the place of src before tests import it."""
    for marker in (
        "every_release: a scenario that runs on every chosen release, not on the newest alone",
        "soak: a long run, left out without --soak",
    ):
        config.addinivalue_line("markers", marker)
    try:
        chosen_releases(config.getoption("--hosts"))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    if config.getoption("--bundle"):
        serve_bundle_as_package()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``--bundle``, leave out tests of modules that no part of the filter uses."""
    if not config.getoption("--bundle") or not collection_path.name.startswith("test_"):
        return None
    tree = ast.parse(collection_path.read_text(encoding="utf-8"))
    named = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return True if named & _unused_modules() else None


@cache
def _unused_modules() -> frozenset[str]:
    modules, _ = parse_modules(PROJECT)
    return frozenset({one.name for one in modules} - {one.name for one in reached(modules)})


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what needs an installed host once for each chosen release.

    A scenario that is the same for every release runs on the newest of them alone.
    """
    if "installed_host" in metafunc.fixturenames:
        releases = chosen_releases(metafunc.config.getoption("--hosts"))
        definition = metafunc.definition
        is_scenario = definition.path.is_relative_to(PROJECT / "tests" / "e2e")
        if is_scenario and not definition.get_closest_marker("every_release"):
            releases = (max(releases, key=release_number),)
        metafunc.parametrize("installed_host", releases, indirect=True, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs an installed host, and leave long runs out where they are not wanted."""
    for item in items:
        if "installed_host" in getattr(item, "fixturenames", ()):
            item.add_marker("host")
    if not config.getoption("--soak"):
        long = [item for item in items if item.get_closest_marker("soak")]
        items[:] = [item for item in items if item not in long]
        config.hook.pytest_deselected(items=long)


@pytest.fixture(scope="session")
def host_releases(pytestconfig: pytest.Config) -> tuple[str, ...]:
    """Open WebUI releases chosen with ``--hosts``."""
    return chosen_releases(pytestconfig.getoption("--hosts"))


@pytest.fixture(scope="session")
def installed_host(request: pytest.FixtureRequest) -> HostEnvironment:
    """Each of the chosen releases in turn, installed when it is absent."""
    return host_environment(request.param)


@pytest.fixture(autouse=True)
def _nothing_blocks_the_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail when product code blocks the event loop, which it shares with every chat of a host."""
    is_async = request.node.get_closest_marker("asyncio") is not None
    if not is_async or request.path.is_relative_to(PROJECT / "tests" / "e2e"):
        yield
        return
    product = ModuleType("product")
    if request.config.getoption("--bundle"):
        product.__file__ = str(PROJECT / BUNDLE)
    else:
        product.__path__ = [str(SOURCE / PACKAGE)]
    with blockbuster_ctx([product]) as guard:
        for function in guard.functions.values():
            for file, name in MAY_BLOCK:
                function.can_block_in(file, name)
        yield


def serve_bundle_as_package() -> None:
    """Make ``from adaptive.room.module import name`` give the bundle's own objects."""
    if not (PROJECT / BUNDLE).exists():
        raise pytest.UsageError(f"{BUNDLE} is absent; run `python -m tools.bundle`")
    loaded = [name for name in sys.modules if name.partition(".")[0] == PACKAGE]
    assert not loaded, f"{loaded} were imported before the bundle could take their place"
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != SOURCE]
    bundle = _load(PROJECT / BUNDLE, "function_adaptive_memory")
    modules, violations = parse_modules(PROJECT)
    assert not violations, violations
    for module in modules:
        sys.modules[module.name] = _view(module, bundle)


def _load(file: Path, name: str) -> ModuleType:
    module = ModuleType(name)
    sys.modules[name] = module
    code = compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module


def _view(module: Module, bundle: ModuleType) -> ModuleType:
    """A module of the source's name that holds its names with the bundle's values."""
    names = {binding.name for binding in bindings(module)}
    names |= {alias.name for line in internal_imports(module) for alias in line.names}
    view = ModuleType(module.name)
    if module.is_package:
        # Empty, so that nothing but what is put into sys.modules can be imported from it.
        view.__path__ = []
    for name in names & vars(bundle).keys():
        setattr(view, name, getattr(bundle, name))
    return view
