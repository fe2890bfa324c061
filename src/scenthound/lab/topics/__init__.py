"""Topics: made from directories or from example pages, with seeds, taxonomies and characteristics.

* For experiments: `directory` makes topics with known answers from a directory tree, for `lab import odp`.
  `crawl_starts` decides where the crawls of an experiment start, for `lab run --start`. `characteristics` computes
  numbers that describe a topic, for `lab measure`.
* For users: `scenthound topic` and `train` read `example_file` (topic files with their example pages). Examples, and
  the pages around them, are collected by `example_sources` and become a topic in `from_examples`; `taxonomies` reads
  categories with pages.
"""
