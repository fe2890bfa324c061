"""What speaks for an organisation: counts from the link graph, and the likeness of home pages.

For each page p: s(p) is the number of seeds it links to, m(p) the number of organisations, its own not counted. Pages
of one organisation often repeat a list; so of each organisation only its best page counts.

    cocitation   sum over organisations of max s(p) / (1 + ln m(p)), over their pages that link to both
    density      the largest s(p) / m(p) of these pages
    beside       sum over organisations of the most seeds under one heading of a page, or on it without any
    from_seeds   seeds that link to it
    to_seeds     seeds that it links to
    cited_by     organisations that link to it
    likeness     score of its home page by a topic model of the seeds' home pages, as a share of the seeds' own score
                 (leave-one-out); at most 1.5
    has_home     whether its home page was fetched
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log

import numpy as np

from scenthound import url as urls
from scenthound.apps.related.facts import ANALYSER, CrawledWeb, HomeFacts, ListFacts
from scenthound.apps.related.owners import Owners
from scenthound.model import Url
from scenthound.text.topic_model import TopicModel

MOST_LISTS = 400
"""Pages that list seeds whose headings and passages are read, those with most seeds first."""
MOST_LIKENESS = 1.5
REJECTED_WEIGHT = 2.0
"""Weight of a rejected home page among those that are off topic."""


@dataclass(slots=True)
class Evidence:
    """The counts for one organisation."""

    cocitation: float = 0.0
    density: float = 0.0
    beside: int = 0
    from_seeds: int = 0
    to_seeds: int = 0
    cited_by: int = 0
    likeness: float = 0.0
    has_home: bool = False


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page that links to seeds, and the organisations it links to."""

    url: Url
    owner: str
    seeds: frozenset[str]
    listed: frozenset[str]

    @property
    def worth(self) -> float:
        return len(self.seeds) / (1 + log(max(1, len(self.listed))))


@dataclass(slots=True)
class SiteLinks:
    """The links between organisations, and the pages that list seeds."""

    cites: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    cited_by: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    lists: list[ListPage] = field(default_factory=list)
    """Those with most seeds first, by `worth`."""


def read_links(web: CrawledWeb, owners: Owners, seeds: Collection[str]) -> SiteLinks:
    """The links of a crawl, organisation by organisation."""
    links = SiteLinks()
    for source, targets in web.links():
        own = owners.key(source)
        listed = {owners.key(target) for target in set(targets)} - {own}
        links.cites[own] |= listed
        for other in listed:
            links.cited_by[other].add(own)
        named = listed.intersection(seeds)
        if named and len(listed) > 1:
            links.lists.append(ListPage(source, own, frozenset(named), frozenset(listed)))
    links.lists.sort(key=lambda page: (-page.worth, web.pages.get(page.url, 0)))
    return links


@dataclass(slots=True)
class GatheredEvidence:
    """All evidence, by organisation; and what it was taken from."""

    evidence: dict[str, Evidence]
    links: SiteLinks
    pages_read: dict[Url, ListFacts]
    model: TopicModel


def gather(
    web: CrawledWeb,
    owners: Owners,
    seeds: Collection[str],
    homes: Mapping[str, HomeFacts],
    rejected: Collection[str] = (),
    keywords: str = "",
) -> GatheredEvidence:
    """The evidence for every organisation that the crawl met, seeds included. `homes` are by key."""
    links = read_links(web, owners, seeds)
    met = {*links.cited_by, *links.cites, *homes}
    evidence = {key: Evidence(has_home=key in homes) for key in sorted(met)}
    wanted = set(seeds)
    for key, one in evidence.items():
        one.cited_by = len(links.cited_by[key])
        one.from_seeds = len(links.cited_by[key] & wanted - {key})
        one.to_seeds = len(links.cites[key] & wanted - {key})
    _count_lists(evidence, links.lists)
    pages_read = {page.url: facts for page in links.lists[:MOST_LISTS] if (facts := web.list_facts(page.url))}
    _count_headings(evidence, links.lists[:MOST_LISTS], pages_read, owners)
    model = _compare_homes(evidence, homes, wanted, set(rejected), keywords)
    return GatheredEvidence(evidence, links, pages_read, model)


def _count_lists(evidence: Mapping[str, Evidence], lists: Sequence[ListPage]) -> None:
    best: dict[tuple[str, str], float] = {}
    for page in lists:
        for other in page.listed:
            seeds = len(page.seeds - {other})
            if not seeds:
                continue
            pair, worth = (page.owner, other), seeds / (1 + log(len(page.listed)))
            best[pair] = max(best.get(pair, 0.0), worth)
            evidence[other].density = max(evidence[other].density, seeds / len(page.listed))
    for (_, other), worth in best.items():
        evidence[other].cocitation += worth


def _count_headings(
    evidence: Mapping[str, Evidence],
    lists: Iterable[ListPage],
    pages_read: Mapping[Url, ListFacts],
    owners: Owners,
) -> None:
    best: dict[tuple[str, str], int] = {}
    for page in lists:
        if (facts := pages_read.get(page.url)) is None:
            continue
        groups: dict[str, set[str]] = defaultdict(set)
        for mention in facts.mentions.values():
            groups[mention.heading].add(owners.key(mention.url))
        for group in groups.values():
            for other in group:
                seeds = len(group & page.seeds - {other})
                if seeds and other in evidence:
                    best[page.owner, other] = max(best.get((page.owner, other), 0), seeds)
    for (_, other), seeds in best.items():
        evidence[other].beside += seeds


def _compare_homes(
    evidence: Mapping[str, Evidence],
    homes: Mapping[str, HomeFacts],
    seeds: Collection[str],
    rejected: Collection[str],
    keywords: str,
) -> TopicModel:
    model = TopicModel(ANALYSER.terms(keywords))
    documents = [model.document(home.words) for home in homes.values()]
    for document in documents:
        model.see(document)
    on = np.array([float(key in seeds) for key in homes])
    off = np.array([REJECTED_WEIGHT if key in rejected else float(key not in seeds) for key in homes])
    if not len(documents) or not on.any():
        return model
    scores = model.fit(documents).learn(on, off)
    own = float(scores[on > 0].mean()) or 1.0
    for key, score in zip(homes, scores.tolist(), strict=True):
        evidence[key].likeness = round(min(MOST_LIKENESS, max(0.0, score / own)), 6)
    return model


def home_pages(web: CrawledWeb, owners: Owners) -> dict[str, Url]:
    """The home page of each organisation that was fetched: its front page with the shortest host."""
    found: dict[str, Url] = {}
    for url in web.pages:
        if urls.is_home(url):
            key = owners.key(url)
            known = found.get(key)
            if known is None or len(urls.host(url)) < len(urls.host(known)):
                found[key] = url
    return found
