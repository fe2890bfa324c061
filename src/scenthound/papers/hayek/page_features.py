"""Features of pages and links, as names and as ids.

    volleyball            a word of the page's text (real: only a fetched page has it)
    host:fivb path:events                       words of the URL in and after its host part
    before:see anchor:results after:from        the 3 words before, the words in, the 3 words after a link to it
    distance:1            known to be 1 link from a goal

`text_features`, `site_features` and `operators` have further kinds, off by default.

Being a goal is not a feature, because agents that match goals by our own list of goals would learn nothing. Each
economy has a lexicon with its own ids, in the order of first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from scenthound.model import Link
from scenthound.page.page import Page
from scenthound.page.views.anchors import anchor_tokens
from scenthound.page.views.terms import term_sequence
from scenthound.papers.hayek.operators import OPERATORS, is_condition
from scenthound.papers.hayek.site_features import KINDS
from scenthound.text.term_counts import unpack_terms
from scenthound.text.tokens import Analyser
from scenthound.text.vocabulary import Ids, Vocabulary

AROUND = 3  # words before and after an anchor [ECON]
FAR = 8
"""The distance of pages that are not known to be nearer to a goal."""
FEATURE_CLASSES = ("words", "url", "links", "distance")
"""Words of the page, words of its URL, words around links to it, its distance from a goal."""
MORE_CLASSES = ("ngrams", "bayes", "sites", "hubs")
"""[ECON]'s future work, off by default: see `text_features` and `site_features`."""
_CLASS_OF = {
    "host": "url",
    "path": "url",
    "before": "links",
    "anchor": "links",
    "after": "links",
    "distance": "distance",
    "ngram": "ngrams",
    "bayes": "bayes",
    **KINDS,
    **dict.fromkeys(OPERATORS, "words"),
}
WORDS_PER_PAGE = 2000
WORDS_PER_ANCHOR = 12
MOST_FEATURES = 1_000_000

_SPLIT = re.compile(r"[^0-9a-z]+")
_STATES = tuple(f"{kind}:" for kind in ("distance", *KINDS))  # not stored with a page, because they change
_UNFETCHED = ("host:", "path:", "before:", "anchor:", "after:", *_STATES)


class Lexicon:
    """Feature names and their ids. When it is full, new names are ignored."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._vocabulary = Vocabulary(MOST_FEATURES)
        self.virtual = bytearray()
        """For each feature, whether unfetched pages can have it."""
        self.indexed = bytearray()
        """For each feature, whether pages are indexed by it. States of the crawl and conditions are not."""
        self.distances = self.add([f"distance:{steps}" for steps in range(FAR)]).tolist()
        self.add(list(names))

    @property
    def names(self) -> Sequence[str]:
        return self._vocabulary.all_words

    def add(self, names: Sequence[str]) -> Ids:
        """The ids of features, which are added if they are new; -1 if the lexicon is full."""
        ids = self._vocabulary.add(names)
        new = self.names[len(self.virtual) :]
        self.virtual += bytes(name.startswith(_UNFETCHED) for name in new)
        self.indexed += bytes(not name.startswith(_STATES) and not is_condition(name) for name in new)
        return ids

    def ids(self, names: Sequence[str]) -> Ids:
        """The ids of features; -1 for unknown features."""
        return self._vocabulary.ids(names)

    def __len__(self) -> int:
        return len(self._vocabulary)


def feature_class(name: str) -> str:
    """The class of a feature.

    >>> feature_class("volleyball"), feature_class("anchor:results")
    ('words', 'links')
    """
    kind, colon, _ = name.partition(":")
    return _CLASS_OF[kind] if colon else "words"


def url_features(url: str) -> list[str]:
    """The features of a URL, in order.

    >>> url_features("https://www.fivb.org/en/events.html")
    ['host:www', 'host:fivb', 'host:org', 'path:en', 'path:events', 'path:html']
    """
    host, _, path = url.lower().partition("://")[2].partition("/")
    sections = [("host", host), ("path", path[:300])]
    return [f"{kind}:{word}" for kind, text in sections for word in _SPLIT.split(text) if word and len(word) < 40]


class LinkWords:
    """The words around the links of a page. Stop words are skipped [D: so the three words carry meaning]."""

    def __init__(self, page: Page, analyser: Analyser) -> None:
        lines, of_token = page.view(term_sequence, analyser)
        self._terms = (*unpack_terms(lines), None)  # the last entry is for stop words, whose index is -1
        self._tokens = of_token.tolist()
        self._spans = page.view(anchor_tokens)
        self._analyser = analyser

    def features(self, link: Link) -> list[str]:
        """Features for the words before, in and after an anchor."""
        begin, end = self._spans[link.position]
        inside = self._words(begin, min(end, begin + 40)) if begin < end else self._analyser.terms(link.anchor[:400])
        return [
            *(f"before:{word}" for word in self._words(max(0, begin - 4 * AROUND), begin)[-AROUND:]),
            *(f"anchor:{word}" for word in inside[:WORDS_PER_ANCHOR]),
            *(f"after:{word}" for word in self._words(end, end + 4 * AROUND)[:AROUND]),
        ]

    def _words(self, begin: int, end: int) -> list[str]:
        return [term for index in self._tokens[begin:end] if (term := self._terms[index]) is not None]
