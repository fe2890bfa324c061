"""Describes a bed: its size, its links, how far answers are from seeds, how topical its links are.

Two numbers decide whether a bed can distinguish crawlers at all. *Reachability*: no crawler can find a target that no
path of links leads to. *Topical locality*: focused crawling works because pages link to similar pages (Davison 2000;
Menczer 2004); if they do so no more than by chance, no strategy can beat breadth-first.
"""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenthound.graph.link_graph import LinkGraph, Numbers, numbered_graph
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.importers.page_graph import RecordedGraph, RecordedPage, read_recorded, recorded_graph
from scenthound.model import Candidate, Url
from scenthound.page.page import Page
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import cosine
from scenthound.topic_list import BedTopic
from scenthound.url import host

SAMPLE = 2000  # pages with term counts: in a bed of 200,000 pages with 20 links each, about 400 links join two of them
PAIRS = 2000  # pairs of pages for a mean cosine


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and range of a value over topics; None if no topic has a value."""

    mean: float | None
    least: float | None
    most: float | None
    topics: int
    """Number of topics with a value."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        if not values:
            return cls(None, None, None, 0)
        return cls(statistics.fmean(values), min(values), max(values), len(values))


@dataclass(frozen=True, slots=True)
class Reachability:
    """The pages and targets that breadth-first reaches from a topic's seeds, following redirects."""

    pages: Spread
    """Share of the bed's pages."""
    targets: Spread
    """Share of the topic's targets; targets that are not in the bed count as not reached."""
    distances: Mapping[str, int]
    """Targets of all topics by the smallest number of links from a seed; `none`: in the bed, but unreachable."""
    mean_distance: float | None


@dataclass(frozen=True, slots=True)
class Locality:
    """Whether pages link to similar pages."""

    links_to_targets: Spread
    """Share of the links from a topic's targets that lead to targets of the same topic."""
    by_chance: Spread
    """The same share for random links."""
    cosine_linked: float | None
    """Mean cosine (term frequencies) of two linked pages, over a sample."""
    cosine_random: float | None
    """Mean cosine of two random pages."""
    pairs: int
    """Linked pairs in the sample."""


