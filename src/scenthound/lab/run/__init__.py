"""Experiments: crawls of a recorded web, replayed for several strategies, topics and seed numbers.

`scenthound lab run` and `lab.lab_functions` start an experiment here; its folder is what `lab.measure` and `lab.report`
read. One crawl of an experiment is called a cell.

`experiment` plans the cells and runs the missing ones in parallel; `spec` is `experiment.toml`; `run_cell` replays one
strategy on one topic; `polite_replay` does so on a virtual clock with resting hosts; `oracles` are the reference crawls
that know the answers; `cells` reads and writes a cell's files; `pooled` turns finished live crawls into an experiment.

`topic_lessons` chooses what a strategy may learn from in the lab, and `handover` lends it and records its use;
`train_model` is `scenthound train`, on a web that `lesson_sources` opens.
"""
