"""Looking for sites: home pages of hosts not visited yet, and pages that name such hosts (sheet 80.5).

If the seeds are home pages of different hosts, what is looked for are sites. A visited host then has little left to
give. Two kinds of URLs are worth a request:

    home pages   of hosts that no page was fetched from, by their score + 4 v(host)
    lists        all other URLs, by D = 5 d(host, k) / g + P, P = 1 / (1 + path depth) + 0.3 ln(1 + links to it)
                 + 0.1 score + w

v(host) is the share of home pages in its domain (`example.org`) that could be fetched, the seeds among them. A page
gains the sum of v over the hosts it is the first to name; g is the mean gain of a page, and

    d(h, 0) = (gain_h + 2 p_h) / (pages_h + 2) + 0.3 sqrt(ln(n + 1) / (pages_h + 1)) p_h / (1 + p_h)

with p_h = g (1 + c_h); c_h other hosts link to h. What a host gained and its number of pages lose a tenth with each
of its pages, so a host that has nothing new to name falls behind soon. d(h, k) is what d(h, 0) will be if k more pages
of h name nothing new; k waiting URLs of the host have a larger P. So hosts take turns between two rankings, too.

w is learned from the crawl: the yield of the words of the address. A page counts as ln(1 + the sum of v over the hosts
that its own host had not linked to before it), in deviations of that over all pages; home pages do not count.

After every second home page that can be fetched comes a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scenthound.model import Url
from scenthound.strategies.hound.columns import Column
from scenthound.strategies.hound.features import FrontierFeatures, address_yields
from scenthound.strategies.hound.link_table import Flags, LinkTable, Reals, Whole
from scenthound.url import domain, host, is_home

KEEP = 0.9
DOMAIN_WEIGHT = 4.0
HOMES_PER_LIST = 2
SCORE_WEIGHT = 0.1
FEWEST_LISTS = 5
"""Pages needed before the words of addresses count."""
STEP = 1e-4
"""Difference of the scores of two lists in a row."""


def are_sites(seeds: Sequence[Url]) -> bool:
    """Whether seeds are home pages of different hosts.

    >>> are_sites(["http://a.test/", "http://b.test/"]), are_sites(["http://a.test/", "http://a.test/b"])
    (True, False)
    """
    hosts = {host(url) for url in seeds}
    homes = [url for url in seeds if is_home(url)]
    return len(hosts) >= max(2, 0.8 * len(seeds)) and len(homes) >= 0.8 * len(seeds)


class Ranked(NamedTuple):
    """Waiting URLs in the order in which they should be fetched."""

    order: Whole
    """Indices into the waiting URLs, best first."""
    scores: Reals
    """Of each in this order."""
    list_values: Reals
    """D of each in this order; nan for a home page."""

    def first(self, number: int) -> Ranked:
        """The first so many."""
        return Ranked(self.order[:number], self.scores[:number], self.list_values[:number])


class SiteSearch:
    """Counts of what hosts and domains gave, and the order that follows from them."""

    COLUMNS = ("pages", "gained", "visited", "cited_by", "is_named", "tried", "reached")

    def __init__(self, table: LinkTable) -> None:
        self._table = table
        self._hosts: dict[str, int] = {}
        self._host_names: list[str] = []
        self._domains: dict[str, int] = {}
        self.host_of, self.depth = Column(np.int64), Column(np.float64)  # by URL
        self.is_home = Column(np.bool_)
        self.pages, self.gained = Column(np.float64), Column(np.float64)  # by host, fading
        self.visited, self.cited_by = Column(np.bool_), Column(np.float64)
        self.is_named, self.domain = Column(np.bool_), Column(np.int64)
        self.tried, self.reached = Column(np.float64), Column(np.float64)  # home pages, by domain
        self.lists, self.list_worth = Column(np.int64), Column(np.float64)  # pages fetched that are no home pages
        self.citations: set[int] = set()  # pairs of hosts, the citing one in the upper half of the number
        self.gains, self.counted = 0.0, 0
        self.homes_tried, self.homes_reached = 1.0, 1.0

    def _host(self, name: str) -> int:
        number = self._hosts.setdefault(name, len(self._hosts))
        if number == len(self.pages):
            self._host_names.append(name)
            self.domain.add([self._domains.setdefault(domain(name), len(self._domains))])
            if len(self._domains) > len(self.tried):
                self.tried.add([0])
                self.reached.add([0])
            for column in (self.pages, self.gained, self.visited, self.cited_by, self.is_named):
                column.add([0])
        return number

    def _grow(self) -> None:
        new = self._table.names[len(self.host_of) :]
        if not new:
            return
        paths = [url.partition("://")[2].partition("/")[2].partition("?")[0] for url in new]
        self.host_of.add([self._host(host(url)) for url in new])
        self.depth.add([len([part for part in path.split("/") if part]) for path in paths])
        self.is_home.add([is_home(Url(url)) for url in new])

    def are_homes(self) -> Flags:
        """Which URLs of the table are home pages."""
        self._grow()
        return np.asarray(self.is_home.values)

    def keep_urls(self, keep: Flags, numbers: Whole) -> None:
        """The table forgot all other URLs, and the rest have these numbers now."""
        for column in (self.host_of, self.depth, self.is_home):
            column.keep(keep)
        self.lists.values[:] = numbers[self.lists.values]

    def fetched(self, url: int, targets: Iterable[int]) -> list[Url]:
        """A page was fetched. Returns the home pages of the hosts it is the first to name."""
        self._grow()
        self._count_home(url, True)
        own = int(self.host_of.values[url])
        self.is_named.values[own] = self.visited.values[own] = True
        linked = np.unique(self.host_of.values[list(targets)])
        linked = linked[linked != own]
        new = linked[~self.is_named.values[linked]]
        values = self._domain_values()
        gain = float(values[self.domain.values[new]].sum())
        self.is_named.values[new] = True
        cited = [other for other in linked.tolist() if own << 32 | other not in self.citations]
        self.citations.update(own << 32 | other for other in cited)
        self.cited_by.values[cited] += 1
        if not self.is_home.values[url]:
            self.lists.add([url])
            self.list_worth.add([np.log1p(values[self.domain.values[cited]].sum())])
        self.pages.values[own] = self.pages.values[own] * KEEP + 1
        self.gained.values[own] = self.gained.values[own] * KEEP + gain
        self.gains += gain
        self.counted += 1
        scheme = self._table.names[url].partition("://")[0]
        return [Url(f"{scheme}://{self._host_names[number]}/") for number in new.tolist()]

    def missed(self, url: int) -> None:
        """A request failed."""
        self._grow()
        self._count_home(url, False)

    def _count_home(self, url: int, was_reached: bool) -> None:
        own = int(self.host_of.values[url])
        if self.is_home.values[url] and not self.visited.values[own]:
            number = self.domain.values[own]
            self.tried.values[number] += 1
            self.reached.values[number] += was_reached
            self.homes_tried = self.homes_tried * 0.98 + 1
            self.homes_reached = self.homes_reached * 0.98 + was_reached

    def _domain_values(self) -> Reals:
        share = (self.reached.values.sum() + 0.5) / (self.tried.values.sum() + 5)
        return np.asarray((self.reached.values + 2 * share) / (self.tried.values + 2))

    def rank(self, frontier: FrontierFeatures, scores: Reals) -> Ranked:
        """Home pages of unvisited hosts, and lists between them."""
        self._grow()
        hosts = self.host_of.values[frontier.urls]
        homes = np.flatnonzero(self.is_home.values[frontier.urls] & ~self.visited.values[hosts])
        value = scores + DOMAIN_WEIGHT * self._domain_values()[self.domain.values[hosts]]
        homes = homes[np.argsort(-value[homes], kind="stable")]
        lists = self._list_values(frontier, hosts, scores)
        lists[homes] = -np.inf
        order = np.argsort(-lists, kind="stable")[: len(lists) - len(homes)]
        gap = max(HOMES_PER_LIST, round(HOMES_PER_LIST * self.homes_tried / max(self.homes_reached, 0.1)))
        return _interleaved(homes, value[homes], order, lists[order], gap)

    def _list_values(self, frontier: FrontierFeatures, hosts: Whole, scores: Reals) -> Reals:
        mean = (self.gains + 1) / (self.counted + 5)
        prior = (mean * (1 + self.cited_by.values))[hosts]
        page = 1 / (1 + self.depth.values[frontier.urls]) + 0.3 * np.log1p(frontier.links) + SCORE_WEIGHT * scores
        page += self._word_values()[frontier.urls]
        fade = KEEP ** places(hosts, page)
        pages = self.pages.values[hosts] * fade + (1 - fade) / (1 - KEEP)
        expected = (self.gained.values[hosts] * fade + 2 * prior) / (pages + 2)
        expected += 0.3 * np.sqrt(np.log(self.counted + 1) / (pages + 1)) * prior / (1 + prior)
        return np.asarray(5 * expected / max(mean, 0.05) + page)

    def _word_values(self) -> Reals:
        """w of every URL."""
        table, worth = self._table, self.list_worth.values
        values = np.zeros(len(table.names))
        if len(worth) < FEWEST_LISTS:
            return values
        of_url = np.full(len(table.names), np.nan)
        of_url[self.lists.values] = worth
        of_link = address_yields(table, of_url, float(worth.mean()))
        values[table.target.values] = of_link / (worth.std() + 0.05)
        return values

    # ---- state

    def save(self) -> Mapping[str, Any]:
        pairs = np.sort(np.fromiter(self.citations, np.int64, len(self.citations)))
        return {
            **{name: self.__dict__[name].values.copy() for name in self.COLUMNS},
            "hosts": list(self._host_names),
            "lists": self.lists.values.copy(),
            "list_worth": self.list_worth.values.copy(),
            "citations": np.stack((pairs >> 32, pairs & 0xFFFFFFFF), axis=1),
            "counts": [self.gains, self.counted, self.homes_tried, self.homes_reached],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        for name in state["hosts"]:
            self._host(name)
        for name in self.COLUMNS:
            self.__dict__[name].values[:] = np.asarray(state[name])
        self.lists.add(np.asarray(state.get("lists", ())))
        self.list_worth.add(np.asarray(state.get("list_worth", ())))
        self.citations = {source << 32 | target for source, target in np.asarray(state["citations"]).tolist()}
        self.gains, self.counted, self.homes_tried, self.homes_reached = state["counts"]


def places(hosts: Whole, values: Reals) -> Whole:
    """The place of each URL among those of its host, the largest value first.

    >>> places(np.array([7, 8, 7, 7]), np.array([0.1, 0.5, 0.3, 0.2])).tolist()
    [2, 0, 0, 1]
    """
    order = np.lexsort((-values, hosts))
    sizes = np.unique(hosts, return_counts=True)[1]
    within = np.arange(len(hosts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    result = np.empty(len(hosts), dtype=np.int64)
    result[order] = within
    return result


def _interleaved(homes: Whole, values: Reals, lists: Whole, list_values: Reals, gap: int) -> Ranked:
    """After every `gap` home pages a list; the rest of the lists at the end."""
    slots = np.concatenate((np.arange(len(homes)), (np.arange(len(lists)) + 1) * gap - 0.5))
    merged = np.argsort(slots, kind="stable")
    top = float(values[0]) if len(values) else 0.0
    scores = np.concatenate((values, np.full(len(lists), np.nan)))[merged]
    for_lists = np.concatenate((np.full(len(homes), np.nan), list_values))[merged]
    last = np.maximum.accumulate(np.where(np.isnan(scores), -1, np.arange(len(scores))))
    before = np.where(last >= 0, scores[np.maximum(last, 0)], top)
    scores = np.where(np.isnan(scores), before - STEP * (np.arange(len(scores)) - last), scores)
    return Ranked(np.concatenate((homes, lists))[merged], np.minimum.accumulate(scores), for_lists)
