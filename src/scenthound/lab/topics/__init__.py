"""Topics: made from directories or from example pages, with seeds, taxonomies and characteristics.

* For experiments: `directory` makes topics with known answers from a directory tree, for `lab import odp`.
  `crawl_starts` decides where the crawls of an experiment start, with `seeds` (pages at some distance from the answers)
  and `augment` (hubs that link to several seeds). `characteristics` has the formulas that describe a topic, and
  `characteristics_table` computes them for `lab measure`.
* For users: `scenthound topic` and `train` read `example_file` (topic files with their example pages). Examples are
  collected by `example_sources` and become a topic in `from_examples`; `taxonomies` reads categories with pages, and
  `live_web` gathers the pages around some samples to train on.
"""
