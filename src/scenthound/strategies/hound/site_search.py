"""Site search: home pages of unvisited hosts, and pages that name such hosts (sheet 80.5).

If the crawl looks for sites, a visited host has little left to offer.
Two kinds of URLs are worth a request:

    home pages   of hosts without a fetched page, by their score + 4 v(host)
    lists        all other URLs, by D = 5 d(host, k) / g + P + s score
                 P = 1 / (1 + path depth) + 0.3 ln(1 + links to it) + w

v(host) is the share of home pages in its domain (`example.org`) that could be fetched, including the seeds. The gain of
a page is the sum of v over the hosts it is the first to name; g is the mean gain of a page, and

    d(h, 0) = (gain_h + 2 p_h) / (pages_h + 2) + 0.3 sqrt(ln(n + 1) / (pages_h + 1)) p_h / (1 + p_h)

with p_h = g (1 + c_h), where c_h other hosts link to h. gain_h and pages_h lose a tenth with each page of the host, so
a host that names nothing new soon falls behind. d(h, k) is the value of d(h, 0) after k more pages of h that name
nothing new, where k is the number of waiting URLs of the host with a larger P. So hosts also take turns between
rankings.

w is learned from the crawl: the yield of the words of the address. A page counts as ln(1 + the sum of v over the hosts
that its own host had not linked to before), divided by the deviation of that over all pages; home pages do not count.

s is learned, too. It measures whether lists on the topic are the ones that name sites on the topic. On some webs they
are; on others the best lists are directories of everything. Over the lists fetched so far,

    s = 2.5 cov(y, r) / (mean of y * deviation of r)      y = ln(1 + sum of min(r, 1)^2 over home pages)

r is relevance; the sum is over the fetched home pages of the hosts that the list was the first to name. Ten virtual
lists draw s towards 0.5, and it is kept between 0.1 and 3.

Home pages with a score of at least 0.5 come first, with a list after every second one that can be fetched. Then come
lists, with one of the other home pages after every 1 + 2 s lists.

A crawl near its end has no use for further names, but for pages that show what a site is about. Then home pages take
turns with pages of the sites whose home page has the largest r, by r / 2^(k + pages); P orders those of one site.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from scenthound.model import Url
from scenthound.strategies.hound.features import FrontierFeatures, address_yields
from scenthound.strategies.hound.link_table import Column, Flags, LinkTable, Reals, Whole
from scenthound.strategies.hound.ranking import Ranking, falling_scores, interleave
from scenthound.url import domain, host, is_home

KEEP = 0.9
"""The factor applied to a host's gain and number of pages after each of its pages."""
DOMAIN_WEIGHT = 4.0
HOMES_PER_LIST = 2
PROMISING = 0.5
"""Home pages with this score come before lists."""
FIRST_TOPICALITY, TOPICALITY_RANGE = 0.5, (0.1, 3.0)
"""The initial value of s, and its bounds."""
TOPICALITY_SLOPE = 2.5
VIRTUAL_LISTS = 10
"""The initial value of s counts as much as this many lists."""
MOST_RANKED = 300
"""How many URLs of each kind are ranked."""
FEWEST_LISTS = 5
"""How many lists are needed before anything is learned from them."""


