"""Threads that compute on one core."""

import asyncio
import threading

import torch

from adaptive.host.one_core import one_core_threads


async def test_only_these_threads_take_one_core() -> None:
    """In such a thread torch takes one core, in older and in newer threads what it took before."""
    usual = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        threads = one_core_threads(1)
        loop = asyncio.get_running_loop()
        assert await loop.run_in_executor(threads, torch.get_num_threads) == 1
        assert torch.get_num_threads() == 3
        later: list[int] = []
        thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
        thread.start()
        thread.join()
        assert later == [3]
        threads.shutdown()
    finally:
        torch.set_num_threads(usual)
