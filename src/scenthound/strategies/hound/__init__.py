"""`hound`, our own strategy: rank the whole frontier by what the crawl has learned so far (sheet 80).

Made here: scores for all waiting URLs, recomputed every few pages. `hound` is the strategy; the other modules are its
parts. `topic_fit` learns the topic and scores how well each fetched page fits it; `link_table` stores every link with
its words; `features` computes the features of each waiting URL, and holds and learns their weights; `ranking` turns
scores into an order, and sometimes takes a URL before its turn; `site_search` replaces that order if the crawl looks
for sites instead of pages; `hound_phrases` explains scores in words.

Used by: the loop, through `strategies.STRATEGIES`, like any other strategy. The frontier gets the scores; the fitted
weights are in `features`.
"""
