"""The secret of the host, from which keys are derived."""

from __future__ import annotations

from functools import cache

_LONGEST_SECRET = 4096


@cache
def host_secret() -> str:
    """The host's ``WEBUI_SECRET_KEY`` as this process was started with it, empty where it has none.

    The host takes it from the environment, where its start scripts and ``open-webui serve`` put
    what they have generated into a file (host: env.py, __init__.py, start.sh). With sign-in it
    refuses to start without one, so only a host without sign-in may have none.
    """
    try:
        from open_webui.env import WEBUI_SECRET_KEY
    except ImportError:
        return ""
    return bounded_secret(WEBUI_SECRET_KEY)


def bounded_secret(value: object) -> str:
    """A secret without the space around it: one start script reads the file's last line end, too.

    At most 4,096 characters count; whatever is no text is no secret.
    """
    return value.strip()[:_LONGEST_SECRET] if isinstance(value, str) else ""
