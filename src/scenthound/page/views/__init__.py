"""The text around the links of a page: pure functions of a record, an analyser and a link (sheet 10.5).

`anchors` has the terms of a page in order, the leaves (runs of text between tags), anchors, windows and headings of
links, and `elements` the text of the elements around links and the words around all links at once.

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

from scenthound.page.views.anchors import link_leaves, term_positions, term_sequence
from scenthound.page.views.elements import surroundings

KEPT = frozenset({link_leaves, surroundings, term_positions, term_sequence})
"""Views of a whole page that do not depend on the crawl: a prepared bed keeps them between crawls."""
