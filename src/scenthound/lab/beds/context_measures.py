"""Measures whether the words around a link tell if it leads to an answer, among the links of one page."""

from __future__ import annotations

import random
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from scenthound.lab.beds.prepared import PreparedBed
from scenthound.model import Candidate, Url
from scenthound.page.keyword_similarity import Query
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING
from scenthound.page.views.elements import element_similarities
from scenthound.topic_list import BedTopic
from scenthound.url import host

PAGES = 10  # pages of each topic whose links are ranked


@dataclass(frozen=True, slots=True)
class Contexts:
    """Mean area under the ROC curve, over topics, when the links of a page are ranked by their parent elements' text.

    One half is chance. Only pages that link both to answers and to other pages count; dead links are left out.
    """

    keywords: float | None
    """Ranked by similarity to the topic's keywords, as DOM crawlers do (sheet 20.3)."""
    seeds: float | None
    """Ranked by similarity to the text of the topic's examples (the seeds, if it has none)."""
    pages: int
    topics: int


def link_contexts(
    bed: PreparedBed,
    topics: Sequence[BedTopic],
    answers: Sequence[Collection[int]],
    rng: random.Random,
    between_hosts: bool = False,
) -> Contexts:
    """Rank the links of some pages of every topic; `answers` has the page numbers of each topic's answers.

    With `between_hosts`, only links to other hosts count, which leaves out menus.
    """
    bed.read_parts(EVERYTHING)
    links = _Links(bed, between_hosts)
    by_keywords, by_seeds, pages = list[float](), list[float](), 0
    for topic, topic_answers in zip(topics, answers, strict=True):
        chosen = links.mixed_pages(topic_answers)
        chosen = rng.sample(chosen, PAGES) if len(chosen) > PAGES else chosen
        texts = [page.text for url in topic.examples or topic.seeds if (page := _page(bed, url)) is not None]
        queries = (Query(topic.keywords), Query(" ".join(texts)))
        areas = [[links.area(page, query, topic_answers) for page in chosen] for query in queries]
        if chosen:
            by_keywords.append(statistics.fmean(areas[0]))
            by_seeds.append(statistics.fmean(areas[1]))
            pages += len(chosen)
    keywords, seeds = (statistics.fmean(values) if values else None for values in (by_keywords, by_seeds))
    return Contexts(keywords, seeds, pages, len(by_keywords))


class _Links:
    """The links of a bed that count: all, or only those to other hosts."""

    def __init__(self, bed: PreparedBed, between_hosts: bool) -> None:
        self._bed, graph = bed, bed.graph
        counted = np.ones(len(graph.sources), dtype=np.bool_)
        if between_hosts:
            ids: dict[str, int] = {}
            hosts = np.array([ids.setdefault(host(name), len(ids)) for name in graph.names], dtype=np.int64)
            counted = hosts[graph.sources] != hosts[graph.targets]
        self._sources, self._targets, self._size = graph.sources[counted], graph.targets[counted], len(graph)

    def mixed_pages(self, answers: Collection[int]) -> list[int]:
        """Pages with links both to answers and to other pages."""
        is_answer = np.zeros(self._size, dtype=np.float64)
        is_answer[list(answers)] = 1.0
        hits = np.bincount(self._sources, is_answer[self._targets], minlength=self._size)
        total = np.bincount(self._sources, minlength=self._size)
        mixed: list[int] = np.flatnonzero((hits > 0) & (hits < total)).tolist()
        return mixed

    def area(self, number: int, query: Query, answers: Collection[int]) -> float:
        """The area under the curve for one of the `mixed_pages`."""
        page = _page(self._bed, self._bed.pages[number])
        assert page is not None
        begin, end = np.searchsorted(self._sources, [number, number + 1])
        best = dict.fromkeys(self._targets[begin:end].tolist(), 0.0)
        for link, score in zip(page.links, element_similarities(page.record, query, 1), strict=True):
            target = self._bed.number(link.url)
            if target in best:
                best[target] = max(score, best[target])
        good = [score for target, score in best.items() if target in answers]
        bad = [score for target, score in best.items() if target not in answers]
        return area_under_curve(good, bad)


def _page(bed: PreparedBed, url: Url) -> Page | None:
    number = bed.number(url)
    page = None if number is None else bed.fetch(Candidate(bed.pages[number], 0.0))
    return page if isinstance(page, Page) else None


def area_under_curve(good: Sequence[float], bad: Sequence[float]) -> float:
    """The probability that a random value of `good` is above one of `bad`; a tie counts one half.

    >>> area_under_curve([0.9, 0.5], [0.5, 0.1])
    0.875
    """
    above = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
    return above / (len(good) * len(bad))
