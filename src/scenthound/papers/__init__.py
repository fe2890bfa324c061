"""Strategies of the literature: one file per published algorithm, under the name its authors gave it.

They register with the crawler through its entry points, as those of any other package do: strategies in the group
`scenthound.strategies`, the set-ups of the papers (`setups`) in `scenthound.profiles`, `commands` in
`scenthound.commands`. Nothing of the crawler imports this package; it imports only the crawler's public names
(docs/reference/public-names.md). `scenthound strategies` lists what is here.

`hayek` and `spiders` are strategies that span several files; `saved_agents` reads the agents that they saved. `parts`
has the pieces that several strategies share: frontiers, memories, classifiers, graph algorithms.
"""
