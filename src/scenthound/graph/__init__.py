"""Link graphs and what is computed on them: PageRank, HITS, the distiller, clustering coefficients, spider rewards.

`link_graph` is the fixed graph of a bed; `crawl_graph` and `clustering` grow with a crawl. Strategies and the
laboratory use both; only numpy is needed.
"""
