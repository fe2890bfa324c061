"""How similar a page is to keywords. A trail records this for the topic's keywords, whatever guided the crawl."""

from __future__ import annotations

from dataclasses import dataclass, field

from scenthound.model import Topic
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.text.query import Query
from scenthound.text.tokens import Analyser


def page_similarity(record: Record, query: Query) -> float:
    """The cosine of the query with the whole page.

    >>> from scenthound.testing import page_of
    >>> round(page_similarity(page_of("<p>Chess club, chess games").record, Query("chess club")), 3)
    0.866
    """
    return query.similarity(record.counts(query.analyser))


@dataclass(frozen=True)
class KeywordSimilarity:
    """Called with a page it gives the cosine of the topic's keywords with the page's text, from 0 to 1.

    What it reads of the page it shares with every strategy that uses an equal analyser.
    """

    topic: Topic
    analyser: Analyser = field(default_factory=Analyser)
    query: Query = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", Query(self.topic.keywords, self.analyser))

    def __call__(self, page: Page) -> float:
        return page_similarity(page.record, self.query)
