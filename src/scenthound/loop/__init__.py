"""The loop and everything that decides when, never what, to fetch.

A seed becomes a candidate; the strategy offers more; the frontier keeps them; `core.Crawl` pops the
best one of a host that is awake, asks `politeness` whether robots.txt allows it, and hands it to a
driver (`run` over HTTP, `replay` from a bed). What lands goes to the repository and the history, the
strategy hears of it, and its answers go to the frontier again. Budget spent or frontier empty: done.
Nothing here knows what relevance is.
"""
