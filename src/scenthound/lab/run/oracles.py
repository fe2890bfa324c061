"""Reference lines: what somebody who may look could reach. Not strategies, and not to be chosen as one.

The *path oracle* knows the links and the targets and always walks to the nearest target not visited yet. The
*content oracle* may read a page before it is fetched: it takes the waiting page most like the seeds. Both start
from the seeds and follow links, as every crawler must; the room between them and a crawler is what is left to gain.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.measure.metrics.trails import wanted
from scenthound.lab.run.run_cell import CellResult
from scenthound.model import Candidate, Step, Url
from scenthound.page.judge import Judge
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.text.tokens import Analyser

Floats = npt.NDArray[np.float64]


def path_oracle(bed: PreparedBed, topic: BedTopic, pages: int = 1000, seeds: Sequence[Url] | None = None) -> CellResult:
    """Seeds first; then along the shortest path from anything visited to the nearest target, again and again.

    Of several targets equally near, the one that is reached over the page visited first. Ends when no target
    can be reached any more.
    """
    seeds = topic.seeds if seeds is None else seeds
    walk = _Walk(bed, topic, pages)
    targets = {number for url in wanted(topic.targets, seeds, bed.aliases) if (number := bed.number(url)) is not None}
    walk.sow(seeds)
    targets -= walk.visited
    while targets and not walk.done:
        path = _nearest(walk, targets)
        if not path:
            return walk.result("no target within reach")
        for number, parent in path:
            walk.visit(number, parent, 1.0 / len(path))
        targets.discard(path[-1][0])
    return walk.result("pages" if walk.done else "all targets found")


def content_oracle(
    bed: PreparedBed, topic: BedTopic, pages: int = 1000, seeds: Sequence[Url] | None = None
) -> CellResult:
    """Best-first by what a waiting page says itself: its cosine with the centroid of the seeds, TF-IDF over the bed."""
    seeds = topic.seeds if seeds is None else seeds
    walk = _Walk(bed, topic, pages)
    scores = centroid_similarity(bed, seeds)
    walk.sow(seeds)
    waiting: list[tuple[float, int, int, int]] = []
    offered = set(walk.visited)
    read = 0
    while True:
        for source in walk.order[read:]:
            for target in walk.leads(source):
                if target not in offered:
                    offered.add(target)
                    heapq.heappush(waiting, (-round(float(scores[target]), 12), len(offered), target, source))
        read = len(walk.order)
        if walk.done or not waiting:
            return walk.result("pages" if walk.done else "frontier empty")
        score, _, number, parent = heapq.heappop(waiting)
        walk.visit(number, parent, -score)


ORACLES: Mapping[str, Callable[..., CellResult]] = {"path-oracle": path_oracle, "content-oracle": content_oracle}
"""By the names under which an experiment keeps and a report draws them."""


def centroid_similarity(bed: PreparedBed, seeds: Sequence[Url], analyser: Analyser | None = None) -> Floats:
    """The cosine of every page of the bed with the centroid of the seeds' pages, weights (1 + ln tf)·ln(N / df)."""
    rows, weights, lengths, starts, ids, width = _weighted(bed, analyser or Analyser())
    centroid = np.zeros(width)
    for url in dict.fromkeys(seeds):
        number = bed.number(url)
        if number is not None and lengths[number]:
            begin, end = starts[number], starts[number + 1]
            np.add.at(centroid, ids[begin:end], weights[begin:end] / lengths[number])
    norm = float(np.linalg.norm(centroid))
    products = np.bincount(rows, weights * centroid[ids], minlength=len(lengths))
    return np.divide(products, lengths * norm, out=np.zeros(len(lengths)), where=lengths * norm > 0)


_Weighted = tuple[npt.NDArray[np.int64], Floats, Floats, npt.NDArray[np.int64], npt.NDArray[np.int64], int]
_last: dict[tuple[str, str], _Weighted] = {}


def _weighted(bed: PreparedBed, analyser: Analyser) -> _Weighted:
    """TF-IDF weights of all pages, as columns; those of one bed are kept, since every topic asks for the same."""
    key = (str(bed.folder), analyser.name)
    if key not in _last:
        terms = bed.terms(analyser)
        pages = np.array(bed.page_rows, dtype=np.int64)
        sizes = (terms.starts[pages + 1] - terms.starts[pages]) if len(pages) else np.zeros(0, dtype=np.int64)
        starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        rows = np.repeat(np.arange(len(pages)), sizes)
        places = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(terms.starts[pages], sizes)
        ids = terms.ids[places].astype(np.int64)
        spread = np.bincount(ids, minlength=len(terms.vocabulary))
        worth = np.log(max(len(pages), 1) / np.maximum(spread, 1))
        weights = (1.0 + np.log(terms.frequencies[places])) * worth[ids]
        lengths = np.sqrt(np.bincount(rows, weights * weights, minlength=len(pages)))
        _last.clear()
        _last[key] = (rows, weights, lengths, starts, ids, len(terms.vocabulary))
    return _last[key]


class _Walk:
    """A crawl that is told where to go: visits pages by number and writes the trail."""

    def __init__(self, bed: PreparedBed, topic: BedTopic, pages: int) -> None:
        self._bed, self._pages = bed, pages
        self._judge = Judge(topic.topic)
        bed.read_parts(Parts((self._judge.analyser,)))
        self._starts, self._targets = bed.outgoing
        self.order: list[int] = []
        self.visited: set[int] = set()
        self._depths: dict[int, int] = {}
        self._result = CellResult()

    @property
    def done(self) -> bool:
        return len(self.order) >= self._pages

    def sow(self, seeds: Sequence[Url]) -> None:
        for url in dict.fromkeys(seeds):
            number = self._bed.number(url)
            if number is None:
                misses = self._result.misses
                misses["http-404"] = misses.get("http-404", 0) + 1
            elif number not in self.visited:
                self.visit(number, None, float("inf"))

    def leads(self, number: int) -> Iterator[int]:
        found: list[int] = self._targets[self._starts[number] : self._starts[number + 1]].tolist()
        return iter(found)

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
        place = len(self.order)
        self._result.steps.append(
            Step(
                place,
                url,
                source,
                "",
                score,
                {},
                self._judge(page),
                depth,
                page.status,
                page.size,
                float(place),
                page.title,
            )
        )

    def result(self, reason: str) -> CellResult:
        self._result.reason = reason
        self._result.attempts = len(self.order) + sum(self._result.misses.values())
        return self._result


def _nearest(walk: _Walk, targets: set[int]) -> list[tuple[int, int]]:
    """The shortest path from the visited pages to a target: each page with the one that leads to it."""
    parents: dict[int, int] = {}
    level = deque(walk.order)
    while level:
        source = level.popleft()
        for number in walk.leads(source):
            if number in walk.visited or number in parents:
                continue
            parents[number] = source
            if number in targets:
                path = [(number, source)]
                while path[-1][1] not in walk.visited:
                    path.append((path[-1][1], parents[path[-1][1]]))
                return path[::-1]
            level.append(number)
    return []
