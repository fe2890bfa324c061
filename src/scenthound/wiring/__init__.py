"""Puts the parts together: a strategy by name, a folder, a fetcher, the loop, the judge.

Everything that a command, an app or a five-line script needs to run a crawl goes through here. `making` makes each part
of its settings; `beginning` puts them together in a new folder, or in an old one, where `remembering` brings them to
where they were; both give a `session`, which runs; `calling` does it all at once.
"""

from scenthound.loop.recorder import Watcher
from scenthound.wiring.api import crawl, crawl_async
from scenthound.wiring.build import (
    check_topic,
    make_fetcher,
    make_scope,
    make_strategy,
    page_limits,
    product_token,
    split_settings,
    versions,
)
from scenthound.wiring.session import Session
from scenthound.wiring.start import begin, resume

__all__ = [
    "Session",
    "Watcher",
    "begin",
    "check_topic",
    "crawl",
    "crawl_async",
    "make_fetcher",
    "make_scope",
    "make_strategy",
    "page_limits",
    "product_token",
    "resume",
    "split_settings",
    "versions",
]
