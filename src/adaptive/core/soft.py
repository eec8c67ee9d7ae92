"""Packages that make the plug-in better and that it works without."""

from __future__ import annotations

import importlib
import logging
from typing import Any

log_soft = logging.getLogger("adaptive_memory")


def soft_import(module: str, without: str) -> Any | None:
    """The module, or ``None`` where it is not installed, which the log says.

    ``without`` says what the plug-in does less well then. The header asks Open WebUI for none of
    them: where pip fails, the host switches the function off (host: utils/plugin.py).
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        log_soft.info("%r is not installed: %s", module, without)
        return None
