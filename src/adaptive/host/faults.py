"""The one seam at which whatever the host raises becomes an error of ours."""

from __future__ import annotations

from types import TracebackType

from adaptive.errors import AdaptiveMemoryError, HostError

_FAULT_EXCERPT = 200


class HostFaults:
    """Context that turns any exception of the host into ``error``, with what was being done.

    The host raises bare ``Exception`` in places (utils/chat.py: "Model not found"), and its vector
    databases and embedding engines bring exception trees of their own, so no narrower catch would
    hold. Our own errors and cancellation pass unchanged; a time limit of ours arrives in here as a
    cancellation, so a ``TimeoutError`` is the host's.
    """

    def __init__(self, doing: str, error: type[AdaptiveMemoryError] = HostError) -> None:
        self._doing = doing
        self._error = error

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not isinstance(raised, Exception) or isinstance(raised, AdaptiveMemoryError):
            return
        raise self._error(f"{self._doing}: {describe_fault(raised)}") from raised


def describe_fault(raised: BaseException) -> str:
    """An exception in few words; FastAPI's carries its text in ``detail``."""
    text = str(getattr(raised, "detail", None) or raised) or type(raised).__name__
    return " ".join(text.split())[:_FAULT_EXCERPT]
