"""Threads that compute on one core each."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor


def one_core_threads(count: int) -> ThreadPoolExecutor:
    """At most ``count`` threads in which torch takes one core; elsewhere it takes what it took."""
    return ThreadPoolExecutor(count, "adaptive_memory", initializer=_take_one_core)


def _take_one_core() -> None:
    """Set the number of threads for this thread alone.

    It holds for the thread that calls, and as a default for those that come to torch later; the
    default is set back by a thread that ends with it (torch: ATen/ParallelOpenMP.cpp).
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    setting_back = threading.Thread(target=torch.set_num_threads, args=(usual,))
    setting_back.start()
    setting_back.join()
