"""The host's vector database, asked on threads of our own and never waited for beyond a limit.

The host asks it on the threads that all its work shares (host: async_client.py). One that hangs
would take these one by one, and with the last of them everybody would wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from adaptive.core.model import HostError
from adaptive.core.providers import CircuitBreaker
from adaptive.host.faults import HostFaults

# For a portion of rows, and for what reads or drops a whole collection.
USUAL_SECONDS = 5.0
WHOLE_COLLECTION_SECONDS = 30.0
_CALLS_AT_ONCE = 4
_PROBED_COLLECTION = "adaptive-memory"
_NAME = "the vector database"
_SILENT = f"{_NAME} does not answer"
Answered = TypeVar("Answered")


class VectorDatabase:
    """Calls of a synchronous client, which ``client`` gives; it may take a while to be made.

    After a call that came to its limit the database rests: further calls fail at once, until that
    one has come back, or a probe behind has been answered.
    """

    def __init__(self, client: Callable[[], Any]) -> None:
        self._client = client
        self._threads = ThreadPoolExecutor(_CALLS_AT_ONCE)
        self._breaker = CircuitBreaker()

    async def call(
        self,
        doing: str,
        method: str,
        *arguments: Any,
        seconds: float = USUAL_SECONDS,
        **named: Any,
    ) -> Any:
        """What a method of the client returns (see ``ask``)."""

        def called(client: Any) -> Any:
            """The method's answer."""
            return getattr(client, method)(*arguments, **named)

        return await self.ask(doing, called, seconds)

    async def ask(
        self, doing: str, work: Callable[[Any], Answered], seconds: float
    ) -> Answered:
        """What work with the client, on a thread, returns.

        Raises:
            HostError: it has failed, has not returned within the ``seconds``, or the database
                rests.
        """
        if self._breaker.is_open(_NAME):
            raise HostError(_SILENT)
        answer = self._begun(work)
        # Whoever asks may lose patience before; that the database hangs is noticed all the same.
        limit = asyncio.get_running_loop().call_later(
            seconds, self._rest, answer
        )
        answer.add_done_callback(lambda _: limit.cancel())
        done, _ = await asyncio.wait({answer}, timeout=seconds)
        if not done:
            raise HostError(f"{_SILENT} within {seconds:g} s")
        with HostFaults(doing):
            return answer.result()

    def _begun(
        self, work: Callable[[Any], Answered]
    ) -> asyncio.Future[Answered]:
        """Work on a thread, since the client itself may have to be made first."""
        loop = asyncio.get_running_loop()
        answer = loop.run_in_executor(
            self._threads, lambda: work(self._client())
        )
        answer.add_done_callback(_looked_at)
        return answer

    def _rest(self, unanswered: asyncio.Future[Any]) -> None:
        """Leave the database alone until it answers again."""
        if not unanswered.done():
            self._breaker.open(_NAME, self._answered_anything)
            unanswered.add_done_callback(lambda _: self._breaker.close(_NAME))

    async def _answered_anything(self) -> None:
        """Wait until the database has answered anything, be it with an error."""
        # All threads of before may hang.
        self._threads.shutdown(wait=False)
        self._threads = ThreadPoolExecutor(_CALLS_AT_ONCE)
        await asyncio.wait(
            {
                self._begun(
                    lambda client: client.has_collection(_PROBED_COLLECTION)
                )
            }
        )


def _looked_at(answer: asyncio.Future[Any]) -> None:
    """Look at an answer that nobody may wait for any more, or asyncio would complain."""
    if not answer.cancelled():
        answer.exception()


def _host_client() -> Any:
    """The synchronous client inside the host's asynchronous one."""
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

    return ASYNC_VECTOR_DB_CLIENT.sync


# One for the whole process: whether the database answers is the same for all users.
HOST_VECTORS = VectorDatabase(_host_client)
