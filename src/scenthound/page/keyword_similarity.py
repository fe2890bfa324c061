"""The similarity of texts and pages to keywords, as the cosine of term frequencies.

The trail of every crawl records the similarity of each page to the topic's keywords, whatever the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from scenthound.model import Topic
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, cosine

SHORT = 200  # characters; longer texts are not cached
CACHED = 1 << 13  # similarities of short texts


@dataclass(frozen=True)
class Query:
    """Keywords as raw term frequencies; repeated words count. Hashable, so it can be the argument of a view."""

    text: str
    analyser: Analyser = field(default_factory=Analyser)
    counts: Counts = field(init=False, repr=False, compare=False)
    _cached_similarity: Callable[[str], float] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", self.analyser.counts(self.text))
        object.__setattr__(self, "_cached_similarity", lru_cache(maxsize=CACHED)(self._similarity_of_text))
        object.__setattr__(self, "_hash", hash((self.text, self.analyser)))

    def __hash__(self) -> int:
        return self._hash  # needed for every page

    def similarity(self, counts: Mapping[str, int]) -> float:
        """The cosine with term frequencies from the same analyser."""
        return cosine(self.counts, counts)

    def text_similarity(self, text: str) -> float:
        """The cosine with a text. Results for short texts are cached, because menus are on every page of a site."""
        return self._cached_similarity(text) if len(text) <= SHORT else self._similarity_of_text(text)

    def _similarity_of_text(self, text: str) -> float:
        return cosine(self.counts, self.analyser.counts(text))


def page_similarity(record: Record, query: Query) -> float:
    """The cosine between the query and the whole page.

    >>> from scenthound.testing import page_of
    >>> round(page_similarity(page_of("<p>Chess club, chess games").record, Query("chess club")), 3)
    0.866
    """
    return query.similarity(record.counts(query.analyser))


@dataclass(frozen=True)
class KeywordSimilarity:
    """A function of a page: the cosine between the topic's keywords and the page's text, from 0 to 1.

    A strategy that requests the same view of the page gets the cached value.
    """

    topic: Topic
    analyser: Analyser = field(default_factory=Analyser)
    query: Query = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", Query(self.topic.keywords, self.analyser))

    def __call__(self, page: Page) -> float:
        return page.view(page_similarity, self.query)
