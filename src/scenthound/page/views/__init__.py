"""The text around the links of a page: pure functions of a record, an analyser and a link (sheet 10.5).

`terms` has the terms of a page in order, `anchors` the anchor, window and heading of a link, `elements` the text of the
elements around it. `leaves` (the runs of text between tags), `surrounding_words` and `positions` return results for all
links at once.

Strategies get views from `Page.view`, which computes each once per page. The views in `KEPT` do not depend on the
crawl; a prepared bed keeps them for the next crawl in the same process.

The examples in all these modules use this page:

>>> from scenthound.testing import page_of
>>> from scenthound.text.tokens import Analyser
>>> page = page_of("<h1>Clubs</h1><p>The best <a href=/c>chess club</a> in town</p><a href=/g><img alt='golf'></a>")
>>> record, small = page.record, Analyser("small")
>>> chess, golf = record.links
"""

from __future__ import annotations

from scenthound.page.views.leaves import link_leaves
from scenthound.page.views.positions import term_positions
from scenthound.page.views.surrounding_words import surroundings
from scenthound.page.views.terms import term_sequence

KEPT = frozenset({link_leaves, surroundings, term_positions, term_sequence})
"""Views of a whole page that do not depend on the crawl: a prepared bed keeps them between crawls."""
