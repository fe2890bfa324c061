"""Text processing: from characters to terms, from terms to ids, from ids to scores.

Terms: `tokens` (with `Analyser`, for stop list and stemming), `stopwords`, `term_counts` (frequencies as bytes),
`vocabulary` (ids of words), `document_store` (many documents as ids), `background` (how common a word is in English).

Similarities: `vectors` and `running_idf` while a crawl runs, `smart_weights` over a whole pool of pages afterwards,
`topic_model` (a topic learned from pages). Classifiers: `naive_bayes`, `frozen` (the same, read-only and faster),
`offset_bayes`, `taxonomy` (a tree of classifiers). Statistics: `interest`, `fisher`.

Array operations, for strategies that look at every word: `unions` (sums over unions of sets), `offsets` (terms at their
distance from an anchor), `proximity` (how near a word is to each anchor), `id_lists`. Each has a plain version in its
test. `row_products` is a matrix product in which equal rows have equal results on every CPU.

Used by `page`, which reads pages into records and views, and by strategies and judges, which score links and pages.
Nothing here depends on pages or URLs.
"""
