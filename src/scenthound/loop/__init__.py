"""The crawl loop: it decides when to fetch what, and never what is relevant.

`core.Crawl` takes seeds from its caller and candidates from the strategy, keeps them in the frontier and returns a
`Fetch`, `Wait` or `Done` to a driver: `live` (HTTP on asyncio) or `replay` (a test bed). The driver brings each result
to `Crawl.landed`; for a driver with a network, `replies` says what a reply means. Pages go to the repository, every
page and miss to the history, and the strategy's new candidates to the frontier, until the budget is spent or nothing
is left.

The parts, one per file: `selection` (whose turn it is), `pending` (candidates whose turn waits for their host),
`admission` (may it be fetched), `politeness` (hosts and robots.txt), `scope`, `candidates` (what enters the frontier),
`strategy_calls`, `redirects`, `sitemaps`, `connectivity`, `recorder` and `counters`. `folder` makes a crawl durable
and `resume` takes it up again.
"""
