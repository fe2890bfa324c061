"""Pages kept with their words, so that all can be scored again at once: the most recent ones, and the corona.

`DocumentStore` keeps words as ids. A word costs eight bytes per document that contains it. Dropped documents are swept
out when they are more than half of all, so memory is proportional to the documents kept. Words get ids only when
needed: many documents are dropped before that.

`RecentPages` has the most recently read pages with their waiting links, for strategies that learn from labels or
re-score from time to time. Links that were found only on pages no longer remembered keep their score. `Corona` is that
of [ECON]: fetched pages that have not been selected yet, largest score first.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenthound.model import DECIMALS, Candidate, Url
from scenthound.text.term_counts import Document, terms_of
from scenthound.text.vocabulary import Vocabulary

Values = NDArray[np.float64]
SWEPT = 1 << 16  # with fewer words in dropped documents, sweeping is not worthwhile
FRESH = 300_000  # words in documents that have no ids yet: about 30 MB


class DocumentStore:
    """Word counts by key, in insertion order."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.words = Vocabulary(sys.maxsize)
        """The words of all documents, and some of dropped documents."""
        self._words = array("I")
        self._times = array("I")
        self._spans: dict[str, tuple[int, int]] = {}
        self._fresh: dict[str, Document] = {}  # the latest documents, whose words have no ids yet
        self._fresh_words = 0
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._spans) + len(self._fresh)

    def __contains__(self, key: object) -> bool:
        return key in self._spans or key in self._fresh

    def __iter__(self) -> Iterator[str]:
        return chain(self._spans, self._fresh)

    @property
    def held(self) -> int:
        """The number of words in all documents, each counted once per document."""
        return len(self._words) - self._dropped + self._fresh_words

    def put(self, key: str, document: Document) -> None:
        """Add a document, which must not change afterwards; it replaces a document with the same key."""
        self.drop(key)
        self._fresh[key] = document
        self._fresh_words += len(document)
        if self._fresh_words > FRESH:
            self._assign_ids()

    def drop(self, key: str) -> None:
        fresh = self._fresh.pop(key, None)
        if fresh is not None:
            self._fresh_words -= len(fresh)
        span = self._spans.pop(key, None)
        if span is None:
            return
        self._dropped += span[1] - span[0]
        if self._dropped > SWEPT and 2 * self._dropped > len(self._words):
            kept = [(key, self.counts(key)) for key in self]
            self._clear()
            for key, counts in kept:
                self.put(key, counts)

    def counts(self, key: str) -> dict[str, int]:
        """The word counts of a document, words in their original order. Raises KeyError if it is not stored."""
        if key in self._fresh:
            names, times = terms_of(self._fresh[key])
            return dict(zip(names, times.tolist(), strict=True))
        begin, end = self._spans[key]
        words = map(self.words.all_words.__getitem__, self._words[begin:end])
        return dict(zip(words, self._times[begin:end], strict=True))

    def _assign_ids(self) -> None:
        """Give ids to the words of fresh documents."""
        for key, document in self._fresh.items():
            begin = len(self._words)
            names, times = terms_of(document)
            self._words.frombytes(self.words.add(names).tobytes())
            self._times.frombytes(times.tobytes())
            self._spans[key] = (begin, len(self._words))
        self._fresh, self._fresh_words = {}, 0

    def sums(self, weigh: Callable[[Sequence[str]], Values], repeated: bool) -> Values:
        """For each document, the sum of the weights of its words, once per occurrence if `repeated`."""
        self._assign_ids()
        if not self._spans:
            return np.zeros(0)
        weights = weigh(self.words.all_words)
        word_weights = (
            np.append(weights[np.array(self._words, dtype=np.int64)], 0.0) if len(self._words) else np.zeros(1)
        )
        if repeated and len(self._times):
            word_weights[:-1] *= np.array(self._times, dtype=np.float64)
        spans = np.array(list(self._spans.values()), dtype=np.int64)
        sums = np.add.reduceat(word_weights, spans.ravel())[::2]
        return np.where(spans[:, 0] == spans[:, 1], 0.0, sums)

    def save(self) -> dict[str, Any]:
        """The state as JSON values and arrays, without dropped documents."""
        kept = DocumentStore()
        for key in self:
            kept.put(key, self.counts(key))
        kept._assign_ids()
        return {
            "words": list(kept.words),
            "keys": list(kept._spans),
            "ends": np.array([end for _, end in kept._spans.values()], dtype=np.int64),
            "numbers": np.array(kept._words, dtype=np.uint32),
            "times": np.array(kept._times, dtype=np.uint32),
        }

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> DocumentStore:
        store = cls()
        store.words.add([str(word) for word in state["words"]])
        store._words.extend(np.asarray(state["numbers"]).tolist())
        store._times.extend(np.asarray(state["times"]).tolist())
        begin = 0
        for key, end in zip(state["keys"], np.asarray(state["ends"]).tolist(), strict=True):
            store._spans[str(key)] = (begin, end)
            begin = end
        return store


