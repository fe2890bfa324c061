"""InfoSpiders: a population of agents that live off relevant pages.

Made here: the choice of the next link, by an agent whose turn it is. `infospiders` has the strategy, which the loop
runs; everything else serves it.

A fetched page goes to the agent that requested it. `net` turns the words around each link into inputs and scores them;
the links go into the agent's private frontier (`links`). `population` joins these private frontiers to the one
`Frontier` that the loop pops from: agents take turns, and each draws one of its links at random, the better ones more
often. What the page was worth feeds the agent and teaches its net; agents with enough energy split.

Births, meals and deaths are emitted as events, for reports and watchers.
"""
