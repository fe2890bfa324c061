"""Text processing: from characters to terms, from terms to ids, from ids to scores.

Terms: `tokens` (with `Analyser`, for stop list and stemming), `term_counts` (frequencies as bytes), `vocabulary` (ids
of words), `background` (how common a word is in English). `row_products` multiplies rows alike on every CPU.
Similarities: `vectors`, and `topic_model` (a topic learned from pages).

Used by `page`, which reads pages into records and views, and by strategies and judges, which score links and pages.
Nothing here depends on pages or URLs.
"""