MOST_WORDS = 4_000_000  # on all remembered pages together: 32 MB, thousands of pages of prose


class RecentPages:
    """The last `most` pages: their words, their scores, and which of their links still wait.

    The scores of `fixed` URLs never change. They are the seeds, which go first, whatever links to them.
    """

    def __init__(self, most: int, fixed: Iterable[Url] = ()) -> None:
        self.most, self.fixed = most, frozenset(fixed)
        self.documents = DocumentStore()
        self._scores: dict[Url, float] = {}
        self._links: dict[Url, Sequence[Url]] = {}
        self._depths: dict[Url, int] = {}
        self._parents: dict[Url, list[Url]] = {}  # for each link that may be waiting: the pages it was found on

    def keep(self, url: Url, document: Document, links: Sequence[Url] = (), score: float = 0.0, depth: int = 0) -> None:
        """Remember a page whose links now wait; forget the oldest pages if there are too many."""
        if not self.most:
            return
        self.forget(url)
        self.documents.put(url, document)
        self._scores[url], self._links[url], self._depths[url] = score, links, depth
        for link in links:
            if link not in self.fixed:
                self._parents.setdefault(link, []).append(url)
        while len(self._links) > self.most or (self.documents.held > MOST_WORDS and len(self._links) > 1):
            self.forget(next(iter(self._links)))

    def forget(self, url: Url) -> None:
        for link in self._links.pop(url, ()):
            parents = self._parents.get(link)
            if parents and url in parents:
                parents.remove(url)
                if not parents:
                    del self._parents[link]
        self._scores.pop(url, None)
        self._depths.pop(url, None)
        self.documents.drop(url)

    def mark_done(self, *urls: Url) -> None:
        """Record that these URLs no longer wait."""
        for url in urls:
            self._parents.pop(url, None)

    def counts(self, url: Url) -> dict[str, int] | None:
        """The word counts of a page; None if it is not remembered."""
        return self.documents.counts(url) if url in self.documents else None

    def all_counts(self) -> Iterable[tuple[Url, dict[str, int]]]:
        """All pages with their word counts, the oldest first."""
        return ((url, self.documents.counts(url)) for url in self._links)

    def rescored(
        self,
        scores: Mapping[Url, float],
        parts_of: Callable[[Url], Mapping[str, float]],
        followed: Callable[[Url], bool] = lambda _: False,
    ) -> list[Candidate]:
        """Set new page scores and return the waiting links whose score changes.

        A link has the score of the best page that links to it (rule 5). `parts_of` returns the parts of a page's new
        score. Links of pages that are now `followed` are offered even if they do not wait.
        """
        old, touched = self._scores, dict[Url, None]()
        changed = {url: score for url, score in scores.items() if round(score, DECIMALS) != round(old[url], DECIMALS)}
        new = {**old, **changed}
        for url in changed:
            touched.update(dict.fromkeys(link for link in self._links[url] if link in self._parents))
        offers = []
        for link in touched:
            parents = self._parents[link]
            old_score, best = max(map(old.__getitem__, parents)), max(parents, key=new.__getitem__)
            if round(new[best], DECIMALS) != round(old_score, DECIMALS):
                offer = Candidate(link, new[best], parts=parts_of(best), rescored=True)
                if followed(best):
                    offer = offer._replace(parent=best, depth=self._depths[best] + 1)
                offers.append(offer)
        self._scores = new
        return offers

    def save(self) -> dict[str, Any]:
        """The state as plain JSON and arrays."""
        waiting = self._parents
        return {
            "papers": self.documents.save(),
            "pages": [
                [url, self._scores[url], self._depths[url], [link for link in links if link in waiting]]
                for url, links in self._links.items()
            ],
        }

    @classmethod
    def load(cls, state: Mapping[str, Any], most: int, fixed: Iterable[Url] = ()) -> RecentPages:
        pages = cls(most, fixed)
        pages.documents = DocumentStore.load(state["papers"])
        for url, score, depth, links in state["pages"]:
            pages._scores[url], pages._links[url], pages._depths[url] = float(score), links, depth
            for link in links:
                pages._parents.setdefault(link, []).append(url)
        return pages


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
