"""Compute the evidence for each organisation: counts from the link graph, and the similarity of home pages.

For each page p, s(p) is the number of seeds it links to, and m(p) is the number of organisations it links to, not
counting its own. Pages of one organisation often repeat the same list, so only the best page of each counts. Each
measure is for one organisation o:

    cocitation   sum over organisations of max s(p) / (1 + ln m(p)) over their pages that link to o and to a seed
    density      the largest s(p) / m(p) of these pages
    beside       sum over organisations of the largest number of seeds listed with o under one heading of a page
                 (links before the first heading count as one group)
    from_seeds   number of seeds that link to o
    to_seeds     number of seeds that o links to
    cited_by     number of organisations that link to o
    likeness     score of o's home page in a topic model of the seeds' home pages, relative to the seeds' own mean score
                 (leave-one-out); at most 1.5
    has_home     whether o's home page was fetched
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
"""Maximum number of list pages that are parsed for headings and passages, in order of weight."""
MOST_LIKENESS = 1.5
REJECTED_WEIGHT = 2.0
"""Weight of a rejected home page as a negative example; other home pages weigh 1."""


@dataclass(slots=True)
class Evidence:
    """The evidence for one organisation; the module docstring defines each field."""

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
    """A page that links to seeds, with the keys of all organisations it links to."""

    url: Url
    owner: str
    seeds: frozenset[str]
    organisations: frozenset[str]

    @property
    def weight(self) -> float:
        """s(p) / (1 + ln m(p))."""
        return len(self.seeds) / (1 + log(max(1, len(self.organisations))))


@dataclass(slots=True)
class OrganisationLinks:
    """The links between organisations, and the pages that list seeds."""

    cites: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    cited_by: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    lists: list[ListPage] = field(default_factory=list)
    """Sorted by `weight`, largest first."""


def read_links(web: CrawledWeb, owners: Owners, seeds: Collection[str]) -> OrganisationLinks:
    """Collect the links of a crawl by organisation."""
    links = OrganisationLinks()
    for source, targets in web.links():
        own = owners.key(source)
        cited = {owners.key(target) for target in set(targets)} - {own}
        links.cites[own] |= cited
        for other in cited:
            links.cited_by[other].add(own)
        cited_seeds = cited.intersection(seeds)
        if cited_seeds and len(cited) > 1:
            links.lists.append(ListPage(source, own, frozenset(cited_seeds), frozenset(cited)))
    links.lists.sort(key=lambda page: (-page.weight, web.pages.get(page.url, 0)))
    return links


@dataclass(slots=True)
class GatheredEvidence:
    """The evidence for each organisation, and the data it was computed from."""

    evidence: dict[str, Evidence]
    links: OrganisationLinks
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
    """Gather the evidence for every organisation in the crawl, including seeds.

    `homes` maps organisation keys to their home pages.
    """
    links = read_links(web, owners, seeds)
    keys = {*links.cited_by, *links.cites, *homes}
    evidence = {key: Evidence(has_home=key in homes) for key in sorted(keys)}
    seed_keys = set(seeds)
    for key, counts in evidence.items():
        counts.cited_by = len(links.cited_by[key])
        counts.from_seeds = len(links.cited_by[key] & seed_keys - {key})
        counts.to_seeds = len(links.cites[key] & seed_keys - {key})
    _add_cocitation(evidence, links.lists)
    pages_read = {page.url: facts for page in links.lists[:MOST_LISTS] if (facts := web.list_facts(page.url))}
    _add_beside(evidence, links.lists[:MOST_LISTS], pages_read, owners)
    model = _compare_homes(evidence, homes, seed_keys, set(rejected), keywords)
    return GatheredEvidence(evidence, links, pages_read, model)


def _add_cocitation(evidence: Mapping[str, Evidence], lists: Sequence[ListPage]) -> None:
    best: dict[tuple[str, str], float] = {}
    for page in lists:
        for other in page.organisations:
            seeds = len(page.seeds - {other})
            if not seeds:
                continue
            pair, weight = (page.owner, other), seeds / (1 + log(len(page.organisations)))
            best[pair] = max(best.get(pair, 0.0), weight)
            evidence[other].density = max(evidence[other].density, seeds / len(page.organisations))
    for (_, other), weight in best.items():
        evidence[other].cocitation += weight


def _add_beside(
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
    seed_score = float(scores[on > 0].mean()) or 1.0
    for key, score in zip(homes, scores.tolist(), strict=True):
        evidence[key].likeness = round(min(MOST_LIKENESS, max(0.0, score / seed_score)), 6)
    return model


def home_pages(web: CrawledWeb, owners: Owners) -> dict[str, Url]:
    """The fetched home page of each organisation; if it has several, the one with the shortest host name."""
    homes: dict[str, Url] = {}
    for url in web.pages:
        if urls.is_home(url):
            key = owners.key(url)
            current = homes.get(key)
            if current is None or len(urls.host(url)) < len(urls.host(current)):
                homes[key] = url
    return homes
