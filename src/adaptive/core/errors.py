"""Everything Adaptive Memory raises on purpose."""

from __future__ import annotations

import logging

# How a line begins that is told once.
HINDRANCE = "Adaptive Memory can't work here"
# In characters. More is kept than told: a secret is known by what stands around it.
_DETAIL_KEPT, _DETAIL_TOLD = 2000, 500


class AdaptiveMemoryError(Exception):
    """Root of them: ``str`` is a sentence for everybody, ``detail`` is for the log and admins.

    The sentence is ours: it quotes no message, no reply and nothing that a host, a provider or a
    driver says, which may name addresses and accounts. That is the detail, without secrets.
    What is ``lasting`` fails in every turn until an administrator does something about it.
    """

    lasting = False

    def __init__(self, sentence: str = "", *, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = " ".join(detail.split())[:_DETAIL_KEPT]


class HostError(AdaptiveMemoryError):
    """The host raised, or answered something that can't be used."""


class MemoryUnavailable(HostError):
    """This user may have, or wants, no memories; the text names the switch or permission."""


class StoreError(HostError):
    """A write could not be proven by reading it back."""


class TablesUnavailable(HostError):
    """The tables of our own can't be created, read or written."""


class WriteRefused(AdaptiveMemoryError):
    """The gate lets a text not be stored; the text of the error is the reason, without the text."""


class LeaseLost(AdaptiveMemoryError):
    """The work in hand is another worker's by now; nothing more may be written."""


class EmbeddingError(AdaptiveMemoryError):
    """The embedding provider brought no vectors, too few, or some that are not numbers."""


class ModelError(AdaptiveMemoryError):
    """A model call brought nothing usable."""


class ModelBusy(ModelError):
    """A failure that may be over on the next try, perhaps after the seconds that were asked for."""

    def __init__(
        self,
        sentence: str,
        retry_after: float | None = None,
        *,
        detail: str = "",
    ) -> None:
        super().__init__(sentence, detail=detail)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """The provider refused the request with this HTTP status and would refuse it again."""

    def __init__(
        self, sentence: str, status: int, *, detail: str = ""
    ) -> None:
        super().__init__(sentence, detail=detail)
        self.status = status


class ReplyUnusable(ModelError):
    """The model answered, but not with what it was asked for."""


def hindrance_line(reason: str) -> str:
    """What a user is told, once, of what keeps memory from its work in every turn."""
    where = (
        "An administrator finds the reason in the log and with /memory doctor."
    )
    return f"{HINDRANCE}: {reason}. {where}"


def failure_told(failed: str, error: BaseException) -> str:
    """The line of what has ``failed``, for people."""
    if isinstance(error, AdaptiveMemoryError) and error.lasting:
        return hindrance_line(str(error))
    reason = "an unexpected error; the server's log tells more"
    if isinstance(error, AdaptiveMemoryError | TimeoutError):
        reason = str(error) or "it took too long"
    return f"{failed}: {reason}"


def log_failure(log: logging.Logger, doing: str, error: BaseException) -> None:
    """Log what has failed: an error of ours in full, any other with its place in the code."""
    if isinstance(error, AdaptiveMemoryError | TimeoutError):
        log.warning("%s: %s", doing, with_detail(error))
    else:
        log.error("%s: an unexpected error", doing, exc_info=error)


def with_detail(error: BaseException) -> str:
    """What the log and an administrator are told of an error: its sentence, then its detail."""
    late = (
        "it took too long"
        if isinstance(error, TimeoutError)
        else type(error).__name__
    )
    sentence = str(error) or late
    detail = (
        error.detail[:_DETAIL_TOLD]
        if isinstance(error, AdaptiveMemoryError)
        else ""
    )
    return f"{sentence} ({detail})" if detail else sentence