class SiteSearch:
    """The gains of hosts and domains so far, and the ranking that follows from them."""

    COLUMNS = ("pages", "gained", "visited", "cited_by", "is_named", "named_by", "tried", "reached")

    def __init__(self, table: LinkTable) -> None:
        self._table = table
        self._hosts: dict[str, int] = {}
        self._host_names: list[str] = []
        self._domains: dict[str, int] = {}
        self.host_of, self.depth = Column(np.int64), Column(np.float64)  # by URL
        self.is_home = Column(np.bool_)
        self.pages, self.gained = Column(np.float64), Column(np.float64)  # pages_h and gain_h, by host
        self.visited, self.cited_by = Column(np.bool_), Column(np.float64)
        self.is_named, self.domain = Column(np.bool_), Column(np.int64)
        self.named_by = Column(np.int64)  # the URL that was the first to name a host; -1: none
        self.tried, self.reached = Column(np.float64), Column(np.float64)  # home pages, by domain
        self.lists, self.list_worth = Column(np.int64), Column(np.float64)  # fetched lists; their ln(1 + sum of v)
        self.citations: set[int] = set()  # pairs of hosts, with the citing host in the upper 32 bits
        self.gains, self.counted = 0.0, 0
        self.homes_tried, self.homes_reached = 1.0, 1.0

    def _host(self, name: str) -> int:
        """The number of a host, which is added if it is new."""
        number = self._hosts.setdefault(name, len(self._hosts))
        if number == len(self.pages):
            self._host_names.append(name)
            self.domain.add([self._domains.setdefault(domain(name), len(self._domains))])
            if len(self._domains) > len(self.tried):
                self.tried.add([0])
                self.reached.add([0])
            for column in (self.pages, self.gained, self.visited, self.cited_by, self.is_named):
                column.add([0])
            self.named_by.add([-1])
        return number

    def _add_new_urls(self) -> None:
        """Add the URLs that are new in the table."""
        new = self._table.names[len(self.host_of) :]
        if not new:
            return
        paths = [url.partition("://")[2].partition("/")[2].partition("?")[0] for url in new]
        self.host_of.add([self._host(host(url)) for url in new])
        self.depth.add([len([part for part in path.split("/") if part]) for path in paths])
        self.is_home.add([is_home(Url(url)) for url in new])

    def are_homes(self) -> Flags:
        """For each URL of the table, whether it is a home page."""
        self._add_new_urls()
        return np.asarray(self.is_home.values)

    def keep_urls(self, keep: Flags, numbers: Whole) -> None:
        """Forget all other URLs, as the table did, and apply the new numbers of the rest."""
        for column in (self.host_of, self.depth, self.is_home):
            column.keep(keep)
        self.lists.values[:] = numbers[self.lists.values]
        is_named = self.named_by.values >= 0
        self.named_by.values[is_named] = numbers[self.named_by.values[is_named]]

    def fetched(self, url: int, targets: Iterable[int]) -> list[Url]:
        """Count a fetched page, and return the home pages of the hosts that it is the first to name."""
        self._add_new_urls()
        self._count_home(url, True)
        own = int(self.host_of.values[url])
        self.is_named.values[own] = self.visited.values[own] = True
        linked = np.unique(self.host_of.values[list(targets)])
        linked = linked[linked != own]
        new = linked[~self.is_named.values[linked]]
        values = self._domain_values()
        gain = float(values[self.domain.values[new]].sum())
        self.is_named.values[new] = True
        self.named_by.values[new] = url
        newly_cited = [other for other in linked.tolist() if own << 32 | other not in self.citations]
        self.citations.update(own << 32 | other for other in newly_cited)
        self.cited_by.values[newly_cited] += 1
        if not self.is_home.values[url]:
            self.lists.add([url])
            self.list_worth.add([np.log1p(values[self.domain.values[newly_cited]].sum())])
        self.pages.values[own] = self.pages.values[own] * KEEP + 1
        self.gained.values[own] = self.gained.values[own] * KEEP + gain
        self.gains += gain
        self.counted += 1
        scheme = self._table.names[url].partition("://")[0]
        return [Url(f"{scheme}://{self._host_names[number]}/") for number in new.tolist()]

    def catch_up(self) -> list[tuple[Url, Url]]:
        """Count the pages in the table, fetched before sites were looked for.

        Returns the home pages of the hosts that they name, each with the first page that names it. Links of pages that
        the table has dropped are not counted.
        """
        table, homes = self._table, list[tuple[Url, Url]]()
        fetched = np.flatnonzero(table.page_of.values >= 0)
        fetched = fetched[np.argsort(table.page_of.values[fetched], kind="stable")]
        begins, ends = (
            np.searchsorted(table.source.values, table.page_of.values[fetched], side) for side in ("left", "right")
        )
        for url, begin, end in zip(fetched.tolist(), begins.tolist(), ends.tolist(), strict=True):
            for home in self.fetched(url, table.target.values[begin:end].tolist()):
                homes.append((Url(table.names[url]), home))
        return homes

    def missed(self, url: int) -> None:
        """Count a failed request."""
        self._add_new_urls()
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
        """v of each domain: a smoothed share of its home pages that could be fetched."""
        share = (self.reached.values.sum() + 0.5) / (self.tried.values.sum() + 5)
        return np.asarray((self.reached.values + 2 * share) / (self.tried.values + 2))

    def rank(self, frontier: FrontierFeatures, scores: Reals, relevance: Reals, is_ending: bool = False) -> Ranking:
        """Rank home pages of unvisited hosts and lists, which take turns. `relevance` has all fetched pages."""
        self._add_new_urls()
        hosts = self.host_of.values[frontier.urls]
        is_home = self.is_home.values[frontier.urls] & ~self.visited.values[hosts]
        domain_values = DOMAIN_WEIGHT * self._domain_values()[self.domain.values[hosts]]
        s = self.topicality(relevance)
        if is_ending:
            list_values = self._site_values(frontier, hosts, s * scores, relevance) - s * scores
        else:
            list_values = self._list_values(frontier, hosts, s * scores)
        is_first = is_home & (is_ending | (scores >= PROMISING))
        first = _best(scores + domain_values, is_first)
        second = _best(scores + domain_values, is_home & ~is_first)
        lists = _best(list_values + s * scores, ~is_home)
        gap = max(HOMES_PER_LIST, round(HOMES_PER_LIST * self.homes_tried / max(self.homes_reached, 0.1)))
        order, is_list = interleave(first, second, lists, 1 if is_ending else gap, 1 + 2 * s)
        factors = np.where(is_list, s, 1.0)
        others = np.where(is_list, list_values[order], domain_values[order])
        return Ranking(order, falling_scores(factors * scores[order] + others, is_list), factors, others, is_list)

    def topicality(self, relevance: Reals) -> float:
        """s: how much more lists on the topic gain than other lists."""
        lists = self.lists.values
        r = np.nan_to_num(relevance[self._table.page_of.values[lists]])
        y = np.log1p(self._relevant_named(relevance)[lists])
        count, slope = 0, 0.0
        if len(lists) >= FEWEST_LISTS and r.std() > 0 and y.mean() > 0:
            count = len(lists)
            slope = float(((y - y.mean()) * (r - r.mean())).mean() / y.mean() / r.std())
        total = count * TOPICALITY_SLOPE * slope + VIRTUAL_LISTS * FIRST_TOPICALITY
        least, most = TOPICALITY_RANGE
        return min(max(total / (count + VIRTUAL_LISTS), least), most)

    def _relevant_named(self, relevance: Reals) -> Reals:
        """For each URL, the sum of min(r, 1)^2 over the fetched home pages of hosts that it was the first to name."""
        pages = self._table.page_of.values
        homes = np.flatnonzero((pages >= 0) & self.is_home.values)
        named_by = self.named_by.values[self.host_of.values[homes]]
        homes, named_by = homes[named_by >= 0], named_by[named_by >= 0]
        fits = np.clip(np.nan_to_num(relevance[pages[homes]]), 0, 1)
        return np.bincount(named_by, fits**2, len(pages)).astype(np.float64)

    def _list_values(self, frontier: FrontierFeatures, hosts: Whole, topical: Reals) -> Reals:
        """D of every waiting URL without the term for its score, which is `topical`."""
        g = (self.gains + 1) / (self.counted + 5)
        p_host = (g * (1 + self.cited_by.values))[hosts]
        p_page = 1 / (1 + self.depth.values[frontier.urls]) + 0.3 * np.log1p(frontier.links)
        p_page += self._word_values()[frontier.urls]
        fade = KEEP ** ranks_in_host(hosts, p_page + topical)
        pages = self.pages.values[hosts] * fade + (1 - fade) / (1 - KEEP)
        d = (self.gained.values[hosts] * fade + 2 * p_host) / (pages + 2)
        d += 0.3 * np.sqrt(np.log(self.counted + 1) / (pages + 1)) * p_host / (1 + p_host)
        return np.asarray(5 * d / max(g, 0.05) + p_page)

    def _site_values(self, frontier: FrontierFeatures, hosts: Whole, topical: Reals, relevance: Reals) -> Reals:
        """The value of every waiting URL as a page that shows what its site is about."""
        pages = self._table.page_of.values
        homes = np.flatnonzero((pages >= 0) & self.is_home.values)
        fits = np.zeros(len(self._host_names))
        np.maximum.at(fits, self.host_of.values[homes], np.nan_to_num(relevance[pages[homes]]))
        within = 1 / (1 + self.depth.values[frontier.urls]) + topical
        return np.asarray(fits[hosts] * 0.5 ** (ranks_in_host(hosts, within) + self.pages.values[hosts]))

    def _word_values(self) -> Reals:
        """w of every URL."""
        table, list_values = self._table, self.list_worth.values
        values = np.zeros(len(table.names))
        if len(list_values) < FEWEST_LISTS:
            return values
        url_values = np.full(len(table.names), np.nan)
        url_values[self.lists.values] = list_values
        yields = address_yields(table, url_values, float(list_values.mean()))
        values[table.target.values] = yields / (list_values.std() + 0.05)
        return values

    # ---- saving

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
        self.lists.add(np.asarray(state["lists"]))
        self.list_worth.add(np.asarray(state["list_worth"]))
        self.citations = {source << 32 | target for source, target in np.asarray(state["citations"]).tolist()}
        self.gains, self.counted, self.homes_tried, self.homes_reached = state["counts"]


def ranks_in_host(hosts: Whole, values: Reals) -> Whole:
    """The rank of each URL among those of its host, from 0, largest value first.

    >>> ranks_in_host(np.array([7, 8, 7, 7]), np.array([0.1, 0.5, 0.3, 0.2])).tolist()
    [2, 0, 0, 1]
    """
    order = np.lexsort((-values, hosts))
    sizes = np.unique(hosts, return_counts=True)[1]
    ranks = np.empty(len(hosts), dtype=np.int64)
    ranks[order] = np.arange(len(hosts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return ranks


def _best(values: Reals, which: Flags) -> Whole:
    """The indices of the largest values among `which`, largest first."""
    indices = np.flatnonzero(which)
    return indices[np.argsort(-values[indices], kind="stable")[:MOST_RANKED]]
