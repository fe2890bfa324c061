"""The replay driver: results come from a function, and time is a counter.

A replayed crawl is a pure function of (web, topic, parameters, seed number): the same pages in the same order, and with
the same versions on the same CPU the same bytes. The strategy sees a page only after it was
"fetched" here; it has no access to the function that knows the web.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from scenthound.loop.core import Crawl
from scenthound.loop.messages import Done, Fetch, RobotsLanded, Wait
from scenthound.model import Candidate, Miss, Moved
from scenthound.page.page import Page

Landing = Page | Miss | Moved | RobotsLanded


def replay(
    crawl: Crawl, fetch: Callable[[Candidate], Landing], in_flight: int = 1, now: float = 0.0, pace: float = 1.0
) -> str:
    """Run a started crawl to its end and return the reason.

    `in_flight` is the number of threads to imitate (rule 15): as many URLs are chosen before the first result.
    `pace` is the time from one result to the next.
    """
    requests: deque[Fetch] = deque()
    while True:
        step: Fetch | Wait | Done = Wait(now)
        while len(requests) < in_flight and isinstance(step := crawl.next(now), Fetch):
            requests.append(step)
        if requests:
            now += pace
            crawl.landed(fetch(requests.popleft().candidate), now)
        elif isinstance(step, Done):
            return step.reason
        elif isinstance(step, Wait):
            now = max(now, step.until)
