"""The corona of [ECON]: fetched pages that have not been selected yet, largest score first.

Used by `bayes` in the mode that fetches all links of the page it selects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from scenthound.model import DECIMALS, Url
from scenthound.text.document_store import DocumentStore, Values
from scenthound.text.term_counts import Document


class CoronaPage(NamedTuple):
    """A page in the corona."""

    url: Url
    number: int
    """Position in fetch order, which breaks ties."""
    depth: int
    is_goal: bool
    links: Sequence[Url]
    """Its outlinks, in document order."""


class Corona:
    """Fetched pages with their words and scores."""

    def __init__(self) -> None:
        self._documents = DocumentStore()
        self._pages: dict[Url, CoronaPage] = {}
        self._scores: dict[Url, float] = {}
        self._heap: list[tuple[float, int, Url]] = []

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, url: object) -> bool:
        return url in self._pages

    def put(self, page: CoronaPage, document: Document, score: float) -> None:
        self._documents.put(page.url, document)
        self._pages[page.url], self._scores[page.url] = page, score
        heappush(self._heap, (-round(score, DECIMALS), page.number, page.url))

    def counts(self, url: Url) -> dict[str, int] | None:
        """The word counts of a page; None if it is not in the corona."""
        return self._documents.counts(url) if url in self._documents else None

    def select(self) -> tuple[CoronaPage, float]:
        """Remove and return the page with the largest score; among ties, the one fetched first. Fails if empty."""
        _, _, url = heappop(self._heap)
        self._documents.drop(url)
        return self._pages.pop(url), self._scores.pop(url)

    def rescore(
        self, weigh: Callable[[Sequence[str]], Values], repeated: bool, score: Callable[[Url, float], float]
    ) -> None:
        """Set the score of each page to `score(url, sum of weigh over its words)`."""
        sums = self._documents.sums(weigh, repeated).tolist()
        self._scores = {url: score(url, total) for url, total in zip(self._pages, sums, strict=True)}
        self._make_heap()

    def _make_heap(self) -> None:
        self._heap = [(-round(self._scores[url], DECIMALS), page.number, url) for url, page in self._pages.items()]
        heapify(self._heap)

    def save(self) -> dict[str, Any]:
        """The state as plain JSON and arrays."""
        return {
            "papers": self._documents.save(),
            "pages": [[*page[:4], list(page.links)] for page in self._pages.values()],
            "scores": np.array([self._scores[url] for url in self._pages]),
        }

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> Corona:
        corona = cls()
        corona._documents = DocumentStore.load(state["papers"])
        for fields, score in zip(state["pages"], np.asarray(state["scores"]).tolist(), strict=True):
            page = CoronaPage(*fields)
            corona._pages[page.url], corona._scores[page.url] = page, score
        corona._make_heap()
        return corona
