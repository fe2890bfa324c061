"""Generated webs with known answers. The same seed number gives the same bytes on every machine.

`web_kinds` writes a web of either kind as a bed, for `lab generate`, `make_bed` and the benchmarks:

* the simple web, for tests and demonstrations: `simple_plan` (hosts, subjects and links), `simple_pages` (HTML, and
  the traps that a bed server adds), `simple_web` (the web, its topics and its bed);
* the realistic web, for experiments: sites of many subjects that link mostly to themselves, calibrated on recorded
  webs. `realistic_words` has its settings and words, `realistic_sites` plans hosts, sections and the role of each
  page, `realistic_links` decides which pages a page links to, and `realistic_web` is the web itself: pages by number or
  URL, and topics with known answers. A page is a function of the seed number and the page's number,
  so nothing is stored but the plan; `on_the_fly` makes pages when they are fetched, instead of reading them from disk.
  docs/concepts/generated-web.md compares its measures with those of recorded webs.

Both draw from `rng` and take their words from `subjects`. Outside beds, `trap_webs` measures how much of a crawl traps
take, and `on_the_fly.EndlessWeb` is a web for scale benchmarks.
"""
