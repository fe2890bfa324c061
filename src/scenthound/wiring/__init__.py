"""Puts the parts of a crawl together: strategy, frontier, folder, fetcher, loop, judge.

Whoever wants to run a crawl comes here: the command line, the desk, a five-line script. `build` makes each part from
the settings, and the strategy from its name and parameters. `start.begin` puts them together in a new folder, and
`start.resume` in an old one, brought to where it was by `loop.resume`. Both return a `Session`, which runs the crawl
with the live driver and worker processes, handles Ctrl-C and a full disk, and leaves a complete folder. `api.crawl`
does all of it in one call and returns the folder.

Nothing here decides anything about a crawl: the laboratory, which replays crawls without folders, builds its own from
the same parts.
"""

from scenthound.loop.recording import Watcher
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
