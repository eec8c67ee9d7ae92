"""Everything Adaptive Memory raises on purpose."""

from __future__ import annotations


class AdaptiveMemoryError(Exception):
    """Root of them, whose text is fit for all to see: it quotes neither messages nor replies."""


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

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """The provider refused the request with this HTTP status and would refuse it again."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ReplyUnusable(ModelError):
    """The model answered, but not with what it was asked for."""
