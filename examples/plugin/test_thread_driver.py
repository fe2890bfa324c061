"""A crawl of a small web with threads."""

from __future__ import annotations

import time

from my_parts.thread_driver import drive

from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.model import Topic
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.testing import TinyWeb, named


def test_threads_fetch_every_page_once() -> None:
    web = TinyWeb({"a.example/": "bees -> b.example/ c.example/", "b.example/": "b -> c.example/", "c.example/": "c"})
    history = MemoryHistory()
    seeds = [(named("a.example/"), "http://a.example/")]
    crawl = Crawl(BreadthFirst(), MemoryFrontier(), history, Topic("bees"), seeds, limits=Limits(pages=10))
    crawl.start()
    assert drive(crawl, web.fetch, time.monotonic, time.sleep) == "frontier empty"
    assert sorted(step.url for step in history.trail()) == sorted(web.html)
