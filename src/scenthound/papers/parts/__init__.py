"""Pieces that several strategies share. Each strategy saves the pieces it uses, as plain JSON and arrays.

Frontiers for strategies that choose at pop time; the loop uses them through the `Frontier` port: `level_frontier` (one
level after the other: cc-bfs, bayes), `page_queues` (pages in order, each with its links: context-graph),
`seed_frontiers` (one frontier per seed: per-seed). `host_queues` keeps a queue per host and skips hosts that rest;
`rescored_queue` is a priority queue whose entries can be re-scored; `saved_candidates` writes candidates as JSON.

Memory for strategies that re-score waiting links: `recent_pages` (words and links of the last pages: bayes, focused),
`corona` (fetched pages not yet selected: bayes).

Helpers for training and crawling: `back_links` (layers around
examples), `taxonomy_classifier` (trains a classifier), `distillation` (hubs of the crawled graph), `word_points` (goal
words with points), `callbacks` (callbacks that do
not keep their owner alive).
"""
