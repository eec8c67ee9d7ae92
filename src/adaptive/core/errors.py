"""Everything Adaptive Memory raises on purpose."""

from __future__ import annotations

# In characters. More is kept than told: a secret is known by what stands around it.
_DETAIL_KEPT, _DETAIL_TOLD = 2000, 500


class AdaptiveMemoryError(Exception):
    """Root of them: ``str`` is a sentence for everybody, ``detail`` is for the log and admins.

    The sentence is ours: it quotes no message, no reply and nothing that a host, a provider or a
    driver says, which may name addresses and accounts. That is the detail, without secrets.
    """

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
        self, sentence: str, retry_after: float | None = None, *, detail: str = ""
    ) -> None:
        super().__init__(sentence, detail=detail)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """The provider refused the request with this HTTP status and would refuse it again."""

    def __init__(self, sentence: str, status: int, *, detail: str = "") -> None:
        super().__init__(sentence, detail=detail)
        self.status = status


class ReplyUnusable(ModelError):
    """The model answered, but not with what it was asked for."""


def with_detail(error: BaseException) -> str:
    """What the log and an administrator are told of an error: its sentence, then its detail."""
    late = "it took too long" if isinstance(error, TimeoutError) else type(error).__name__
    sentence = str(error) or late
    detail = error.detail[:_DETAIL_TOLD] if isinstance(error, AdaptiveMemoryError) else ""
    return f"{sentence} ({detail})" if detail else sentence
