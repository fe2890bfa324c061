"""Generated webs with known answers. The same seed number gives the same bytes on every machine.

`web_kinds` writes a web of either kind as a bed, for `lab generate`, `make_bed` and the benchmarks:

* the simple web, for tests and demonstrations: `simple_plan` (hosts, subjects and links), `simple_text` (sentences),
  `simple_pages` (HTML), `simple_web` (the web, its topics and its bed);
* the realistic web, for experiments: the package `realistic`. `on_the_fly` makes its pages when they are fetched,
  instead of reading them from disk.

Both draw from `rng` and take their words from `subjects`. Outside beds, `crawler_traps` are the traps that a bed server
adds to a simple web, `trap_webs` measures how much of a crawl traps take, and `endless` is a web for scale benchmarks.
"""
