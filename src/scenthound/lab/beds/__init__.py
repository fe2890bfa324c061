"""Beds: recorded webs with topics whose answers are known, and everything that reads them.

A bed is a folder with responses and topics (`bed`), written by `lab.importers` and `lab.generate`. The lab uses it in
three ways:

* `lab.run` replays crawls on its prepared form, with every page parsed and counted once. `replay_bed` is the interface,
  with term counts and kept page views, `prepared` the implementation; `prepare_bed` builds the tables, and `cache`
  finds, checks and prunes the folders.
* `bed_server` serves it over HTTP, so that a live crawl can run on it.
* `lab info` describes it: `info` (size, link distances, reachability, locality) and `web_measures` (similarity,
  degrees, triangles, hubs, the words around links).
"""
