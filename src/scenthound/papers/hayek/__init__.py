"""The Hayek economy [ECON]: agents buy and sell the right to choose the next page (sheet 40.2).

Made here: the decision about which page to fetch next. `hayek_crawler` has the two strategies, `hayek-epsilon` and
`hayek-estimating`, which the loop runs; the other modules serve them.

A fetched page enters `known_web.KnownWeb`: its words and links as feature ids (`page_features`), its distance from a
goal, and whether it is a goal (`parts.goals`). `economy.Economy` runs sequences of auctions over that web: `auction`
runs one sequence, `market` has agents, money and bids, `agents` makes new agents from the words of a page, `difficulty`
decides how hard the next sequence is and where it starts. When an auction needs a page that has not been fetched,
`auction_frontier` passes its URL to the loop, and the fetched page enters `KnownWeb`.

`saved_state` saves a crawl and a trained population. Money is counted in whole coins, so rounding never loses any.
"""
