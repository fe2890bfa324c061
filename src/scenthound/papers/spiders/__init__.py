"""InfoSpiders: a population of agents that gain energy from relevant pages (sheet 40.1).

Made here: the choice of the next link, by the agent whose turn it is. `infospiders` has the strategy, which the loop
runs; the other modules serve it.

A fetched page goes to the agent that requested it. `net` turns the words around each link into inputs and scores them;
the links go into the agent's frontier (`private_frontier`). `population` combines these private frontiers into the one
`Frontier` that the loop pops from: agents take turns, and each draws one of its links at random, better links more
often. The page's similarity gives the agent energy and trains its net; agents with enough energy split.

Births, meals and deaths are emitted as events, for reports and for watching a crawl.
"""
