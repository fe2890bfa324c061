"""The laboratory: replays strategies on recorded webs with known answers, and measures them.

`importers` and `generate` make beds; `beds` stores, prepares and serves them; `topics` makes topics with answers; `run`
replays strategies on a bed; `measure` computes metrics and tests; `report` draws them. Nothing below imports this.
"""
