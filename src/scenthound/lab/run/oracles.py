"""Oracles, the reference lines of reports: crawls that know what no real crawler can know.

They are not strategies and can't be chosen as one. The *path oracle* knows all links and targets and always walks to
the nearest target not visited yet. The gap between it and a crawler is what is left to gain. The *content oracle* reads
pages before they are fetched and takes the waiting page most similar to the seeds. It does not know the targets, so it
is not an upper bound: a crawler that uses more than similarity to the seeds can find more, and on some webs
breadth-first does. Both start from the seeds and follow links, as every crawler must.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.lab.measure.metrics.trails import counted_targets
from scenthound.lab.run.handover import shown_topic
from scenthound.lab.run.run_cell import CellResult, ReplayLimits
from scenthound.model import DECIMALS, Candidate, Step, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.text.tokens import Analyser
from scenthound.topic_list import BedTopic
from scenthound.wiring import start_judge

Floats = npt.NDArray[np.float64]


class OracleBed:
    """A bed, and the TF-IDF weights (1 + ln tf)·ln(N / df) of its pages, computed once for all topics."""

    def __init__(self, bed: ReplayBed, analyser: Analyser | None = None) -> None:
        self.bed, self._analyser = bed, analyser or Analyser()

    def centroid_similarity(self, seeds: Sequence[Url]) -> Floats:
        """The cosine of every page with the centroid of the seeds' pages."""
        rows, weights, lengths, starts, ids, width = self._tfidf
        centroid = np.zeros(width)
        for url in dict.fromkeys(seeds):
            number = self.bed.number(url)
            if number is not None and lengths[number]:
                begin, end = starts[number], starts[number + 1]
                np.add.at(centroid, ids[begin:end], weights[begin:end] / lengths[number])
        norm = float(np.linalg.norm(centroid))
        products = np.bincount(rows, weights * centroid[ids], minlength=len(lengths))
        return np.divide(products, lengths * norm, out=np.zeros(len(lengths)), where=lengths * norm > 0)

    @cached_property
    def _tfidf(self) -> tuple[npt.NDArray[np.int64], Floats, Floats, npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
        """Page number, weight and term id of each term of each page; the pages' lengths and starts; vocabulary size."""
        terms = self.bed.terms(self._analyser)
        pages = np.array(self.bed.page_rows, dtype=np.int64)
        sizes = (terms.starts[pages + 1] - terms.starts[pages]) if len(pages) else np.zeros(0, dtype=np.int64)
        starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        rows = np.repeat(np.arange(len(pages)), sizes)
        offsets = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(terms.starts[pages], sizes)
        ids = terms.ids[offsets].astype(np.int64)
        document_counts = np.bincount(ids, minlength=len(terms.vocabulary))
        idf = np.log(max(len(pages), 1) / np.maximum(document_counts, 1))
        weights = (1.0 + np.log(terms.frequencies[offsets])) * idf[ids]
        lengths = np.sqrt(np.bincount(rows, weights * weights, minlength=len(pages)))
        return rows, weights, lengths, starts, ids, len(terms.vocabulary)


def path_oracle(
    source: OracleBed, topic: BedTopic, pages: int = 1000, seeds: Sequence[Url] | None = None
) -> CellResult:
    """Fetch the seeds, then walk the shortest path from any visited page to the nearest target, again and again.

    Among equally near targets it takes the one reached from the page visited first. It ends when no remaining target
    can be reached.
    """
    seeds, bed = topic.seeds if seeds is None else seeds, source.bed
    crawl = _OracleCrawl(bed, topic, pages)
    urls = counted_targets(topic.targets, seeds, bed.aliases)
    targets = {number for url in urls if (number := bed.number(url)) is not None}
    crawl.visit_seeds(seeds)
    targets -= crawl.visited
    while targets and not crawl.done:
        path = _nearest(crawl, targets)
        if not path:
            return crawl.result("no target within reach")
        for page, parent in path:
            crawl.visit(page, parent, 1.0 / len(path))
        targets.discard(path[-1][0])
    return crawl.result("pages" if crawl.done else "all targets found")


def content_oracle(
    source: OracleBed, topic: BedTopic, pages: int = 1000, seeds: Sequence[Url] | None = None
) -> CellResult:
    """Best-first crawl in which the score of a waiting page is its own cosine with the centroid of the seeds."""
    seeds = topic.seeds if seeds is None else seeds
    crawl = _OracleCrawl(source.bed, topic, pages)
    scores = source.centroid_similarity(seeds)
    crawl.visit_seeds(seeds)
    waiting: list[tuple[float, int, int, int]] = []
    seen = set(crawl.visited)
    expanded = 0
    while True:
        for page in crawl.order[expanded:]:
            for target in crawl.links(page):
                if target not in seen:
                    seen.add(target)
                    heapq.heappush(waiting, (-round(float(scores[target]), DECIMALS), len(seen), target, page))
        expanded = len(crawl.order)
        if crawl.done or not waiting:
            return crawl.result("pages" if crawl.done else "frontier empty")
        score, _, target, parent = heapq.heappop(waiting)
        crawl.visit(target, parent, -score)


ORACLES: Mapping[str, Callable[..., CellResult]] = {"path-oracle": path_oracle, "content-oracle": content_oracle}
"""The oracles by the names that experiments and reports use."""
READS_ALL = frozenset({"content-oracle"})
"""Oracles that need the terms of all pages, so they can't run on a web that is generated on the fly."""
BOUND = "path-oracle"
"""The oracle that shows what is possible."""
EXPLAINED: Mapping[str, str] = {
    "path-oracle": "knows all links and targets and always walks to the nearest target. It shows roughly what is "
    "possible; being greedy, it is not the exact maximum",
    "content-oracle": "reads pages before they are fetched and takes the one whose text is most like the seeds. It "
    "shows what perfect knowledge of the text is worth, but is not an upper bound: a crawler can find more",
}
"""A description of each oracle, to be printed after its name."""


class _OracleCrawl:
    """A crawl in which the caller chooses each page, by its number. It records the trail."""

    def __init__(self, bed: ReplayBed, topic: BedTopic, pages: int) -> None:
        self._bed, self._pages = bed, pages
        self._judging = start_judge(ReplayLimits().judge, shown_topic(topic.topic, False), topic.seeds)
        bed.read_parts(Parts((Analyser(),)))
        self._starts, self._targets = bed.outgoing
        self.order: list[int] = []
        self.visited: set[int] = set()
        self._depths: dict[int, int] = {}
        self._result = CellResult()

    @property
    def done(self) -> bool:
        return len(self.order) >= self._pages

    def visit_seeds(self, seeds: Sequence[Url]) -> None:
        for url in dict.fromkeys(seeds):
            number = self._bed.number(url)
            if number is None:
                misses = self._result.misses
                misses["http-404"] = misses.get("http-404", 0) + 1
            elif number not in self.visited:
                self.visit(number, None, float("inf"))

    def links(self, number: int) -> list[int]:
        targets: list[int] = self._targets[self._starts[number] : self._starts[number + 1]].tolist()
        return targets

    def visit(self, number: int, parent: int | None, score: float) -> None:
        if self.done or number in self.visited:
            return
        url = self._bed.pages[number]
        page = self._bed.fetch(Candidate(url, score))
        assert isinstance(page, Page)
        depth = self._depths[number] = 0 if parent is None else self._depths[parent] + 1
        source = None if parent is None else self._bed.pages[parent]
        self.order.append(number)
        self.visited.add(number)
        n, (similarity, relevance, relevant) = len(self.order), self._judging.judge(page)
        step = Step(n, url, source, "", score, {}, similarity, depth, page.status, page.size, float(n), page.title)
        step = step._replace(relevance=relevance, relevant=relevant)
        self._result.steps.append(step)
        self._result.requests.append(n + sum(self._result.misses.values()))

    def result(self, reason: str) -> CellResult:
        self._result.reason = reason
        self._result.attempts = len(self.order) + sum(self._result.misses.values())
        return self._result


def _nearest(crawl: _OracleCrawl, targets: set[int]) -> list[tuple[int, int]]:
    """The shortest path from the visited pages to a target, as pairs of a page and the page that links to it."""
    parents: dict[int, int] = {}
    queue = deque(crawl.order)
    while queue:
        source = queue.popleft()
        for number in crawl.links(source):
            if number in crawl.visited or number in parents:
                continue
            parents[number] = source
            if number in targets:
                path = [(number, source)]
                while path[-1][1] not in crawl.visited:
                    path.append((path[-1][1], parents[path[-1][1]]))
                return path[::-1]
            queue.append(number)
    return []
