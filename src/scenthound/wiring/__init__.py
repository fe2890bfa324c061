"""Puts the parts of a crawl together: strategy, frontier, folder, fetcher, loop, judge.

Used by the command line, the desk and scripts. `build` makes each part from the settings, and the strategy from its
name and parameters. `launch.begin` puts them together in a new folder; `launch.resume` continues an old one. Both
return a `Session`, which runs the crawl with the live driver and worker processes, handles Ctrl-C and a full disk, and
leaves a complete folder. `api` does all of it in one call, for scripts: `crawl`, `crawl_async`, `stream`.

Nothing here makes decisions about a crawl: the laboratory replays crawls without folders and combines the same parts.
"""

from scenthound.loop.identity import product_token, versions
from scenthound.wiring.crawl_functions import crawl, crawl_async, stream
from scenthound.wiring.find_seeds import (
    SourceAnswer,
    as_recorded,
    asking,
    check_sources,
    find_back_links,
    find_seeds,
    found_urls,
)
from scenthound.wiring.launch import begin, resume
from scenthound.wiring.page_stream import PageStream
from scenthound.wiring.parts_from_settings import (
    check_topic,
    make_address_delay,
    make_fetcher,
    make_scope,
    make_strategy,
    named_judge,
    page_limits,
    relevance_by,
    split_settings,
    start_judge,
)
from scenthound.wiring.session import Session, Watch

__all__ = [
    "PageStream",
    "Session",
    "SourceAnswer",
    "Watch",
    "as_recorded",
    "asking",
    "begin",
    "check_sources",
    "check_topic",
    "crawl",
    "crawl_async",
    "find_back_links",
    "find_seeds",
    "found_urls",
    "make_address_delay",
    "make_fetcher",
    "make_scope",
    "make_strategy",
    "named_judge",
    "page_limits",
    "product_token",
    "relevance_by",
    "resume",
    "split_settings",
    "start_judge",
    "stream",
    "versions",
]
