"""What a page says, once: read from HTML, looked at by strategies, sent by reading processes, kept by prepared beds.

`read` makes a `record` of a parsed page; `views` are pure functions of it; `page.Page` is what a strategy is handed.
`landing` says what a response means. `worker` is a process that reads pages and `pool` the crawl's end of it; `wire` is
how responses go out and records come back. A worker reads a page by the same calls as the crawl would, so nobody can
tell who read it.
"""
