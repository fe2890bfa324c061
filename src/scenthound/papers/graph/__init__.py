"""The papers' algorithms on link graphs that the crawler itself does not need.

`clustering` has a growing undirected graph with its clustering coefficients, `community_mining` is CC-BFS on a known
graph, and `rewards` computes the target values for reinforcement learning. Used by `cc_bfs`, `alliance`,
`reinforcement` and the lab. `scenthound.graph` has the representations that they build on.
"""
