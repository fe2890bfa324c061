"""`hound`, our own strategy: the whole frontier is ranked by what the crawl itself has found out so far.

Made here: scores for all waiting URLs, re-computed every few pages. `topic` learns what the topic is and how well each
fetched page fits it; `link_table` remembers every link with its words; `features` says what speaks for each waiting
URL, `scoring` what each of these is worth; `sites` replaces the order where sites are looked for, not pages; `hound`
puts them together as a strategy. `columns` has arrays that grow.

Used by: the loop, through `strategies.STRATEGIES`, as any other strategy. The fitted weights are in `scoring`.
"""
