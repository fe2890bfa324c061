"""What strategies that read words share: their parameters, and the similarity of pages and texts to the topic's words.

The similarity uses raw frequencies, or tf-idf over the pages read so far (sheet 10.2):

    idf(t) = 1 + ln((1 + N) / (1 + df(t)))     N pages were read, df(t) of them contain the term t

A term on every page weighs 1 and no term weighs less, so terms of the first page and unseen terms have weights too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenthound.model import Topic
from scenthound.page.keyword_similarity import Query, page_similarity
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter
from scenthound.text.tokens import STOP_LISTS, Analyser

LENGTH = 10
"""Length, in words, to which per-word scores shrink a longer page. Small enough that no score is rounded to 0 or 1."""
SCORES = "score of links: per-word (does not saturate on long pages), probability (as published), logit (its log-odds)"


def stop_words_parameter() -> Any:
    return parameter("english", "stop list: english, dialog, small or none", among=STOP_LISTS)


def stem_parameter(default: bool = True) -> Any:
    return parameter(default, "reduce words to their Porter stems")


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


def idf_parameter() -> Any:
    return parameter(
        "none",
        "weigh words by their frequency alone (none), or by tf-idf over the pages read so far (running)",
        among=("none", "running"),
    )


@dataclass(frozen=True)
class RunningQuery(Query):
    """Keywords with weights that change as pages are read, so similarities must not be cached."""

    idf: RunningIdf = field(default_factory=RunningIdf, repr=False, compare=False)

    def similarity(self, counts: Mapping[str, int]) -> float:
        return self.idf.cosine(self.counts, counts)

    def text_similarity(self, text: str) -> float:
        return self.similarity(self.analyser.counts(text))


class ComparesTopic(Parameterised):
    """Base class of strategies with the parameters `idf`, `stop_words` and `stem`."""

    idf: str
    stop_words: str
    stem: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.idf == "running":  # otherwise there is nothing to save
            self.save, self.load = self._save, self._load

    def _use_topic(self, topic: Topic) -> None:
        kind = RunningQuery if self.idf == "running" else Query
        self.query_ = kind(topic.keywords, Analyser(self.stop_words, self.stem))

    def _page_similarity(self, page: Page) -> float:
        """The cosine of the topic and a page, which is first added to the idf counts: call once per page read."""
        if not isinstance(self.query_, RunningQuery):
            return page.view(page_similarity, self.query_)
        counts = page.record.counts(self.query_.analyser)
        self.query_.idf.add(counts)
        return self.query_.similarity(counts)

    def _save(self) -> Mapping[str, Any]:
        assert isinstance(self.query_, RunningQuery)
        return self.query_.idf.save()

    def _load(self, state: Mapping[str, Any]) -> None:
        self.query_ = RunningQuery(self.query_.text, self.query_.analyser, RunningIdf.load(state))
