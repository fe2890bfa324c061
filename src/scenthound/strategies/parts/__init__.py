"""Data structures that several strategies share. Nothing here scores a link.

Frontiers for strategies that choose at pop time: `level_frontier` (one level after the other: cc-bfs, bayes),
`page_queues` (pages in order, each with its links: context-graph), both on `host_queues`, which keeps a queue for each
host and knows which hosts rest. The loop uses them through the `Frontier` port.

Memory for strategies that score again later: `recent_pages` (words and waiting links of the last pages: bayes,
focused), `sightings` (where each waiting link was seen: intelligent, apprentice), `corona` (pages not yet selected:
bayes).

Pieces of training and crawling: `back_links` (layers around examples), `taxonomy` (from examples to a classifier),
`distillation` (hubs of the crawled graph), `callbacks` (calls that do not keep their owner alive).

All of it is saved with the strategy, as plain JSON and arrays.
"""
