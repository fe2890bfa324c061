"""The Hayek economy [ECON]: agents buy and sell the right to choose the next page.

Made here: the decision which page is fetched next. `hayek_crawler` has the two strategies, `hayek-epsilon` and
`hayek-estimating`, which the loop runs; everything else serves them.

A fetched page enters `known_web.KnownWeb`: its words and links as feature ids (`features`), its distance from a goal,
and whether it is one (`goals`). `economy.Economy` runs sequences of auctions over that web: `auction` holds one
sequence, `market` has agents, money and bids, `agents` makes new agents from the words of a page, `difficulty` says how
hard the next sequence is and where it starts. When an auction needs a page that was not fetched yet,
`auction_frontier` passes its URL to the loop, and the page comes back to `KnownWeb`.

`saved_state` saves a crawl and a trained population. Money is counted in whole coins, so rounding loses and makes none.
"""
