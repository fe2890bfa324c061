"""Link graphs and the algorithms on them.

Three representations: `link_graph` is a fixed graph in arrays, such as that of a bed; `crawl_graph` grows with a crawl,
and makes a `LinkGraph` when needed; `clustering` has a growing undirected graph, with clustering coefficients.

Algorithms: `pagerank`, `hits`, `distiller` (HITS weighted by relevance), `community_mining` (CC-BFS on a known graph)
and `rewards` (the target values for reinforcement learning).

Used by strategies and judges to score pages and links, and by the lab to measure crawls and webs. The results are
arrays by page number. Only numpy is needed.
"""
