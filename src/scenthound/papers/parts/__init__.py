"""Pieces that several strategies share. Each strategy saves the pieces it uses, as plain JSON and arrays.

Frontiers for strategies that choose at pop time; the loop uses them through the `Frontier` port: `level_frontier` (one
level after the other: cc-bfs, bayes), `page_queues` (pages in order, each with its links: context-graph),
`seed_frontiers` (one frontier per seed: per-seed). `strategy_frontier` has what they share: bound, requests in flight,
a queue per host, and candidates as JSON.

Memory for strategies that re-score waiting links: `scored_pages` (words and links of the last pages: bayes, focused;
the corona of bayes). What words tell: `interest` (of events: intelligent), `offsets` (terms near an anchor:
apprentice). Link graphs: `clustering`. Classifiers: `naive_bayes`, and `taxonomy` (a tree of
classifiers).

Helpers for training and crawling: `training_pages` (layers around examples, the classifier of a taxonomy), `goals`
(goal words with points), `callbacks` (callbacks that do not keep their owner alive).
"""
