"""Compute the evidence for each organisation: from the links between organisations, and from the texts of their sites.

A *list* is the part of a page under one heading; links before the first heading are one list. It names m
organisations, not counting its own, and s of them are seeds. The whole page is a list too, which counts half. Pages of
one organisation often repeat the same list, so only the best list of each organisation counts. Each measure is for one
organisation o:

    cocitation   sum over organisations of the largest s / (m + 5) over their lists that name o and seeds
    beside       sum over organisations of the largest number of seeds under one heading with o
    from_seeds   number of seeds that link to o
    to_seeds     number of seeds that o links to
    cited_by     number of organisations that link to o
    links        sum over the seeds linked with o, in either direction, of a(o, seed)
    company      sum over the other organisations c linked with o of a(o, c) * likeness of c, if positive
    likeness     of o's pages to those of the seeds, in deviations from the other sites (`likeness`)
    described    the same of the words around links to o: anchor, heading and sentence
    has_home     whether o's home page was fetched

a(o, c) = 1 / sqrt((d(o) + 3) (d(c) + 3)), where d is the number of organisations that one is linked with. So neither a
page that names hundreds of organisations nor an organisation that everybody links to says much about its neighbours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import log, sqrt

from scenthound import url as urls
from scenthound.desk.apps.related.facts import ANALYSER, CrawledWeb, HomeFacts, PageFacts
from scenthound.desk.apps.related.likeness import Likeness, SiteText, likeness
from scenthound.desk.apps.related.owners import Owners
from scenthound.model import Url

MOST_LISTS = 400
"""Maximum number of list pages that are parsed for headings and passages, in order of weight."""
MOST_OTHERS = 5
"""Maximum number of pages of a site, besides its home page, whose words are compared."""
MOST_PARSED = 2_000
"""Maximum number of pages that are parsed for their words."""
MOST_REDIRECTS = 10
LIST_SIZE = 5
ELSEWHERE = 0.5
"""The weight of a list that is a whole page: some of its links are under other headings than the seeds."""
DEGREE = 3


@dataclass(slots=True)
class Evidence:
    """The evidence for one organisation; the module docstring defines each field."""

    likeness: float = 0.0
    described: float = 0.0
    cocitation: float = 0.0
    links: float = 0.0
    company: float = 0.0
    beside: int = 0
    from_seeds: int = 0
    to_seeds: int = 0
    cited_by: int = 0
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
        """s / (1 + ln m)."""
        return len(self.seeds) / (1 + log(max(1, len(self.organisations))))


@dataclass(slots=True)
class OrganisationLinks:
    """The links between organisations, and the pages that list seeds."""

    cites: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    cited_by: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    lists: list[ListPage] = field(default_factory=list)
    """Sorted by `weight`, largest first."""

    def linked(self, key: str) -> set[str]:
        """The organisations that this one is linked with, in either direction."""
        return self.cites.get(key, set()) | self.cited_by.get(key, set())


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
    pages_read: dict[Url, PageFacts]
    likeness: Likeness
    seeds: frozenset[str]

    def nearer_than(self, key: str) -> float | None:
        """The share of the other sites whose pages are less like those of the seeds; None if it has no pages."""
        values = self.likeness.values
        if key not in values:
            return None
        others = [value for other, value in values.items() if other not in self.seeds and other != key]
        return round(sum(value < values[key] for value in others) / len(others), 4) if others else None


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
        counts.cited_by = len(links.cited_by.get(key, ()))
        counts.from_seeds = len(links.cited_by.get(key, set()) & seed_keys - {key})
        counts.to_seeds = len(links.cites.get(key, set()) & seed_keys - {key})
    pages_read = read_pages(web, owners, links)
    _add_lists(evidence, links, pages_read, owners)
    terms = ANALYSER.terms(keywords)
    texts = likeness(site_texts(homes, pages_read, owners), seed_keys, rejected, terms)
    for key, value in texts.values.items():
        evidence[key].likeness = value
    words = likeness(described_sites(pages_read, owners, texts), seed_keys, rejected, terms)
    for key, value in words.values.items():
        if key in evidence:
            evidence[key].described = value
    _add_links(evidence, links, seed_keys)
    return GatheredEvidence(evidence, links, pages_read, texts, frozenset(seeds))


def read_pages(web: CrawledWeb, owners: Owners, links: OrganisationLinks) -> dict[Url, PageFacts]:
    """Parse the pages that list seeds, and the home page and first other pages of each site."""
    chosen = dict.fromkeys(page.url for page in links.lists[:MOST_LISTS])
    per_site = Counter[str]()
    for url in web.pages:
        if len(chosen) >= MOST_PARSED:
            break
        key = owners.key(url)
        per_site[key] += not urls.is_home(url)
        if urls.is_home(url) or per_site[key] <= MOST_OTHERS:
            chosen.setdefault(url)
    return {url: facts for url in chosen if (facts := web.page_facts(url)) is not None}


def site_texts(
    homes: Mapping[str, HomeFacts], pages_read: Mapping[Url, PageFacts], owners: Owners
) -> dict[str, SiteText]:
    """The words of each site: of its home page, and of the other pages that were read."""
    others: dict[str, Counter[str]] = defaultdict(Counter)
    counted, home_urls = Counter[str](), {home.url for home in homes.values()}
    for url, facts in pages_read.items():
        key = owners.key(url)
        if not urls.is_home(url) and url not in home_urls and counted[key] < MOST_OTHERS:
            counted[key] += 1
            others[key].update(facts.words)
    keys = dict.fromkeys((*homes, *others))
    return {key: SiteText(homes[key].words if key in homes else {}, others.get(key, {})) for key in keys}


def described_sites(pages_read: Mapping[Url, PageFacts], owners: Owners, texts: Likeness) -> dict[str, SiteText]:
    """The words around links to each site, as far as pages of other organisations have been read."""
    words: dict[str, Counter[str]] = defaultdict(Counter)
    for url, facts in pages_read.items():
        own = owners.key(url)
        for mention in facts.mentions.values():
            if (key := owners.key(mention.url)) != own:
                words[key].update(set(ANALYSER.terms(f"{mention.anchor} {mention.heading} {mention.passage}")))
    return {key: SiteText(counts, {}) for key, counts in words.items()}


def _add_lists(
    evidence: Mapping[str, Evidence], links: OrganisationLinks, pages_read: Mapping[Url, PageFacts], owners: Owners
) -> None:
    density: dict[tuple[str, str], float] = {}
    beside: dict[tuple[str, str], int] = {}
    for page in links.lists:
        groups = _groups(page, pages_read.get(page.url), owners)
        for group, factor in ((set(page.organisations), ELSEWHERE), *((group, 1.0) for group in groups)):
            seeds = group & page.seeds
            for other in group:
                count = len(seeds) - (other in seeds)
                if count and other in evidence:
                    pair = page.owner, other
                    density[pair] = max(density.get(pair, 0.0), factor * count / (len(group) + LIST_SIZE))
                    if factor == 1:
                        beside[pair] = max(beside.get(pair, 0), count)
    for (_, other), value in density.items():
        evidence[other].cocitation += value
    for (_, other), count in beside.items():
        evidence[other].beside += count


def _groups(page: ListPage, facts: PageFacts | None, owners: Owners) -> Iterable[set[str]]:
    """The organisations under each heading of a page; none if the page was not read."""
    if facts is None:
        return []
    groups: dict[str, set[str]] = defaultdict(set)
    for mention in facts.mentions.values():
        groups[mention.heading].add(owners.key(mention.url))
    return [group - {page.owner} for group in groups.values()]


def _add_links(evidence: Mapping[str, Evidence], links: OrganisationLinks, seeds: Collection[str]) -> None:
    linked = {key: links.linked(key) for key in evidence}
    for key, found in evidence.items():
        for other in sorted(linked[key]):
            weight = 1 / sqrt((len(linked[key]) + DEGREE) * (len(linked[other]) + DEGREE))
            if other in seeds:
                found.links += weight
            else:
                found.company += weight * max(0.0, evidence[other].likeness)


def home_pages(web: CrawledWeb, owners: Owners, seeds: Iterable[Url] = ()) -> dict[str, Url]:
    """The fetched home page of each organisation; if it has several, the one with the shortest host name.

    A home page may redirect to a page deeper in the site, which then counts as the home page. If no home page of a seed
    was fetched, the seed itself counts as one.
    """
    homes: dict[str, Url] = {}
    for url in web.pages:
        if urls.is_home(url):
            key = owners.key(url)
            current = homes.get(key)
            if current is None or len(urls.host(url)) < len(urls.host(current)):
                homes[key] = url
    for requested in web.moved:
        if urls.is_home(requested) and (final := _fetched(web, requested)) is not None:
            homes.setdefault(owners.key(final), final)
    for seed in seeds:
        if (final := _fetched(web, seed)) is not None:
            homes.setdefault(owners.key(seed), final)
    return homes


def _fetched(web: CrawledWeb, url: Url) -> Url | None:
    """The page that was fetched at the end of a chain of redirects."""
    for _ in range(MOST_REDIRECTS):
        if url in web.pages or url not in web.moved:
            break
        url = web.moved[url]
    return url if url in web.pages else None
