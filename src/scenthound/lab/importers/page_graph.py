"""Links, term counts and redirects of recorded pages, and the link graph that they form."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenthound.errors import NotAUrl
from scenthound.graph.link_graph import LinkGraph, Numbers, numbered_graph
from scenthound.model import Candidate, Moved, Response, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.page.read import PageLimits
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts
from scenthound.url import make

_ALL_LINKS = PageLimits(nofollow=False)
HOPS = 10  # redirects followed in a row, as in the loop


class RecordedPage(NamedTuple):
    """A recorded page with its links as rule 6 counts them, or a redirect."""

    url: Url
    size: int = 0
    links: tuple[Url, ...] = ()
    counts: Counts | None = None
    """Term counts, if they were asked for."""
    moved: Url | None = None


def read_recorded(
    responses: Iterable[Response],
    wants_counts: Callable[[Url], bool] = lambda url: False,
    only: Callable[[Url], bool] = lambda url: True,
) -> Iterator[RecordedPage]:
    """Each page and redirect among the responses, parsed once, in order. Other responses are skipped."""
    analyser = Analyser()
    for response in responses:
        try:
            url = make(response.url)
        except NotAUrl:
            continue
        if not only(url):
            continue
        candidate = Candidate(url, 0.0, spelling=response.url)
        landed = land(candidate, response, _ALL_LINKS, agent="")  # no agent: robots meta tags don't apply
        if isinstance(landed, Page):
            counts = analyser.counts(landed.text) if wants_counts(url) else None
            yield RecordedPage(url, landed.size, tuple(link.url for link in landed.outlinks), counts)
        elif isinstance(landed, Moved):
            yield RecordedPage(url, moved=landed.url)


@dataclass(frozen=True, eq=False, slots=True)
class RecordedGraph:
    """The link graph of a recorded web. Links to a redirect lead to its target."""

    graph: LinkGraph
    """All known URLs, and the links from pages to known URLs."""
    is_page: NDArray[np.bool_]
    ends: Numbers
    """For each URL, the number of the URL where a request ends: itself, its last redirect target, or -1 if unknown."""
    dead: int
    """Number of links to unknown URLs."""
    redirects: int
    sizes: list[int]
    counts: dict[int, Counts]

    def back_links(self, url: str, limit: int | None = None) -> list[str]:
        """The pages that link to this URL, directly or through redirects, in the order of sheet 60.1."""
        number = self.graph.numbers.get(url)
        if number is None:
            return []
        end = int(self.ends[number])
        return self.graph.back_links(self.graph.names[end if end >= 0 else number], limit)


def recorded_graph(pages: Iterable[RecordedPage], urls: Iterable[Url]) -> RecordedGraph:
    """The link graph of the pages over these URLs. If a URL has several records, the first page wins."""
    names = list(dict.fromkeys(urls))
    numbers: dict[str, int] = {name: number for number, name in enumerate(names)}
    is_page = np.zeros(len(names), dtype=np.bool_)
    moved: dict[int, int] = {}
    sources, targets = array("q"), array("q")
    sizes: list[int] = []
    counts: dict[int, Counts] = {}
    dead = 0
    for page in pages:
        number = numbers.get(page.url)
        if number is None or is_page[number]:
            continue
        if page.moved is not None:
            moved.setdefault(number, numbers.get(page.moved, -1))
            continue
        is_page[number] = True
        sizes.append(page.size)
        linked = [numbers[url] for url in page.links if url in numbers]
        dead += len(page.links) - len(linked)
        targets.extend(linked)
        sources.extend([number] * len(linked))
        if page.counts is not None:
            counts[number] = page.counts
    moved = {number: to for number, to in moved.items() if not is_page[number]}
    ends = _ends(len(names), moved)
    link_sources = np.frombuffer(sources, dtype=np.int64) if sources else np.zeros(0, dtype=np.int64)
    link_targets = ends[np.frombuffer(targets, dtype=np.int64)] if targets else np.zeros(0, dtype=np.int64)
    alive = link_targets >= 0
    graph = numbered_graph(names, link_sources[alive], link_targets[alive])
    return RecordedGraph(graph, is_page, ends, dead + int(np.count_nonzero(~alive)), len(moved), sizes, counts)


def _ends(size: int, moved: dict[int, int]) -> Numbers:
    """The number where each URL's redirects end; -1 for a loop, too many redirects, or an unknown target."""
    ends = np.arange(size, dtype=np.int64)
    for number in moved:
        current, hops = number, 0
        while current in moved and hops <= HOPS:
            current, hops = moved[current], hops + 1
        ends[number] = current if hops <= HOPS and current not in moved else -1
    return ends
