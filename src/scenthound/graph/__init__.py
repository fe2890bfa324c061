"""Link graphs and the algorithms on them.

Two representations: `link_graph` is a fixed graph in arrays, such as that of a bed; `crawl_graph` grows with a crawl,
and makes a `LinkGraph` when needed. `papers.graph` has a third, undirected one.

Algorithms: `pagerank`, `hits` and `distiller` (HITS weighted by relevance).

Used by strategies and judges to score pages and links, and by the lab to measure crawls and webs. The results are
arrays by page number. Only numpy is needed.
"""
