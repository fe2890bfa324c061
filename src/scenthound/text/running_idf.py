"""Inverse document frequencies while a crawl runs, from the pages read so far (sheet 10.2).

    idf(t) = 1 + ln((1 + N) / (1 + df(t)))     N pages were read, df(t) of them contain the term t

A term on every page weighs 1 and no term weighs less, so terms of the first page and unseen terms have weights too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any


class RunningIdf:
    """Counts the pages in which each term occurs.

    >>> idf = RunningIdf()
    >>> for page in (["bees", "honey"], ["bees"], ["cars", "bees"]):
    ...     idf.add(page)
    >>> idf.weight("bees"), round(idf.weight("cars"), 6), round(idf.weight("wax"), 6)
    (1.0, 1.693147, 2.386294)
    """

    def __init__(self) -> None:
        self.pages = 0
        self._pages_with: dict[str, int] = {}

    def add(self, terms: Iterable[str]) -> None:
        """Count a page by its distinct terms."""
        self.pages += 1
        pages_with = self._pages_with
        for term in terms:
            pages_with[term] = pages_with.get(term, 0) + 1

    def weight(self, term: str) -> float:
        return 1.0 + math.log((1 + self.pages) / (1 + self._pages_with.get(term, 0)))

    def cosine(self, query: Mapping[str, int], counts: Mapping[str, int]) -> float:
        """The cosine of two vectors of tf · idf; 0 if they share no term."""
        if not any(term in counts for term in query):
            return 0.0
        weights = {term: self.weight(term) for term in {*query, *counts}}
        product = sum(count * counts[term] * weights[term] ** 2 for term, count in query.items() if term in counts)
        squares = [sum((count * weights[term]) ** 2 for term, count in vector.items()) for vector in (query, counts)]
        return min(1.0, product / math.sqrt(squares[0] * squares[1]))

    def save(self) -> dict[str, Any]:
        return {"pages": self.pages, "pages with": dict(sorted(self._pages_with.items()))}

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> RunningIdf:
        idf = cls()
        idf.pages, idf._pages_with = int(state["pages"]), dict(state["pages with"])
        return idf
