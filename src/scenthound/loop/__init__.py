"""The crawl loop: it decides when to fetch what, and never what is relevant.

`core.Crawl` takes seeds from its caller and candidates from the strategy, keeps them in the frontier and returns a
`Fetch`, `Wait` or `Done` to a driver: `live` (HTTP on asyncio) or `replay` (a test bed). The driver brings each result
to `Crawl.landed`; for a driver with a network, `replies` says what a reply means. Pages go to the repository, every
page and miss to the history, and the strategy's new candidates to the frontier, until the budget is spent or nothing
is left.

The parts: `selection` (which candidate is next), `politeness` (may it be fetched: hosts, robots.txt, limits),
`plugin_calls`, `new_urls` (what enters the frontier: links, redirects, sitemaps), `scope` (which URLs are wanted),
`trap_watch` (which give nothing new), `service_files` (robots.txt and sitemaps), `recording` (history and counters) and
`connectivity` (is our own connection down). `folder` makes a crawl durable and `resume` continues it.
"""
