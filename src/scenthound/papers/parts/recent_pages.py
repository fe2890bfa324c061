"""The most recently read pages, with their words and waiting links, so that these links can be re-scored.

Used by strategies that learn from labels or re-score from time to time. Links that were found only on pages no longer
remembered keep their score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scenthound.model import DECIMALS, Candidate, Url
from scenthound.text.document_store import DocumentStore
from scenthound.text.term_counts import Document

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
