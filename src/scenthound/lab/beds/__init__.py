"""Beds: recorded webs with topics whose answers are known, and everything that reads them.

A bed is a folder with responses and topics (`bed`), written by `lab.importers` and `lab.generate`. The lab uses it in
three ways:

* `lab.run` replays crawls on its prepared form, with every page parsed and counted once. `replay_bed` is the interface,
  `prepared` the implementation; `prepare_pages` and `prepare_tables` build the tables, `prepared_terms` has the term
  counts, `kept_views` keeps page views between crawls, and `cache` finds, checks and prunes the folders.
* `bed_server` serves it over HTTP, so that a live crawl can run on it.
* `lab info` describes it: `info` (size, reachability, locality), `web_measures` (similarity, degrees, triangles, hubs)
  and `context_measures` (the words around links), with `link_walk` for distances.
"""
