"""DOM crawler: score a link by its page and by the text around the link (sheet 20.3).

    score(link) = alpha · similarity(page) + (1 - alpha) · similarity(context of the link)

Pant and Menczer 2003 [BIZ]. The context is all text, at any depth, in an element above the link, including the text of
other anchors. In [BIZ] it is the parent of `<a>`, and alpha is 0.25. Everything else is naive best-first; with
alpha = 1, or with the root as context (`up` beyond any depth, such as 1000), the scores are those of naive best-first.

Ours (common rules of sheet 00): several anchors to one URL count as one link, at the position of the first, with the
context of the best. `min_words` climbs from the element at `up` to the first with at least that many terms; it is off
by default, since [BIZ] takes the parent whatever it contains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from scenthound.model import Candidate, Link, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.page.views.elements import climbed_similarities, element_similarities
from scenthound.parameters import parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy
from scenthound.strategies.best_first import BestFirst
from scenthound.text.tokens import Analyser


@strategy("dom")
@dataclass
class Dom(BestFirst):
    """Prefers links whose page and surrounding text are most similar to the topic."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "page": "similarity between the topic and the page that the link is on",
        "context": "similarity between the topic and the text under the element above the link",
    }
    alpha: float = parameter(0.25, "weight of the page, from 0 to 1; the context has the rest", least=0, most=1)
    up: int = parameter(1, "context: the element this many levels above the link; 0: its own text", least=0)
    min_words: int = parameter(
        0, "climb until the context has this many terms (10 to 40 were studied); 0: off", least=0
    )

    @property
    def declaration(self) -> Declaration:
        analyser = Analyser(self.stop_words, self.stem)
        is_tree_read = bool(self.up or self.min_words)
        parts = Parts((analyser,), is_tree_read, is_tree_read)
        return Declaration(self.n, self.shuffle, self.eviction, parts, score_parts=self.score_parts)

    def read(self, page: Page) -> Iterable[Candidate]:
        return [page.offer(link, score, parts=parts) for link, score, parts in self.scored(page)]

    def scored(self, page: Page) -> Iterator[tuple[Link, float, dict[str, float]]]:
        """Each link once, with its best anchor, its score and the parts of the score."""
        similarity = self._page_similarity(page)
        shared_parts: dict[float, dict[str, float]] = {}  # links with the same context score share one dict
        for link, context in self._contexts(page, similarity):
            score = self.alpha * similarity + (1 - self.alpha) * context
            parts = shared_parts.get(context)
            if parts is None:
                parts = shared_parts[context] = {"page": similarity, "context": context}
            yield link, score, parts

    def _contexts(self, page: Page, similarity: float) -> Iterable[tuple[Link, float]]:
        if not similarity and self.up:  # if the page has no topic word, no context has one
            return [(link, 0.0) for link in page.outlinks]
        best: dict[Url, tuple[Link, float]] = {}  # a better anchor takes over the position of the first
        for link, context in zip(page.links, self._similarities(page), strict=True):
            if link.url not in best or context > best[link.url][1]:
                best[link.url] = link, context
        best.pop(page.url, None)
        return best.values()

    def _similarities(self, page: Page) -> Iterable[float]:
        if self.min_words:
            return climbed_similarities(page.record, self.query_, self.up, self.min_words)
        return element_similarities(page.record, self.query_, self.up)
