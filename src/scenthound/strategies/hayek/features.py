"""Features of pages and links, as names and as ids. The names read

    volleyball            a word of the page's text (real: only a fetched page has it)
    host:fivb path:events                       words of the URL in and after its host part
    before:see anchor:results after:from        the 3 words before, the words in, the 3 words after a link to it
    distance:1            known to be 1 link from a goal

That a page is a goal is no feature: agents that know goals by our own list of them would learn nothing. Each economy
has a lexicon with ids of its own, in the order of first use.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scenthound.model import Link
from scenthound.page.record import Record
from scenthound.page.views import anchor_tokens
from scenthound.text.tokens import Analyser
from scenthound.text.vocabulary import Ids, Vocabulary

AROUND = 3  # words before and after an anchor [ECON]
FAR = 8
"""The class of pages that are not known to be nearer than this to a goal."""
FEATURE_CLASSES = ("words", "url", "links", "distance")
"""Words of the page, words of its URL, words around links to it, its distance from a goal."""
_CLASS_OF = {
    "host": "url",
    "path": "url",
    "before": "links",
    "anchor": "links",
    "after": "links",
    "distance": "distance",
}
WORDS_PER_PAGE = 2000
WORDS_PER_ANCHOR = 12
MOST_FEATURES = 1_000_000

_SPLIT = re.compile(r"[^0-9a-z]+")
_KINDS = ("host:", "path:", "before:", "anchor:", "after:", "distance:")


class Lexicon:
    """Feature names by number. When it is full, new ones are ignored."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._vocabulary = Vocabulary(MOST_FEATURES)
        self.virtual = bytearray()
        """For each feature whether it can be known of a page that was not fetched."""
        self.distances = self.add([f"distance:{steps}" for steps in range(FAR)]).tolist()
        self.add(list(names))

    @property
    def names(self) -> Sequence[str]:
        return self._vocabulary.all_words

    def add(self, names: Sequence[str]) -> Ids:
        """The numbers of features; -1 for new ones if there is no room."""
        numbers = self._vocabulary.add(names)
        new = self.names[len(self.virtual) :]
        self.virtual += bytes(name.startswith(_KINDS) for name in new)
        return numbers

    def ids(self, names: Sequence[str]) -> Ids:
        """The numbers of features; -1 for unknown ones."""
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


class LinkFeatures(NamedTuple):
    """The features of each outlink of a page: from its URL and from the words around it."""

    names: tuple[str, ...]
    starts: tuple[int, ...]
    """Where in `names` the features of a URL and those of its link begin, in turn; and where the last ones end."""


def link_features(record: Record, analyser: Analyser) -> LinkFeatures:
    """The features of all outlinks. Stop words are skipped [D: three words that carry meaning]."""
    counts, of_word = record.analysed(analyser)
    assert of_word is not None
    term_of = (*counts.terms, None)  # the last for stop words, whose index is -1
    page_terms = [term_of[index] for index in of_word.take(record.leaves.tokens).tolist()]
    spans, names, starts = anchor_tokens(record), list[str](), [0]
    for link in record.outlinks:
        names += url_features(link.url)
        starts.append(len(names))
        names += _features_around(page_terms, spans[link.position], link, analyser)
        starts.append(len(names))
    return LinkFeatures(tuple(map(sys.intern, names)), tuple(starts))


def url_features(url: str) -> list[str]:
    """
    >>> url_features("https://www.fivb.org/en/events.html")
    ['host:www', 'host:fivb', 'host:org', 'path:en', 'path:events', 'path:html']
    """
    host, _, path = url.lower().partition("://")[2].partition("/")
    named = [("host", host), ("path", path[:300])]
    return [f"{kind}:{word}" for kind, text in named for word in _SPLIT.split(text) if word and len(word) < 40]


def _features_around(terms: Sequence[str | None], span: tuple[int, int], link: Link, analyser: Analyser) -> list[str]:
    """The words before, in and after an anchor, from the terms of all tokens of the page, None for stop words."""
    start, end = span
    before = list(filter(None, terms[max(0, start - 4 * AROUND) : start]))[-AROUND:]
    if start < end:
        inside = list(filter(None, terms[start : min(end, start + 40)]))[:WORDS_PER_ANCHOR]
    else:
        inside = analyser.terms(link.anchor[:400])[:WORDS_PER_ANCHOR]
    after = list(filter(None, terms[end : end + 4 * AROUND]))[:AROUND]
    return [
        *(f"before:{word}" for word in before),
        *(f"anchor:{word}" for word in inside),
        *(f"after:{word}" for word in after),
    ]
