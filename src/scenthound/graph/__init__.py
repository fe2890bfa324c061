"""Link graphs and the algorithms on them.

`link_graph` has two representations: a fixed graph in arrays, such as that of a bed, and one that grows with a crawl
and makes a `LinkGraph` when needed. `papers.parts.clustering` has a third, undirected one. `link_scores` has the
algorithms: PageRank, HITS, and HITS weighted by relevance.

Used by strategies and judges to score pages and links, and by the lab to measure crawls and webs. The results are
arrays by page number. Only numpy is needed.
"""
