"""Build and run live crawls from settings. Used by the command line, the desk and scripts.

`parts_from_settings` makes each part: strategy, judge, fetcher, scope, worker processes. `launch` combines them:
`begin` in a new folder, `resume` in an existing one. Both return a `Session` (module `session`), which runs the crawl
with the live driver, handles Ctrl-C and a full disk, and leaves a complete crawl folder. `crawl_functions` does all of
this in one call, for scripts; `page_stream` yields pages while the crawl runs, and `loop_thread` runs it in a thread.

`find_seeds` asks seed sources, before and during a crawl; `find_hubs` asks them for pages that link to several seeds;
`fetch_pages` fetches given pages into memory. `profiles` has the named profiles of a crawl.

No decision about a crawl is made here. The laboratory combines the same parts itself, without folders.
"""

from scenthound.loop.identity import product_token, versions
from scenthound.wiring.crawl_functions import crawl, crawl_async, stream
from scenthound.wiring.find_seeds import (
    SourceAnswer,
    asking,
    check_sources,
    find_back_links,
    find_seeds,
    found_urls,
    urls_by_source,
)
from scenthound.wiring.launch import begin, resume
from scenthound.wiring.page_stream import PageStream
from scenthound.wiring.parts_from_settings import (
    check_topic,
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
    "asking",
    "begin",
    "check_sources",
    "check_topic",
    "crawl",
    "crawl_async",
    "find_back_links",
    "find_seeds",
    "found_urls",
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
    "urls_by_source",
    "versions",
]
