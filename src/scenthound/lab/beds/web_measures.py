"""Measures of a web that decide whether crawlers can be compared on it, the same for recorded and generated webs.

How similar are random, linked and sibling pages (Davison 2000)? How fast does similarity fall with the link distance
(Menczer 2004)? How many pages at each distance from the examples are on topic, how many links stay within the host, how
are degrees distributed, do triangles follow the topic, do the words around a link tell where it leads (whether it leads
to an answer, among the links of one page), and how many topics have hubs? Samples are drawn with the caller's random
generator.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from scenthound.graph.link_graph import LinkGraph, Numbers
from scenthound.lab.beds.info import LinkWalk
from scenthound.lab.beds.prepared import PreparedBed
from scenthound.model import Candidate, Url
from scenthound.page.keyword_similarity import Query
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING
from scenthound.page.views.elements import element_similarities
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import cosine
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


PAIRS = 2000  # pairs for a mean: the standard error of a cosine is then below 0.005
SOURCES = 60  # pages whose similarity to others is measured by distance
AT_DISTANCE = 30  # pages compared with each of them at each distance
MAX_DISTANCE = 5
WEDGES = 4000  # pairs of neighbours for a clustering coefficient
HUB_SIZES = (2, 3, 5, 10)
TAIL = 0.1  # share of the pages with links that an exponent is fitted to

STEPS = 5
T = TypeVar("T")

Progress = Callable[[int, int], None]
"""Called with the number of measures done and their total."""


@dataclass(frozen=True, slots=True)
class Similarity:
    """Mean cosines of term frequencies; None if there is no such pair."""

    random: float | None
    linked: float | None
    linked_hosts: float | None
    """Linked pages on different hosts."""
    siblings: float | None
    """Two pages that the same page links to."""
    by_distance: Mapping[str, float]
    """Two pages, by the smallest number of links from one to the other."""


@dataclass(frozen=True, slots=True)
class Degrees:
    """The distribution of the number of links into or out of a page."""

    median: float
    ninth_decile: float
    last_percent: float
    most: int
    exponent: float | None
    """The exponent of a power law fitted to the highest tenth (Hill's estimator); None below ten pages."""


@dataclass(frozen=True, slots=True)
class Triangles:
    """The share of pairs of neighbours of a page, by links in either direction, that are linked themselves."""

    pages: float | None
    on_topic: float | None
    """Page and both neighbours are on the same topic."""
    mixed: float | None
    """The page and one neighbour are on topic, the other is not."""


@dataclass(frozen=True, slots=True)
class Hubs:
    """Numbers of topics with a hub: a page that links to several of their answers and is not an answer itself."""

    topics: int
    of_seeds: int
    """Topics with a page that links to at least two seeds, as seed augmentation requires (sheet 60.2)."""
    of_answers: Mapping[str, int]
    """Topics with a page that links to at least this many seeds or targets."""


@dataclass(frozen=True, slots=True)
class WebMeasures:
    """The result of `measure_web`."""

    similarity: Similarity
    on_topic: Mapping[str, float]
    """Share of on-topic pages by distance from the examples (the seeds, if a topic has none), mean over topics."""
    on_topic_chance: float | None
    """The same share among all pages."""
    within_host: float | None
    """Share of links that stay on their host."""
    in_degree: Degrees
    out_degree: Degrees
    clustering: Triangles
    contexts: Contexts
    contexts_between_hosts: Contexts
    """The same for links to other hosts only, which leaves out menus and the pages of a company's own site."""
    hubs: Hubs


def measure_web(
    bed: PreparedBed, topics: Sequence[BedTopic], rng: random.Random, progress: Progress | None = None
) -> WebMeasures:
    """All measures of a bed. The same bed and state of `rng` give the same result."""
    graph, report = bed.graph, progress or (lambda done, total: None)
    walk = LinkWalk(graph)
    answers = [_answers(bed, topic) for topic in topics]
    report(1, STEPS)
    similarity = _similarity(bed, walk, rng)
    report(2, STEPS)
    on_topic = _on_topic_by_distance(walk, answers)
    report(3, STEPS)
    clustering = _clustering(graph, [topic.all for topic in answers], rng)
    report(4, STEPS)
    everywhere, between = (
        link_contexts(bed, topics, [topic.all for topic in answers], rng, between_hosts)
        for between_hosts in (False, True)
    )
    report(STEPS, STEPS)
    chance = [len(topic.all) / len(bed) for topic in answers if topic.all]
    return WebMeasures(
        similarity,
        on_topic,
        statistics.fmean(chance) if chance else None,
        _within_host(graph),
        degrees(graph.in_degree),
        degrees(graph.out_degree),
        clustering,
        everywhere,
        between,
        _hubs(graph, answers),
    )


class _Answers(NamedTuple):
    """The numbers of a topic's pages."""

    seeds: frozenset[int]
    start: frozenset[int]
    """The topic's examples, or its seeds if it has none."""
    all: frozenset[int]
    """Targets and examples."""


def _answers(bed: PreparedBed, topic: BedTopic) -> _Answers:
    def numbers(urls: Iterable[Url]) -> frozenset[int]:
        return frozenset(number for url in urls if (number := bed.number(url)) is not None)

    start = numbers(topic.examples or topic.seeds)
    return _Answers(numbers(topic.seeds), start, numbers(topic.targets) | start)


# ---- similarity


def _similarity(bed: PreparedBed, walk: LinkWalk, rng: random.Random) -> Similarity:
    graph, pages = walk.graph, range(len(bed))
    links = list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    hosts = list(map(host, graph.names))
    between = [pair for pair in links if hosts[pair[0]] != hosts[pair[1]]]
    forks = np.flatnonzero(graph.out_degree > 1).tolist()
    siblings = [rng.sample(_linked(walk, rng.choice(forks)), 2) for _ in range(PAIRS)] if forks else []
    by_distance: dict[int, list[float]] = {}
    for source in _sample(pages, SOURCES, rng):
        distances = walk.distances([source], MAX_DISTANCE)
        for distance in range(1, MAX_DISTANCE + 1):
            at_distance = np.flatnonzero(distances == distance).tolist()
            pairs = [(source, page) for page in _sample(at_distance, AT_DISTANCE, rng)]
            by_distance.setdefault(distance, []).extend(_cosines(bed, pairs))
    return Similarity(
        _mean(_cosines(bed, [rng.sample(pages, 2) for _ in range(PAIRS)] if len(pages) > 1 else [])),
        _mean(_cosines(bed, _sample(links, PAIRS, rng))),
        _mean(_cosines(bed, _sample(between, PAIRS, rng))),
        _mean(_cosines(bed, siblings)),
        {str(distance): statistics.fmean(values) for distance, values in by_distance.items() if values},
    )


def _cosines(bed: PreparedBed, pairs: Iterable[Sequence[int]]) -> Iterator[float]:
    terms, rows = bed.terms(Analyser()), bed.page_rows
    return (cosine(terms.counts(rows[a]), terms.counts(rows[b])) for a, b in pairs)


def _linked(walk: LinkWalk, page: int) -> list[int]:
    linked: list[int] = walk.graph.targets[walk.starts[page] : walk.starts[page + 1]].tolist()
    return linked


# ---- topics


def _on_topic_by_distance(walk: LinkWalk, answers: Sequence[_Answers]) -> dict[str, float]:
    shares: dict[int, list[float]] = {}
    for topic in answers:
        distances = walk.distances(topic.start, MAX_DISTANCE)
        is_on_topic = np.zeros(len(distances), dtype=np.bool_)
        is_on_topic[list(topic.all)] = True
        for distance in range(1, MAX_DISTANCE + 1):
            at_distance = distances == distance
            if at_distance.any():
                shares.setdefault(distance, []).append(float(is_on_topic[at_distance].mean()))
    return {str(distance): statistics.fmean(values) for distance, values in sorted(shares.items())}


def _clustering(graph: LinkGraph, topics: Sequence[frozenset[int]], rng: random.Random) -> Triangles:
    neighbours = _Neighbours(graph)
    centres = np.flatnonzero(neighbours.degree > 1).tolist()
    everywhere = (
        rng.sample(neighbours.of(page), 2) for page in (rng.choice(centres) for _ in range(WEDGES if centres else 0))
    )
    inside, mixed = list[Sequence[int]](), list[Sequence[int]]()
    for topic in topics:
        for page in _sample(sorted(topic), max(1, WEDGES // len(topics)), rng):
            on_topic = [other for other in neighbours.of(page) if other in topic]
            off_topic = [other for other in neighbours.of(page) if other not in topic]
            if len(on_topic) > 1:
                inside.append(rng.sample(on_topic, 2))
            if on_topic and off_topic:
                mixed.append((rng.choice(on_topic), rng.choice(off_topic)))
    shares = (neighbours.share_linked(list(pairs)) for pairs in (everywhere, inside, mixed))
    return Triangles(*shares)


class _Neighbours:
    """A link graph without the directions of its links."""

    def __init__(self, graph: LinkGraph) -> None:
        size = max(len(graph), 1)
        keys = np.unique(
            np.concatenate([graph.sources * size + graph.targets, graph.targets * size + graph.sources])
        ).astype(np.int64)
        self._size, self._keys, self._ends = size, keys, keys % size
        self.degree = np.bincount(keys // size, minlength=len(graph))
        self._starts = np.concatenate(([0], np.cumsum(self.degree)))

    def of(self, page: int) -> list[int]:
        neighbours: list[int] = self._ends[self._starts[page] : self._starts[page + 1]].tolist()
        return neighbours

    def share_linked(self, pairs: Sequence[Sequence[int]]) -> float | None:
        """The share of these pairs of pages that are linked; None if there are no pairs."""
        if not pairs:
            return None
        keys = np.array([a * self._size + b for a, b in pairs], dtype=np.int64)
        indices = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return float((self._keys[indices] == keys).mean())


def _hubs(graph: LinkGraph, answers: Sequence[_Answers]) -> Hubs:
    of_seeds, of_answers = 0, dict.fromkeys(map(str, HUB_SIZES), 0)
    for topic in answers:
        everything = topic.all | topic.seeds
        of_seeds += _best_hub(graph, topic.seeds, everything) >= 2
        best = _best_hub(graph, everything, everything)
        for size in HUB_SIZES:
            of_answers[str(size)] += best >= size
    return Hubs(len(answers), of_seeds, of_answers)


def _best_hub(graph: LinkGraph, linked: frozenset[int], answers: frozenset[int]) -> int:
    """The largest number of pages in `linked` that one page, itself not an answer, links to."""
    is_linked = np.zeros(len(graph), dtype=np.float64)
    is_linked[list(linked)] = 1.0
    counts = np.bincount(graph.sources, is_linked[graph.targets], minlength=len(graph))
    counts[list(answers)] = 0
    return int(counts.max(initial=0))


# ---- links


def _within_host(graph: LinkGraph) -> float | None:
    ids: dict[str, int] = {}
    hosts = np.array([ids.setdefault(host(name), len(ids)) for name in graph.names], dtype=np.int64)
    return float((hosts[graph.sources] == hosts[graph.targets]).mean()) if len(graph.sources) else None


def degrees(values: Numbers) -> Degrees:
    """Quantiles of a list of degrees, and the exponent of its tail.

    >>> import numpy
    >>> degrees(numpy.array([0, 1, 2, 3, 10])).median
    2.0
    """
    if not len(values):
        return Degrees(0.0, 0.0, 0.0, 0, None)
    median, decile, percent = np.quantile(values, (0.5, 0.9, 0.99)).tolist()
    return Degrees(median, decile, percent, int(values.max()), _exponent(values[values > 0].tolist()))


def _exponent(values: list[int]) -> float | None:
    """Hill's estimator on the highest tenth: 1 + n / sum(ln(x / least))."""
    tail = sorted(values, reverse=True)[: int(len(values) * TAIL)]
    if len(tail) < 10:
        return None
    logarithms = sum(math.log(value / tail[-1]) for value in tail)
    return 1 + len(tail) / logarithms if logarithms else None


def _sample(items: Sequence[T], most: int, rng: random.Random) -> Sequence[T]:
    return items if len(items) <= most else rng.sample(items, most)


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return statistics.fmean(numbers) if numbers else None
