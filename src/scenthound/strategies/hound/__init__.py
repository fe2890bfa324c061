"""`hound`, our own strategy: rank the whole frontier by what the crawl has learned so far (sheet 80).

Made here: scores for all waiting URLs, recomputed every few pages. `hound` is the strategy; the other modules are its
parts. `topic_fit` learns the topic and scores how well each fetched page fits it; `link_table` stores every link with
its words; `features` computes the features of each waiting URL; `scoring` holds and learns their weights; `ranking`
turns scores into an order; `site_search` replaces that order if the crawl looks for sites instead of pages;
`exploration` sometimes takes a URL before its turn; `address_shape` classifies URLs by the form of their last segment;
`hound_phrases` explains scores in words; `columns` has arrays that grow.

Used by: the loop, through `strategies.STRATEGIES`, like any other strategy. The frontier gets the scores; the fitted
weights are in `scoring`.
"""
