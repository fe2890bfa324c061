"""What text says: from characters to terms, from terms to numbers, from numbers to one score.

Made here: terms (`tokens`, with an `Analyser` for stop list and stemming), their frequencies (`term_counts`) and ids
(`vocabulary`); similarities (`query`, `vectors` while a crawl runs, `smart` over a whole pool of pages after it);
classifiers (`bayes`, `frozen`, `offset_bayes`, `taxonomy`) and statistics (`interest`, `fisher`).

Array operations with a name of their own, for strategies that look at every word: `unions` (sums over unions of sets),
`offsets` (terms at their distance from an anchor), `proximity` (how near a word is to each anchor), `id_lists`. Each
has a plain version in its test.

Used by: `page`, which reads pages into records and views, and the strategies, which score links with it. Nothing here
knows a page or a URL.
"""
