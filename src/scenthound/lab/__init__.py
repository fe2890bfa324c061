"""The laboratory: replays strategies on recorded webs with known answers, and measures them.

`importers` and `generate` make beds; `beds` stores, prepares and serves them; `topics` makes topics with known answers;
`run` replays strategies on a bed and trains models; `measure` computes metrics and statistical tests; `report` draws
the results; `testing` has the contracts of all plug-ins, and `commands` the commands. `lab_functions` is the Python
interface for scripts and notebooks, `community_files` reads plain graphs for `lab communities`, `process_pool` runs
work on several cores. No package that steers a crawl imports this one, so that nothing that steers a crawl can grade
it.
"""
