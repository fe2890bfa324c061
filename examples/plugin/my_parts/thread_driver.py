"""A driver that fetches in threads: for a fetch function that blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from scenthound.loop.core import Crawl
from scenthound.loop.messages import Done, Fetch, Wait
from scenthound.loop.replay import Landing
from scenthound.model import Candidate


def drive(
    crawl: Crawl,
    fetch: Callable[[Candidate], Landing],
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    threads: int = 4,
) -> str:
    """Run a started crawl to its end and return the reason why it ended."""
    flying: set[Future[Landing]] = set()
    with ThreadPoolExecutor(threads) as pool:
        while True:
            step = crawl.next(clock()) if len(flying) < threads else Wait(math.inf)
            if isinstance(step, Fetch):
                flying.add(pool.submit(fetch, step.candidate))
            elif isinstance(step, Done):
                return step.reason
            elif flying:
                timeout = None if math.isinf(step.until) else max(step.until - clock(), 0.0)
                landed, flying = wait(flying, timeout, FIRST_COMPLETED)
                for future in landed:
                    crawl.landed(future.result(), clock())
            else:
                sleep(max(step.until - clock(), 0.0))