@dataclass(frozen=True, slots=True)
class BedInfo:
    """The description of a bed."""

    name: str
    title: str
    origin: str
    licence: str
    digest: str
    pages: int
    redirects: int
    other_answers: int
    """Recorded responses that are neither pages nor redirects."""
    hosts: int
    linked_hosts: int
    """Number of ordered pairs of hosts with a link from the first to the second."""
    links: int
    """Distinct links between pages of the bed, after redirects, without links from a page to itself."""
    dead_links: int
    """Distinct links that lead to no page of the bed."""
    mean_out_degree: float
    median_page_bytes: float
    topics: int
    topics_without_targets: tuple[str, ...]
    mean_seeds: float | None
    mean_targets: float | None
    seeds_missing: int
    targets_missing: int
    reachability: Reachability
    locality: Locality
    faults: tuple[str, ...]
    """Problems in the bed's files, one line each."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def describe(bed: Bed, prepared: PreparedBed | None = None, seed: int = 0) -> BedInfo:
    """Describe a bed. Each page is parsed once, or taken from the prepared bed.

    `seed` determines the sample for the cosines; the same bed and seed give the same result.
    """
    urls = list(bed.index())
    rng = random.Random(seed)
    sample = set(rng.sample(sorted(urls), min(SAMPLE, len(urls))))
    pages = read_recorded(bed.responses(), sample.__contains__) if prepared is None else read_prepared(prepared, sample)
    return describe_pages(bed, pages, urls, rng)


def read_prepared(prepared: PreparedBed, sample: set[Url]) -> Iterator[RecordedPage]:
    """The pages and redirects of a prepared bed, without parsing them again."""
    analyser = Analyser()
    for url, target in prepared.aliases.items():
        yield RecordedPage(Url(url), moved=Url(target))
    for url in prepared.pages:
        page = prepared.fetch(Candidate(url, 0.0))
        if isinstance(page, Page):
            counts = prepared.counts(url, analyser) if url in sample else None
            yield RecordedPage(url, page.size, tuple(link.url for link in page.outlinks), counts)


def describe_pages(bed: Bed, read_pages: Iterable[RecordedPage], urls: Sequence[Url], rng: random.Random) -> BedInfo:
    """Describe a bed whose pages have been read."""
    recorded = recorded_graph(read_pages, urls)
    graph, not_pages = _among_pages(recorded)
    pages = int(np.count_nonzero(recorded.is_page))
    topics = bed.topics
    walk = _Walk(graph, recorded, pages)
    about = bed.about
    hosts = [host(name) for name in graph.names]
    return BedInfo(
        name=bed.name,
        title=str(about.get("title", "")),
        origin=str(about.get("origin", "")),
        licence=str(about.get("licence", "")),
        digest=bed.digest,
        pages=pages,
        redirects=recorded.redirects,
        other_answers=len(urls) - pages - recorded.redirects,
        hosts=len({hosts[page] for page in np.flatnonzero(recorded.is_page)}),
        linked_hosts=_linked_hosts(graph, hosts),
        links=len(graph.sources),
        dead_links=recorded.dead + not_pages,
        mean_out_degree=len(graph.sources) / pages if pages else 0.0,
        median_page_bytes=float(statistics.median(recorded.sizes)) if recorded.sizes else 0.0,
        topics=len(topics),
        topics_without_targets=tuple(topic.id for topic in topics if not topic.targets),
        mean_seeds=statistics.fmean(len(topic.seeds) for topic in topics) if topics else None,
        mean_targets=statistics.fmean(len(topic.targets) for topic in topics) if topics else None,
        seeds_missing=sum(len(topic.seeds) - len(walk.present(topic.seeds)) for topic in topics),
        targets_missing=sum(len(topic.targets) - len(walk.present(topic.targets)) for topic in topics),
        reachability=_reachability(walk, topics),
        locality=_locality(walk, topics, rng),
        faults=tuple(bed.faults),
    )


def _among_pages(recorded: RecordedGraph) -> tuple[LinkGraph, int]:
    """The links from page to page, and the number of links to responses that are not pages."""
    graph = recorded.graph
    to_page = recorded.is_page[graph.targets]
    not_pages = int(np.count_nonzero(~to_page))
    return numbered_graph(graph.names, graph.sources[to_page], graph.targets[to_page]), not_pages


def _linked_hosts(graph: LinkGraph, hosts: Sequence[str]) -> int:
    ids = {name: number for number, name in enumerate(dict.fromkeys(hosts))}
    host_ids = np.array([ids[name] for name in hosts], dtype=np.int64)
    if not len(graph.sources):
        return 0
    sources, targets = host_ids[graph.sources], host_ids[graph.targets]
    differ = sources != targets
    return len(set((sources[differ] * len(ids) + targets[differ]).tolist()))


class LinkWalk:
    """A link graph, prepared for walks from many starting pages."""

    def __init__(self, graph: LinkGraph) -> None:
        self.graph = graph
        self.starts: Numbers = np.concatenate(([0], np.cumsum(graph.out_degree))).astype(np.int64)

    def distances(self, seeds: Iterable[int], most: int | None = None) -> NDArray[np.int32]:
        """The smallest number of links from any seed to each page; -1 if there are more than `most`, or no path."""
        distances = np.full(len(self.graph), -1, dtype=np.int32)
        current = np.unique(np.array(list(seeds), dtype=np.int64))
        distance = 0
        while len(current):
            distances[current] = distance
            if distance == most:
                break
            is_next = np.zeros(len(self.graph), dtype=np.bool_)
            is_next[self.linked_from(current)] = True
            is_next &= distances < 0
            current = np.flatnonzero(is_next)
            distance += 1
        return distances

    def linked_from(self, pages: Numbers) -> Numbers:
        """The targets of all links of these pages; a page may occur several times."""
        begin, size = self.starts[pages], self.starts[pages + 1] - self.starts[pages]
        if not size.sum():
            return np.zeros(0, dtype=np.int64)
        before = np.cumsum(size) - size
        linked: Numbers = self.graph.targets[np.arange(size.sum()) - np.repeat(before - begin, size)]
        return linked


class _Walk(LinkWalk):
    """A walk on the pages of a recorded web."""

    def __init__(self, graph: LinkGraph, recorded: RecordedGraph, pages: int) -> None:
        super().__init__(graph)
        self.recorded, self.pages = recorded, pages

    def present(self, urls: Iterable[Url]) -> list[int]:
        """The pages at these URLs, after redirects. URLs without a page are left out, and a page may occur twice."""
        numbers = (self.graph.numbers.get(url) for url in urls)
        ends = (int(self.recorded.ends[number]) for number in numbers if number is not None)
        return [end for end in ends if end >= 0 and self.recorded.is_page[end]]


def _reachability(walk: _Walk, topics: Sequence[BedTopic]) -> Reachability:
    pages, targets = list[float](), list[float]()
    distances: Counter[int] = Counter()
    for topic in topics:
        from_seeds = walk.distances(walk.present(topic.seeds))
        if walk.pages:
            pages.append(int(np.count_nonzero(from_seeds >= 0)) / walk.pages)
        if topic.targets:
            to_targets = from_seeds[walk.present(topic.targets)]
            targets.append(int(np.count_nonzero(to_targets >= 0)) / len(topic.targets))
            distances.update(to_targets.tolist())
    unreachable = distances.pop(-1, 0)
    total = sum(distances.values())
    histogram = {str(distance): distances[distance] for distance in sorted(distances)}
    mean = sum(distance * count for distance, count in distances.items()) / total if total else None
    return Reachability(
        Spread.of(pages), Spread.of(targets), histogram | ({"none": unreachable} if unreachable else {}), mean
    )


def _locality(walk: _Walk, topics: Sequence[BedTopic], rng: random.Random) -> Locality:
    inside, expected = list[float](), list[float]()
    for topic in topics:
        targets = np.unique(np.array(walk.present(topic.targets), dtype=np.int64))
        linked = walk.linked_from(targets)
        if len(linked):
            is_target = np.zeros(len(walk.graph), dtype=np.bool_)
            is_target[targets] = True
            inside.append(float(is_target[linked].mean()))
            expected.append((len(targets) - 1) / (walk.pages - 1))
    counts = walk.recorded.counts
    sampled = sorted(counts)
    linked_pairs = _linked_pairs(walk.graph, sampled, rng)
    random_pairs = [tuple(rng.sample(sampled, 2)) for _ in range(PAIRS)] if len(sampled) > 1 else []
    return Locality(
        Spread.of(inside),
        Spread.of(expected),
        statistics.fmean(cosine(counts[a], counts[b]) for a, b in linked_pairs) if linked_pairs else None,
        statistics.fmean(cosine(counts[a], counts[b]) for a, b in random_pairs) if random_pairs else None,
        len(linked_pairs),
    )


def _linked_pairs(graph: LinkGraph, sampled: Sequence[int], rng: random.Random) -> list[tuple[int, int]]:
    """Up to `PAIRS` links between sampled pages. The pages are a random sample, so every link is equally likely."""
    is_sampled = np.zeros(len(graph), dtype=np.bool_)
    is_sampled[list(sampled)] = True
    links = np.flatnonzero(is_sampled[graph.sources] & is_sampled[graph.targets])
    sample = [links[index] for index in sorted(rng.sample(range(len(links)), min(PAIRS, len(links))))]
    return [(int(graph.sources[link]), int(graph.targets[link])) for link in sample]
