"""Everything Adaptive Memory raises on purpose.

AdaptiveMemoryError
├── HostError                the host raised, or answered something unusable
│   ├── MemoryUnavailable    this user may have, or wants, no memories (switch, permission)
│   ├── StoreError           a write could not be proven by reading it back
│   └── TablesUnavailable    our own tables can't be created, read or written
├── WriteRefused             the gate lets a text not be stored
├── LeaseLost                the work in hand is another worker's by now
├── LessonUnfinished         a part of a lesson failed, and the rest of it is done
├── EmbeddingError           no vector, too few vectors, or vectors that are not numbers
├── ModelError               a model call brought nothing usable
│   ├── ModelBusy            worth another try: no connection, time-out, 408, 429, 5xx
│   ├── ModelRejected        the same request would fail again: any other 4xx
│   └── ReplyUnusable        the model answered, but not what it was asked for
└── PromptError              a prompt does not fit its placeholders
"""

from __future__ import annotations


class AdaptiveMemoryError(Exception):
    """Root of all errors that are raised on purpose.

    Its text is fit for a status line and for the log: it quotes neither messages nor replies.
    """


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


class LessonUnfinished(AdaptiveMemoryError):
    """A part of a lesson failed and is to be tried again; the rest of it is done and was told."""


class EmbeddingError(AdaptiveMemoryError):
    """The embedding provider brought no vectors, too few, or some that are not numbers."""


class ModelError(AdaptiveMemoryError):
    """A model call brought nothing usable."""


class ModelBusy(ModelError):
    """A failure that may be over on the next try.

    Attributes:
        retry_after: seconds the provider asked to wait, or ``None``.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """The provider refused the request and would refuse it again.

    Attributes:
        status: the HTTP status it answered with.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ReplyUnusable(ModelError):
    """The model answered, but not with what it was asked for."""


class PromptError(AdaptiveMemoryError):
    """A prompt asks for a placeholder that its caller does not fill."""
